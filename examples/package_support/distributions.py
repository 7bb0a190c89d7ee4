"""Distributions: what is installed here, by which names people call it, and which files to read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path, PurePosixPath
from typing import ClassVar

from flowcore.errors import FlowcoreError

_ASIDE = {"tests", "test", "_vendor", "vendor", "node_modules", "site-packages", "bin"}


class NothingInstalled(FlowcoreError):
    """Raised when there is no distribution to answer about."""

    code: ClassVar[str] = "nothing_installed"


@dataclass(frozen=True, slots=True)
class Installed:
    """An installed distribution.

    `name` is normalised; `imports` are the names that a program imports it by, `needs` the distributions that
    it or one of its extras requires, `files` its own Python files, `description` its long description.
    """

    name: str
    version: str
    root: Path
    files: tuple[str, ...]
    imports: tuple[str, ...]
    needs: frozenset[str]
    description: str


def installed(path: Sequence[str] | None = None) -> list[Installed]:
    """Every distribution on `path` (default: the path of this interpreter), ordered by name, each name once.

    Raises:
        NothingInstalled: there is none.
    """
    found: dict[str, Installed] = {}
    for distribution in distributions() if path is None else distributions(path=list(path)):
        if (one := _read(distribution)) is not None:
            found.setdefault(one.name, one)
    if not found:
        raise NothingInstalled("no installed Python package was found: run where some are installed")
    return [found[name] for name in sorted(found)]


def fingerprint(these: Sequence[Installed]) -> str:
    """Changes when a distribution comes, goes, moves or changes its version."""
    lines = (f"{one.name} {one.version} {one.root}" for one in these)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def canonical(name: str) -> str:
    """A distribution's name as PEP 503 writes it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _read(distribution: Distribution) -> Installed | None:
    # What is broken on the disk has no metadata, whatever its type says.
    metadata = distribution.metadata.json if distribution.metadata else {}
    if not metadata.get("name"):
        return None
    files = [str(file) for file in distribution.files or () if str(file).endswith(".py")]
    own = [file for file in files if not file.startswith("..")]
    needs = (re.split(r"[^\w.-]", need)[0] for need in distribution.requires or ())
    return Installed(
        name=canonical(str(metadata["name"])),
        version=str(metadata.get("version", "")),
        root=Path(str(distribution.locate_file(""))),
        files=tuple(file for file in own if _is_read(PurePosixPath(file))),
        imports=_imports(own),
        needs=frozenset(canonical(need) for need in needs),
        description=str(metadata.get("description", "")),
    )


def _is_read(file: PurePosixPath) -> bool:
    """Not tests, and not what a package carries along from others."""
    return not _ASIDE & set(file.parts[:-1]) and not file.name.startswith("test_")


def _imports(files: Sequence[str]) -> tuple[str, ...]:
    tops = {PurePosixPath(file).parts[0].removesuffix(".py") for file in files}
    return tuple(sorted(top for top in tops if top.isidentifier() and not top.startswith("_")))
