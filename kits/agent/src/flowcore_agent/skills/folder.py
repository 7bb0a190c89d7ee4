"""The skill folder: skills in files beneath one folder, `NAME/SKILL.md` each, read when they are needed."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from os import PathLike
from os.path import lexists
from pathlib import Path

import anyio.to_thread

from flowcore import ContractError
from flowcore_agent.context.folder import read_inside
from flowcore_agent.ports import SkillCard
from flowcore_agent.skills.front_matter import read_front_matter

__all__ = ["SkillFolder"]

_FILE = "SKILL.md"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_LARGEST = 200_000


class SkillFolder:
    """The skills beneath a folder. It keeps to `Skills`.

    A skill is a folder with a file `SKILL.md`, whose front matter has its `name`, that of the folder, and its
    `description`. Files are read when they are asked for, so that a change counts at once. One that cannot be read
    has a card that says why. Nothing outside of a skill's folder is read. Raises `ContractError` for what is no
    folder.
    """

    def __init__(self, path: str | PathLike[str], *, largest: int = _LARGEST) -> None:
        self.path = Path(path)
        self._largest = largest
        if not self.path.is_dir():
            raise ContractError(f"SkillFolder({str(self.path)!r}): there is no such folder")

    def __repr__(self) -> str:
        return f"SkillFolder({str(self.path)!r})"

    async def cards(self) -> Sequence[SkillCard]:
        """Return the cards of all skills, by name."""
        return await anyio.to_thread.run_sync(self._cards)

    async def read(self, name: str, /) -> str:
        """Return the text of a skill, without its front matter; of `NAME/FILE` a file beside it.

        Raises `LookupError` for one that is not there, `ValueError` for one that cannot be read.
        """
        return await anyio.to_thread.run_sync(self._read, name)

    def _cards(self) -> list[SkillCard]:
        return [self._card(name) for name in sorted(os.listdir(self.path)) if lexists(self.path / name / _FILE)]

    def _card(self, name: str) -> SkillCard:
        try:
            return self._load(name)[0]
        except (LookupError, ValueError) as error:
            return SkillCard(name, "", str(error))

    def _read(self, name: str) -> str:
        skill, _, file = name.partition("/")
        if file and file != _FILE:
            return read_inside(self._folder(skill), file, self._largest)
        return self._load(skill)[1]

    def _load(self, name: str) -> tuple[SkillCard, str]:
        entries, text = read_front_matter(read_inside(self._folder(name), _FILE, self._largest))
        if not entries.get("description"):
            raise ValueError("its front matter has no description")
        if entries.get("name") != name:
            raise ValueError(f"its front matter has the name {entries.get('name', '')!r}, its folder {name!r}")
        return SkillCard(name, entries["description"]), text

    def _folder(self, name: str) -> Path:
        folder = self.path / name
        is_there = _NAME.fullmatch(name) and folder.is_dir()
        if not (is_there and folder.resolve().is_relative_to(self.path.resolve())):
            raise LookupError(f"there is no skill {name!r}")
        return folder
