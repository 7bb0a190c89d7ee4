"""SQL on PostgreSQL: read in a transaction that cannot write, and ended at the server when it takes too long."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import anyio
import pytest
from sqlalchemy import Engine, create_engine
from tests.toolsets.bench import bench

from flowcore.toolsets import SQLToolset


@pytest.fixture
def engine(postgres: str) -> Iterator[Engine]:
    engine = create_engine(postgres)
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE IF EXISTS people")
        connection.exec_driver_sql("CREATE TABLE people (id serial PRIMARY KEY, name text, share numeric(4, 2))")
        connection.exec_driver_sql("INSERT INTO people (name, share) VALUES ('Ann', 1.5)")
    yield engine
    engine.dispose()


REFUSED = [
    "INSERT INTO people (name) VALUES ('Eve')",
    "WITH a AS (INSERT INTO people (name) VALUES ('Eve') RETURNING id) SELECT * FROM a",
    "/* SELECT */ DELETE FROM people",
    "SELECT 1; DELETE FROM people",
    "SELECT 1; COMMIT; DELETE FROM people",
    "EXPLAIN ANALYZE DELETE FROM people",
    "SELECT nextval('people_id_seq')",
    "SELECT set_config('transaction_read_only', 'off', false)",
    "SET TRANSACTION READ WRITE",
    "COMMIT",
    "SELECT * FROM people FOR UPDATE",
    "SELECT lo_create(0)",
    "CREATE TEMP TABLE x (y int)",
    "COPY people TO '/tmp/flowcore-people'",
    "DO $$ BEGIN DELETE FROM people; END $$",
    "SELECT :name",
]


@pytest.mark.behaviour("TOOL-11")
async def test_what_changes_something_is_refused_by_the_transaction(engine: Engine, postgres: str) -> None:
    async with bench(SQLToolset("db", postgres)) as at:
        for sql in REFUSED:
            assert (await at.said("db_query", sql=sql))[0] == "failed", sql
        rows = await at.call(
            "db_query", sql="SELECT id, name, share, 'a%b' FROM people WHERE id = :i", parameters={"i": 1}
        )
        assert rows.value.value.rows == ((1, "Ann", Decimal("1.50"), "a%b"),)
        percent = await at.call("db_query", sql="SELECT 'a%b', '1'::text")
        assert percent.value.value.rows == (("a%b", "1"),)
        assert (await at.call("db_describe", table="people")).value.value.columns[2].type == "NUMERIC(4, 2)"


@pytest.mark.behaviour("TOOL-11")
async def test_a_query_that_takes_too_long_is_ended_at_the_server(engine: Engine) -> None:
    running = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND state = 'active'"
    async with bench(SQLToolset("db", engine, timeout=0.3)) as at:
        with anyio.fail_after(4):
            assert (await at.said("db_query", sql="SELECT pg_sleep(60)"))[0] == "timeout"
        assert (await at.call("db_query", sql=f"{running} AND pid <> pg_backend_pid()")).value.value.rows == (
            (0,),
        )


async def test_a_database_may_be_changed_where_that_is_said(engine: Engine) -> None:
    async with bench(SQLToolset("db", engine, writable=True)) as at:
        added = await at.call("db_execute", sql="INSERT INTO people (name) VALUES (:n)", parameters={"n": "Bob"})
        assert (added.status, added.value.value.changed) == ("ok", 1)
        assert (await at.call("db_query", sql="SELECT count(*) FROM people")).value.value.rows == ((2,),)
