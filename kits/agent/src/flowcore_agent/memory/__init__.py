"""Memory: what is remembered of users, in a SQLite file by default, and what a model learns for it."""

from __future__ import annotations

from flowcore_agent.memory.extraction import ModelExtractor, ModelReconciler
from flowcore_agent.memory.sqlite import SQLiteMemory

__all__ = ["ModelExtractor", "ModelReconciler", "SQLiteMemory"]
