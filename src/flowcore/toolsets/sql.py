"""The SQL toolset: a database that a model may look into, and by default not change."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import anyio
import anyio.to_thread
from pydantic import Field

from ..errors import ContractError
from ..tools import Tool, ToolOutput, tool
from ..tools.result import result_text
from .extras import must_be_there
from .naming import checked_settings, tool_name
from .stopping import Stop

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from .sql_database import Database

__all__ = ["SQLToolset"]

ResultT = TypeVar("ResultT")
Scalar = str | int | float | bool | None
_QUERY = (
    "Run one SQL statement that reads ({dialect}), and return its rows. Values go into `parameters`, and stand in "
    "the statement as :name. At most {rows} rows come back: select what you need, count, group, and use LIMIT."
)
_EXECUTE = (
    "Run one SQL statement that changes the database ({dialect}). Values go into `parameters`, named as :name."
)


class SQLToolset:
    """The tables of a database, their columns, and queries. Needs the extra `sql`.

    The tools are `NAME_tables`, `NAME_describe` and `NAME_query`, each read-only, and with `writable` also
    `NAME_execute`. What only reads is held to it by the database: SQLite opens the file read-only, and refuses
    every other action before the statement begins; PostgreSQL, MySQL, MariaDB and Oracle run it in a read-only
    transaction that is rolled back. Of any other database only an engine of your own is taken, with
    `trusted=True`: give it a user who may only read.

    Args:
        name: What the toolset is known by, and what its tools' names begin with.
        database: The URL of a database, as SQLAlchemy has it, or an engine, which stays open.
        writable: Whether there is a tool that changes the database.
        trusted: The database itself, or its user, refuses what is not to be done.
        schema: The schema whose tables are told; None is the default one.
        rows: How many rows a query returns at most.
        characters: How many characters the values of a result may have together.
        timeout: Seconds that a call may take.

    Raises:
        ContractError: The settings make no sense, or the database cannot be held to reading.
        ToolError: The extra is missing.
    """

    def __init__(
        self,
        name: str,
        database: str | Engine,
        *,
        writable: bool = False,
        trusted: bool = False,
        schema: str | None = None,
        rows: int = 100,
        characters: int = 50_000,
        timeout: float | None = 30.0,
    ) -> None:
        checked_settings("SQLToolset", name, timeout, {})
        must_be_there("sqlalchemy", "sql", "databases")
        if rows < 1 or characters < 1:
            raise ContractError(f"SQLToolset({name!r}): give rows and characters above zero")
        from .sql_database import Database  # noqa: PLC0415 - loads SQLAlchemy

        self._name = name
        self._timeout = timeout
        self._writable = writable
        self._database = Database(f"SQLToolset({name!r})", database, writable, trusted, schema, rows, characters)

    @property
    def name(self) -> str:
        """What the toolset is known by."""
        return self._name

    @property
    def timeout(self) -> float | None:
        """Seconds that a call may take."""
        return self._timeout

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Sequence[Tool]]:
        """Hold the database open, and yield its tools. Raises why it cannot be reached."""
        places = anyio.Semaphore(self._database.width)
        try:
            await _stoppable(places, self._database.probe)
            yield self._tools(self._database, places)
        finally:
            self._database.close()

    def __repr__(self) -> str:
        return f"SQLToolset({self._name!r}, {self._database.shown!r})"

    def _tools(self, database: Database, places: anyio.Semaphore) -> Sequence[Tool]:
        said = {"dialect": database.dialect, "rows": database.rows}
        run = partial(_stoppable, places)

        @tool(name=tool_name("tables", f"{self._name}_"), description="List the tables and views of the database.")
        async def tables() -> ToolOutput:
            return _output(await run(database.tables))

        @tool(name=tool_name("describe", f"{self._name}_"))
        async def describe(table: str) -> ToolOutput:
            """Describe a table or view: its columns with their types, its keys."""
            return _output(await run(partial(database.describe, table)))

        @tool(name=tool_name("query", f"{self._name}_"), description=_QUERY.format(**said))
        async def query(sql: str, parameters: Parameters | None = None) -> ToolOutput:
            return _output(await run(partial(database.query, sql, parameters or {})))

        @tool(name=tool_name("execute", f"{self._name}_"), description=_EXECUTE.format(**said), effects=True)
        async def execute(sql: str, parameters: Parameters | None = None) -> ToolOutput:
            return _output(await run(partial(database.execute, sql, parameters or {})))

        return (tables, describe, query, execute) if self._writable else (tables, describe, query)


Parameters = Annotated[
    dict[str, Scalar], Field(description="Values by the names that they have in the statement.")
]


def _output(value: Any) -> ToolOutput:
    return ToolOutput(result_text(value), value)


async def _stoppable(places: anyio.Semaphore, work: Callable[[Stop], ResultT]) -> ResultT:
    """Run work in a thread; cancelled, it tells the work to stop, and waits until it has."""
    stop = Stop()

    async def watch() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            stop.set()

    async with places:
        results: list[ResultT | Exception] = []
        async with anyio.create_task_group() as group:
            group.start_soon(watch)
            try:
                results.append(await anyio.to_thread.run_sync(work, stop))
            except Exception as error:  # raised outside of the group, which would wrap it
                results.append(error)
            group.cancel_scope.cancel()
    if isinstance(result := results[0], Exception):
        raise result
    return result
