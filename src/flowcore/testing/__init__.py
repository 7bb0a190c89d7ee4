"""What flowcore's own tests use, for yours: a clock, a scripted model, a runner of flows, and replay."""

from .clock import FakeClock
from .model import ScriptedLine, ScriptedModel
from .replay import Replayed, replay
from .runner import FlowRunner
from .search import ScriptedSearch

__all__ = ["FakeClock", "FlowRunner", "Replayed", "ScriptedLine", "ScriptedModel", "ScriptedSearch", "replay"]
