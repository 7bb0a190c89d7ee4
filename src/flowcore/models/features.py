"""The features of a model: what of a request it understands, and what is left out for one that does not."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ..messages import ModelRequest
from .model import EVERY_FEATURE, Feature

__all__ = ["features_of", "within"]


def features_of(where: str, given: Collection[Feature]) -> frozenset[Feature]:
    """Return features that somebody gave. Raises `ValueError` for one that is none, and for a text."""
    if isinstance(given, str) or not EVERY_FEATURE.issuperset(given):
        raise ValueError(f"{where}(features={given!r}): give a set of {', '.join(sorted(EVERY_FEATURE))}")
    return frozenset(given)


def within(features: Collection[Feature], request: ModelRequest) -> tuple[ModelRequest, list[str]]:
    """Return the request without what the model lacks, and a warning for each thing that was left out."""
    left_out: list[str] = []
    if "tools" not in features and request.tools:
        left_out.append("the tools were left out")
        request = replace(request, tools=())
    if "output_schema" not in features and request.output is not None:
        left_out.append("the output schema was left out")
        request = replace(request, output=None)
    if "reasoning_effort" not in features and request.settings.reasoning_effort is not None:
        left_out.append("reasoning_effort was left out")
        request = replace(request, settings=replace(request.settings, reasoning_effort=None))
    return request, [f"{what}: the model does not have it" for what in left_out]
