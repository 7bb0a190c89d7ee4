"""The declared graph: nodes, rows, plans and their problems. Declares and checks; runs nothing."""

from .build import FlowOptions, build_plan
from .check import check_plan
from .definition import Definition
from .each import Each, ItemFailure, Unfinished
from .export import plan_data, plan_graph, plan_signature, signature_of_data
from .former import names_today
from .function import Function, Verify, is_async, only_outcome
from .node import ErrorRoute, Node, NodeDecorator, Route, check_seconds, node, reference
from .parallel import Join, Parallel, parallel
from .person import Approve, Asking, Person, form_schema
from .plan import Edge, EdgeKind, Plan, PlanNode
from .problems import PROBLEMS, ProblemKind
from .signature import Signature, callers_names, parameter_names, read_hints, signature_of_outcome, state_hint
from .subflow import Subflow

__all__ = [
    "PROBLEMS",
    "Approve",
    "Asking",
    "Definition",
    "Each",
    "Edge",
    "EdgeKind",
    "ErrorRoute",
    "FlowOptions",
    "Function",
    "ItemFailure",
    "Join",
    "Node",
    "NodeDecorator",
    "Parallel",
    "Person",
    "Plan",
    "PlanNode",
    "ProblemKind",
    "Route",
    "Signature",
    "Subflow",
    "Unfinished",
    "Verify",
    "build_plan",
    "callers_names",
    "check_plan",
    "check_seconds",
    "form_schema",
    "is_async",
    "names_today",
    "node",
    "only_outcome",
    "parallel",
    "parameter_names",
    "plan_data",
    "plan_graph",
    "plan_signature",
    "read_hints",
    "reference",
    "signature_of_data",
    "signature_of_outcome",
    "state_hint",
]
