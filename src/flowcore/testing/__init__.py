"""What flowcore's own tests use, for yours: a clock, a scripted model, a runner, replay, contracts of stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .clock import FakeClock
from .model import ScriptedLine, ScriptedModel
from .replay import Replayed, replay
from .runner import FlowRunner
from .search import ScriptedSearch
from .stored import stored_run

if TYPE_CHECKING:
    from .store_suite import StoreContract

__all__ = [
    "FakeClock",
    "FlowRunner",
    "Replayed",
    "ScriptedLine",
    "ScriptedModel",
    "ScriptedSearch",
    "StoreContract",
    "replay",
    "stored_run",
]


def __getattr__(name: str) -> Any:
    if name == "StoreContract":
        try:
            from .store_suite import StoreContract  # noqa: PLC0415 - needs pytest, which the rest does not
        except ModuleNotFoundError as error:
            raise ImportError(f'StoreContract needs {error.name}: pip install "flowcore[test]"') from error
        return StoreContract
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
