"""The state of most tests of the core."""

from __future__ import annotations

from pydantic import BaseModel


class Note(BaseModel):
    """What a flow under test works on: a number, a text, and a list of words."""

    number: int = 0
    text: str = ""
    words: list[str] = []
