"""Consolidation: after a completed conversation its facts are taken into the memory. An observer."""

from __future__ import annotations

from collections.abc import Sequence

from flowcore import Budget, ContractError, Scope
from flowcore.models import ModelRunner
from flowcore_agent.memory.extraction import ModelExtractor, ModelReconciler
from flowcore_agent.ports import Extractor, MemoryStore, Reconciled, Reconciler, Remembered
from flowcore_agent.reply import AgentReply
from flowcore_agent.request import AgentRequest

__all__ = ["Consolidation"]

_COMPLETED = ("answer", "completed")
_CLOSE = 5
"""Memories that are looked at beside each fact, since they share words with it."""
_LATEST = 30
"""Memories that are looked at whatever they say: what contradicts a fact need not share a word with it."""


class Consolidation:
    """Takes what a completed conversation has brought into a memory: extract, reconcile, begin a new generation.

    An observer for `AgentSpec.observers`. Nothing is done after a conversation that was cut short or blocked, nor
    for nobody; without facts nothing is changed. With a new generation the prompts kept of the user are made anew.

    Args:
        agent: The name of the agent whose memory it is.
        memory: The memory.
        runner: The model that extracts and reconciles, where the next two are not given.
        extract: Says what is worth remembering.
        reconcile: Says what becomes of the memory.
        budget: What one consolidation may cost.

    Raises `ContractError` where there is nobody to extract or to reconcile.
    """

    def __init__(
        self,
        agent: str,
        memory: MemoryStore,
        runner: ModelRunner | None = None,
        *,
        extract: Extractor | None = None,
        reconcile: Reconciler | None = None,
        budget: Budget = Budget(requests=6),  # noqa: B008 - frozen
    ) -> None:
        if runner is not None:
            extract = extract or ModelExtractor(runner)
            reconcile = reconcile or ModelReconciler(runner)
        if extract is None or reconcile is None:
            raise ContractError("Consolidation: give a runner, or both extract= and reconcile=")
        self._agent = agent
        self._memory = memory
        self._extract = extract
        self._reconcile = reconcile
        self._budget = budget

    def __repr__(self) -> str:
        return f"<consolidation of {self._memory!r} for {self._agent}>"

    async def __call__(self, request: AgentRequest, reply: AgentReply, /) -> None:
        """Consolidate. Raises what the model and the memory raise; the memory is as it was then."""
        if not request.user or reply.is_partial or reply.reason not in _COMPLETED:
            return
        async with Scope(self._budget):
            facts = await self._extract(request, reply)
            if not facts:
                return
            core = await self._memory.core_memory(request.user, self._agent)
            reconciled = await self._reconcile(facts, await self._beside(request.user, facts), core)
        if reconciled != Reconciled():
            await self._memory.apply(request.user, self._agent, reconciled)

    async def _beside(self, user: str, facts: Sequence[str]) -> list[Remembered]:
        """Return what is remembered that a fact may bear on, each once."""
        found: dict[str, Remembered] = {}
        for fact in facts:
            for each in await self._memory.search(user, self._agent, fact, _CLOSE):
                found.setdefault(each.id, each)
        for each in await self._memory.latest(user, self._agent, _LATEST):
            found.setdefault(each.id, each)
        return list(found.values())
