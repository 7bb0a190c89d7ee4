"""The shell of every HTML page: templates that escape, colours as variables, and what the browser may do."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from .colours import DARK, LIGHT
from .packing import packed_script, packed_style
from .words import shown, visible

__all__ = ["page_text", "read_text", "themed"]


def page_text(
    template: str, style: str, words: Mapping[str, Any], *, script: str = "", connects: bool = False
) -> str:
    """Return a page that needs no other file, and to which the browser lets nothing else.

    Args:
        template: The text of a jinja2 template. It gets `style`, `script` and `csp`, the policy, with the words.
        style: The style of the page; the only one that the browser applies.
        words: What the template fills in. It is escaped, but for `Markup`.
        script: The script of the page; the only one that the browser runs.
        connects: Whether the page may ask the server that it came from for more.
    """
    style, script = packed_style(style), packed_script(script)
    rules = [
        "default-src 'none'",
        f"style-src '{_hash(style)}'",
        *([f"script-src '{_hash(script)}'"] if script else []),
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        *(["connect-src 'self'"] if connects else []),
    ]
    known = {"csp": "; ".join(rules), "style": Markup(style), "script": Markup(script)}
    return _environment().from_string(template).render(**known, **words)


def themed(style: str) -> str:
    """Return a style after the colours that it uses as variables.

    Light and dark follow the reader's system where the root has `data-theme=auto`, paper is light.
    """
    pairs = zip(LIGHT._asdict().items(), DARK, strict=True)
    colours = " ".join(
        f"--{name.replace('_', '-')}: light-dark({light}, {dark});" for (name, light), dark in pairs
    )
    themes = [
        f":root {{ color-scheme: light dark; {colours} }}",
        ":root[data-theme=light] { color-scheme: light; }",
        ":root[data-theme=dark] { color-scheme: dark; }",
        "@media print { :root:root { color-scheme: light; } }",
    ]
    return "\n".join([*themes, style])


@cache
def read_text(package: str, name: str) -> str:
    """Return the text of a file that stands in a package."""
    return files(package).joinpath(name).read_text("utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(visible=visible, shown=shown)
    return environment


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
