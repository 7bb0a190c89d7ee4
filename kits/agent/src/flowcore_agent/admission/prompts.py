"""The configured prompt of a request: its text, with every variable filled in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from flowcore_agent.admission.faults import fault
from flowcore_agent.admission.found import Found
from flowcore_agent.admission.templates import Template
from flowcore_agent.errors import AdmissionFault
from flowcore_agent.prompt import CustomPrompt, FilePrompt

__all__ = ["fill", "find_prompt"]

_NAME = r"\{([A-Za-z_][A-Za-z0-9_]*)\}"
_PLACE = re.compile(rf"\{{{_NAME}\}}|{_NAME}")
"""A name that is meant as it stands, or a variable."""


def find_prompt(prompt: CustomPrompt | FilePrompt, variables: Mapping[str, str]) -> Found[str]:
    """Return the text of a prompt: that in words with its variables filled in, that in a file as it stands."""
    return _read(Path(prompt.path)) if isinstance(prompt, FilePrompt) else fill(prompt.text, variables)


def fill(text: str, variables: Mapping[str, str], template: Template | None = None) -> Found[str]:
    """Return a text with its variables filled in, and a fault for each that has no value.

    `{{name}}` becomes `{name}`; a brace that is part of neither stays. A value is put in as it is: what looks like
    a variable in it stays.
    """
    known = variables if template is None else {**template.variables, **variables}

    def value(place: re.Match[str]) -> str:
        name = place.group(2)
        return place.group()[1:-1] if name is None else str(known.get(name, ""))

    return Found(_PLACE.sub(value, text), tuple(_missing(text, known)))


def _missing(text: str, known: Mapping[str, str]) -> Iterator[AdmissionFault]:
    names = dict.fromkeys(place.group(2) for place in _PLACE.finditer(text) if place.group(2) is not None)
    for name in names:
        if name not in known:
            yield fault(
                "missing_variable", f"variables[{name!r}]", f"the prompt needs {{{name}}}, and it has no value"
            )


def _read(path: Path) -> Found[str]:
    try:
        return Found(path.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        return Found("", (fault("prompt_file", str(path), f"the file of the prompt cannot be read: {why}"),))
