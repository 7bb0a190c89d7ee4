"""The walk, and the hosts that it runs in."""

from .host import Ended, Host, Place
from .inprocess import InProcessHost
from .observers import Observer, ObserverQueue
from .walk import Walk

__all__ = ["Ended", "Host", "InProcessHost", "Observer", "ObserverQueue", "Place", "Walk"]
