"""Distributions: what is installed here, by which names people call it, and which files to read."""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Iterator, Sequence
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
    it or one of its extras requires.
    """

    name: str
    version: str
    root: Path
    listed: tuple[str, ...]
    imports: tuple[str, ...]
    needs: frozenset[str]
    distribution: Distribution

    @property
    def files(self) -> list[str]:
        """Its own Python files: no tests, and nothing that it carries along from others."""
        return [file for file in self.listed if _is_read(PurePosixPath(file))]

    @property
    def summary(self) -> str:
        """What it says of itself in one line."""
        return str(self.distribution.metadata.json.get("summary", ""))

    @property
    def description(self) -> str:
        """Its long description."""
        return str(self.distribution.metadata.json.get("description", ""))


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
    metadata = distribution.metadata
    if not metadata or "Name" not in metadata:
        return None  # what an interrupted installation left behind
    files = tuple(file for file in _listed(distribution) if file.endswith(".py") and not file.startswith(".."))
    needs = (re.split(r"[^\w.-]", need)[0] for need in metadata.get_all("Requires-Dist") or ())
    return Installed(
        name=canonical(metadata["Name"]),
        version=metadata["Version"] if "Version" in metadata else "",
        root=Path(str(distribution.locate_file(""))),
        listed=files,
        imports=_imports(files),
        needs=frozenset(canonical(need) for need in needs),
        distribution=distribution,
    )


def _listed(distribution: Distribution) -> Iterator[str]:
    """The files of a distribution. `Distribution.files` says the same, ten times slower."""
    record = distribution.read_text("RECORD")
    if record is None:
        return map(str, distribution.files or ())
    return (row[0] for row in csv.reader(record.splitlines()) if row)


def _is_read(file: PurePosixPath) -> bool:
    return not _ASIDE & set(file.parts[:-1]) and not file.name.startswith("test_")


def _imports(files: Sequence[str]) -> tuple[str, ...]:
    tops = {PurePosixPath(file).parts[0].removesuffix(".py") for file in files}
    return tuple(sorted(top for top in tops if top.isidentifier() and not top.startswith("_")))
