"""The executor: one result for every call, in the order of the calls, whatever happens to each."""

from __future__ import annotations

import threading
from typing import Annotated, Any

import anyio
import pytest
from pydantic import BaseModel, BeforeValidator
from tests.tools.room import Room, State, call, statuses, turn

from flowcore import Budget, ContractError, Scope, Usage
from flowcore.errors import ToolError
from flowcore.messages import Message, ModelReply, ToolCall
from flowcore.tools import (
    Allow,
    Ask,
    Deny,
    Proposal,
    ToolCatalog,
    ToolContext,
    ToolExecutor,
    ToolResult,
    assistant_message,
    tool,
    tool_messages,
)


async def double(number: int) -> int:
    """Double a number."""
    return number * 2


def broken(reason: str) -> str:
    raise ValueError(reason)


@pytest.mark.behaviour("S0-17", "S0-44", "A69")
async def test_a_tool_that_raises_is_told_and_its_neighbours_keep_their_results() -> None:
    room = Room([double, broken])
    results = await room.run(
        call("double", '{"number": 1}', "a"),
        call("broken", '{"reason": "no"}', "b"),
        call("double", '{"number": 2}', "c"),
    )
    assert [(result.call.id, result.status, result.text, result.value) for result in results] == [
        ("a", "ok", "2", 2),
        ("b", "failed", "It failed: ValueError: no", None),
        ("c", "ok", "4", 4),
    ]
    assert [(event.call, event.status) for event in room.heard("tool.finished")] != []
    assert sorted(event.call for event in room.heard("tool.finished")) == ["a", "b", "c"]
    assert room.heard()[-1].kind == "run.completed"


@pytest.mark.behaviour("S0-13")
@pytest.mark.parametrize("name", ["Search-Web", "search web", "SearchWeb", "SEARCH_WEB", "search.web"])
async def test_a_name_in_another_form_is_found(name: str) -> None:
    ran: list[str] = []
    tools = [tool(name="search_web")(lambda_of(ran)), tool(name="search")(lambda_of(ran))]
    room = Room(tools)
    (result,) = await room.run(call(name, '{"query": "x"}', "1"))
    assert (result.status, ran) == ("ok", ["x"])
    assert [event.tool for event in room.heard("tool.started")] == ["search_web"]
    assert result.call.name == name


def lambda_of(ran: list[str]) -> Any:
    def search(query: str) -> str:
        ran.append(query)
        return query

    return search


@pytest.mark.behaviour("S0-14", "S0-15")
async def test_a_name_that_is_not_there_or_may_mean_two_runs_nothing() -> None:
    ran: list[str] = []
    room = Room([tool(name="read_file")(lambda_of(ran)), tool(name="readFile")(lambda_of(ran))])
    results = await room.run(call("READ FILE", '{"query": "x"}', "1"), call("reed_file", '{"query": "x"}', "2"))
    assert statuses(results) == ["unknown_tool", "unknown_tool"]
    assert results[0].text == ("Not run: there is no tool 'READ FILE'. The tools are: read_file, readFile.")
    assert results[1].text == (
        "Not run: there is no tool 'reed_file'. Did you mean 'read_file'? The tools are: read_file, readFile."
    )
    assert (ran, room.heard("tool.started")) == ([], [])


@pytest.mark.behaviour("S0-14", "S2-34")
async def test_arguments_that_do_not_fit_come_back_with_the_reason_and_nothing_ran() -> None:
    room = Room([double])
    results = await room.run(
        call("double", '{"number": "many"}', "1"),
        call("double", '{"number": 1', "2"),
        call("double", "{}", "3"),
        call("double", '{"number": 1, "nmber": 2}', "4"),
    )
    again = "Call double again with all arguments put right."
    fault = "Not run, since the arguments do not fit"
    assert [(result.status, result.handler_ran) for result in results] == [("invalid_arguments", False)] * 4
    kind = "input should be a valid integer, unable to parse string as an integer"
    assert [result.text for result in results] == [
        f"{fault}: number: {kind}, and not 'many'. {again}",
        f"{fault}: the arguments break off: send them again, whole. {again}",
        f"{fault}: number is missing. {again}",
        f"{fault}: nmber is not a parameter: there are number. {again}",
    ]


@pytest.mark.behaviour("S2-35", "S2-39")
async def test_what_is_not_of_the_promised_type_is_not_handed_on_and_what_was_done_stays_done() -> None:
    written: list[str] = []

    class Receipt(BaseModel):
        number: int

    @tool
    def write(text: str) -> Receipt:
        written.append(text)
        return {"number": "none"}  # type: ignore[return-value]

    (result,) = await Room([write]).run(call("write", '{"text": "x"}'))
    assert (result.status, result.value, result.handler_ran, written) == ("invalid_output", None, True, ["x"])
    kind = "input should be a valid integer, unable to parse string as an integer"
    fault = f"It ran, but did not return what it promises: number: {kind}, and not 'none'."
    assert result.text == f"{fault} What it changed outside is not undone."


async def test_a_result_is_handed_on_as_its_type_and_told_as_json() -> None:
    class Receipt(BaseModel):
        number: int

    @tool
    def write() -> Receipt:
        return {"number": "3"}  # type: ignore[return-value]

    @tool(output=list[int])
    def numbers() -> Any:
        return ("1", 2)

    def nothing() -> None: ...

    results = await Room([write, numbers, nothing]).run(call("write"), call("numbers"), call("nothing"))
    assert [(result.value, result.text) for result in results] == [
        (Receipt(number=3), '{"number":3}'),
        ([1, 2], "[1,2]"),
        (None, "null"),
    ]


@pytest.mark.behaviour("S0-19")
@pytest.mark.parametrize("most", [4, 2])
async def test_so_many_run_at_a_time_and_no_more(most: int) -> None:
    working = highest = 0
    full = anyio.Event()

    async def work(number: int) -> int:
        nonlocal working, highest
        working += 1
        highest = max(highest, working)
        if working == most:
            full.set()
        await full.wait()
        for _ in range(10):
            await anyio.lowlevel.checkpoint()
        working -= 1
        return number

    options = {} if most == 4 else {"concurrency": most}
    results = await Room([work], options).run(*(call("work", f'{{"number": {n}}}', f"c{n}") for n in range(8)))
    assert (highest, [result.value for result in results]) == (most, list(range(8)))


@pytest.mark.behaviour("S0-20", "S0-21")
async def test_results_stand_in_the_order_of_the_calls_and_become_messages_one_for_one() -> None:
    done: list[int] = []
    gates = [anyio.Event() for _ in range(4)]

    async def wait(number: int) -> int:
        if number < 3:
            await gates[number + 1].wait()
        done.append(number)
        gates[number].set()
        return number

    calls = tuple(call("wait", f'{{"number": {n}}}', f"c{n}") for n in range(4))
    results = await Room([wait]).run(*calls)
    assert done == [3, 2, 1, 0]
    reply = ModelReply("Let me see.", tool_calls=calls, reasoning="hm")
    assert [assistant_message(reply), *tool_messages(results)] == [
        Message("assistant", "Let me see.", calls),
        *(Message("tool", str(n), tool_call_id=f"c{n}") for n in range(4)),
    ]


@pytest.mark.behaviour("S1-10", "S1-11")
async def test_a_call_is_normalised_then_hooked_then_judged_then_dispatched_then_compacted() -> None:
    order: list[str] = []

    def normalised(value: str) -> str:
        order.append("normalise")
        return value.strip()

    @tool
    def read(path: Annotated[str, BeforeValidator(normalised)]) -> str:
        order.append("dispatch")
        return path * 100

    def before_tool_call(proposal: Proposal) -> None:
        order.append(f"hook {proposal.arguments}")

    async def policy(proposal: Proposal) -> Allow:
        order.append(f"policy {proposal.tool.name}")
        return Allow()

    room = Room([read], {"hooks": [before_tool_call], "policy": policy, "max_result": 100})
    (result,) = await room.run(call("Read", "{'path': ' ab ',}"))
    assert order == ["normalise", "hook {'path': 'ab'}", "policy read", "dispatch"]
    assert result.value == "ab" * 100
    assert result.text == f"{'ab' * 33}\n[... 100 of 200 characters left out ...]\n{'ab' * 17}"
    kinds = [event.kind for event in room.heard() if event.kind.startswith("tool")]
    assert kinds == ["tool.proposed", "tool.started", "tool.finished"]


async def test_ten_megabytes_are_cut_to_what_a_model_can_read() -> None:
    def dump() -> str:
        return "x" * 10_000_000

    (result,) = await Room([dump]).run(call("dump"))
    assert len(result.text) < 20_100
    assert "\n[... 9,980,000 of 10,000,000 characters left out ...]\n" in result.text
    assert len(result.value) == 10_000_000


@pytest.mark.behaviour("A119")
async def test_two_calls_of_one_id_get_ids_of_their_own_and_each_runs_its_own_tool() -> None:
    ran: list[str] = []

    def keep(name: str) -> str:
        ran.append(f"keep {name}")
        return f"kept {name}"

    def drop(name: str) -> str:
        ran.append(f"drop {name}")
        return f"dropped {name}"

    calls = (
        ToolCall("dup", "keep", '{"name": "a"}'),
        ToolCall("dup", "drop", '{"name": "b"}'),
        ToolCall("", "keep", '{"name": "c"}'),
    )

    def policy(proposal: Proposal) -> Allow | Deny:
        return Allow() if proposal.tool.name == "keep" else Deny("it stays")

    results = await Room([keep, drop], {"policy": policy}).run(*calls)
    assert [(result.call.id, result.status, result.text) for result in results] == [
        ("dup", "ok", "kept a"),
        ("dup-2", "denied", "Denied: it stays."),
        ("call-2", "ok", "kept c"),
    ]
    assert sorted(ran) == ["keep a", "keep c"]
    sent = assistant_message(ModelReply("", tool_calls=calls)).tool_calls
    assert [one.id for one in sent] == ["dup", "dup-2", "call-2"]
    again = await Room([keep, drop], {"policy": policy}).run(*sent)
    assert [result.call.id for result in again] == ["dup", "dup-2", "call-2"]


@pytest.mark.behaviour("A119")
@pytest.mark.parametrize(
    ("said", "given"),
    [
        (["dup", "dup", "dup-2"], ["dup", "dup-3", "dup-2"]),
        (["dup-2", "dup", "dup", "dup"], ["dup-2", "dup", "dup-3", "dup-4"]),
        (["", "call-2", ""], ["call-3", "call-2", "call-4"]),
    ],
)
def test_an_id_that_is_given_never_meets_one_that_a_model_said(said: list[str], given: list[str]) -> None:
    calls = tuple(ToolCall(id, "keep", "{}") for id in said)
    assert [one.id for one in assistant_message(ModelReply("", tool_calls=calls)).tool_calls] == given


@pytest.mark.behaviour("A119")
async def test_of_two_calls_of_one_id_the_one_that_a_person_agreed_to_is_run() -> None:
    ran: list[str] = []

    def drop(name: str) -> str:
        ran.append(name)
        return f"dropped {name}"

    calls = [ToolCall("dup", "drop", '{"name": "a"}'), ToolCall("dup", "drop", '{"name": "b"}')]
    room = Room([drop], {"policy": lambda proposal: Ask()})
    async with room.flow(calls).start(State(), clock=room.clock) as run:
        while len(run.requests) < 2:
            await anyio.lowlevel.checkpoint()
        (second,) = (request for request in run.requests if request.arguments == '{"name":"b"}')
        assert [request.call_id for request in run.requests] == ["dup", "dup-2"]
        await run.answer(second.id, True)
        await run.answer(None, False)
        await run.wait()
    assert [(one.call.id, one.status) for one in room.results] == [("dup", "denied"), ("dup-2", "ok")]
    assert ran == ["b"]


@pytest.mark.behaviour("S2-36")
def test_a_proposal_is_no_receipt() -> None:
    proposed = ToolCall("1", "delete", "{}")
    assert not issubclass(ToolCall, ToolResult)
    assert not issubclass(ToolResult, ToolCall)
    assert not hasattr(proposed, "status")
    assert not hasattr(Proposal, "status")


@pytest.mark.behaviour("S2-37")
async def test_nothing_runs_because_a_model_named_it() -> None:
    ran: list[str] = []

    def delete() -> None:
        ran.append("delete")

    catalog = ToolCatalog([delete])
    executor = ToolExecutor(catalog)
    reply = ModelReply("", tool_calls=(call("delete"),))
    message = assistant_message(reply)
    assert ([schema.name for schema in await catalog.for_request()], ran) == (["delete"], [])
    async with Scope(Budget()):
        await executor.run(message.tool_calls)
    assert ran == ["delete"]


@pytest.mark.behaviour("S0-12")
async def test_what_a_request_may_not_use_is_neither_told_nor_run() -> None:
    ran: list[str] = []

    def read() -> None:
        ran.append("read")

    def write() -> None:
        ran.append("write")

    room = Room([read, write])
    catalog = ToolCatalog([read, write])
    assert [schema.name for schema in await catalog.for_request(["read", "none"])] == ["read"]
    assert [schema.name for schema in await catalog.for_request(lambda tool: tool.name == "write")] == ["write"]
    results = await room.run(call("write"), call("read"), allowed={"read"})
    assert [(result.status, result.text) for result in results] == [
        ("denied", "Denied: write may not be used here."),
        ("ok", "null"),
    ]
    assert (ran, [event.reason for event in room.heard("tool.denied")]) == (
        ["read"],
        ["write may not be used here."],
    )


@pytest.mark.behaviour("S0-12", "S0-13", "S0-15")
async def test_a_name_means_the_tool_that_bears_it_and_then_one_that_may_be_used() -> None:
    ran: list[str] = []

    @tool(name="read_file", on_failure="fail")
    def open_to_all(query: str) -> None:
        ran.append(query)
        raise OSError("no disk")

    room = Room([open_to_all, tool(name="readFile")(lambda_of(ran))])
    (result,) = await room.run(call("readFile", '{"query": "secret"}'), allowed={"read_file"})
    assert (result.status, result.text) == ("denied", "Denied: readFile may not be used here.")
    assert ran == []
    with pytest.raises(ToolError, match="read_file: It failed: OSError: no disk"):
        await room.run(call("READ FILE", '{"query": "x"}'), allowed={"read_file"})
    assert ran == ["x"]
    assert {event.tool for event in room.heard() if event.kind.startswith("tool")} == {"read_file"}
    history = [turn(call(name, '{"query": "y"}')) for name in ("READ FILE", "read-file")]
    (again,) = await room.run(call("ReadFile", '{"query": "y"}'), allowed={"read_file"}, history=history)
    assert (again.status, ran) == ("skipped", ["x"])


async def test_a_plain_function_works_in_a_thread_and_sees_the_run() -> None:
    here = threading.get_ident()

    def look(context: ToolContext[str], word: str) -> list[str | None]:
        context.emit("half")
        context.scope.charge(requests=1)
        where = "elsewhere" if threading.get_ident() != here else "here"
        return [where, word, context.deps, context.path, context.call_id, context.tool]

    @tool
    async def ask(context: ToolContext[str]) -> str:
        context.emit({"at": 1})
        return context.run_id

    room = Room([look, ask])
    executor = room.executor
    async with Scope(Budget()) as scope:
        results = await executor.run([call("look", '{"word": "w"}', "c"), call("ask")], deps="d")
    assert results[0].value == ["elsewhere", "w", "d", "", "c", "look"]
    assert results[1].value == ""
    assert scope.used == Usage(requests=1, tool_calls=2)
    results = await room.run(call("look", '{"word": "w"}', "c"), call("ask"))
    assert results[0].value == ["elsewhere", "w", None, "go#1", "c", "look"]
    assert len(results[1].value) == 32
    deltas = {(event.call, str(event.data)) for event in room.heard("tool.delta")}
    assert deltas == {("c", "half"), ("ask", "{'at': 1}")}


async def test_without_a_scope_there_is_nobody_to_pay() -> None:
    with pytest.raises(LookupError, match="no scope here"):
        await Room([double]).executor.run([call("double", '{"number": 1}')])
    assert await Room([double]).executor.run([], scope=Scope()) == ()


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"concurrency": 0}, "concurrency=0"),
        ({"concurrency": True}, "concurrency=True"),
        ({"timeout": 0}, "timeout=0"),
        ({"max_result": 5}, "max_result=5"),
        ({"max_result": 150.5}, "max_result=150.5"),
        ({"policy": "allow"}, "policy='allow'"),
        ({"guard": 3}, "guard=3"),
        ({"hooks": ["no"]}, "hooks=.'no'."),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(option: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        ToolExecutor(ToolCatalog([]), **option)


def test_an_executor_is_given_a_catalogue_and_not_its_tools() -> None:
    with pytest.raises(ContractError, match=r"give a catalogue, as in ToolExecutor\(ToolCatalog\(\[...\]\)\)"):
        ToolExecutor([double])  # type: ignore[arg-type]
