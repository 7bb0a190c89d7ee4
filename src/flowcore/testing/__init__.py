"""What flowcore's own tests use, for yours: a clock that you move, and a model that says what you tell it."""

from .clock import FakeClock
from .model import ScriptedModel

__all__ = ["FakeClock", "ScriptedModel"]
