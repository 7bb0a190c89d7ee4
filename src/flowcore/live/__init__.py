"""The live page of a run, for browsers. It watches a run from outside, so that no viewer can slow or change it."""

from .door import Door
from .watch import LivePage, need_server, page_server, watch

__all__ = ["Door", "LivePage", "need_server", "page_server", "watch"]
