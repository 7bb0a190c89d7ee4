"""The walk, and the host that it runs in."""

from .backend import current_loop
from .host import Ended, Host, Place, WalkStopped
from .inprocess import InProcessHost
from .knock import GRACE, Knock
from .observers import EventQueue, Observer, observe
from .record import Recorder
from .settlement import Settlement
from .walk import Walk

__all__ = [
    "GRACE",
    "Ended",
    "EventQueue",
    "Host",
    "InProcessHost",
    "Knock",
    "Observer",
    "Place",
    "Recorder",
    "Settlement",
    "Walk",
    "WalkStopped",
    "current_loop",
    "observe",
]
