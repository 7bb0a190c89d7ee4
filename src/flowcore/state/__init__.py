"""State: drafts that a visit works on, and the patches that it leaves."""

from .codec import Codec
from .codec_plain import plain_fields
from .log import Log
from .merge import Merge
from .sameness import same
from .secret import Secret, redacted_fields
from .shape import HasPath, Shape, Values, as_change, field_types, shape_of
from .snapshot import snapshot

__all__ = [
    "Codec",
    "HasPath",
    "Log",
    "Merge",
    "Secret",
    "Shape",
    "Values",
    "as_change",
    "field_types",
    "plain_fields",
    "redacted_fields",
    "same",
    "shape_of",
    "snapshot",
]
