"""What every test stands on: a home of its own, the real command, the real daemon, both databases.

Nothing here reads or writes the home, the credentials or the tokens of whoever runs the tests.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_timeout  # type: ignore[import-untyped]  # it has no types
from _pytest.terminal import TerminalReporter
from hypothesis import HealthCheck, settings
from tests import skips, surroundings
from tests.patience import patience, until
from tests.postgres import PostgreSQL, find_postgresql
from tests.support import SOAK, Maestro, clean_env, end_all_of, forbid_start

from maestro.server import lifecycle
from maestro.testing.leftovers import processes_of, remove

pytest_plugins = ("tests.leftovers",)

# A test run in the background of a script inherits ignored signals, and every child of the tests would, too.
for _number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL)

surroundings.settle()

# Two cores shared by three workers: a slow example is not a finding.
settings.register_profile(
    "maestro",
    max_examples=100 if SOAK else 30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("maestro")


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> Any:
    """Gives a test that hangs as long as this machine is slow."""
    return pytest_timeout.pytest_timeout_set_timer(
        item, settings._replace(timeout=patience(settings.timeout))
    )


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Lists each kind of skip once, with the line to type."""
    if skipped := terminalreporter.stats.get("skipped"):
        terminalreporter.section("skipped")
        for line in skips.listed(map(skips.reason_of, skipped)):
            terminalreporter.line(line)


@pytest.fixture
def place() -> Iterator[Path]:
    """A short temporary folder: a socket's path may have 107 bytes."""
    folder = Path(tempfile.mkdtemp(prefix="mt"))
    yield folder
    _remove(folder)


def _remove(folder: Path) -> None:
    """Removes a test's folder. Where somebody still writes there who does not end, the test is told so."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        until(lambda: not processes_of(str(folder)), lambda: str(processes_of(str(folder))), seconds=10)
        remove(str(folder))


@pytest.fixture(autouse=True)
def _own_environment(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    surroundings.enter(place, monkeypatch)


@contextlib.contextmanager
def at(place: Path) -> Iterator[Maestro]:
    cwd = place / "work"
    cwd.mkdir()
    made = Maestro(place, clean_env(place), cwd)
    yield made
    for process in made.started:
        if process.poll() is None:
            process.kill()
        process.communicate()
    # Agents that end now say so by their hooks, which would start a daemon again.
    forbid_start(made.home)
    for socket in Path(made.home.path("fleets")).glob("*"):
        subprocess.run(["tmux", "-S", socket, "kill-server"], check=False, capture_output=True)
    lifecycle.stop(made.home, force=True)
    end_all_of(made.home)


@pytest.fixture
def maestro(place: Path) -> Iterator[Maestro]:
    with at(place) as made:
        yield made


@pytest.fixture(scope="module")
def shared_maestro() -> Iterator[Maestro]:
    """One home and daemon for all tests of a file that leave nothing in each other's way."""
    folder = Path(tempfile.mkdtemp(prefix="mt"))
    with at(folder) as made:
        yield made
    _remove(folder)


@pytest.fixture
def project(maestro: Maestro) -> dict[str, Any]:
    made: dict[str, Any] = maestro.json("project", "add", ".")
    return made


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL | None]:
    """A PostgreSQL server of our own, where Debian's or any other's programs are installed."""
    programs = find_postgresql()
    if programs is None:
        yield None
        return
    with PostgreSQL.running(programs) as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, place: Path, make_database: Callable[[str], str]) -> str:
    return make_database(request.param)


@pytest.fixture
def make_database(place: Path, postgresql: PostgreSQL | None) -> Callable[[str], str]:
    made = 0

    def make(kind: str) -> str:
        nonlocal made
        made += 1
        if kind == "sqlite":
            return f"sqlite+pysqlite:///{place}/ledger{made}.db"
        if postgresql is None:
            skips.skip_for(skips.POSTGRESQL)
        return postgresql.new_database()

    return make
