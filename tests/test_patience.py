"""A deadline is as far away as the machine is slow, and comes all the same."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from tests import patience
from tests.patience import Deadline, end_of, run, told_by, until, within


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The slowness that each next look finds, the last one for ever."""
    values = [1.0]
    monkeypatch.setattr(patience, "slowness", lambda: values.pop(0) if len(values) > 1 else values[0])
    return values


def test_a_slower_machine_has_more_time(measured: list[float]) -> None:
    assert patience.patience(10) == 10
    measured[:] = [4.0]
    assert patience.patience(10) == 40


def test_a_deadline_moves_away_and_never_back(measured: list[float]) -> None:
    deadline = Deadline(100)
    assert 90 < deadline.left <= 100
    measured[:] = [3.0, 1.0]
    assert 290 < deadline.left <= 300
    assert 290 < deadline.left <= 300, "what was slow a moment ago may still be late"


def test_a_wait_ends_with_what_was_found(measured: list[float]) -> None:
    tries = iter([0, "", None, "found"])
    assert until(lambda: next(tries)) == "found"


def test_a_wait_in_vain_tells_of_it(measured: list[float]) -> None:
    with pytest.raises(AssertionError, match=r"within 0 s\nnothing came"):
        until(lambda: False, lambda: "nothing came", seconds=0.05)


def test_a_block_in_vain_ends() -> None:
    async def wait(seconds: float) -> None:
        async with within(seconds):
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        asyncio.run(wait(0.05))


def test_a_block_that_ends_leaves_no_timer() -> None:
    async def wait() -> None:
        async with within(0.01):
            pass
        await asyncio.sleep(0.05)

    asyncio.run(wait())


def test_a_process_that_never_ends_is_told_of(measured: list[float], tmp_path: Path) -> None:
    words = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        with pytest.raises(subprocess.TimeoutExpired):
            end_of(process, 0.05)
        assert told_by(process)[0] == ""
        assert end_of(process) == 0
    with pytest.raises(subprocess.TimeoutExpired):
        run([sys.executable, "-c", "import time; time.sleep(600)"], seconds=0.05)
    with pytest.raises(subprocess.CalledProcessError):
        run(["sh", "-c", "exit 3"], check=True)


def test_what_a_command_writes_and_reads_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often patience was asked for in between."""
    monkeypatch.setattr(patience, "_FRESH_SECONDS", 0.005)
    script = "import sys, time\nfor n in range(8): print(n, sys.stdin.readline().strip(), flush=True); time.sleep(0.02)"
    given = [letter * 50_000 for letter in "abcdefgh"]
    done = run([sys.executable, "-c", script], input="\n".join(given), text=True)
    assert done.stdout.split() == [word for n, text in enumerate(given) for word in (str(n), text)]
    assert (done.returncode, done.stderr) == (0, "")


def test_the_machine_is_measured_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "_last", patience._Measure())
    monkeypatch.setattr(patience, "_work_seconds", lambda: 0.012 * 7)
    monkeypatch.setattr(patience, "_waiting_for_each_core", lambda: 3.0)
    assert patience.slowness() == pytest.approx(7)
    monkeypatch.setattr(patience, "_waiting_for_each_core", lambda: 9.0)
    assert patience.slowness() == pytest.approx(7), "a measure serves for a while"
    patience._last.at -= 6
    assert patience.slowness() == 9
    patience._last.at -= 6
    monkeypatch.setattr(patience, "_work_seconds", lambda: 100.0)
    assert patience.slowness() == 20, "what hangs ends"
