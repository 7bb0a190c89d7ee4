"""The walk, and the host that it runs in."""

from .backend import current_loop
from .host import Ended, Host, Place, WalkStopped
from .inprocess import InProcessHost
from .observers import EventQueue, Observer, observe
from .record import Recorder
from .settlement import Settlement
from .stoppable import GRACE, Stoppable
from .walk import Walk

__all__ = [
    "GRACE",
    "Ended",
    "EventQueue",
    "Host",
    "InProcessHost",
    "Observer",
    "Place",
    "Recorder",
    "Settlement",
    "Stoppable",
    "Walk",
    "WalkStopped",
    "current_loop",
    "observe",
]
