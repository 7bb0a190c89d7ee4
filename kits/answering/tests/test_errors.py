"""What a port raises: ordinary errors of a generator fall back, everything else leaves the run as it is."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace as Kit
from typing import Any

import anyio
import pytest

from flowcore import Budget, current_scope, result_of
from flowcore.errors import ContractError
from flowcore_answering import AnswerItem, ItemDraft, Review, answer_flow

PORTS = ("generate", "repair", "review", "fallback")


class ReadFailed(Exception):
    """An error of the app's own that must not become an answer."""


def flow_with(kit: Kit, port: str, reply: Any, **settings: Any) -> tuple[Any, Any]:
    """A flow that comes to `port`, where it meets `reply`; and its fallback."""
    ports = {
        "generate": kit.Port(kit.drafts("b")),
        "repair": kit.Port(kit.drafts("b")),
        "review": kit.Port(kit.verdicts()),
        "fallback": kit.Port(kit.words()),
    }
    ports[port] = kit.Port(reply)
    return answer_flow(**ports, **settings), ports["fallback"]


async def stop(caller: anyio.CancelScope) -> None:
    """What a port meets whose caller is cancelled."""
    caller.cancel()
    await anyio.sleep_forever()


async def present(flow: Any, state: Any, delivered: list[Any]) -> None:
    """What an app does with a result."""
    delivered.append(await flow.run(state))


@pytest.mark.parametrize("port", ["generate", "repair"])
@pytest.mark.parametrize("error", [ValueError("bad"), TimeoutError(), ConnectionError("down"), KeyError("a")])
async def test_an_ordinary_failure_falls_back(kit: Kit, port: str, error: Exception) -> None:
    flow, fallback = flow_with(kit, port, error)
    run = await kit.run(flow, kit.state("a", "b"))
    kept = {"generate": "fallback", "repair": "answered"}[port]
    assert kit.statuses(run.value) == {"a": kept, "b": "fallback"}
    assert run.value.items[1].reason.endswith(f"ended by {type(error).__name__}")
    assert len(fallback.calls) == 1


async def test_a_reason_names_the_kind_of_an_error_and_never_its_message(kit: Kit) -> None:
    flow, _ = flow_with(kit, "generate", ValueError("token sk-123"))
    run = await kit.run(flow, kit.state("a"))
    assert run.value.items[0].reason == "ended by ValueError"


@pytest.mark.parametrize("port", ["generate", "repair"])
async def test_a_spent_request_falls_back(kit: Kit, port: str) -> None:
    flow, _ = flow_with(kit, port, lambda *_: current_scope().charge(requests=1))
    run = await kit.run(flow, kit.state("a", "b"), budget=Budget(requests=0))
    assert run.value.items[1].reason.endswith("ended by BudgetExhausted")


@pytest.mark.behaviour("S2-65")
@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("by", ["handle", "caller", "nobody"])
async def test_a_cancelled_run_ends_as_cancelled_and_is_not_turned_into_a_fallback(
    kit: Kit, port: str, by: str
) -> None:
    reached, released = anyio.Event(), anyio.Event()
    ports = {
        "generate": kit.Port(kit.drafts("b")),
        "repair": kit.Port(kit.drafts("b")),
        "review": kit.Port(kit.verdicts()),
        "fallback": kit.Port(kit.words()),
    }
    words, reply = ports["fallback"], ports[port].replies[0]

    async def hang(*given: Any) -> Any:
        reached.set()
        await released.wait()
        return reply(*given)

    ports[port].replies[0] = hang
    flow = answer_flow(**ports)
    async with flow.start(kit.state("a", "b")) as run, anyio.create_task_group() as tasks:
        with anyio.fail_after(5):
            await reached.wait()
        asked = [len(each.calls) for each in ports.values()]
        if by == "handle":
            tasks.start_soon(run.cancel)
        elif by == "caller":
            tasks.cancel_scope.cancel()
        else:
            released.set()
            await run.wait()
    result = await run.wait()
    if by == "nobody":  # the run would have come to the fallback, and does
        assert (result.status, len(words.calls)) == ("completed", 1)
        assert kit.statuses(result.value) == {"a": "answered", "b": "fallback"}
        return
    assert (result.status, result.value, result.failure) == ("cancelled", None, None)
    assert [len(each.calls) for each in ports.values()] == asked
    assert len(words.calls) == (1 if port == "fallback" else 0)
    assert result.trace.path.endswith(f"{port}!")
    assert result.trace[-1].kind == "unfinished"


@pytest.mark.behaviour("S2-65")
@pytest.mark.parametrize("port", PORTS)
async def test_a_caller_that_is_cancelled_gets_no_answer(kit: Kit, port: str) -> None:
    with anyio.CancelScope() as caller:
        flow, fallback = flow_with(kit, port, lambda *_: stop(caller))
        delivered: list[Any] = []
        with pytest.raises(anyio.get_cancelled_exc_class()) as caught:
            await present(flow, kit.state("a", "b"), delivered)
        assert result_of(caught.value).status == "cancelled"
        raise caught.value
    assert (caller.cancelled_caught, delivered) == (True, [])
    assert len(fallback.calls) == (1 if port == "fallback" else 0)


@pytest.mark.behaviour("S2-66")
@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("ids", [["x"], ["a", "b", "x"]])
async def test_a_foreign_item_leaves_the_run(kit: Kit, port: str, ids: list[str]) -> None:
    replies = {
        "generate": [kit.draft(item_id) for item_id in ids],
        "repair": [kit.draft(item_id) for item_id in ids],
        "review": {item_id: Review.passed() for item_id in ids},
        "fallback": dict.fromkeys(ids),
    }
    flow, fallback = flow_with(kit, port, replies[port])
    delivered: list[Any] = []
    with pytest.raises(ContractError, match=r"it was not asked for: .*'x'"):
        await present(flow, kit.state("a", "b"), delivered)
    assert delivered == []
    assert len(fallback.calls) == (1 if port == "fallback" else 0)


@pytest.mark.behaviour("S2-66")
@pytest.mark.parametrize("port", ["generate", "repair"])
async def test_an_item_that_comes_twice_leaves_the_run(kit: Kit, port: str) -> None:
    flow, fallback = flow_with(kit, port, [kit.draft("b"), kit.draft("b")])
    with pytest.raises(ContractError, match="'b' twice"):
        await flow.run(kit.state("a", "b"))
    assert fallback.calls == []


@pytest.mark.behaviour("S2-66")
async def test_a_repairer_may_not_touch_an_accepted_item(kit: Kit) -> None:
    flow, fallback = flow_with(kit, "repair", [kit.draft("b"), kit.draft("a")])
    with pytest.raises(ContractError, match="repair returned items it was not asked for: 'a'"):
        await flow.run(kit.state("a", "b"))
    assert fallback.calls == []


@pytest.mark.behaviour("S2-67")
@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("reply", [None, "text", 7, object()])
async def test_a_reply_of_the_wrong_shape_leaves_the_run(kit: Kit, port: str, reply: Any) -> None:
    flow, fallback = flow_with(kit, port, reply)
    with pytest.raises(ContractError, match=f"{port} returned"):
        await flow.run(kit.state("a", "b"))
    assert len(fallback.calls) == (1 if port == "fallback" else 0)


@pytest.mark.behaviour("S2-67")
async def test_a_generator_that_is_not_async_leaves_the_run(kit: Kit) -> None:
    def generate(items: Sequence[AnswerItem]) -> list[ItemDraft]:
        return []

    fallback = kit.Port(kit.words())
    flow = answer_flow(generate=generate, fallback=fallback)  # type: ignore[arg-type]
    with pytest.raises(ContractError, match="generate returned a list and nothing to await"):
        await flow.run(kit.state("a"))
    assert fallback.calls == []


@pytest.mark.behaviour("S2-74")
@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("family", ["authorization", "read failure", "cancellation", "contract"])
async def test_errors_of_the_four_families_leave_the_run_as_they_are(kit: Kit, port: str, family: str) -> None:
    raised: dict[str, Exception] = {
        "authorization": PermissionError("refused"),
        "read failure": ReadFailed("disk"),
        "contract": ContractError("broken"),
    }
    delivered: list[Any] = []
    caught: list[BaseException] = []
    with anyio.CancelScope() as caller:
        reply = raised[family] if family in raised else lambda *_: stop(caller)
        flow, fallback = flow_with(kit, port, reply, propagate=(PermissionError, ReadFailed))
        try:
            await present(flow, kit.state("a", "b"), delivered)
        except BaseException as error:
            caught.append(error)
            if family not in raised:
                raise
    [error] = caught
    result = result_of(error)
    if family in raised:
        assert (error, result.status, result.trace[-1].kind) == (raised[family], "failed", "failed")
    else:
        assert type(error).__name__ in ("Cancelled", "CancelledError")
        assert (caller.cancelled_caught, result.status) == (True, "cancelled")
    assert result.trace[-1].node == port
    assert (delivered, result.value) == ([], None)
    assert len(fallback.calls) == (1 if port == "fallback" else 0)


@pytest.mark.behaviour("S2-74")
@pytest.mark.parametrize("port", ["review", "fallback"])
async def test_any_error_of_a_reviewer_or_fallback_leaves_the_run(kit: Kit, port: str) -> None:
    error = ValueError("bad")
    flow, _ = flow_with(kit, port, error)
    with pytest.raises(ValueError, match="bad") as caught:
        await flow.run(kit.state("a", "b"))
    assert caught.value is error


@pytest.mark.behaviour("S2-74")
async def test_authorisation_propagates_unless_the_app_says_otherwise(kit: Kit) -> None:
    flow, _ = flow_with(kit, "generate", PermissionError("refused"))
    with pytest.raises(PermissionError):
        await flow.run(kit.state("a", "b"))
    flow, _ = flow_with(kit, "generate", PermissionError("refused"), propagate=())
    assert kit.statuses(await flow.run(kit.state("a"))) == {"a": "fallback"}


async def test_an_error_of_a_check_leaves_the_run(kit: Kit) -> None:
    def broken(item: AnswerItem, draft: ItemDraft) -> list[str]:
        raise ZeroDivisionError

    flow, fallback = flow_with(kit, "generate", kit.drafts(), checks=[broken])
    with pytest.raises(ZeroDivisionError):
        await flow.run(kit.state("a"))
    assert fallback.calls == []
