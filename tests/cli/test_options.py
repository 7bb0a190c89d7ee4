"""The options of an app on the command line: flags that its own fields name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]
APP = """
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from flowcore import App, Complete, Flow, Step, node

with open("loaded", "a") as loaded:
    loaded.write("x")


class Ask(BaseModel):
    text: str


@node
async def say(step: Step[Ask, str]) -> Complete[str]:
    return Complete(f"{step.deps} {step.state.text}")


@dataclass
class Options:
    model: Annotated[str, Field(description="100% of the name")]
    times: int = 1
    base_url: str = "http://here"
    tone: Literal["kind", "rude"] = "kind"
    loud: bool = False
    note: str | None = None


def configured(options: Options) -> App[Ask, str, str]:
    if options.model == "none":
        raise LookupError("no such model")
    if options.model == "odd":
        return "odd"
    words = [options.model] * options.times + [options.base_url, options.tone, str(options.note)]
    return app_of(" ".join(words).upper() if options.loud else " ".join(words))


def app_of(deps: str, **more) -> App[Ask, str, str]:
    return App(flows=[Flow("say", say)], state=lambda text: Ask(text=text), deps=lambda: deps, **more)


app = app_of("plain", options=configured)
"""


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "app.py").write_text(APP)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answer(called: Any) -> str:
    assert (called.code, called.err) == (0, "")
    return str(json.loads(called.out)["value"])


@pytest.mark.behaviour("CLI-1")
def test_without_options_the_app_runs_as_it_stands(call: Call, there: Path) -> None:
    assert answer(call("run", ".", "hello", "--json")) == "plain hello"
    assert (there / "loaded").read_text() == "x"


@pytest.mark.behaviour("CLI-1")
@pytest.mark.parametrize(
    "words",
    [
        (".", "--model", "m", "hello", "--json"),
        (".", "hello", "--model", "m", "--json"),
        (".", "hello", "--json", "--model=m"),
        ("--json", ".", "--model", "m", "--rounds", "3", "hello"),
        ("app.py", "--rounds", "3", "--model", "m", "--json", "hello"),
    ],
)
def test_an_option_may_stand_anywhere_behind_the_target(call: Call, there: Path, words: tuple[str, ...]) -> None:
    assert answer(call("run", *words)) == "m http://here kind None hello"
    assert (there / "loaded").read_text() == "x"


@pytest.mark.behaviour("CLI-1")
def test_values_have_the_types_of_the_fields(call: Call, there: Path) -> None:
    given = ("--model", "m", "--times", "2", "--base-url", "u", "--tone", "rude", "--loud", "--note", "n")
    assert answer(call("run", ".", "hello", "--json", *given)) == "M M U RUDE N hello"
    assert (
        answer(call("run", ".", "hello", "--json", "--model", "m", "--no-loud")) == "m http://here kind None hello"
    )


def test_questions_from_a_file_are_run_with_them_too(call: Call, there: Path) -> None:
    (there / "questions.jsonl").write_text('{"id": "1", "question": "one"}\n{"id": "2", "question": "two"}\n')
    called = call("run", ".", "--questions", "questions.jsonl", "--model", "m", "--json")
    lines = [json.loads(line) for line in called.out.splitlines()]
    assert [line["answers"][0]["text"] for line in lines] == [
        "m http://here kind None one",
        "m http://here kind None two",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--modle", "m"), "unrecognized arguments: --modle m; see `flowcore run --help`"),
        (("--model",), "argument --model: expected one argument; see `flowcore run --help`"),
        (("--times", "2"), "--model is missing: the app wants it beside the options that are given"),
        (
            ("--model", "m", "--times", "two"),
            "--times: Input should be a valid integer, unable to parse string as an integer (given: two)",
        ),
        (("--model", "m", "--tone", "sad"), "--tone: Input should be 'kind' or 'rude' (given: sad)"),
    ],
)
def test_what_cannot_be_used_is_one_line(call: Call, there: Path, words: tuple[str, ...], said: str) -> None:
    called = call("run", ".", "hello", *words)
    assert (called.code, called.out, called.err) == (2, "", f"flowcore: {said}\n")


def test_an_app_that_cannot_be_made_with_them_is_named(call: Call, there: Path) -> None:
    called = call("run", ".", "hello", "--model", "none")
    assert called.code == 2
    assert called.err.startswith("flowcore: the app cannot be made with these options: LookupError: no such model")
    assert called.err.count("\n") == 1
    called = call("run", ".", "hello", "--model", "odd")
    assert called.err == "flowcore: .: options= of the app made a str; return an App\n"


def test_help_has_the_options_of_the_app(call: Call, there: Path) -> None:
    told = call("run", ".", "--help").out
    assert "options of this app, behind TARGET:" in told
    assert "--model VALUE" in told
    assert "100% of the name" in told
    assert "--times N" in told
    assert "(default: http://here)" in " ".join(told.split())
    assert "--tone kind|rude" in told
    assert "--loud, --no-loud" in told
    assert "--rounds N" in told
    assert "options of this app" not in call("run", "--help").out
    assert "options of this app" not in call("run", "nowhere", "--help").out


def test_an_app_without_options_knows_none(call: Call, here: Path) -> None:
    called = call("run", ".", "hello", "--model", "m")
    assert (called.code, called.err) == (
        2,
        "flowcore: unrecognized arguments: --model m; see `flowcore run --help`\n",
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("times: int = 1", "out: int = 1", "--out cannot be an option of the app, since the command has --out"),
        (
            "times: int = 1",
            "quest: int = 1",
            "--quest cannot be an option of the app, since the command has --quest",
        ),
        ("times: int = 1", "times: tuple[int, ...] = ()", "the field 'times' is an array"),
        ("(options: Options)", "(options: int)", "annotate its parameter (now int)"),
        ("(options: Options)", "(options)", "annotate its parameter"),
    ],
)
def test_options_that_no_command_can_take_are_named(
    call: Call, there: Path, old: str, new: str, said: str
) -> None:
    (there / "app.py").write_text(APP.replace(old, new))
    called = call("run", ".", "hello", "--model", "m")
    assert (called.code, called.out, called.err.count("\n")) == (2, "", 1)
    assert said in called.err


def test_a_target_that_is_not_there_is_still_what_is_told(call: Call, there: Path) -> None:
    assert call("run", "nowhere.py", "hello", "--model", "m").err.startswith(
        "flowcore: nowhere.py: there is no file"
    )
