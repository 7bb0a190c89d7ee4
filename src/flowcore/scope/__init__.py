"""Budgets and the scopes that spend them."""

from .budget import Budget, Usage
from .scope import Request, Scope, current_scope

__all__ = ["Budget", "Request", "Scope", "Usage", "current_scope"]
