"""The index file is written whole or not at all, and a bad one is one clear error."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from flowcore_knowledge import (
    IndexBroken,
    IndexMissing,
    IndexNotWritten,
    IndexTooNew,
    Passage,
    Source,
    SQLiteKnowledge,
)

Open = Callable[..., SQLiteKnowledge]
TEA = (Source(id="tea"), [Passage(source="tea", where="p. 3", text="It steeps.")])


def test_a_build_that_fails_leaves_the_old_index_and_nothing_else(path: Path, opened: Open) -> None:
    knowledge = opened([TEA])

    def fails() -> Iterator[Passage]:
        yield TEA[1][0]
        raise RuntimeError("out of tea")

    with pytest.raises(RuntimeError, match="out of tea"):
        SQLiteKnowledge.build(path, [(Source(id="tea"), fails())])
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert len(knowledge.find("steeps")) == 1


def test_a_reader_keeps_the_index_that_it_opened(path: Path, opened: Open) -> None:
    old = opened([TEA])
    SQLiteKnowledge.build(path, [], fingerprint="two")
    assert len(old.find("steeps")) == 1
    with SQLiteKnowledge(path) as new:
        assert (new.fingerprint, new.find("steeps")) == ("two", ())


def test_an_index_cannot_be_written_by_reading(path: Path, opened: Open) -> None:
    opened([TEA])
    before = path.read_bytes()
    with SQLiteKnowledge(path) as knowledge:
        knowledge.find("steeps")
    assert path.read_bytes() == before


def test_shelves_must_be_in_order(path: Path) -> None:
    with pytest.raises(ValueError, match="'tea' comes twice"):
        SQLiteKnowledge.build(path, [TEA, TEA])
    with pytest.raises(ValueError, match="'tea' stands on the shelf of 'code'"):
        SQLiteKnowledge.build(path, [(Source(id="code"), TEA[1])])
    assert list(path.parent.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(IndexNotWritten, match=r"cannot be written.*choose a folder"):
        SQLiteKnowledge.build(tmp_path / "file" / "index.db", [TEA])
    (tmp_path / "folder" / "kept").mkdir(parents=True)
    with pytest.raises(IndexNotWritten, match="cannot be written"):
        SQLiteKnowledge.build(tmp_path / "folder", [TEA])
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "folder"]


def test_a_missing_file(path: Path) -> None:
    with pytest.raises(IndexMissing, match="build one") as caught:
        SQLiteKnowledge(path)
    assert str(path) in str(caught.value)


def write_text(path: Path) -> None:
    path.write_text("not a database, but long enough to be taken for one " * 50)


def write_nothing(path: Path) -> None:
    path.write_bytes(b"")


def write_other(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE passage (id INTEGER)")


def cut_off(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


def drop_a_table(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE source")


@pytest.mark.parametrize("damage", [write_text, write_nothing, write_other, cut_off, drop_a_table])
def test_a_broken_file(path: Path, opened: Open, damage: Callable[[Path], None]) -> None:
    opened([TEA]).close()
    damage(path)
    with pytest.raises(IndexBroken) as caught:
        SQLiteKnowledge(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert message.endswith("delete the file and build it again")
    assert "\n" not in message


def test_damage_that_only_a_search_meets(path: Path, opened: Open) -> None:
    opened([TEA]).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE words_data")
    with SQLiteKnowledge(path) as knowledge, pytest.raises(IndexBroken, match="build it again"):
        knowledge.find("steeps")


def test_a_newer_format(path: Path, opened: Open) -> None:
    opened([TEA]).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(IndexTooNew, match=r"format 99.*update the kit"):
        SQLiteKnowledge(path)
