"""The pytest plugin: fixtures that run flows and hold their traces and diagrams against snapshots.

It stands beside flowcore, so that pytest loads flowcore for those tests only that ask for it.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from flowcore.testing import FlowRunner
    from flowcore.testing.watcher import Watcher

pytest.register_assert_rewrite(
    *(f"flowcore.testing.store_{part}suite" for part in ("", "control_", "ending_", "listing_"))
)
_WATCHER = pytest.StashKey["Watcher"]()
_UPDATES = pytest.StashKey[list[str]]()


@pytest.fixture
def flow_runner(request: pytest.FixtureRequest) -> FlowRunner:
    """Run a flow: `result = flow_runner(flow, state, deps=..., fakes={...})`, on a clock that takes no time."""
    from flowcore.testing import FlowRunner  # noqa: PLC0415 - pytest starts without flowcore

    runner = FlowRunner(request.node.name)
    _watcher(request.node).runs = runner.runs
    return runner


@pytest.fixture
def trace_snapshot(request: pytest.FixtureRequest) -> Any:
    """Compare a run with the text kept of it: `assert result == trace_snapshot`."""
    kept = _syrupy(request)
    from flowcore.testing.snapshots import trace_snapshot  # noqa: PLC0415 - pytest starts without flowcore

    return trace_snapshot(kept, _watcher(request.node).hear)


@pytest.fixture
def diagram_snapshot(request: pytest.FixtureRequest) -> Any:
    """Compare a flow with the diagram kept of it: `assert flow == diagram_snapshot`."""
    kept = _syrupy(request)
    from flowcore.testing.snapshots import diagram_snapshot  # noqa: PLC0415 - pytest starts without flowcore

    return diagram_snapshot(kept, _watcher(request.node).hear)


def _syrupy(request: pytest.FixtureRequest) -> Any:
    if not request.config.pluginmanager.has_plugin("syrupy"):
        pytest.fail(f'{request.fixturename} needs syrupy: pip install "flowcore[test]"', pytrace=False)
    return request.getfixturevalue("snapshot")


def _watcher(item: pytest.Item) -> Watcher:
    from flowcore.testing.watcher import Watcher  # noqa: PLC0415 - pytest starts without flowcore

    if _WATCHER not in item.stash:
        item.stash[_WATCHER] = Watcher()
    return item.stash[_WATCHER]


def pytest_configure(config: pytest.Config) -> None:
    """Make room for what an update changes."""
    config.stash[_UPDATES] = []


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Say what kind of change it is, first of all."""
    for side in (left, right):
        if type(side).__module__ == "flowcore.testing.snapshots" and op == "==":
            checked = getattr(side, "checked", None)
            return None if checked is None else checked.lines()
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the whole difference, and keep the failed run until its test passes."""
    report = yield
    watcher = item.stash.get(_WATCHER, None)
    if watcher is not None and report.when == "call":
        item.config.stash[_UPDATES] += watcher.updates
        if report.failed:
            report.sections += watcher.sections(item.config.rootpath, item.nodeid)
        elif report.passed:
            from flowcore.testing.watcher import forget  # noqa: PLC0415 - pytest starts without flowcore

            forget(item.config.rootpath, item.nodeid)
    if watcher is not None and report.when == "teardown":
        del item.stash[_WATCHER]  # pytest keeps every test to its end, and its runs need not stay so long
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker's tests updated."""
    output: dict[str, Any] = getattr(node, "workeroutput", None) or {}
    node.config.stash[_UPDATES] += output.get("flowcore_updates", ())


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the controller, if there is one, what was updated here."""
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["flowcore_updates"] = session.config.stash[_UPDATES]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say in one line what an update changed."""
    if updates := config.stash[_UPDATES]:
        from flowcore.testing.watcher import summary  # noqa: PLC0415 - pytest starts without flowcore

        terminalreporter.write_line(summary(updates))
