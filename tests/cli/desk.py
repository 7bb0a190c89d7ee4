"""An app that asks a person, in a file of its own; and what a test does to stored runs from outside."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import IO

FLOWCORE = str(Path(sys.executable).with_name("flowcore"))
DESK = """
import time
from pathlib import Path
from typing import Literal

import anyio
from pydantic import BaseModel

from flowcore import App, Approval, Complete, Continue, Flow, Step, approve, ask, node


class Shift(BaseModel):
    hours: int


class Order(BaseModel):
    text: str
    steps: list[str] = []
    shift: Shift | None = None


@node
async def draft(step: Step[Order]) -> Continue:
    with Path("ran.txt").open("a") as file:
        file.write("draft\\n")
    step.state.steps.append("draft")
    return Continue()


def show(order: Order) -> str:
    return f"Send {order.text}?"


def take(order: Order, answer: Approval[None]) -> None:
    order.steps.append(answer.reason or "no reason")


def fill(order: Order, shift: Shift) -> None:
    order.shift = shift


consent = approve("consent", show=show, take=take, expires=3600)
hours = ask("hours", show=show, form=Shift, take=fill, expires=3600)


@node
async def send(step: Step[Order]) -> Complete[str]:
    return Complete(f"sent {step.state.text}: {', '.join(step.state.steps)}")


@node
async def drop(step: Step[Order]) -> Complete[str]:
    return Complete(f"dropped {step.state.text}")


@node
async def slow(step: Step[Order]) -> Continue:
    print("slow", flush=True)
    await anyio.sleep(0.05 if Path("quick").exists() else 60)
    return Continue()


order = Flow("order", draft.to(consent), consent.to(approved=send, denied=drop), send, drop)
patient = Flow("patient", draft.to(slow), slow.to(send), send)
roster = Flow("roster", draft.to(hours), hours.to(answered=send, expired=drop), send, drop)
app = App(flows=[order, patient, roster], state=lambda text: Order(text=text), store="runs.db")
slow_app = App(flows=[patient], state=lambda text: Order(text=text))
roster_app = App(flows=[roster], state=lambda text: Order(text=text))
"""


def start(here: Path, *words: str, ignores_ctrl_c: bool = False) -> subprocess.Popen[str]:
    """Starts the command in a process of its own, which takes Ctrl-C as one in the foreground does, or not."""
    code = _FOREGROUND.replace("signal.default_int_handler", "signal.SIG_IGN") if ignores_ctrl_c else _FOREGROUND
    command = [sys.executable, "-c", code, *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=here, stdout=pipe, stderr=pipe, text=True, env={**os.environ})


_FOREGROUND = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from flowcore.cli import main
main()
"""


def wait_for(stream: IO[str] | None, words: str) -> str:
    """Reads lines until one has these words, and returns it."""
    assert stream is not None
    while line := stream.readline():
        if words in line:
            return line
    raise AssertionError(f"{words!r} was never said")


def kill(process: subprocess.Popen[str]) -> None:
    """Kills a process, which can do nothing about it."""
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=20)


def let_lease_end(store: Path) -> None:
    """Makes it half a minute later for all leases of a store."""
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE runs SET lease = 1 WHERE owner <> ''")
    connection.close()


def rows(store: Path, query: str) -> list[tuple[object, ...]]:
    """Returns what a query finds in a store."""
    connection = sqlite3.connect(store)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()
