"""Budgets and the scopes that spend them."""

from .budget import Budget, Reserve, Usage
from .scope import Request, Scope, current_scope

__all__ = ["Budget", "Request", "Reserve", "Scope", "Usage", "current_scope"]
