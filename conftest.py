"""What every test of the project shares: both event loops, and the list of promises that tests keep."""

from __future__ import annotations

import re
import signal
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pytest

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(scope="session", params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Runs every async test on both event loops."""
    backend: str = request.param
    return backend


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts commands that heed every signal, though the tests may ignore some; kills what is left of them."""
    started: list[subprocess.Popen[str]] = []

    def heed() -> None:
        for each in SIGNALS:
            signal.signal(each, signal.SIG_DFL)

    def begin(command: list[str], **options: Any) -> subprocess.Popen[str]:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(command, text=True, preexec_fn=heed, **{**pipes, **options})
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--behaviours",
        action="store_true",
        help="print each promise named by a collected test, a tab, its tests; run nothing",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "behaviour(*ids): the promises that this test proves")
    config.addinivalue_line("markers", "realmodel: asks a real model; run by `-m realmodel` alone")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what asks a real model, unless it was asked for by its mark. It proves no promise, then."""
    if "realmodel" in config.option.markexpr:
        return
    left_out = [item for item in items if item.get_closest_marker("realmodel")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("realmodel")]


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    if config.option.behaviours:
        config.option.verbose = -2
        # The tests are not run, and so not shared out among workers either.
        config.option.numprocesses, config.option.dist, config.option.tx = None, "no", []


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    if not session.config.option.behaviours or session.testsfailed:
        return None
    for promise, tests in sorted(kept_promises(session.items).items(), key=lambda row: natural(row[0])):
        print(promise, " ".join(tests), sep="\t")  # noqa: T201 - the option prints
    return True


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if session.config.option.behaviours and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK


def kept_promises(items: list[pytest.Item]) -> dict[str, list[str]]:
    """Returns the tests of each promise in the order of collection, a parametrised test once."""
    kept: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for item in items:
        test = item.nodeid.partition("[")[0]
        for marker in item.iter_markers("behaviour"):
            for promise in marker.args:
                kept[promise][test] = None
    return {promise: list(tests) for promise, tests in kept.items()}


def natural(promise: str) -> list[tuple[int, str]]:
    """Sorts S2-9 before S2-10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", promise)]
