"""Control between two real processes: one walks a run, the other asks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from tests.stored import control_child

from flowcore.control import control
from flowcore.errors import RunConflict, RunNotFound
from flowcore.store import SQLiteRunStore


@pytest.fixture
def child(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, control_child.__file__, str(tmp_path / "runs.db"), "run"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.behaviour("S1-16", "S1-17")
async def test_another_process_is_paused_released_and_stopped(
    child: subprocess.Popen[str], tmp_path: Path
) -> None:
    store = SQLiteRunStore(tmp_path / "runs.db", synchronous="NORMAL")
    control_ = control(store, "run", by="ann")
    with anyio.fail_after(30):
        while True:
            try:
                if (await store.load("run")).visits:
                    break
            except RunNotFound:
                pass
            await anyio.sleep(0.05)
    paused = await control_.pause(timeout=20)
    assert (paused.status, paused.asked) == ("paused", "")
    assert f":{child.pid}:" in paused.walked_by
    with pytest.raises(RunConflict, match="is walked by"):
        await control_child.TICKING.resume("run", store=store)
    before = len((await store.load("run")).visits)
    await anyio.sleep(0.2)
    assert len((await store.load("run")).visits) == before
    assert (await control_.resume(timeout=20)).status == "running"
    stopped = await control_.stop(timeout=20)
    assert (stopped.status, stopped.reason, stopped.walked_by) == ("cancelled", "stop", "")
    out, _ = await anyio.to_thread.run_sync(lambda: child.communicate(timeout=20))
    assert out == "cancelled stop\n"
    assert len((await store.load("run")).visits) >= before
    await store.aclose()
