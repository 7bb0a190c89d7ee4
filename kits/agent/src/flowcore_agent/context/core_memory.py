"""The core memory as it is kept between requests, until its generation is over."""

from __future__ import annotations

from flowcore_agent.ports import Memory

__all__ = ["CoreMemory"]

_MOST = 1_000


class CoreMemory:
    """The core memories of users, each kept for one generation, so that prompts stay equal to the letter."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._kept: dict[tuple[str, str], tuple[int, str]] = {}

    async def read(self, user: str, agent: str) -> str:
        """Return what is always known of a user; the memory is asked once in a generation."""
        generation = await self._memory.generation(user, agent)
        kept = self._kept.get((user, agent))
        if kept is None or kept[0] != generation:
            kept = (generation, await self._memory.core(user, agent))
            while len(self._kept) >= _MOST:
                del self._kept[next(iter(self._kept))]
            self._kept[user, agent] = kept
        return kept[1]
