"""What flowcore's own tests use, for yours: a clock, a scripted model, a runner of flows, and replay."""

from .clock import FakeClock
from .model import ScriptedModel
from .runner import FlowRunner

__all__ = ["FakeClock", "FlowRunner", "ScriptedModel"]
