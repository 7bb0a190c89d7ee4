"""Search in knowledge and in the web, behind ports."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.toolsets.bench import bench

from flowcore import ContractError
from flowcore.testing import ScriptedSearch
from flowcore.toolsets import Knowledge, WebResult, knowledge_search, web_search
from flowcore_knowledge import Passage, Source, SQLiteKnowledge


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[SQLiteKnowledge]:
    tea = Passage(source="tea", where="p. 3", title="Green tea", text="It steeps for two minutes.\x1b[2J")
    path = tmp_path / "index.db"
    SQLiteKnowledge.build(
        path, [(Source(id="tea"), [tea]), (Source(id="diary", status="denied"), [])], fingerprint="1"
    )
    with SQLiteKnowledge(path) as knowledge:
        yield knowledge


@pytest.mark.behaviour("TOOL-12")
async def test_the_knowledge_of_the_kit_fits_the_port(shelf: SQLiteKnowledge) -> None:
    knowledge: Knowledge = shelf
    diary = knowledge_search(knowledge, name="search_diary", sources=["diary"])
    async with bench(knowledge_search(knowledge, limit=3), diary) as at:
        found = await at.call("search_knowledge", query="green tea")
        assert found.text == "[1] Green tea (tea, p. 3)\nIt steeps for two minutes.\\x1b[2J"
        assert [hit.passage.where for hit in found.value.value] == ["p. 3"]
        assert await at.said("search_knowledge", query="zebra") == ("ok", "Nothing was found.")
        status, text = await at.said("search_diary", query="tea")
        assert (status, text.startswith("It failed: AccessDenied: ")) == ("failed", True)
        assert list(at.tools["search_knowledge"].parameters["properties"]) == ["query"]
    with pytest.raises(ContractError, match="give a number above zero"):
        knowledge_search(knowledge, limit=0)


PAGES = [
    WebResult("Home \x1b[2J", "https://example.org/", "The page\u202e of examples."),
    WebResult("Bad", "javascript:alert(1)"),
    WebResult("Other", "https://example.org/other"),
]


@pytest.mark.behaviour("TOOL-12")
async def test_the_web_is_searched_by_what_you_bring_and_what_it_finds_is_text() -> None:
    engine = ScriptedSearch({"examples": PAGES, "broken": ConnectionError("no network")})
    async with bench(web_search(engine, limit=2)) as at:
        found = await at.call("search_web", query="examples")
        assert found.text == "[1] Home \\x1b[2J\nhttps://example.org/\nThe page\\u202e of examples."
        assert found.value.value == (PAGES[0],)
        assert await at.said("search_web", query="nothing") == ("ok", "Nothing was found.")
        assert await at.said("search_web", query="broken") == ("failed", "It failed: ConnectionError: no network")
        assert (await at.said("search_web", query=""))[0] == "invalid_arguments"
    assert engine.queries == ["examples", "nothing", "broken"]
    with pytest.raises(ContractError, match="give a number above zero"):
        web_search(engine, limit=0)


def test_no_library_is_loaded_before_it_is_needed() -> None:
    code = (
        "import sys, flowcore.tools, flowcore.toolsets as t; t.MCPToolset('x', command=['x']);"
        "print(*sorted({name.split('.')[0] for name in sys.modules}))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    loaded = set(run.stdout.split())
    assert loaded & {"mcp", "mcp_types", "httpx", "httpx2", "sqlalchemy", "jsonschema", "sqlite3"} == set()
