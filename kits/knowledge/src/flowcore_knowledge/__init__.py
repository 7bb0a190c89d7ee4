"""The Knowledge Kit: sources with a status, a port to search them, and an embedded index on SQLite."""

from .errors import (
    AccessDenied,
    IndexBroken,
    IndexMissing,
    IndexNotWritten,
    IndexTooNew,
    KnowledgeError,
    SourceNotReady,
    UnknownSource,
)
from .passage import Hit, Passage, Source, Status
from .port import Knowledge
from .sqlite import SQLiteKnowledge
from .words import terms

__all__ = [
    "AccessDenied",
    "Hit",
    "IndexBroken",
    "IndexMissing",
    "IndexNotWritten",
    "IndexTooNew",
    "Knowledge",
    "KnowledgeError",
    "Passage",
    "SQLiteKnowledge",
    "Source",
    "SourceNotReady",
    "Status",
    "UnknownSource",
    "terms",
]
