"""Drawing: a declared flow as Mermaid, DOT, JSON, SVG or PNG. Nothing here opens a socket or runs a flow."""

from .drawing import Drawable, Drawing, DrawnEdge, DrawnFrame, DrawnNode, Mark, draw
from .formats import FORMATS, Direction, Format, render
from .words import shown, visible

__all__ = [
    "FORMATS",
    "Direction",
    "Drawable",
    "Drawing",
    "DrawnEdge",
    "DrawnFrame",
    "DrawnNode",
    "Format",
    "Mark",
    "draw",
    "render",
    "shown",
    "visible",
]
