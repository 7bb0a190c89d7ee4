"""The index of package support: where it cannot be kept, and what a build that is ended leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from examples.package_support.library import CacheUnusable, index_file, open_library
from tests.examples.package_support_site import furnish

ROOT = Path(__file__).parents[2]
FLOWCORE = Path(sys.executable).with_name("flowcore")
REMEDY = "; name another folder in FLOWCORE_CACHE, one that you may write"


@pytest.fixture
def site(tmp_path: Path) -> list[str]:
    return [str(furnish(tmp_path / "site"))]


def refused(file: Path, site: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(CacheUnusable) as raised:
        open_library(file, path=site)
    assert capsys.readouterr().err == ""  # nothing was read in vain
    return str(raised.value)


def test_an_index_that_is_a_folder_is_told_before_it_is_built(
    tmp_path: Path, site: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "index.db"
    file.mkdir()
    assert refused(file, site, capsys) == f"{file}: the index cannot be read: Is a directory{REMEDY}"


@pytest.mark.parametrize("below", ["index.db", "deeper/index.db"])
def test_a_cache_that_is_no_folder_is_told_before_anything_is_built(
    tmp_path: Path, site: list[str], capsys: pytest.CaptureFixture[str], below: str
) -> None:
    (tmp_path / "cache").touch()
    message = refused(tmp_path / "cache" / below, site, capsys)
    assert "Not a directory" in message
    assert message.endswith(REMEDY)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
@pytest.mark.parametrize("mode", [0o000, 0o500])
def test_a_cache_without_permission_is_told_before_anything_is_built(
    tmp_path: Path, site: list[str], capsys: pytest.CaptureFixture[str], mode: int
) -> None:
    (tmp_path / "cache").mkdir(mode=mode)
    message = refused(tmp_path / "cache" / "index.db", site, capsys)
    assert "Permission denied" in message
    assert message.endswith(REMEDY)


def test_without_a_home_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("FLOWCORE_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(CacheUnusable, match=r"there is no place to keep it: .*FLOWCORE_CACHE"):
        index_file()


def test_a_build_takes_away_what_a_killed_one_left(tmp_path: Path, site: list[str]) -> None:
    (tmp_path / ".index.db.dead").write_text("half")
    (tmp_path / ".other.db.alive").write_text("not mine")
    open_library(tmp_path / "index.db", path=site).knowledge.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.db.alive", "index.db", "site"]


@pytest.mark.parametrize(
    ("asked", "code", "words"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_a_build_that_is_ended_ends_at_once_and_leaves_nothing(
    tmp_path: Path, start: Callable[..., subprocess.Popen[str]], asked: signal.Signals, code: int, words: str
) -> None:
    cache = tmp_path / "cache"
    command = [FLOWCORE, "run", "examples/package_support", "What is anyio?", "--out", tmp_path / "out"]
    environment = {**os.environ, "FLOWCORE_CACHE": str(cache)}
    process = start(command, cwd=ROOT, env=environment)
    while not (cache.exists() and list(cache.iterdir())):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(asked)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err.splitlines()[-1]) == (code, f"flowcore: {words}: nothing was written")
    assert list(cache.iterdir()) == []
    assert not (tmp_path / "out").exists()
