"""Files that cannot be used, disks that fail, transactions that stop half-way: what is told, and what is left."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from flowcore.errors import StoreError
from flowcore.store import SQLiteRunStore, VisitRow, schema
from flowcore.store.schema import APPLICATION, VERSION
from flowcore.testing.store_rows import (
    ME,
    call_row,
    end_row,
    frame_row,
    request_row,
    run_row,
    visit_row,
    write_of,
    written,
)
from flowcore.trigger import Trigger


def _sql(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def _pragma(path: Path, name: str) -> object:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"PRAGMA {name}").fetchone()[0]


def _seqs(rows: list[VisitRow]) -> list[int]:
    return [row.seq for row in rows]


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


class TestOpening:
    def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match=r"none/runs\.db: it cannot be opened .*: see to it that its folder"):
            SQLiteRunStore(tmp_path / "none" / "runs.db")

    def test_a_folder_in_place_of_a_file(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match="that is a folder"):
            SQLiteRunStore(tmp_path)

    def test_what_is_not_a_database_is_left_as_it_is(self, tmp_path: Path) -> None:
        path = tmp_path / "notes.txt"
        path.write_text("not a database, but a text that somebody would miss\n" * 40)
        before = path.read_bytes()
        with pytest.raises(StoreError, match=r"notes\.txt: it is not a database"):
            SQLiteRunStore(path)
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]

    def test_another_programs_database_is_left_as_it_is(self, tmp_path: Path) -> None:
        path = tmp_path / "other.db"
        _sql(path, "CREATE TABLE runs (x)")
        before = path.read_bytes()
        with pytest.raises(StoreError, match="another program's"):
            SQLiteRunStore(path)
        assert path.read_bytes() == before

    def test_another_programs_empty_database(self, tmp_path: Path) -> None:
        path = tmp_path / "other.db"
        _sql(path, "PRAGMA application_id = 7")
        with pytest.raises(StoreError, match="another program's"):
            SQLiteRunStore(path)

    async def test_a_newer_file(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.db"
        await SQLiteRunStore(path).aclose()
        _sql(path, f"PRAGMA user_version = {VERSION + 1}")
        with pytest.raises(StoreError, match=rf"newer flowcore.*format is {VERSION + 1}.*upgrade"):
            SQLiteRunStore(path)

    async def test_the_file_says_whose_it_is(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.db"
        await SQLiteRunStore(path).aclose()
        told = [_pragma(path, name) for name in ("application_id", "user_version", "journal_mode")]
        assert told == [APPLICATION, VERSION, "wal"]

    async def test_an_older_file_is_led_forward(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "runs.db"
        store = SQLiteRunStore(path)
        await store.create(run_row(), write_of(visits=(visit_row(1),)))
        await store.aclose()
        step = "ALTER TABLE visits ADD COLUMN mood TEXT NOT NULL DEFAULT ''"
        monkeypatch.setattr(schema, "VERSION", VERSION + 1)
        monkeypatch.setattr(schema, "_STEPS", (*schema._STEPS, (step, "CREATE TABLE runs (x)")))
        with pytest.raises(StoreError, match="table runs already exists"):
            SQLiteRunStore(path)
        assert _pragma(path, "user_version") == VERSION
        monkeypatch.setattr(schema, "_STEPS", (*schema._STEPS[:-1], (step,)))
        store = SQLiteRunStore(path)
        await written(store, write_of(visits=(visit_row(6),)))
        assert _seqs((await store.load("run")).visits) == [1, 6]
        await store.aclose()
        assert _pragma(path, "user_version") == VERSION + 1

    @pytest.mark.parametrize("path", ["", ":memory:"])
    def test_no_file_at_all(self, path: str) -> None:
        with pytest.raises(ValueError, match="MemoryRunStore"):
            SQLiteRunStore(path)

    def test_options_that_there_are_not(self, tmp_path: Path) -> None:
        off: Any = "OFF"
        with pytest.raises(ValueError, match="'OFF'"):
            SQLiteRunStore(tmp_path / "runs.db", synchronous=off)
        with pytest.raises(ValueError, match="busy_timeout"):
            SQLiteRunStore(tmp_path / "runs.db", busy_timeout=-1)
        assert list(tmp_path.iterdir()) == []

    async def test_a_path_is_the_same_after_a_change_of_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        store = SQLiteRunStore("runs.db")
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        await store.create(run_row(), write_of())
        assert (await store.load("run")).run == run_row()
        assert store.name == "runs.db"
        await store.aclose()
        assert _names(tmp_path) == ["elsewhere", "runs.db"]

    def test_importing_flowcore_loads_no_database(self) -> None:
        code = "import sys, flowcore, flowcore.store; print('sqlite3' in sys.modules)"
        told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert told.stdout == "False\n"


class TestHalfWay:
    """A trigger of the database stops a transaction at its last step."""

    @pytest.mark.behaviour("S1-30")
    @pytest.mark.parametrize("step", ["UPDATE ON calls", "UPDATE ON requests", "UPDATE ON runs", "INSERT ON ends"])
    async def test_an_ending_that_stops_half_way_changes_nothing(self, tmp_path: Path, step: str) -> None:
        path = tmp_path / "runs.db"
        store = SQLiteRunStore(path)
        for run_id, parent in (("run", ""), ("child", "run")):
            row = run_row(run_id, trigger=Trigger("delegation", parent=parent))
            await store.create(row, write_of(run_id, calls=(call_row(),), requests=(request_row(),)))
        before = [await store.load(run_id) for run_id in ("run", "child")]
        is_childs = "NEW.key = 2" if "ON runs" in step else "NEW.run = 2"
        _sql(path, f"CREATE TRIGGER stop BEFORE {step} WHEN {is_childs} BEGIN SELECT RAISE(ABORT, 'torn'); END")
        with pytest.raises(StoreError, match="torn"):
            await store.settle("run", end_row(), write_of(visits=(visit_row(1),)), owner=ME)
        assert [await store.load(run_id) for run_id in ("run", "child")] == before
        _sql(path, "DROP TRIGGER stop")
        assert await store.settle("run", end_row(), write_of(visits=(visit_row(1),)), owner=ME) is True
        runs = await store.runs()
        assert [run.status for run in runs] == ["cancelled", "completed"]
        await store.aclose()

    @pytest.mark.parametrize("at", [0, 3, 9])
    async def test_of_several_that_share_a_transaction_one_fails_alone(self, tmp_path: Path, at: int) -> None:
        path = tmp_path / "runs.db"
        store = SQLiteRunStore(path)
        ids = [f"run {number}" for number in range(10)]
        for run_id in ids:
            await store.create(run_row(run_id), write_of(run_id))
        _sql(
            path,
            f"CREATE TRIGGER stop BEFORE INSERT ON frames WHEN NEW.position / 4294967296 = {at + 1} "
            "BEGIN SELECT RAISE(ABORT, 'torn'); END",
        )
        told: dict[str, str] = {}

        async def write(run_id: str) -> None:
            try:
                await written(store, write_of(run_id, visits=(visit_row(1),), frames=(frame_row(0),)))
            except StoreError as error:
                told[run_id] = str(error)

        async with anyio.create_task_group() as group:
            for run_id in ids:
                group.start_soon(write, run_id)
        assert list(told) == [ids[at]]
        assert "torn" in told[ids[at]]
        for run_id in ids:
            stored = await store.load(run_id)
            assert (len(stored.visits), len(stored.frames)) == ((0, 0) if run_id in told else (1, 1))
        await store.aclose()

    @pytest.mark.parametrize(
        "changes", [{"label": "half \udfff"}, {"tokens": 1 << 70}, {"started": float("nan")}, {"patch": object()}]
    )
    async def test_what_cannot_be_stored_is_refused_and_the_rest_written(
        self, tmp_path: Path, changes: dict[str, object]
    ) -> None:
        store = SQLiteRunStore(tmp_path / "runs.db")
        for run_id in ("odd", "run"):
            await store.create(run_row(run_id), write_of(run_id))
        pending = [
            store.commit(write_of("odd", visits=(visit_row(1, **changes),))),
            store.commit(write_of("run", visits=(visit_row(1),))),
            store.commit(write_of("odd", visits=(visit_row(6),))),
        ]
        for number, waiting in enumerate(pending):
            assert waiting is not None
            if number == 0:
                with pytest.raises(StoreError, match=r"runs\.db"):
                    await waiting
            else:
                await waiting
        assert _seqs((await store.load("odd")).visits) == [6]
        assert _seqs((await store.load("run")).visits) == [1]
        await store.aclose()


class TestDisk:
    async def test_a_full_disk_is_told_and_what_was_written_is_intact(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.db"
        store = SQLiteRunStore(path)
        await store.create(run_row(), write_of(visits=(visit_row(1),)))
        connection = store._file.writing.connection
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        big = write_of(visits=(visit_row(2, patch="x" * 100_000),))
        with pytest.raises(StoreError, match=r"runs\.db: the disk is full .*: free some space"):
            await written(store, big)
        with pytest.raises(StoreError, match="full"):
            await written(store, write_of(visits=(visit_row(2, patch="x" * 100_000),), spent="1"))
        stored = await store.load("run")
        assert (_seqs(stored.visits), stored.run.spent) == ([1], "")
        connection.execute("PRAGMA max_page_count = 1000000")
        await written(store, big)
        assert _seqs((await store.load("run")).visits) == [1, 2]
        await store.aclose()

    def test_a_file_that_may_not_grow(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.db"
        code = """
            import resource, sys, anyio
            from flowcore.errors import StoreError
            from flowcore.store import SQLiteRunStore
            from flowcore.testing.store_rows import run_row, visit_row, write_of, written

            async def main():
                store = SQLiteRunStore(sys.argv[1])
                await store.create(run_row(), write_of())
                resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, -1))
                seq = 0
                try:
                    while True:
                        await written(store, write_of(visits=(visit_row(seq + 1),)))
                        seq += 1
                except StoreError as error:
                    print(seq, error)
                resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
                await written(store, write_of(visits=(visit_row(seq + 2),)))
                print([row.seq for row in (await store.load("run")).visits] == [*range(1, seq + 1), seq + 2])
                await store.aclose()

            anyio.run(main)
        """
        lines = [line.removeprefix(" " * 12) for line in code.splitlines()]
        done = subprocess.run(
            [sys.executable, "-c", "\n".join(lines), str(path)], capture_output=True, text=True, timeout=40
        )
        assert done.stderr == ""
        first, second, _ = done.stdout.split("\n")
        count, told = first.split(" ", 1)
        assert int(count) > 10
        assert told.startswith(str(path))
        assert "what was written before is intact" in told
        assert second == "True"


@pytest.fixture
def written_file(tmp_path: Path) -> Path:
    """A file with a hundred visits in its log, as a process leaves it that is killed."""
    live, path = tmp_path / "live.db", tmp_path / "runs.db"

    async def write() -> None:
        store = SQLiteRunStore(live)
        await store.create(run_row(), write_of())
        for seq in range(1, 101):
            await written(store, write_of(visits=(visit_row(seq),)))
        for end in ("", "-wal"):
            shutil.copyfile(f"{live}{end}", f"{path}{end}")
        await store.aclose()

    anyio.run(write)
    return path


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may look into, unlike those that pytest makes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        path.chmod(0o755)
        yield path
        path.chmod(0o755)


class TestDamage:
    @pytest.mark.parametrize("part", [0.0, 0.13, 0.5, 0.77, 0.999, 1.0])
    def test_a_log_cut_short_keeps_what_stands_before_the_cut(self, written_file: Path, part: float) -> None:
        log = Path(f"{written_file}-wal")
        size = log.stat().st_size
        with log.open("r+b") as file:
            file.truncate(int(size * part))

        async def read() -> list[int]:
            store = SQLiteRunStore(written_file)
            try:
                seqs = _seqs((await store.load("run")).visits)
                await written(store, write_of(visits=(visit_row(len(seqs) + 1),)))
                assert len((await store.load("run")).visits) == len(seqs) + 1
            except StoreError:
                seqs = []
            await store.aclose()
            return seqs

        seqs = anyio.run(read)
        assert seqs == list(range(1, len(seqs) + 1))
        assert len(seqs) == 100 if part == 1.0 else len(seqs) < 100

    @pytest.mark.parametrize("how", ["cut", "scribbled"])
    def test_a_damaged_file_is_told(self, tmp_path: Path, how: str) -> None:
        path = tmp_path / "runs.db"

        async def write() -> None:
            store = SQLiteRunStore(path)
            await store.create(run_row(), write_of(visits=tuple(visit_row(seq) for seq in range(1, 2000))))
            await store.aclose()

        anyio.run(write)
        with path.open("r+b") as file:
            if how == "cut":
                file.truncate(path.stat().st_size // 2)
            else:
                file.seek(4096 * 20)
                file.write(b"\xa5" * (path.stat().st_size - 4096 * 20))

        async def read() -> None:
            store = SQLiteRunStore(path)
            try:
                await store.load("run")
            finally:
                await store.aclose()

        with pytest.raises(StoreError, match=r"runs\.db: it is (damaged|not a database)"):
            anyio.run(read)

    @pytest.mark.skipif(not hasattr(os, "setuid"), reason="rights are kept otherwise on this system")
    @pytest.mark.parametrize("what", ["file", "folder"])
    def test_a_file_or_folder_that_may_not_be_written(self, open_folder: Path, what: str) -> None:
        path = open_folder / "runs.db"
        if what == "file":
            anyio.run(SQLiteRunStore(path).aclose)
            path.chmod(0o444)
        open_folder.chmod(0o555)
        code = (
            "import os, sys\n"
            "from flowcore.errors import StoreError\n"
            "from flowcore.store import SQLiteRunStore\n"
            "if os.getuid() == 0: os.setuid(65534)\n"
            "try: SQLiteRunStore(sys.argv[1])\n"
            "except StoreError as error: print(error)\n"
        )
        done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=40)
        assert done.stderr == ""
        assert done.stdout.startswith(f"{path}: it cannot be ")
        assert "may be written" in done.stdout
