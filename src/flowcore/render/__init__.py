"""Drawing: a declared flow as Mermaid, DOT, JSON, SVG or PNG. Nothing here opens a socket or runs a flow."""

from .drawing import Drawable, Drawing, DrawnEdge, DrawnFrame, DrawnNode, Mark, MarkKind, draw
from .formats import FORMATS, Direction, Format, render
from .looks import LOOKS, Look, mark_words
from .words import shown, visible

__all__ = [
    "FORMATS",
    "LOOKS",
    "Direction",
    "Drawable",
    "Drawing",
    "DrawnEdge",
    "DrawnFrame",
    "DrawnNode",
    "Format",
    "Look",
    "Mark",
    "MarkKind",
    "draw",
    "mark_words",
    "render",
    "shown",
    "visible",
]
