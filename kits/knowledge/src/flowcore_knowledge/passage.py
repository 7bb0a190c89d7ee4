"""Passages and sources: what knowledge is made of."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Status = Literal["ready", "pending", "failed", "denied"]


class Source(BaseModel):
    """Where passages come from: a document, a site, a package.

    Only a *ready* source can be searched. *pending* is not read yet, *failed* could not be read, *denied* may
    not be read by this caller. `note` says why, in words for a person.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    status: Status = "ready"
    note: str = ""


class Passage(BaseModel):
    """A piece of text that can be found and quoted.

    Args:
        source: The id of its source.
        where: Its place in the source, as a person would look it up: a heading, a qualified name, a page.
        title: A short line that says what the text is about; found with more weight than the text.
        text: The text itself.
        context: More words by which it should be found, with less weight; never shown.
    """

    model_config = ConfigDict(frozen=True)

    source: str
    where: str
    title: str = ""
    text: str
    context: str = ""


class Hit(BaseModel):
    """A passage that was found, with its score; a higher score is a better match within one search."""

    model_config = ConfigDict(frozen=True)

    passage: Passage
    score: float
