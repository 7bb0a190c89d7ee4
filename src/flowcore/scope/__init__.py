"""Budgets and the scopes that spend them."""

from .budget import Budget, Reserve, Usage
from .request import Request
from .scope import Scope, current_scope, scope_variable
from .standstill import Countdown, hold, let_pass, standstill_of, waited

__all__ = [
    "Budget",
    "Countdown",
    "Request",
    "Reserve",
    "Scope",
    "Usage",
    "current_scope",
    "hold",
    "let_pass",
    "scope_variable",
    "standstill_of",
    "waited",
]
