"""The rows of the loop: how its nodes follow one another, up to the node that comes after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flowcore import BudgetExhausted, Reserve
from flowcore_agent.loop.act import act_node
from flowcore_agent.loop.compacting import compact_node, trim_node
from flowcore_agent.loop.ends import fail_node, salvage_node
from flowcore_agent.loop.think import think_node
from flowcore_agent.loop.wrap_up import wrap_up_node
from flowcore_agent.parts import Parts

__all__ = ["Loop", "loop_rows"]


@dataclass(frozen=True, slots=True)
class Loop:
    """The loop in a flow: where it begins, its rows, and what the flow needs for a budget that runs out."""

    entry: Any
    rows: tuple[Any, ...]
    finish: Any
    reserve: Reserve


def loop_rows(parts: Parts, then: Any, answered: Any = None) -> Loop:
    """Return the loop of an agent. However it ends, `then` is the node that follows, unless the run fails.

    Where there is an answer, which was neither asked for at the end nor left by a failure, `answered` follows
    instead, if there is one.

    A failure of the model or of a tool, and a budget that runs out, lead to `salvage`; with a request and a round
    in reserve a budget that runs out leads to `wrap_up` instead.
    """
    limits = parts.spec.limits
    trim, compact, think, act = trim_node(parts), compact_node(parts), think_node(parts), act_node(parts)
    wrap_up, salvage = wrap_up_node(parts), salvage_node()
    asks_again = bool(limits.reserve.requests and limits.reserve.rounds)
    wraps_up = limits.on_limit == "wrap_up"

    thinking, wrapping = think.to(answer=answered or then, calls=act), wrap_up.to(then).on_error(salvage)
    if limits.turn_timeout is not None:
        thinking, wrapping = (
            thinking.using(timeout=limits.turn_timeout),
            wrapping.using(timeout=limits.turn_timeout),
        )
    ends: list[Any] = []
    if wraps_up:
        thinking = thinking.to(limit=wrap_up)
    else:
        fail = fail_node(parts)
        thinking = thinking.using(max_visits=limits.most_turns).over_limit(fail)
        ends.append(fail)
    acting = act.to(again=trim)
    if limits.same_tool_end is not None:
        acting = acting.to(enough=wrap_up)
    if parts.spec.own_tools.completion:
        acting = acting.to(done=answered or then)
    if wraps_up or asks_again or limits.same_tool_end is not None:
        ends.insert(0, wrapping)
    rows = (
        trim.to(fits=think, large=compact),
        compact.to(think).on_error(None, BudgetExhausted).on_error(think),
        thinking.on_error(None, BudgetExhausted).on_error(salvage),
        acting.on_error(None, BudgetExhausted).on_error(salvage),
        *ends,
        salvage.to(then),
    )
    return Loop(trim, rows, wrap_up if asks_again else salvage, limits.reserve)
