"""The sections: what is loaded for a request, and what the system prompt may have of it."""

from __future__ import annotations

from typing import Literal

__all__ = ["PROMPT_PARTS", "SECTIONS", "PromptPart", "Section"]

PromptPart = Literal[
    "skills",
    "toolsets",
    "profile",
    "health",
    "guidance",
    "core_memory",
    "recalled_memory",
    "summary",
]
"""A part of the system prompt after the prompt itself."""

PROMPT_PARTS: tuple[PromptPart, ...] = (
    "skills",
    "toolsets",
    "profile",
    "health",
    "guidance",
    "core_memory",
    "recalled_memory",
    "summary",
)
"""All parts, in the order in which they stand."""

Section = Literal["memory", "skills", "tools", "files"]
"""What is loaded from outside: each fails on its own."""

SECTIONS: tuple[Section, ...] = ("memory", "skills", "tools", "files")
