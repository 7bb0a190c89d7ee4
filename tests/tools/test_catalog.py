"""The catalogue: unique names, toolsets that are opened when they are asked for, and those that fail."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio
import pytest
from tests.tools.room import Room, call

from flowcore import ContractError
from flowcore.tools import Tool, ToolCatalog, tool


def made(*names: str) -> tuple[Tool, ...]:
    async def run() -> str:
        return "ran"

    return tuple(tool(name=name)(run) for name in names)


class Server:
    """A toolset that keeps count of who opens it, and in which task it is opened and closed."""

    timeout = None

    def __init__(self, name: str, tools: tuple[Tool, ...] = (), fault: Callable[[], Any] | None = None) -> None:
        self.name = name
        self.tools = tools
        self.fault = fault
        self.log: list[str] = []
        self.task: Any = None

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[tuple[Tool, ...]]:
        self.log.append("open")
        self.task = anyio.get_current_task().id
        if self.fault is not None:
            await self.fault()
        async with anyio.create_task_group() as group:  # as clients of servers do: left where it was entered
            group.start_soon(anyio.sleep_forever)
            try:
                yield self.tools
            finally:
                same = self.task == anyio.get_current_task().id
                self.log.append("close" if same else "close elsewhere")
                group.cancel_scope.cancel()


def names(schemas: Any) -> list[str]:
    return [schema.name for schema in schemas]


def first(query: str) -> str:
    return query


def test_two_tools_of_one_name_are_one_error_that_lists_all_of_them() -> None:
    other = made("first", "again", "again")
    with pytest.raises(ContractError) as refused:
        ToolCatalog([first, *other])
    run = "test_catalog.made.<locals>.run"
    said = str(refused.value).replace(f"{__name__}.", "test_catalog.")
    assert said == (
        f"several tools have one name: 'first' test_catalog.first and {run}; 'again' {run} and {run}. "
        "Give each a name of its own, with name="
    )
    with pytest.raises(ContractError, match="several toolsets have one name: 'files'"):
        ToolCatalog([Server("files"), Server("files")])
    with pytest.raises(ContractError, match="give tools, functions and toolsets"):
        ToolCatalog(["search"])  # type: ignore[list-item]
    with pytest.raises(ContractError, match=r"give a list, ToolCatalog\(\[\.\.\.\]\)"):
        ToolCatalog(cast(Any, len))


async def test_one_name_is_no_list_of_names() -> None:
    catalog = ToolCatalog(made("find", "find_all"))
    with pytest.raises(ContractError, match=r"give the names in a list, as in \['find_all'\]"):
        await catalog.usable("find_all")
    assert list(await catalog.usable(["find_all"])) == ["find_all"]


@pytest.mark.behaviour("S0-12")
async def test_toolsets_are_opened_once_when_they_are_asked_for_and_closed_where_they_were_opened() -> None:
    server = Server("files", made("read", "write"))
    async with ToolCatalog([first, server]) as catalog:
        assert (server.log, list(catalog.tools)) == ([], ["first"])
        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(catalog.for_request)
        assert names(await catalog.for_request()) == ["first", "read", "write"]
        assert names(await catalog.for_request(lambda each: each.toolset == "files")) == ["read", "write"]
        assert server.log == ["open"]
    assert server.log == ["open", "close"]
    assert list(catalog.tools) == ["first"]


async def refuse() -> None:
    raise ExceptionGroup("connecting", [ConnectionRefusedError("port 1 of \x1b[1mhost")])


@pytest.mark.behaviour("TOOL-5")
async def test_a_toolset_that_fails_is_named_with_its_reason_and_the_rest_goes_on() -> None:
    good, bad, slow = (
        Server("good", made("read")),
        Server("bad", fault=refuse),
        Server("slow", fault=anyio.sleep_forever),
    )
    clash, twice = Server("clash", made("first", "other")), Server("twice", made("a", "a"))
    async with ToolCatalog([first, bad, slow, good, clash, twice], open_timeout=0.05) as catalog:
        assert names(await catalog.for_request()) == ["first", "read"]
        assert dict(catalog.failures) == {
            "bad": "ConnectionRefusedError: port 1 of \\x1b[1mhost",
            "slow": "it did not open within 0.05 s",
            "clash": f"its tools have names that are taken: first (also of {__name__}.first)",
            "twice": "it offers two tools of one name: a",
        }
        assert (clash.log, twice.log) == (["open", "close"], ["open", "close"])
        await catalog.for_request()
        assert (bad.log, good.log) == (["open"], ["open"])
        bad.fault, bad.tools = None, made("mend")
        await catalog.open()
        assert names(await catalog.for_request()) == ["first", "mend", "read"]
        assert "bad" not in catalog.failures
        assert good.log == ["open"]


async def test_a_call_of_a_toolset_that_went_away_fails_and_the_others_do_not() -> None:
    async def gone() -> None:
        raise ConnectionError("the server went away")

    server = Server("files", (tool(name="read")(gone),))
    results = await Room([first, server]).run(call("read"), call("first", '{"query": "x"}'))
    assert [(result.status, result.text) for result in results] == [
        ("failed", "It failed: ConnectionError: the server went away"),
        ("ok", "x"),
    ]


async def test_who_is_cancelled_while_toolsets_open_leaves_none_open() -> None:
    good, slow = Server("good", made("read")), Server("slow", fault=anyio.sleep_forever)
    catalog = ToolCatalog([good, slow])
    with anyio.move_on_after(0.05) as scope:
        await catalog.for_request()
    assert scope.cancelled_caught
    assert (good.log, slow.log) == (["open", "close"], ["open"])
    assert dict(catalog.tools) == {}
