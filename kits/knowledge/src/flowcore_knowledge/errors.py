"""Every error of the Knowledge Kit.

FlowcoreError
└── KnowledgeError
    ├── AccessDenied      the caller may not read a source
    ├── SourceNotReady    a source is pending or has failed
    ├── UnknownSource     there is no such source
    ├── IndexMissing      there is no index file
    ├── IndexBroken       the file is not an index, or a damaged one
    └── IndexTooNew       the index was written by a newer version of the kit
"""

from __future__ import annotations

from typing import ClassVar

from flowcore.errors import FlowcoreError


class KnowledgeError(FlowcoreError):
    """The base of what the Knowledge Kit raises."""

    code: ClassVar[str] = "knowledge"


class AccessDenied(KnowledgeError):
    """Raised when a search needs a source that the caller may not read: a refusal is never an empty answer."""

    code: ClassVar[str] = "access_denied"

    def __init__(self, source: str, note: str = "") -> None:
        self.source = source
        super().__init__(
            f"source {source!r} may not be read{_because(note)}: ask for access, or search without it"
        )


class SourceNotReady(KnowledgeError):
    """Raised when a search names a source that is pending or has failed; `status` says which."""

    code: ClassVar[str] = "source_not_ready"

    def __init__(self, source: str, status: str, note: str = "") -> None:
        self.source = source
        self.status = status
        super().__init__(f"source {source!r} is {status}{_because(note)}: build it first, or search without it")


class UnknownSource(KnowledgeError):
    """Raised when a search names a source that is not in the index."""

    code: ClassVar[str] = "unknown_source"

    def __init__(self, source: str) -> None:
        self.source = source
        super().__init__(f"there is no source {source!r} in this index: name one of `await knowledge.sources()`")


class IndexMissing(KnowledgeError):
    """Raised when the index file does not exist."""

    code: ClassVar[str] = "index_missing"

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"{path}: there is no index file: build one with SQLiteKnowledge.build(…)")


class IndexBroken(KnowledgeError):
    """Raised when a file cannot be read as an index; `reason` is what the reader found."""

    code: ClassVar[str] = "index_broken"

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: not a usable index ({reason}): delete the file and build it again")


class IndexTooNew(KnowledgeError):
    """Raised when the index has a format that this version of the kit does not know."""

    code: ClassVar[str] = "index_too_new"

    def __init__(self, path: str, found: int, known: int) -> None:
        self.path = path
        super().__init__(
            f"{path}: the index has format {found}, this flowcore-knowledge reads {known}: "
            "update the kit, or delete the file and build it again"
        )


class IndexNotWritten(KnowledgeError):
    """Raised when an index cannot be written; what stood there before is untouched."""

    code: ClassVar[str] = "index_not_written"

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: the index cannot be written ({reason}): choose a folder that can be")


def _because(note: str) -> str:
    return f" ({note})" if note else ""
