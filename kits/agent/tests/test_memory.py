"""Memory: kept of each user with each agent apart, found by its words, in a file or in the process."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace as Kit
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowcore_agent import MemoryChange, MemoryUnusable, OwnTools, Reconciled, Remembered, SQLiteMemory
from flowcore_agent.memory.words import match

ANN = ("ann", "shop")


@pytest.fixture(params=["file", "process"])
def memory(request: Any, tmp_path: Path) -> Iterator[SQLiteMemory]:
    with SQLiteMemory(tmp_path / "memory.db" if request.param == "file" else None) as made:
        yield made


async def texts(memory: SQLiteMemory, user: str = "ann", agent: str = "shop") -> list[str]:
    return [each.text for each in reversed(await memory.latest(user, agent, 99))]


async def test_what_was_saved_is_recalled_by_its_words_the_best_first(memory: SQLiteMemory) -> None:
    for text in ("She drinks oolong tea.", "She lives in Zürich.", "Her tea shop sells tea and more tea."):
        await memory.save(*ANN, text)
    assert await memory.recall(*ANN, "which teas?", 5) == [
        "Her tea shop sells tea and more tea.",
        "She drinks oolong tea.",
    ]
    assert await memory.recall(*ANN, "which teas?", 1) == ["Her tea shop sells tea and more tea."]
    assert await memory.recall(*ANN, "ZURICH", 5) == ["She lives in Zürich."]
    assert await memory.recall(*ANN, "Does she drink coffee in Bonn?", 5) == ["She drinks oolong tea."]
    assert await memory.recall(*ANN, "she", 5) != []
    for query in ("", " ?! ", "coffee"):
        assert await memory.recall(*ANN, query, 5) == []
    assert await memory.recall(*ANN, "tea", 0) == []


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("她最喜欢的茶是乌龙茶。", "乌龙茶好喝吗?"),
        ("彼女は東京に住んでいます。", "東京の天気は?"),
        ("그녀는 서울에서 산다.", "서울 날씨"),
        ("Она живёт в Москве.", "Москве"),
        ("Sie fährt gern Straßenbahn.", "straßenbahn"),
        ("The host is db_server-01.", "DB SERVER"),
    ],
)
async def test_words_of_many_scripts_are_found(memory: SQLiteMemory, text: str, query: str) -> None:
    await memory.save(*ANN, text)
    await memory.save(*ANN, "她住在波恩。 Something else.")
    assert await memory.recall(*ANN, query, 5) == [text]
    assert await memory.recall(*ANN, "龍", 5) == []


async def test_each_user_has_a_memory_of_his_own_with_each_agent(memory: SQLiteMemory) -> None:
    await memory.save("ann", "shop", "She drinks tea.")
    await memory.save("bob", "shop", "He drinks tea.")
    await memory.save("ann", "bank", "She saves for tea.")
    await memory.set_core("bob", "shop", "His name is Bob.")
    assert await memory.recall("ann", "shop", "tea", 9) == ["She drinks tea."]
    assert await memory.recall("eve", "shop", "tea", 9) == []
    assert await memory.core("ann", "shop") == ""
    await memory.forget("ann", "shop")
    assert (await texts(memory), await texts(memory, "bob"), await texts(memory, "ann", "bank")) == (
        [],
        ["He drinks tea."],
        ["She saves for tea."],
    )


async def test_a_text_is_remembered_once_and_is_the_newest_then(memory: SQLiteMemory) -> None:
    for text in ("One.", "Two.", " One.\n"):
        await memory.save(*ANN, text)
    assert await texts(memory) == ["Two.", "One."]
    assert [each.text for each in await memory.latest(*ANN, 1)] == ["One."]


@pytest.mark.parametrize("text", ["", " \n", "x" * 4_001])
async def test_what_cannot_be_remembered_is_refused(memory: SQLiteMemory, text: str) -> None:
    with pytest.raises(ValueError, match=r"give a text|give at most 4,000"):
        await memory.save(*ANN, text)
    assert await texts(memory) == []


async def test_core_memory_and_profile_are_always_known(memory: SQLiteMemory) -> None:
    assert (await memory.core(*ANN), await memory.profile(*ANN)) == ("", {})
    await memory.set_profile(*ANN, {"Name": "Ann", "City": "Bonn"})
    assert await memory.core(*ANN) == "Name: Ann\nCity: Bonn"
    await memory.set_core(*ANN, " She owns a shop. ")
    assert await memory.core(*ANN) == "She owns a shop.\nName: Ann\nCity: Bonn"
    assert await memory.core_memory(*ANN) == "She owns a shop."
    assert await memory.profile(*ANN) == {"Name": "Ann", "City": "Bonn"}
    with pytest.raises(ValueError, match="give at most 4,000"):
        await memory.set_core(*ANN, "x" * 4_001)


async def test_a_generation_is_over_when_core_or_profile_change(memory: SQLiteMemory) -> None:
    seen = [await memory.generation(*ANN)]
    await memory.save(*ANN, "One.")
    seen.append(await memory.generation(*ANN))
    await memory.set_core(*ANN, "Ann.")
    seen.append(await memory.generation(*ANN))
    await memory.set_profile(*ANN, {})
    seen.append(await memory.generation(*ANN))
    await memory.apply(*ANN, Reconciled((MemoryChange("Two."),)))
    seen.append(await memory.generation(*ANN))
    await memory.forget(*ANN)
    seen.append(await memory.generation(*ANN))
    assert seen == [0, 0, 1, 2, 3, 4]
    assert await memory.generation("bob", "shop") == 0


async def test_changes_add_replace_and_forget(memory: SQLiteMemory) -> None:
    for text in ("She lives in Bonn.", "She has a cat.", "She drinks tea."):
        await memory.save(*ANN, text)
    _, cat, bonn = await memory.latest(*ANN, 3)
    moved = MemoryChange("She lives in Köln.", bonn.id)
    await memory.apply(
        *ANN, Reconciled((moved, MemoryChange(replaces=cat.id), MemoryChange("She has a dog.")), "Ann.")
    )
    assert await texts(memory) == ["She drinks tea.", "She lives in Köln.", "She has a dog."]
    assert await memory.recall(*ANN, "Bonn cat", 5) == []
    assert await memory.recall(*ANN, "Köln", 5) == ["She lives in Köln."]
    assert await memory.core(*ANN) == "Ann."


async def test_changes_touch_nobody_elses_memory(memory: SQLiteMemory) -> None:
    await memory.save("bob", "shop", "He has a cat.")
    (cat,) = await memory.latest("bob", "shop", 5)
    changes = (MemoryChange("She has a cat.", cat.id), MemoryChange(replaces=cat.id), MemoryChange("x", "1; DROP"))
    await memory.apply(*ANN, Reconciled(changes))
    assert (await texts(memory), await texts(memory, "bob")) == (["She has a cat.", "x"], ["He has a cat."])


async def test_of_changes_that_cannot_all_be_made_none_is(memory: SQLiteMemory) -> None:
    await memory.save(*ANN, "One.")
    (one,) = await memory.latest(*ANN, 5)
    with pytest.raises(ValueError, match="give at most"):
        await memory.apply(*ANN, Reconciled((MemoryChange(replaces=one.id), MemoryChange("x" * 4_001))))
    assert (await texts(memory), await memory.generation(*ANN)) == (["One."], 0)


@given(st.text())
def test_nothing_in_a_query_is_search_syntax(query: str) -> None:
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE VIRTUAL TABLE search USING fts5 (owner, words)")
        if wanted := match(1, query):
            connection.execute("SELECT 1 FROM search WHERE search MATCH ?", (wanted,)).fetchall()
    connection.close()


async def test_a_query_reaches_no_other_owner(memory: SQLiteMemory) -> None:
    await memory.save("bob", "shop", "He has a cat.")
    await memory.save(*ANN, "She has a dog.")
    for query in ('cat" OR owner : "1', "owner:1 cat", 'x") OR text : ("cat', "cat*", "NEAR(cat)", "1 2 cat"):
        assert await memory.recall(*ANN, query, 5) == []


async def test_a_memory_in_a_file_outlives_its_process(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    code = f"""if True:
        import anyio
        from flowcore_agent import SQLiteMemory
        anyio.run(SQLiteMemory({str(path)!r}).save, "ann", "shop", "She drinks tea.")
    """
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)  # noqa: ASYNC221 - nothing else waits
    with SQLiteMemory(path) as memory:
        assert await memory.recall(*ANN, "tea", 5) == ["She drinks tea."]


async def test_a_file_is_shared_by_many_tasks_and_by_two_memories(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with SQLiteMemory(path) as one, SQLiteMemory(path) as two:

        async def save(memory: SQLiteMemory, number: int) -> None:
            await memory.save(*ANN, f"Number {number}.")

        async with anyio.create_task_group() as group:
            for number in range(40):
                group.start_soon(save, (one, two)[number % 2], number)
        assert sorted(await texts(one)) == sorted(f"Number {number}." for number in range(40))
        assert await two.search(*ANN, "39", 5) == await one.search(*ANN, "39", 5)


def made(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def a_text(path: Path) -> None:
    path.write_text("no database, but a text of some length " * 40)


def a_folder(path: Path) -> None:
    path.mkdir()


def anothers(path: Path) -> None:
    made(path, "CREATE TABLE t (x)")


def marked(path: Path) -> None:
    made(path, "PRAGMA application_id = 1")


def newer(path: Path) -> None:
    SQLiteMemory(path).close()
    made(path, "PRAGMA user_version = 99")


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (a_text, "file is not a database"),
        (a_folder, "unable to open database file"),
        (anothers, "it was written by another program"),
        (marked, "it was written by another program"),
        (newer, "it has format 99, and 1 is the newest that is known here"),
    ],
)
def test_a_file_that_is_no_memory_is_refused_and_left_as_it_is(tmp_path: Path, make: Any, why: str) -> None:
    path = tmp_path / "memory.db"
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(MemoryUnusable) as caught:
        SQLiteMemory(path)
    assert str(caught.value) == f"{path}: not a usable memory ({why}): give another path, or mend the file"
    assert (path.read_bytes() if path.is_file() else b"") == before


async def test_a_file_that_breaks_is_told_by_each_method(tmp_path: Path) -> None:
    with SQLiteMemory(tmp_path / "memory.db") as memory:
        await memory.save(*ANN, "One.")
        made(tmp_path / "memory.db", "DROP TABLE memory")
        with pytest.raises(MemoryUnusable, match="no such table"):
            await memory.recall(*ANN, "One", 5)
        with pytest.raises(MemoryUnusable, match="no such table"):
            await memory.save(*ANN, "Two.")


def test_a_memory_says_what_it_is(tmp_path: Path) -> None:
    with SQLiteMemory() as one, SQLiteMemory(tmp_path / "m.db") as two:
        assert (repr(one), repr(two)) == ("SQLiteMemory()", f"SQLiteMemory({str(tmp_path / 'm.db')!r})")


# ---- The tools of memory ------------------------------------------------------------------------------------


async def test_the_model_saves_and_the_next_conversation_is_reminded(kit: Kit) -> None:
    spec = {"memory": SQLiteMemory(), "own_tools": OwnTools(memory=True)}
    save = kit.call("save_memory", '{"text": "She drinks oolong."}')
    search = kit.call("search_memory", '{"query": "oolong", "most": 999}')
    desk = kit.Desk([kit.calls(save), "Noted.", kit.calls(search), "Oolong."], spec=spec)
    first = await desk.ask("I drink oolong.")
    assert kit.results(first.value) == ["Remembered."]
    second = await desk.ask("What of oolong?")
    assert kit.results(second.value) == ["- She drinks oolong."]
    assert "~~~~\n- She drinks oolong.\n~~~~" in desk.requests[2].messages[0].content
    assert "oolong" not in desk.requests[0].messages[0].content


async def test_what_the_tools_of_memory_cannot_do_the_model_is_told(kit: Kit) -> None:
    spec = {"memory": SQLiteMemory(), "own_tools": OwnTools(memory=True)}
    wanted = [kit.call("save_memory", '{"text": " "}'), kit.call("search_memory", '{"query": "tea"}')]
    desk = kit.Desk([kit.calls(*wanted), "Fine.", kit.calls(*wanted), "Fine."], spec=spec)
    assert kit.results((await desk.ask()).value) == [
        "It failed: ValueError: there is nothing to remember: give a text",
        "Nothing is remembered that fits.",
    ]
    nobody = "It failed: ValueError: the user is not known, and nothing can be remembered of him"
    assert kit.results((await desk.ask(user="")).value) == [nobody, nobody]


async def test_search_gives_ids_and_recall_texts(memory: SQLiteMemory) -> None:
    await memory.save(*ANN, "One.")
    assert await memory.search(*ANN, "one", 5) == [Remembered("1", "One.")]
