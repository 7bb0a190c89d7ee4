"""What flowcore's own tests use, for yours: a clock, a scripted model, a runner, replay, contracts of stores."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .clock import FakeClock
from .host import DurableHost, FlowHost, HostedRun
from .model import ScriptedLine, ScriptedModel
from .replay import Replayed, replay
from .runner import FlowRunner
from .search import ScriptedSearch
from .stored import stored_run

if TYPE_CHECKING:
    from .host_durable_suite import DurableHostContract
    from .host_suite import HostContract
    from .store_suite import StoreContract

__all__ = [
    "DurableHost",
    "DurableHostContract",
    "FakeClock",
    "FlowHost",
    "FlowRunner",
    "HostContract",
    "HostedRun",
    "Replayed",
    "ScriptedLine",
    "ScriptedModel",
    "ScriptedSearch",
    "StoreContract",
    "replay",
    "stored_run",
]


_NEED_PYTEST = {
    "DurableHostContract": "host_durable_suite",
    "HostContract": "host_suite",
    "StoreContract": "store_suite",
}


def __getattr__(name: str) -> Any:
    if name in _NEED_PYTEST:
        try:
            return getattr(import_module(f".{_NEED_PYTEST[name]}", __name__), name)
        except ModuleNotFoundError as error:
            raise ImportError(f'{name} needs {error.name}: pip install "flowcore[test]"') from error
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
