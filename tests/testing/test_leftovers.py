"""Runs of the tests, of a speed row, and of anything in a run's folder, interrupted in every way: nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.patience import told_by, until
from tests.support import BIN, SOAK, clean_env

from maestro.testing.leftovers import processes_of

REPOSITORY = Path(__file__).parents[2]
SECONDS = 60

# A daemon, a tmux server, one that is deaf to all that can be ignored, one whose environment tells nothing, and a
# folder that is closed to its owner.
STARTER = """
import os, signal, subprocess, sys
from maestro.testing.leftovers import RunFolder
made = RunFolder("mt")
made.use()
subprocess.run([sys.argv[1], "project", "list"], env=os.environ | {"MAESTRO_HOME": made.path + "/m"}, check=True)
subprocess.run(["tmux", "-S", made.path + "/tmux", "new-session", "-d", "sleep", "600"], check=True)
deaf = "trap '' TERM HUP INT; env -i sleep 600 & echo deaf; wait"
started = subprocess.Popen(["setsid", "sh", "-c", deaf], stdout=subprocess.PIPE)
started.stdout.readline()
os.makedirs(made.path + "/closed/inner")
os.chmod(made.path + "/closed", 0)
print("ready", flush=True)
signal.pause()
"""

# A run of the tests that does not end by itself.
ENDLESS = """
import os, pathlib, signal, subprocess
import pytest

@pytest.mark.parametrize("number", [0, 1])
def test_endless(maestro, postgresql, number):
    script = maestro.place / "script.json"
    script.write_text('{"steps": [{"say": "At work."}]}')
    maestro.json("project", "add", ".")
    maestro.json("session", "spawn", "--agent", "scripted", "--model", str(script), "--message", "Begin")
    maestro.start("session", "watch")
    pathlib.Path(__file__).with_name("ready").joinpath(str(os.getpid())).touch()
    signal.pause()
"""

UNTIDY = """
import gc, subprocess, tempfile

def test_leaves_a_process():
    subprocess.run("setsid sleep 611 > /dev/null 2>&1 &", shell=True, check=True)

def test_leaves_a_folder():
    tempfile.mkdtemp(prefix="forgotten-")

def test_drops_a_process():
    global kept
    kept = subprocess.Popen(["sleep", "612"])

def test_fails_before_it_can_wait():
    started = subprocess.Popen(["sleep", "613"])
    assert started.returncode == 0

def test_is_not_blamed_for_the_others():
    subprocess.Popen(["sleep", "0"]).wait()
    gc.collect()
"""


def also_in_soak(*values: str) -> list[Any]:
    """The same in other ways, with the full counts only."""
    return [pytest.param(value, marks=pytest.mark.soak) for value in values] if SOAK else []


class Run:
    """A program in a session of its own, as in a terminal of its own, with a folder for its temporary files."""

    def __init__(self, place: Path, *words: str | Path) -> None:
        self.folder = place / "t"
        self.ready = place / "ready"
        for made in (self.folder, self.ready):
            made.mkdir()
        # PostgreSQL is another user's where root runs it.
        for passed in (place, self.folder):
            passed.chmod(0o711)
        self.process = subprocess.Popen(
            [sys.executable, *words],
            env=clean_env(place) | {"TMPDIR": str(self.folder), "PYTHONPATH": str(REPOSITORY)},
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            text=True,
        )

    def until(self, holds: Callable[[], object], what: str) -> None:
        """Other processes' beginnings and ends are no events for us."""
        until(holds, lambda: (what, self.left()), SECONDS)

    def runs(self, *programs: str) -> bool:
        told = processes_of(str(self.folder)).values()
        return all(any(program in words for words in told) for program in programs)

    def left(self) -> list[str]:
        return [*processes_of(str(self.folder)).values(), *map(str, self.folder.iterdir())]

    def interrupt(self, how: str) -> None:
        """By its name; `^C` and a closed terminal reach the whole group."""
        if how == "^C":
            os.killpg(self.process.pid, signal.SIGINT)
        elif how == "closed":
            os.killpg(self.process.pid, signal.SIGHUP)
        else:
            self.process.send_signal(signal.Signals[how])

    def ends(self) -> str:
        said, _ = told_by(self.process, seconds=SECONDS)
        return said

    def leaves_nothing(self) -> None:
        self.ends()
        self.until(lambda: not self.left(), "nothing is left")

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        # Its guard clears up; a test that failed has said what was left.
        until(lambda: not processes_of(str(self.folder)), "its guard did not clear up", SECONDS)


@pytest.fixture
def start(place: Path) -> Iterator[Callable[..., Run]]:
    started: list[Run] = []

    def begin(*words: str | Path) -> Run:
        started.append(Run(place, *words))
        return started[-1]

    yield begin
    for run in started:
        run.close()


@pytest.fixture
def start_tests(start: Callable[..., Run], place: Path) -> Callable[..., Run]:
    def begin(text: str, *words: str) -> Run:
        path = place / "test_inner.py"
        path.write_text(text)
        options = ("-p", "tests.conftest", "-p", "no:randomly", "-p", "no:cacheprovider", *words)
        return start("-m", "pytest", "-c", REPOSITORY / "pyproject.toml", *options, path)

    return begin


@pytest.mark.parametrize("how", ["SIGKILL", *also_in_soak("SIGTERM", "^C")])
def test_whatever_was_started_ends_with_the_run(start: Callable[..., Run], how: str) -> None:
    run = start("-c", STARTER, BIN / "maestro")
    assert run.process.stdout
    assert any(line == "ready\n" for line in run.process.stdout)
    assert run.runs("maestro.server", "tmux", "sleep 600", "trap")
    run.interrupt(how)
    run.leaves_nothing()


@pytest.mark.more
@pytest.mark.parametrize("how", ["^C", "SIGKILL", *also_in_soak("SIGTERM", "closed", "lost worker")])
def test_interrupted_tests_leave_nothing(start_tests: Callable[..., Run], how: str) -> None:
    run = start_tests(ENDLESS, "-n", "2")
    run.until(lambda: len(list(run.ready.iterdir())) == 2, "both workers are in their tests")
    assert run.runs("maestro.server", "tmux", "scripted", "session watch")
    if how == "lost worker":
        os.kill(int(next(run.ready.iterdir()).name), signal.SIGKILL)
        how = "SIGTERM"
    run.interrupt(how)
    run.leaves_nothing()


@pytest.mark.more
@pytest.mark.parametrize("workers", ["0", *also_in_soak("2")])
def test_leftovers_are_counted_and_ended(start_tests: Callable[..., Run], workers: str) -> None:
    run = start_tests(UNTIDY, "-n", workers)
    said = run.ends()
    assert run.process.returncode == pytest.ExitCode.TESTS_FAILED, said
    assert "1 failed, 4 passed, 1 error" in said, said
    assert "ERROR at teardown of test_drops_a_process" in said, said
    assert "Nobody waited for the end of: ['sleep', '612']" in said, said
    assert "Left behind: 1 processes, 1 temporary files and folders." in said, said
    assert "613" not in said.partition("ERRORS")[2].partition("FAILURES")[0], "what is red is told once"
    assert "\nsleep 611\n" in said, said
    assert "\nforgotten-" in said, said
    run.until(lambda: not run.left(), "nothing is left")


@pytest.mark.more
@pytest.mark.parametrize("how", ["SIGTERM", *also_in_soak("^C", "SIGKILL", "closed")])
def test_an_interrupted_speed_row_leaves_nothing(start: Callable[..., Run], how: str) -> None:
    run = start("-m", "bench", "S15")
    run.until(lambda: run.runs("maestro.server"), "a daemon starts")
    run.interrupt(how)
    run.leaves_nothing()
