"""The offline service answers from its rules, opens no socket, and brings no kit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SERVICE = ROOT / "examples" / "offline_service.py"

GUARD = """
import atexit, socket, sys

def refuse(event, arguments):
    # An event loop wakes itself through a pair of local sockets: those reach nobody.
    local = event == "socket.__new__" and arguments[1] == getattr(socket, "AF_UNIX", None)
    if event.startswith("socket.") and event != "socket.gethostname" and not local:
        raise PermissionError(f"{event} is blocked")

def report():
    kits = sorted(name for name in sys.modules if name.startswith("flowcore_"))
    print("kits:", *kits, file=sys.stderr)

sys.addaudithook(refuse)
atexit.register(report)
"""
SCRIPT = "import runpy; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
COMMAND = "from flowcore.cli import main; sys.exit(main())"


def guarded(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", GUARD + code, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=50)


def ask(*arguments: str) -> subprocess.CompletedProcess[str]:
    return guarded(SCRIPT, str(SERVICE), *arguments)


@pytest.mark.behaviour("S2-70")
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "What does it cost to bring a book back 12 days late?",
            "12 days late cost 2.40: 20 cents a day, 5.00 at most. [late returns]",
        ),
        ("What is the fine?", "A late return costs 20 cents a day, 5.00 at most. [late returns]"),
        ("And 1000 days overdue?", "1000 days late cost 5.00: 20 cents a day, 5.00 at most. [late returns]"),
        ("When do you open on Saturdays?", "Saturday: from 10 to 14. [opening hours]"),
        ("Are you open on Sunday?", "Sunday: closed. [opening hours]"),
        (
            "How long may I keep films and books?",
            "A book may be kept for 28 days.\nA film may be kept for 14 days. [loans]",
        ),
        ("Do you sell tea?", "No rule of ours settles this. Please ask at the desk."),
        ("Late fees, and when are you open?", "No rule of ours settles this. Please ask at the desk."),
        (f"{'9' * 5000} days late", "No rule of ours settles this. Please ask at the desk."),
    ],
)
def test_it_answers_offline_and_without_a_kit(question: str, answer: str) -> None:
    ran = ask(question)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"{answer}\n", "kits:\n")


@pytest.mark.behaviour("S2-70")
def test_the_command_runs_it_offline_and_without_a_kit() -> None:
    ran = guarded(COMMAND, "run", str(SERVICE), "Are you open on Sunday?")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[0] == "Sunday: closed. [opening hours]"
    assert ran.stderr.splitlines()[-1] == "kits:"


@pytest.mark.behaviour("S2-70")
def test_the_command_runs_it_on_a_file_of_questions(tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    asked = {"1": "Are you open on Sunday?", "2": "Do you sell tea?"}
    questions.write_text("".join(json.dumps({"id": i, "question": q}) + "\n" for i, q in asked.items()))
    ran = guarded(COMMAND, "run", str(SERVICE), "--questions", str(questions), "--out", str(tmp_path / "out"))
    assert ran.returncode == 0, ran.stderr
    lines = (tmp_path / "out" / "answers.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"id": "1", "text": "Sunday: closed.", "rule": "opening hours"},
        {"id": "2", "text": "No rule of ours settles this. Please ask at the desk.", "rule": ""},
    ]


@pytest.mark.parametrize("arguments", [[], [""], [" "], ["one", "two"]])
def test_without_a_question_it_says_how_to_ask(arguments: list[str]) -> None:
    ran = ask(*arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == 'usage: python examples/offline_service.py "QUESTION"\nkits:\n'


def test_the_guard_sees_sockets_and_kits() -> None:
    assert "socket.getaddrinfo is blocked" in guarded("socket.create_connection(('127.0.0.1', 9))").stderr
    assert "socket.__new__ is blocked" in guarded("socket.socket()").stderr
    assert guarded("import flowcore_presentation").stderr.startswith("kits: flowcore_presentation ")


def test_it_can_be_read_at_one_sitting() -> None:
    assert SERVICE.read_text().count("\n") < 150
