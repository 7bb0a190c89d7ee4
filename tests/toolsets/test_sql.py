"""SQL: what can be read, what is refused however it is dressed up, and what is stopped."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import Engine, create_engine
from sqlalchemy.pool import StaticPool
from tests.toolsets.bench import bench

from flowcore import ContractError
from flowcore.toolsets import SQLToolset

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "a shop.db"
    with closing(sqlite3.connect(path)) as made:
        made.executescript("""
            CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE orders (
                id INTEGER PRIMARY KEY, person INTEGER REFERENCES people (id), note TEXT, scan BLOB
            );
            CREATE VIEW names AS SELECT name FROM people;
            INSERT INTO people VALUES (1, 'Ann'), (2, 'Bob');
            INSERT INTO orders VALUES (1, 1, 'x', x'0102');
        """)
    return path


def content(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as read:
        return list(read.iterdump())


@pytest.fixture
def memory() -> Iterator[Engine]:
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT)")
        connection.exec_driver_sql("INSERT INTO people VALUES (1, 'Ann')")
    yield engine
    engine.dispose()


@pytest.mark.behaviour("TOOL-11")
async def test_tables_columns_and_rows_are_told_with_their_types(shop: Path) -> None:
    async with bench(SQLToolset("shop", f"sqlite:///{shop}")) as at:
        assert list(at.tools) == ["shop_tables", "shop_describe", "shop_query"]
        assert [each.effects for each in at.tools.values()] == [False] * 3
        tables = (await at.call("shop_tables")).value.value
        assert [(each.name, each.kind) for each in tables] == [
            ("orders", "table"),
            ("people", "table"),
            ("names", "view"),
        ]
        orders = (await at.call("shop_describe", table="orders")).value.value
        columns = [(each.name, each.type, each.primary_key) for each in orders.columns]
        assert columns[:2] == [("id", "INTEGER", True), ("person", "INTEGER", False)]
        assert [(key.columns, key.table, key.to) for key in orders.foreign_keys] == [
            (("person",), "people", ("id",))
        ]
        there = "It failed: there is no table 'x\"; DROP'; there are orders, people, names"
        assert await at.said("shop_describe", table='x"; DROP') == ("failed", there)
        rows = await at.call("shop_query", sql="SELECT * FROM orders WHERE person = :who", parameters={"who": 1})
        assert rows.value.value.rows == ((1, 1, "x", b"\x01\x02"),)
        assert rows.text == (
            '{"columns":["id","person","note","scan"],"rows":[[1,1,"x","AQI="]],"more":false,"changed":null}'
        )


REFUSED = [
    "INSERT INTO people VALUES (3, 'Eve')",
    "WITH a AS (SELECT 3) INSERT INTO people SELECT 3, 'Eve'",
    "UPDATE people SET name = 'Eve' RETURNING *",
    "/* SELECT */ DELETE FROM people",
    "-- SELECT\nDELETE FROM people",
    "SELECT 1; DELETE FROM people",
    "EXPLAIN DELETE FROM people",
    "DROP TABLE people",
    "ALTER TABLE people RENAME TO x",
    "CREATE TABLE x (y)",
    "CREATE TEMP TABLE x (y)",
    "CREATE TRIGGER t AFTER INSERT ON people BEGIN SELECT 1; END",
    "ATTACH DATABASE '{other}' AS other",
    "VACUUM INTO '{other}'",
    "VACUUM",
    "ANALYZE",
    "PRAGMA writable_schema = 1",
    "PRAGMA query_only = 0",
    "PRAGMA journal_mode = WAL",
    "SELECT * FROM pragma_query_only(0)",
    "SELECT load_extension('{other}')",
    "BEGIN",
    "COMMIT",
    "SAVEPOINT s",
    "DETACH main",
    "",
    "SELECT nothing FROM nowhere",
    "SELECT 'not ended",
    "SELECT zeroblob(1000000000)",
    "SELECT :name",
]


@pytest.mark.behaviour("TOOL-11")
@pytest.mark.parametrize("sql", REFUSED)
async def test_what_changes_something_is_refused_and_nothing_is_changed(
    sql: str, shop: Path, memory: Engine
) -> None:
    before, other = content(shop), shop.parent / "other"
    sql = sql.format(other=other)
    for database in (f"sqlite:///{shop}", memory):
        async with bench(SQLToolset("db", database)) as at:
            result = await at.call("db_query", sql=sql)
            assert result.status == "failed", result.text
            assert "\n" not in result.text
            assert (await at.call("db_query", sql="SELECT count(*) FROM people")).status == "ok"
    assert content(shop) == before
    assert not other.exists()
    with memory.begin() as connection:  # the engine is as it was
        connection.exec_driver_sql("INSERT INTO people VALUES (2, 'Bob')")
        assert connection.exec_driver_sql("SELECT * FROM people").fetchall() == [(1, "Ann"), (2, "Bob")]


@pytest.mark.behaviour("TOOL-11")
async def test_rows_cells_and_results_have_a_limit(shop: Path) -> None:
    numbers = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x, {} FROM n"
    async with bench(SQLToolset("db", f"sqlite:///{shop}", rows=7, characters=5_000)) as at:
        few = (await at.call("db_query", sql=numbers.format("'a'"))).value.value
        assert (len(few.rows), few.more) == (7, True)
        wide = (await at.call("db_query", sql=numbers.format("printf('%.*c', 1000, 'x')"))).value.value
        assert (len(wide.rows), wide.more) == (4, True)
        (cell,) = (await at.call("db_query", sql="SELECT printf('%.*c', 9000, 'x')")).value.value.rows[0]
        assert cell == "x" * 2_000 + "... (7,000 more characters)"


@pytest.mark.behaviour("TOOL-11")
async def test_a_query_without_an_end_is_stopped_and_the_next_one_runs(shop: Path, memory: Engine) -> None:
    for database in (f"sqlite:///{shop}", memory):
        async with bench(SQLToolset("db", database, timeout=0.5)) as at:
            with anyio.fail_after(20):
                assert (await at.said("db_query", sql=ENDLESS))[0] == "timeout"
            assert (await at.said("db_query", sql="SELECT 1"))[0] == "ok"


async def test_a_database_may_be_changed_where_that_is_said(shop: Path) -> None:
    other = shop.parent / "other"
    async with bench(SQLToolset("db", f"sqlite:///{shop}", writable=True)) as at:
        assert [name for name, each in at.tools.items() if each.effects] == ["db_execute"]
        added = await at.call(
            "db_execute", sql="INSERT INTO people VALUES (:i, :n)", parameters={"i": 3, "n": "Eve"}
        )
        assert (added.status, added.value.value.changed) == ("ok", 1)
        assert (await at.said("db_query", sql="DELETE FROM people"))[0] == "failed"
        for sql in (
            f"ATTACH '{other}' AS o",
            f"VACUUM INTO '{other}'",
            "PRAGMA foreign_keys = 0",
            "DELETE FROM x; SELECT 1",
        ):
            assert (await at.said("db_execute", sql=sql))[0] == "failed"
    assert not other.exists()
    assert any("'Eve'" in line for line in content(shop))


async def test_a_database_that_is_not_there_is_named_and_not_made(tmp_path: Path) -> None:
    async with bench(SQLToolset("db", f"sqlite:///{tmp_path}/none.db")) as at:
        assert dict(at.catalog.failures) == {"db": f"there is no file {tmp_path}/none.db"}
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("database", "options", "said"),
    [
        (7, {}, "give a URL or an Engine"),
        ("nonsense", {}, "give a URL such as"),
        ("sqlite://", {}, "give one in memory as an engine"),
        ("sqlite:///:memory:", {}, "give one in memory as an engine"),
        ("sqlite+aiosqlite:///x.db", {}, "not async"),
        ("mssql+pyodbc://me:pass-0123@host/db", {}, "mssql cannot be held to reading"),
        ("nowhere://x", {}, "nowhere cannot be held to reading"),
        ("sqlite:///x.db", {"rows": 0}, "give rows and characters above zero"),
        ("sqlite:///x.db", {"timeout": -1}, "timeout=-1: give seconds above zero"),
    ],
)
def test_settings_that_make_no_sense_are_refused_at_once(
    database: Any, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(ContractError) as refused:
        SQLToolset("db", database, **options)
    assert said in str(refused.value)
    assert "pass-0123" not in str(refused.value)
