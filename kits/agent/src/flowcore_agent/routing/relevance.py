"""Relevance: which of many tools a request is shown, by the words that it has in common with them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from flowcore.messages import Message
from flowcore.tools import Tool

__all__ = ["relevant_tools"]

_IN_NAME = 3.0
"""How much more a word in the name of a tool says than one in its description."""
_STEM = 6
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")
"""Words; where a script has no spaces, each of its characters."""


def relevant_tools(
    tools: Mapping[str, Tool], most: int, request: str, before: Iterable[Message] = ()
) -> tuple[str, ...]:
    """Return the names of at most so many tools, in their order: those that fit a request best.

    Tools that were called `before` come first, then those that have words in common with the request: a word that
    few tools have says more. Of tools that fit equally well the earlier one is taken. The same request and tools
    give the same choice.
    """
    called = {call.name for message in before for call in message.tool_calls}
    words = {name: _weights(name, tool.description, _parameters(tool)) for name, tool in tools.items()}
    scores = _scores(set(_words(request)), words)
    best = set(sorted(tools, key=lambda name: (name not in called, -scores[name]))[:most])
    return tuple(name for name in tools if name in best)


def _scores(request: set[str], words: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    known = Counter(word for weights in words.values() for word in weights)
    says = {word: math.log(1 + len(words) / known[word]) for word in sorted(request) if word in known}
    return {
        name: math.fsum(weights.get(word, 0.0) * worth for word, worth in says.items())
        for name, weights in words.items()
    }


def _parameters(tool: Tool) -> str:
    return " ".join(tool.parameters.get("properties") or ())


@lru_cache(maxsize=4096)
def _weights(name: str, description: str, parameters: str) -> Mapping[str, float]:
    """Return how much each word says for a tool. It is kept: the same tools come again with each request."""
    weights = dict.fromkeys((*_words(description), *_words(parameters)), 1.0)
    return weights | dict.fromkeys(_words(name), _IN_NAME)


def _words(text: str) -> Sequence[str]:
    return [_stem(word.lower()) for word in _WORDS.findall(_HUMPS.sub(" ", text))]


def _stem(word: str) -> str:
    """Return the beginning of a word, by which its forms are alike: order and orders, search and searching."""
    return (word.removesuffix("s") or word)[:_STEM]
