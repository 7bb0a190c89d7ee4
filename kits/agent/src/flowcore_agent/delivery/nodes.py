"""The nodes of the delivery: the answer is cleaned, kept, sent once, and handed to the caller."""

from __future__ import annotations

from dataclasses import replace

from flowcore import Complete, Continue, Node, Step, node
from flowcore_agent.delivery.clean import clean
from flowcore_agent.delivery.once import do_once, was_done
from flowcore_agent.ports import Delivery
from flowcore_agent.reply import AgentReply, Issue
from flowcore_agent.state import AgentState

__all__ = ["clean_node", "deliver_node", "send_node", "store_node"]


def clean_node() -> Node[AgentState, object, None, object]:
    """Make the node that cleans the answer, so that what is looked at, kept and sent is one text."""

    @node(id="clean", starts_round=False, description="Take out what no reader is to see.")
    async def clean_text(step: Step[AgentState]) -> Continue:
        step.state.text = clean(step.state.text)
        return Continue()

    return clean_text


def store_node(
    delivery: Delivery, seconds: float, *, is_again: bool = False
) -> Node[AgentState, object, None, object]:
    """Make the node that keeps the answer with its conversation, at most once.

    The one that `is_again` follows where it is known that the first was interrupted and has kept nothing.
    """
    words = "Keep the answer, which was not kept." if is_again else "Keep the answer, once."

    async def verify(step: Step[AgentState]) -> bool | None:
        return await was_done(delivery, _key(step, "store"), seconds)

    @node(
        id="store_again" if is_again else "store",
        starts_round=False,
        effects=True,
        verify=verify,
        description=words,
    )
    async def store(step: Step[AgentState]) -> Continue:
        request, reply, key = step.state.request, _reply(step), _key(step, "store")
        await do_once(delivery, key, seconds, lambda: delivery.store(request, reply, key))
        return Continue()

    return store


def send_node(
    delivery: Delivery, seconds: float, *, is_again: bool = False
) -> Node[AgentState, object, None, object]:
    """Make the node that sends the answer of a messaging run, at most once, if nothing was sent before.

    The one that `is_again` follows where it is known that the first was interrupted and has sent nothing.
    """
    words = "Send the answer, which was not sent." if is_again else "Send the answer, once."

    async def verify(step: Step[AgentState]) -> bool | None:
        begin(step)
        if not _is_to_be_sent(step.state):
            return True
        was_sent = await was_done(delivery, _key(step, "send"), seconds)
        step.state.was_delivered = bool(was_sent)
        return was_sent

    def begin(step: Step[AgentState]) -> None:
        if not is_again:
            _note(step)

    @node(
        id="send_again" if is_again else "send", starts_round=False, effects=True, verify=verify, description=words
    )
    async def send(step: Step[AgentState]) -> Continue:
        begin(step)
        state = step.state
        if _is_to_be_sent(state):
            request, text, key = state.request, state.text, _key(step, "send")
            await do_once(delivery, key, seconds, lambda: delivery.send(request, text, key))
            state.was_delivered = True
        return Continue()

    return send


def deliver_node() -> Node[AgentState, object, None, AgentReply]:
    """Make the node that ends the run with its reply."""

    @node(id="deliver", description="Hand the clean answer to the caller.")
    async def deliver(step: Step[AgentState]) -> Complete[AgentReply]:
        _note(step)
        return Complete(_reply(step))

    return deliver


def _is_to_be_sent(state: AgentState) -> bool:
    return state.request.source == "message" and bool(state.text) and not state.was_delivered


def _key(step: Step[AgentState], what: str) -> str:
    """Return the key of what is done once in a run of this flow, by a first node or by the one that follows it."""
    return f"{step.idempotency_key.rpartition('/')[0]}/{what}"


def _note(step: Step[AgentState]) -> None:
    """Note what could not be done before."""
    if step.error is not None:
        step.state.issues += (Issue("deliver", step.error.path, str(step.error)),)


def _reply(step: Step[AgentState]) -> AgentReply:
    state = step.state
    return AgentReply(
        text=clean(state.text),
        reason=state.reason,
        is_partial=state.is_partial,
        model=state.model,
        turn=tuple(state.turns),
        attachments=state.attachments,
        issues=state.issues,
        guards=state.guards,
        was_delivered=state.was_delivered,
        usage=replace(step.scope.used, seconds=0.0),
    )
