"""The walk, and the host that it runs in."""

from .backend import current_loop
from .countdown import Countdown, counting
from .host import Ended, Host, Place, WalkStopped
from .inprocess import InProcessHost
from .knock import GRACE, Knock
from .observers import EventQueue, Observer, observe
from .outcomes import unwrapped
from .parking import stand_still
from .record import Recorder
from .task import Reason, RunTask, current_task
from .threads import RunThreads
from .waiting import first_of, wait_whatever_comes, whole, written
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
    "Reason",
    "Recorder",
    "RunTask",
    "RunThreads",
    "Walk",
    "WalkStopped",
    "counting",
    "current_loop",
    "current_task",
    "first_of",
    "observe",
    "stand_still",
    "unwrapped",
    "wait_whatever_comes",
    "whole",
    "written",
]
