"""The tail: what stands between the end of the loop and the end of the run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flowcore.errors import NotDone
from flowcore_agent.delivery.nodes import clean_node, deliver_node, send_node, store_node
from flowcore_agent.guard import guard_output_node
from flowcore_agent.parts import Parts

__all__ = ["Tail", "tail_rows"]


@dataclass(frozen=True, slots=True)
class Tail:
    """The end of a flow: where it begins, and its rows."""

    entry: Any
    rows: tuple[Any, ...]


def tail_rows(parts: Parts) -> Tail:
    """Return the end of an agent's flow. What its spec does not ask for is not there.

    What keeps and sends the answer is begun at most once. Where it is found that it was interrupted before it had
    done anything, another node does it; where it fails, that is an issue of the reply.
    """
    spec, seconds = parts.spec, parts.spec.limits.tool_timeout
    deliver: Any = deliver_node()
    rows: tuple[Any, ...] = (deliver,)
    then = deliver
    if spec.delivery is not None:
        store: Any = store_node(spec.delivery, seconds)
        store_again: Any = store_node(spec.delivery, seconds, is_again=True)
        send: Any = send_node(spec.delivery, seconds)
        send_again: Any = send_node(spec.delivery, seconds, is_again=True)
        rows = (
            store.to(send).on_error(store_again, NotDone).on_error(send),
            store_again.to(send).on_error(send),
            send.to(deliver).on_error(send_again, NotDone).on_error(deliver),
            send_again.to(deliver).on_error(deliver),
            deliver,
        )
        then = store
    if spec.output_guards:
        guard: Any = guard_output_node(parts)
        rows = (guard.to(passed=then, blocked=then), *rows)
        then = guard
    if then is deliver:
        return Tail(deliver, rows)
    clean: Any = clean_node()
    return Tail(clean, (clean.to(then), *rows))
