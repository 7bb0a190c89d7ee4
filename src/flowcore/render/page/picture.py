"""The picture of a page: the flow of a run, laid out, with what the run did as classes of its parts."""

from __future__ import annotations

import re

from ...recording import Recording
from ..drawing import Drawing
from ..layout import lay_out
from ..marks import run_marks
from ..svg import svg_of

__all__ = ["picture"]

_PART = re.compile(r'<g id="(?P<id>\w+)" class="')


def picture(run: Recording, drawing: Drawing) -> str:
    """Return the drawing as SVG without a style, each part with the kind of its mark as a class.

    Raises:
        RenderError: There is no layout engine.
    """
    marks = run_marks(run, drawing)

    def marked(part: re.Match[str]) -> str:
        mark = marks.get(part["id"])
        return part[0] if mark is None else f"{part[0]}{mark.kind} "

    return _PART.sub(marked, svg_of(drawing, lay_out(drawing, "TB")))
