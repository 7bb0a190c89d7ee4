"""The database: reached through SQLAlchemy in worker threads, and held to reading where it is only to be read."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, exc, inspect, make_url, text
from sqlalchemy.pool import NullPool

from ..errors import ContractError, ToolError
from ..models.secrets import Secrets
from ..types import is_a
from ..value_text import escaped
from .sqlite_guard import guarded
from .stopping import Stop

__all__ = ["ColumnInfo", "Database", "ForeignKey", "QueryResult", "TableInfo", "TableName"]

_READ_ONLY = {
    "postgresql": "SET TRANSACTION READ ONLY",
    "oracle": "SET TRANSACTION READ ONLY",
    "mysql": "START TRANSACTION READ ONLY",
    "mariadb": "START TRANSACTION READ ONLY",
}
_READS = re.compile(r"(?:select|with|values|table|show|describe|desc|explain)\b", re.IGNORECASE)
_LONGEST_CELL = 2_000
_LONGEST_FAULT = 500
_REFUSALS = ("not authorized", "authorization denied", "readonly database", "prohibited")
_MOST = 30


@dataclass(frozen=True, slots=True)
class TableName:
    """A table, or a view."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """A column with its type, as the database names it."""

    name: str
    type: str
    nullable: bool
    primary_key: bool


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Columns that lead to those of another table."""

    columns: tuple[str, ...]
    table: str
    to: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableInfo:
    """A table or view with its columns."""

    name: str
    columns: tuple[ColumnInfo, ...]
    foreign_keys: tuple[ForeignKey, ...]


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The rows of a query, with the values as the database gave them; `more` says that there were more rows.

    `changed` is how many rows a statement changed that is not a query.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool = False
    changed: int | None = None


class Database:
    """A database, and what may be done with it: each in the thread that calls, until `stop` is set."""

    def __init__(
        self,
        where: str,
        given: str | Engine,
        writable: bool,
        trusted: bool,
        schema: str | None,
        rows: int,
        characters: int,
    ) -> None:
        if not (is_a(given, str) or is_a(given, Engine)):
            raise ContractError(
                f"{where}, database: give a URL or an Engine of SQLAlchemy, and no {type(given).__name__}"
            )
        url = _url(where, given)
        self.dialect = url.get_backend_name()
        self.shown = url.set(username=None, password=None, query={}).render_as_string()
        self.rows = rows
        self.width = 1 if isinstance(given, Engine) and self.dialect == "sqlite" else 4
        self._is_own = isinstance(given, str)
        self._schema = schema
        self._characters = characters
        self._trusted = trusted
        self._secrets = Secrets([url.password or "", *map(str, url.query.values())])
        known = self.dialect == "sqlite" or self.dialect in _READ_ONLY
        if not known and not (trusted and isinstance(given, Engine)):
            raise ContractError(
                f"{where}: {self.dialect} cannot be held to reading; give an engine whose user may only read, "
                "and trusted=True"
            )
        self._engine = given if isinstance(given, Engine) else _engine(where, url, writable)
        self._file = Path(url.database or "").absolute() if self._is_own and self.dialect == "sqlite" else None

    def close(self) -> None:
        """Let go of the connections, if they are ours."""
        if self._is_own:
            self._engine.dispose()

    def probe(self, stop: Stop) -> None:
        """Return if the database can be reached. Raises `ToolError` otherwise."""
        try:
            if self._file is not None:
                self._file.stat()
        except FileNotFoundError:
            raise ToolError(f"there is no file {escaped(str(self._file))}") from None
        except OSError:
            pass  # the database says what is wrong
        with self._connected(stop) as connection:
            inspect(connection).get_table_names(schema=self._schema)

    def tables(self, stop: Stop) -> tuple[TableName, ...]:
        """Return the tables and views."""
        with self._connected(stop) as connection:
            found = inspect(connection)
            tables = [TableName(name, "table") for name in sorted(found.get_table_names(schema=self._schema))]
            views = [TableName(name, "view") for name in sorted(found.get_view_names(schema=self._schema))]
            return (*tables, *views)

    def describe(self, table: str, stop: Stop) -> TableInfo:
        """Return what is known of a table. Raises `ToolError` if there is none of that name."""
        names = [each.name for each in self.tables(stop)]
        if table not in names:
            listed = ", ".join(map(escaped, names[:_MOST])) + (", ..." if len(names) > _MOST else "")
            raise ToolError(f"there is no table {escaped(table[:100])!r}; there are {listed or 'none'}")
        with self._connected(stop) as connection:
            found = inspect(connection)
            keys = set(found.get_pk_constraint(table, schema=self._schema)["constrained_columns"])
            columns = tuple(
                ColumnInfo(each["name"], str(each["type"]), bool(each["nullable"]), each["name"] in keys)
                for each in found.get_columns(table, schema=self._schema)
            )
            foreign = tuple(
                ForeignKey(
                    tuple(key["constrained_columns"]), key["referred_table"], tuple(key["referred_columns"])
                )
                for key in found.get_foreign_keys(table, schema=self._schema)
            )
        return TableInfo(table, columns, foreign)

    def query(self, sql: str, parameters: Mapping[str, Any], stop: Stop) -> QueryResult:
        """Return the rows of a statement that reads. Raises `ToolError` for any other one."""
        self._must_be_one(sql, reads=True)
        with self._connected(stop) as connection:
            if begin := _READ_ONLY.get(self.dialect):
                connection.exec_driver_sql(begin)
            with self._held(connection, stop, writes=False):
                result = self._result(connection, sql, parameters)
        if not result.columns:
            raise ToolError("it is no query: it has no columns")
        return result

    def execute(self, sql: str, parameters: Mapping[str, Any], stop: Stop) -> QueryResult:
        """Return what a statement that changes the database changed, or its rows."""
        self._must_be_one(sql, reads=False)
        with self._connected(stop) as connection:
            with self._held(connection, stop, writes=True):
                result = self._result(connection, sql, parameters)
            connection.commit()
            return result

    def _must_be_one(self, sql: str, *, reads: bool) -> None:
        """Return if this may be sent. SQLite sees to it by itself, which is better than any look at the text."""
        if self.dialect == "sqlite":
            return
        bare = sql.strip().rstrip(";").strip()
        if ";" in bare:
            raise ToolError("one statement at a time, without ';' inside; give texts with parameters")
        if "/*!" in bare or (reads and not self._trusted and not _READS.match(bare)):
            raise ToolError("it may only read: begin with SELECT or WITH, and no comment")

    @contextmanager
    def _connected(self, stop: Stop) -> Generator[Connection]:
        """Give a connection whose transaction is rolled back in the end, and whose faults are told in words."""
        try:
            with self._engine.connect() as connection:
                yield connection
        except (
            exc.SQLAlchemyError,
            sqlite3.Error,
            sqlite3.Warning,
            ValueError,
            OverflowError,
            TypeError,
        ) as error:
            if stop.is_set():
                raise ToolError("it was stopped") from None
            raise ToolError(self._words(error)) from None

    @contextmanager
    def _held(self, connection: Connection, stop: Stop, *, writes: bool) -> Generator[None]:
        driver: Any = connection.connection.driver_connection
        if isinstance(driver, sqlite3.Connection):
            with guarded(driver, stop, writes=writes):
                yield
        else:  # psycopg and its like can end what they run; another database goes on to the end of it
            with stop.doing(getattr(driver, "cancel", None)):
                yield

    def _result(self, connection: Connection, sql: str, parameters: Mapping[str, Any]) -> QueryResult:
        given = dict(parameters)
        is_plain = self.dialect == "sqlite" and not given  # other drivers read % even where there are no values
        found = connection.exec_driver_sql(sql) if is_plain else connection.execute(text(sql), given)
        if not found.returns_rows:
            return QueryResult((), (), changed=found.rowcount if found.rowcount >= 0 else None)
        left = self._characters
        rows: list[tuple[Any, ...]] = []
        more = False
        for row in found:
            cells = tuple(map(_short, row))
            left -= sum(len(str(cell)) for cell in cells)
            if more := len(rows) == self.rows or left < 0:
                break
            rows.append(cells)
        columns = tuple(found.keys())
        found.close()
        return QueryResult(columns, tuple(rows), more)

    def _words(self, error: Exception) -> str:
        cause = error.orig if isinstance(error, exc.DBAPIError) and error.orig is not None else error
        said = escaped(self._secrets.scrub(" ".join(str(cause).partition("\n[SQL")[0].split())))[:_LONGEST_FAULT]
        if any(word in said for word in _REFUSALS):
            return f"this may not be done here: {said}"
        return said or type(cause).__name__


def _short(value: Any) -> Any:
    """Return a value, or of a long one its beginning."""
    if isinstance(value, memoryview):
        value = bytes(value)
    if isinstance(value, str) and len(value) > _LONGEST_CELL:
        return f"{value[:_LONGEST_CELL]}... ({len(value) - _LONGEST_CELL:,} more characters)"
    if isinstance(value, bytes) and len(value) > _LONGEST_CELL:
        return value[:_LONGEST_CELL]
    return value


def _url(where: str, given: str | Engine) -> URL:
    if isinstance(given, Engine):
        return given.url
    try:
        return make_url(given)
    except (exc.ArgumentError, ValueError):
        raise ContractError(f"{where}, database: give a URL such as 'sqlite:///data.db'") from None


def _engine(where: str, url: URL, writable: bool) -> Engine:
    try:
        dialect = url.get_dialect()
        if dialect.is_async:
            raise ContractError(
                f"{where}, database: give the URL of a driver that is not async; it runs in threads"
            )
        if url.get_backend_name() != "sqlite":
            return create_engine(url, pool_size=4, pool_pre_ping=True, hide_parameters=True)
    except (exc.SQLAlchemyError, ImportError) as error:
        raise ContractError(f"{where}, database: {error}") from None
    path = url.database or ""
    if path in ("", ":memory:") or path.startswith("file:"):
        raise ContractError(f"{where}, database: give the path of a file; give one in memory as an engine")
    place = f"file:{quote(str(Path(path).absolute()))}?mode={'rw' if writable else 'ro'}"

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(place, uri=True, check_same_thread=False, timeout=5.0)

    return create_engine("sqlite://", creator=connect, poolclass=NullPool, hide_parameters=True)
