"""What a person may name on the command line, and what is said when it cannot be used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]
SOUND = "echo: sound, 3 nodes, 3 routes\n"


@pytest.mark.parametrize("target", ["app:app", "app:echo", "app", "app.py", "app.py:echo", ".", "./app.py:app"])
def test_a_module_a_file_or_a_folder_can_be_named(call: Call, here: Path, target: str) -> None:
    called = call("check", target)
    assert (called.code, called.out, called.err) == (0, SOUND, "")


def test_a_file_in_a_package_is_imported_as_a_part_of_it(call: Call, here: Path) -> None:
    (here / "parts" / "deep").mkdir(parents=True)
    for folder in ("parts", "parts/deep"):
        (here / folder / "__init__.py").touch()
    (here / "app.py").rename(here / "parts" / "made.py")
    (here / "parts" / "deep" / "app.py").write_text("from ..made import app\n")
    assert call("check", "parts/deep").out == SOUND
    assert call("check", "parts.deep.app:app").out == SOUND


def test_a_file_may_be_called_like_a_module_that_is_loaded(call: Call, here: Path) -> None:
    (here / "app.py").rename(here / "json.py")
    assert call("check", "json.py").out == SOUND


def test_of_several_names_app_is_meant_and_then_the_only_app(call: Call, here: Path) -> None:
    text = (here / "app.py").read_text()
    (here / "two.py").write_text(text + "\nother = Flow('other', draft.to(deliver), deliver)\n")
    (here / "lone.py").write_text(text.replace("app =", "service =") + "\nalias = echo\n")
    assert call("check", "two.py").out == SOUND
    assert call("check", "lone.py").out == SOUND


FAULTS = {
    "nothing.here:app": "No module named 'nothing'",
    "nothing.py": "nothing.py: there is no file nothing.py; paths start in ",
    "nothing.py:app": "nothing.py:app: there is no file nothing.py; paths start in ",
    "no/such/folder": "no/such/folder: there is no such file or folder",
    "empty": "empty: there is no app.py in this folder; name a file, as in empty/flows.py",
    "app:nothing": "app:nothing: there is no 'nothing' in it; flows and apps there: app, echo",
    "app:Ask": "app:Ask: this is a ModelMetaclass, no flow and no app; flows and apps there: app, echo.",
    "app:draft": "app:draft: this is a Node, no flow and no app; flows and apps there: app, echo.",
    "app:number": "app:number: this is an int, no flow and no app; flows and apps there: app, echo.",
    "two": "two: name what you mean after a colon, as in two:one; flows and apps there: one, other\n",
    "os": "os: there is no flow and no app there; make one in it, or name another place\n",
    "x" * 5000: "characters",
    "mute.py": "mute.py: cannot be imported: Mute, raised at mute.py:4; mend that line first",
    "base.py": "base.py: cannot be imported: BaseException: no, raised at base.py:1; mend that line first",
    "blank.py": "blank.py: there is no flow and no app there; make one in it, or name another place",
    "needs.py": "needs.py: cannot be imported: ModuleNotFoundError: No module named 'not_there', raised at"
    " needs.py:2; install the module",
    "broken.py": "broken.py: cannot be imported: ZeroDivisionError: division by zero, raised at broken.py:3;"
    " mend that line first",
    "wrong.py": "wrong.py: cannot be imported: SyntaxError: ",
    "leaves.py": "leaves.py: cannot be imported: SystemExit: 3, raised at leaves.py:2; mend that line first",
}


@pytest.mark.parametrize("command", ["check", "render", "run"])
@pytest.mark.parametrize("target", FAULTS, ids=lambda target: target[:20])
def test_what_cannot_be_used_is_said_in_one_line(call: Call, here: Path, command: str, target: str) -> None:
    (here / "empty").mkdir()
    (here / "blank.py").touch()
    (here / "needs.py").write_text("import json\nimport not_there\n")
    (here / "broken.py").write_text("def burst():\n    # why not\n    return 1 / 0\nburst()\n")
    (here / "wrong.py").write_text("x = 1\ny = (\n")
    (here / "leaves.py").write_text("import sys\nsys.exit(3)\n")
    (here / "mute.py").write_text(
        "class Mute(Exception):\n    def __str__(self):\n        return 1 / 0\nraise Mute\n"
    )
    (here / "base.py").write_text("raise BaseException('no')\n")
    two = (here / "app.py").read_text().split("echo =")[0]
    (here / "two.py").write_text(f"{two}\none, other = Flow('one', deliver), Flow('other', deliver)\n")
    with (here / "app.py").open("a") as file:
        file.write("number = 3\n")
    called = call(command, target, *(["a text"] if command == "run" else []))
    assert called.code == 2
    assert called.out == ""
    assert called.err.startswith("flowcore: ")
    assert FAULTS[target] in called.err
    assert called.err.count("\n") == 1


def test_a_flow_with_ten_problems_is_told_in_ten_lines(call: Call, here: Path) -> None:
    text = (here / "app.py").read_text().split("echo =")[0]
    rows = ", ".join(f"deliver.named('lone {number}')" for number in range(10))
    (here / "ten.py").write_text(f"{text}\nten = Flow('ten', draft.to(deliver), deliver, {rows})\n")
    checked, drawn = call("check", "ten.py"), call("render", "ten.py")
    assert (checked.code, drawn.code) == (1, 2)
    lines = checked.out.splitlines()
    assert lines == [line.removeprefix("flowcore: ") for line in drawn.err.splitlines()]
    assert [line.split(":")[:2] for line in lines] == [
        ["ten", f" [unreachable] lone {number}"] for number in range(10)
    ]
    assert drawn.out == checked.err == ""


def test_a_fault_of_a_flow_is_one_line_whatever_its_names_are(call: Call, here: Path) -> None:
    text = (here / "app.py").read_text().split("echo =")[0]
    (here / "odd.py").write_text(
        f"{text}\nodd = Flow('odd', draft.to(deliver), deliver, deliver.named('a\\nb'))\n"
    )
    lines = call("check", "odd.py").out.splitlines()
    assert all(line.startswith("odd: [") for line in lines)
    assert any(r"a\nb" in line for line in lines)
