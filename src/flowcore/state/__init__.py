"""State: drafts that a visit works on, and the patches that it leaves."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .log import Log
from .merge import Merge
from .sameness import same
from .secret import Secret, redacted_fields
from .shape import HasPath, Shape, Values, as_change, field_types, shape_of
from .snapshot import snapshot

if TYPE_CHECKING:
    from .codec import Codec
    from .codec_plain import plain_fields

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

_LATER = {"Codec": ".codec", "plain_fields": ".codec_plain"}
"""What is loaded when it is first asked for, since most programs store nothing."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_LATER[name], __name__), name)
    return found
