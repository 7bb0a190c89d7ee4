"""The walk, and the host that it runs in."""

from .backend import current_loop
from .countdown import Countdown, counting
from .host import Ended, Host, Place, WalkStopped
from .inprocess import InProcessHost
from .knock import GRACE, Knock
from .observers import EventQueue, Observer, observe
from .outcomes import unwrapped
from .record import Recorder
from .settlement import Settlement
from .threads import RunThreads
from .waiting import wait_whatever_comes
from .walk import Walk

__all__ = [
    "GRACE",
    "Countdown",
    "Ended",
    "EventQueue",
    "Host",
    "InProcessHost",
    "Knock",
    "Observer",
    "Place",
    "Recorder",
    "RunThreads",
    "Settlement",
    "Walk",
    "WalkStopped",
    "counting",
    "current_loop",
    "observe",
    "unwrapped",
    "wait_whatever_comes",
]
