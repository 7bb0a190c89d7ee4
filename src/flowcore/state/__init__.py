"""State: drafts that a visit works on, and the patches that it leaves."""

from .log import Log
from .merge import Merge
from .sameness import same
from .shape import HasPath, Shape, Values, as_change, field_types, shape_of
from .snapshot import snapshot

__all__ = [
    "HasPath",
    "Log",
    "Merge",
    "Shape",
    "Values",
    "as_change",
    "field_types",
    "same",
    "shape_of",
    "snapshot",
]
