"""Context nodes: ordinary nodes that keep the messages of a state small, on ordinary routes."""

from .compact import compact, compacted
from .field import tell_compacted
from .prune import prune_tool_results, pruned
from .select import select, selected
from .size import Count, tokens_of

__all__ = [
    "Count",
    "compact",
    "compacted",
    "prune_tool_results",
    "pruned",
    "select",
    "selected",
    "tell_compacted",
    "tokens_of",
]
