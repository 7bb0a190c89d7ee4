"""Questions: a file with one JSON object on each line, read whole before anything runs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import TargetError

__all__ = ["Question", "read_questions"]


@dataclass(frozen=True, slots=True)
class Question:
    """One question, and where it stands, for messages."""

    id: str
    text: str
    place: str


def read_questions(path: Path) -> list[Question]:
    """Read a file of `{"id": "...", "question": "..."}` lines. Empty lines are passed over.

    Raises `TargetError` with a line for each fault: no file, not UTF-8, not JSON, no id, an id used twice, no
    question, or nothing at all.
    """
    questions: list[Question] = []
    faults: list[str] = []
    first: dict[str, str] = {}
    for number, line in enumerate(_text(path).split("\n"), 1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        found = _question(line, place)
        if isinstance(found, str):
            faults.append(f"{place}: {found}")
        elif found.id in first:
            faults.append(f"{place}: the id {found.id!r} is used already, at {first[found.id]}; give it its own")
        else:
            first[found.id] = place
            questions.append(found)
    if faults:
        raise TargetError("\n".join(faults))
    if not questions:
        raise TargetError(f'{path}: there is no question in it; write lines as {{"id": "q1", "question": "..."}}')
    return questions


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise TargetError(f"{path}:{line}: this is not UTF-8; save the file as UTF-8") from error
    except OSError as error:
        raise TargetError(f"{path}: cannot be read: {error.strerror}; name another file") from error


def _question(line: str, place: str) -> Question | str:
    try:
        data: Any = json.loads(line)
    except json.JSONDecodeError as error:
        return f"this is not JSON ({error.msg}, column {error.colno}); write one object on the line"
    except (ValueError, RecursionError):
        return "this JSON cannot be read (too deep, or a number too long); write one object on the line"
    if not isinstance(data, dict):
        return 'this is no object; write {"id": "...", "question": "..."}'
    for key in ("id", "question"):
        if not (isinstance(data.get(key), str) and data[key].strip()):
            return f'{key!r} is missing, empty or no text; write {{"id": "...", "question": "..."}}'
    return Question(data["id"], data["question"], place)
