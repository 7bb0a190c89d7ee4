"""Recordings: runs as plain data, and the files that hold them. Everything that shows a run is made from one."""

from .build import Recorded, recording_of
from .changes import changes
from .declared import BranchesData, FlowData, GraphData, NodeData, RouteData, flow_data, flow_fault, read_flow
from .file import dump_runs, load_runs, read_runs
from .recording import AskedData, Change, Fault, ModelCall, Recording, Said, Spent, ToolCallData, VisitData

__all__ = [
    "AskedData",
    "BranchesData",
    "Change",
    "Fault",
    "FlowData",
    "GraphData",
    "ModelCall",
    "NodeData",
    "Recorded",
    "Recording",
    "RouteData",
    "Said",
    "Spent",
    "ToolCallData",
    "VisitData",
    "changes",
    "dump_runs",
    "flow_data",
    "flow_fault",
    "load_runs",
    "read_flow",
    "read_runs",
    "recording_of",
]
