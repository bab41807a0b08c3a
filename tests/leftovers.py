"""Counts what a run of the tests leaves behind, turns the run red for it, and ends it; loaded by conftest.py.

Every temporary file of a run, its workers' too, is in one folder of the run's own, by which its processes are known
(see `maestro.testing.leftovers`). And a test that drops a process for which nobody waited is told so itself, not the
test that is running when Python's collector comes across it.
"""

from __future__ import annotations

import os
import subprocess
import weakref
from collections.abc import Generator
from typing import Any

import pytest

from maestro.testing.leftovers import Leftovers, RunFolder, end_processes_of

# What was told to end may take so long. Nothing waits for it where nothing is left.
_PATIENCE = 10.0
_OF_PYTEST = ("pytest-of-",)
_OF_PYTHON = "multiprocessing.resource_tracker"  # ends with the process that used multiprocessing
_FOLDER = pytest.StashKey[RunFolder]()
_LEFT = pytest.StashKey[Leftovers]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    _note_every_process()
    if not hasattr(config, "workerinput"):
        # Short: a socket's path may have 107 bytes.
        folder = config.stash[_FOLDER] = RunFolder("mt")
        folder.use()
        # PostgreSQL, where root runs the tests, is another user's; what is inside is closed to others by itself.
        os.chmod(folder.path, 0o711)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> Generator[None, None, None]:
    """Ends the workers of an interrupted run before anybody waits for what they would still clear up, and counts when
    all else is finished but the report."""
    folder = session.config.stash.get(_FOLDER, None)
    is_interrupted = exitstatus == pytest.ExitCode.INTERRUPTED
    if folder is not None and is_interrupted and session.config.pluginmanager.has_plugin("dsession"):
        end_processes_of(folder.path)
    yield
    if folder is None or is_interrupted:
        return
    left = folder.leftovers(_PATIENCE, expected=_OF_PYTEST)
    left = left._replace(processes=[words for words in left.processes if _OF_PYTHON not in words])
    session.config.stash[_LEFT] = left
    if any(left) and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    left = config.stash.get(_LEFT, None)
    if left is None:
        return
    if any(left):
        terminalreporter.section("left behind", red=True)
        for told in (*left.processes, *left.files):
            terminalreporter.line(told)
    terminalreporter.line(str(left))


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    folder = config.stash.get(_FOLDER, None)
    if folder is not None:
        folder.close()


# Processes that a test itself starts. Those of a fixture are the fixture's to end.


class Dropped(Exception):
    """A test started processes and did not wait for their end."""


_started: list[weakref.ref[subprocess.Popen[Any]]] = []
_is_in_test = False
_is_red = False


def _note_every_process() -> None:
    initialise = subprocess.Popen.__init__

    def noting(self: subprocess.Popen[Any], *args: Any, **options: Any) -> None:
        initialise(self, *args, **options)
        if _is_in_test:
            _started.append(weakref.ref(self))

    subprocess.Popen.__init__ = noting  # type: ignore[method-assign]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call() -> Generator[None, None, None]:
    global _is_in_test, _is_red  # noqa: PLW0603 - one test runs at a time in a process
    _is_in_test, _is_red = True, False
    try:
        yield
    except BaseException:
        _is_red = True
        raise
    finally:
        _is_in_test = False


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown() -> Generator[None, None, None]:
    """Looks when the fixtures have ended theirs. A test that is red already is not complained of twice: its frames hold
    what it could not come to."""
    try:
        yield
    finally:
        dropped = _end_dropped()
        if dropped and not _is_red:
            raise Dropped(f"Nobody waited for the end of: {'; '.join(map(str, dropped))}")


def _end_dropped() -> list[Any]:
    dropped = [process for one in _started if (process := one()) is not None and process.returncode is None]
    _started.clear()
    for process in dropped:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
    return [process.args for process in dropped]
