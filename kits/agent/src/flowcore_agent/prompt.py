"""The prompt of an agent: in words, in a file, or by the name of a template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["CustomPrompt", "FilePrompt", "PredefinedPrompt", "Prompt"]


@dataclass(frozen=True, slots=True)
class CustomPrompt:
    """A text in which `{name}` stands for a variable of the request, and `{{name}}` for the words `{name}`.

    Every other brace stays as it is.
    """

    text: str


@dataclass(frozen=True, slots=True)
class FilePrompt:
    """A text in a file."""

    path: Path


@dataclass(frozen=True, slots=True)
class PredefinedPrompt:
    """A template of the spec by its name, with a JSON merge patch of its definition."""

    name: str
    patch: Mapping[str, object] = field(default_factory=dict[str, object])


Prompt = CustomPrompt | FilePrompt | PredefinedPrompt
