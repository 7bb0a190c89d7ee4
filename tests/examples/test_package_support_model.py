"""Package support with a model: it writes from the evidence or not at all, within its budget."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from examples.package_support import app as module
from examples.package_support.flow import support_flow
from examples.package_support.generator import Quoting
from examples.package_support.library import Library, open_library
from examples.package_support.state import Asked, Reply
from examples.package_support.writer import written
from tests.examples.package_support_site import furnish
from tests.servers.katan import KEY, Katan

from flowcore import Budget, Flow, RunResult
from flowcore.errors import ModelRequestError
from flowcore.messages import ModelRequest
from flowcore.models import ModelRunner
from flowcore.testing import FakeClock, ScriptedLine, ScriptedModel

QUESTION = "How long does it take to dim a lampworks Lamp by default?"
QUOTED = "Lamp.dim: seconds: float = 2.5 \N{EM DASH} how long the dimming takes"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("model")
    library = open_library(folder / "index.db", path=[str(furnish(folder / "site"))])
    yield library
    library.knowledge.close()


def flow_of(library: Library, model: Any, **options: Any) -> Flow[Asked, object, Reply]:
    def opened() -> Library:
        return library

    runner = ModelRunner(model, retry=None, **options)
    return support_flow(opened, written(Quoting(opened), runner, 6_000))


async def ask(flow: Flow[Asked, object, Reply], question: str, **options: Any) -> RunResult[Reply]:
    return await flow.run(Asked(question=question), check=False, **options)


def answers(result: RunResult[Reply]) -> list[dict[str, Any]]:
    assert result.value is not None, result.failure
    made: list[dict[str, Any]] = module.line("q", result.value)["answers"]
    return made


def writes(text: str, words: str = "") -> Any:
    """Returns a line of a model that answers each item so, quoting the piece of evidence that has the words."""

    def line(request: ModelRequest) -> str:
        made: list[dict[str, Any]] = []
        for item in json.loads(request.messages[-1].content)["items"]:
            found = [piece["number"] for piece in item["evidence"] if words in piece["text"]]
            quotes = [{"evidence": number, "words": words} for number in found[:1]]
            made.append({"item_id": item["id"], "text": text, "quotes": quotes})
        return json.dumps({"items": made})

    return line


async def test_a_model_writes_the_answer_and_cites_what_it_quotes(library: Library) -> None:
    model = ScriptedModel([writes("Dimming takes 2.5 seconds.", "how long the dimming takes")])
    result = await ask(flow_of(library, model), QUESTION)
    (answer,) = answers(result)
    assert (answer["text"], answer["status"]) == ("Dimming takes 2.5 seconds.", "answered")
    assert answer["citations"] == [{"package": "lampworks", "where": "lampworks.Lamp.dim"}]
    assert (result.usage.rounds, result.usage.requests) == (1, 1)


@pytest.mark.parametrize(
    "line",
    [
        writes("Dimming takes 9 seconds.", "how long the dimming takes"),
        writes("Dimming takes 2.5 seconds.", "takes very long indeed"),
        writes("Dimming takes 2.5 seconds."),
        writes(""),
    ],
    ids=["another number", "no such words", "no quote", "no answer"],
)
async def test_what_it_may_not_say_is_quoted_after_one_repair(library: Library, line: Any) -> None:
    result = await ask(flow_of(library, ScriptedModel([line, line])), QUESTION)
    (answer,) = answers(result)
    assert (answer["status"], answer["text"].splitlines()[0]) == ("fallback", QUOTED)
    assert answer["citations"]
    assert (result.usage.rounds, result.usage.requests) == (2, 2)


async def test_what_the_texts_do_not_say_it_does_not_say_either(library: Library) -> None:
    line = writes("It works on the Zeppelin.", "the highest level that is allowed")
    result = await ask(
        flow_of(library, ScriptedModel([line, line])), "Does the lampworks limit work on the Zeppelin?"
    )
    (answer,) = answers(result)
    assert answer["status"] == "fallback"
    assert answer["text"].startswith("The texts of the installed packages do not answer this: ")


async def test_a_refused_question_reaches_no_model(library: Library) -> None:
    model = ScriptedModel([])
    (answer,) = answers(await ask(flow_of(library, model), "What is the value of LAMP_TOKEN on this machine?"))
    assert (answer["status"], model.requests) == ("blocked", [])


@pytest.mark.parametrize(
    "line", ["not JSON", ModelRequestError("busy", status=503), '{"items": [{"item_id": "1"'], ids=str
)
async def test_without_an_answer_of_the_model_it_is_quoted(library: Library, line: Any) -> None:
    result = await ask(flow_of(library, ScriptedModel([line, line])), QUESTION)
    (answer,) = answers(result)
    assert (answer["status"], answer["text"].splitlines()[0]) == ("fallback", QUOTED)


async def test_the_budget_and_a_cancellation_go_through(library: Library) -> None:
    result = await ask(flow_of(library, ScriptedModel([])), QUESTION, budget=Budget(requests=0))
    assert answers(result)[0]["status"] == "fallback"
    assert result.usage.requests == 0
    clock = FakeClock()
    model = ScriptedModel([ScriptedLine("late", wait=60)], clock=clock)
    async with flow_of(library, model).start(Asked(question=QUESTION), clock=clock) as run:
        while not model.open:
            await clock.advance(0.001)
        await run.cancel()
        result = await run.wait()
    assert (result.status, model.open, len(model.requests)) == ("cancelled", 0, 1)


async def test_a_server_that_says_no_json_leads_to_quotes_within_the_budget(
    library: Library, katan: Katan
) -> None:
    """llm-katan's echo backend says back what it was asked, over HTTP."""
    runner = ModelRunner("echo", base_url=katan().base_url, api_key=KEY)
    try:
        flow = support_flow(lambda: library, written(Quoting(lambda: library), runner, 6_000))
        question = "What limit has a lampworks lamp, and how many minutes does the kettle boil?"
        result = await ask(flow, question, budget=Budget(requests=8, seconds=30))
    finally:
        await runner.aclose()
    assert [answer["status"] for answer in answers(result)] == ["fallback", "fallback"]
    assert [answer["citations"][0]["package"] for answer in answers(result)] == ["lampworks", "kettle"]
    assert (result.status, result.usage.requests) == ("completed", 2)
    assert "generate!" in result.path


def test_the_key_comes_from_the_environment_and_is_shown_nowhere(
    library: Library, katan: Katan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "library", lambda: library)
    strict = katan("--validate-keys", "--api-keys", f"openai={KEY}")
    for key in (KEY, "sk-quite-another-key-9876543210"):
        monkeypatch.setenv(module.KEY, key)
        app = module.with_model(module.Options("echo", strict.base_url))
        result = app.flow.run_sync(app.state(QUESTION), deps=library, budget=app.budget, check=False)
        assert result.value is not None
        assert result.value.result.items[0].status == "fallback"
        assert result.value.result.items[0].reason.endswith(
            "ended by OutputInvalid" if key == KEY else "ended by ModelRequestError"
        )
        assert "\nNot written by the model: ended by " in app.present(result.value)
        shown = f"{result.trace.to_text()} {app.present(result.value)} {app!r} {result!r}"
        assert key not in shown
