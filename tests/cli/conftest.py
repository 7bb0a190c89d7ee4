"""What the tests of the command line share: a folder with an app, and a way to call the command."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from flowcore.cli import main

APP = """
from typing import Literal

from pydantic import BaseModel, Field

from flowcore import App, Budget, Complete, Continue, Flow, Step, node


class Ask(BaseModel):
    text: str = Field(min_length=3)
    tries: int = 0


@node(starts_round=True)
async def draft(step: Step[Ask]) -> Continue:
    step.state.tries += 1
    if step.state.text == "burst":
        raise LookupError("nothing there")
    return Continue()


@node
async def check(step: Step[Ask]) -> Continue[Literal["good", "poor"]]:
    tries = step.state.tries
    return Continue("good" if tries > 1 and step.state.text != "never" else "poor", why={"tries": tries})


@node
async def deliver(step: Step[Ask]) -> Complete[str]:
    return Complete(step.state.text.upper())


echo = Flow("echo", draft.to(check), check.to(good=deliver, poor=draft), deliver)
app = App(flows=[echo], state=lambda text: Ask(text=text), budget=Budget(rounds=3))
"""


@dataclass(frozen=True)
class Called:
    """How a call of the command ended."""

    code: int
    out: str
    err: str


Call = Callable[..., Called]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], clean_modules: None) -> Call:
    """Calls the command in this process."""

    def call(*words: object) -> Called:
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        printed = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Called(ended.value.code, printed.out, printed.err)

    return call


@pytest.fixture
def clean_modules() -> Iterator[None]:
    """Forgets the modules and paths that a call of the command has added."""
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if "site-packages" not in file and "/src/flowcore" not in file:
            del sys.modules[name]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own current folder that holds an app and nothing else."""
    (tmp_path / "app.py").write_text(APP)
    monkeypatch.chdir(tmp_path)
    return tmp_path
