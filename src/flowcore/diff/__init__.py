"""Comparing: two flows, or two runs, as data, text and pictures."""

from .change import FlowChange, FlowDiff
from .flow_text import flow_summary, flow_text
from .flows import diff_flows
from .formats import DIFF_FORMATS, render_diff
from .merged import merged_drawing
from .run_change import Amount, RunDiff, Turn, ValueChange
from .run_text import run_summary, run_text
from .runs import diff_runs

__all__ = [
    "DIFF_FORMATS",
    "Amount",
    "FlowChange",
    "FlowDiff",
    "RunDiff",
    "Turn",
    "ValueChange",
    "diff_flows",
    "diff_runs",
    "flow_summary",
    "flow_text",
    "merged_drawing",
    "render_diff",
    "run_summary",
    "run_text",
]
