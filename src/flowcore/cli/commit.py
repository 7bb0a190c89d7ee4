"""The commit: what a git repository held at a ref, in a folder for a while. The repository stays as it is."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..errors import TargetError
from .child import run_child

__all__ = ["Place", "checked_out", "split_ref"]

_FILES = (".py", ".json")


@dataclass(frozen=True, slots=True)
class Place:
    """A folder with all files of a commit, and in it the counterpart of the current folder."""

    root: Path
    here: Path


def split_ref(text: str) -> tuple[str, str] | None:
    """Return `REF:rest` as its two parts; None for what names something of today.

    It is a ref if what stands before the first colon can be no module and no file, or if what stands behind it
    can be no name in a module: since it has a slash or a colon, or is a file or the dot.
    """
    ref, colon, rest = text.partition(":")
    if not colon or ref.endswith(".py") or Path(text).exists():
        return None
    is_place = any(mark in rest for mark in "/:#") or rest.endswith(_FILES) or rest == "."
    could_be_module = all(part.isidentifier() for part in ref.split("."))
    return (ref, rest) if is_place or not could_be_module else None


@contextmanager
def checked_out(ref: str, text: str) -> Generator[Place]:
    """Put the files of a commit into a folder of their own, which is gone afterwards.

    Nothing in the repository is touched, no hook runs. Raises `TargetError`; `text` is what the person typed.
    """
    prefix = _git(text, "rev-parse", "--show-prefix")
    git = _git(text, "rev-parse", "--absolute-git-dir")
    commit = _commit(ref, text)
    with tempfile.TemporaryDirectory(prefix="flowcore-") as folder:
        tree = Path(folder, "tree")
        tree.mkdir()
        env = {"GIT_INDEX_FILE": str(Path(folder, "index")), "GIT_DIR": git, "GIT_WORK_TREE": str(tree)}
        _git(text, "read-tree", commit, env=env, cwd=tree)
        _git(text, "checkout-index", "--all", "--quiet", env=env, cwd=tree)
        here = tree / prefix
        if not here.is_dir():
            raise TargetError(f"{text}: there is no folder {prefix} at {ref}; start in one that was there")
        yield Place(tree, here)


def _commit(ref: str, text: str) -> str:
    try:
        return _git(text, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    except TargetError as error:
        raise TargetError(
            f"{text}: {ref or 'nothing'} is no commit in this repository; `git log --all` lists them,"
            " `git fetch` gets those of others"
        ) from error


def _git(text: str, *words: str, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> str:
    """Return what git prints."""
    try:
        run = run_child(["git", *words], cwd, {**os.environ, "LC_ALL": "C", **(env or {})})
    except FileNotFoundError as error:
        raise TargetError(f"{text}: git is not there; install it, or name a file") from error
    if run.code == 0:
        return run.out.decode(errors="surrogateescape").removesuffix("\n")
    said = run.err.decode(errors="replace").strip()
    if "not a git repository" in said:
        raise TargetError(f"{text}: {os.getcwd()} is in no git repository; start in one, or name a file")
    raise TargetError(f"{text}: git cannot read it: {said.splitlines()[-1] if said else 'it says nothing'}")
