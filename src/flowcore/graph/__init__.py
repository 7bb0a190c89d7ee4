"""The declared graph: nodes, rows, plans and their problems. Declares and checks; runs nothing."""

from .build import FlowOptions, build_plan
from .check import check_plan
from .definition import Definition
from .export import plan_data, plan_graph, plan_signature
from .function import Function
from .node import ErrorRoute, Node, NodeDecorator, Route, node
from .plan import Edge, EdgeKind, Plan, PlanNode
from .problems import PROBLEMS, ProblemKind
from .signature import Signature, parameter_names, read_hints, signature_of_outcome
from .subflow import Subflow

__all__ = [
    "PROBLEMS",
    "Definition",
    "Edge",
    "EdgeKind",
    "ErrorRoute",
    "FlowOptions",
    "Function",
    "Node",
    "NodeDecorator",
    "Plan",
    "PlanNode",
    "ProblemKind",
    "Route",
    "Signature",
    "Subflow",
    "build_plan",
    "check_plan",
    "node",
    "parameter_names",
    "plan_data",
    "plan_graph",
    "plan_signature",
    "read_hints",
    "signature_of_outcome",
]
