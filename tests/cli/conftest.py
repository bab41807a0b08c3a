from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.typing.stage import Stage, staged
from tests.support import Maestro, clean_env


@pytest.fixture(scope="module")
def theatre() -> Iterator[Stage]:
    with staged() as made:
        yield made


@pytest.fixture
def stage(theatre: Stage) -> Iterator[Stage]:
    """One daemon for all tests of a file; each has sessions of its own."""
    yield theatre
    theatre.send_everybody_home()


@pytest.fixture
def guest(shared_maestro: Maestro, place: Path) -> Iterator[Maestro]:
    """The daemon that all tests of a file share, for a user whose home and agents are this test's alone.

    Each begins without projects, tasks and live sessions.
    """
    # Started here, the daemon has none of the tests' own environments.
    daemon = shared_maestro.daemon
    daemon.call("GET", "/api/health")
    cwd = place / "work"
    cwd.mkdir()
    made = Maestro(place, clean_env(place) | {"MAESTRO_HOME": shared_maestro.home.root}, cwd)
    yield made
    for process in made.started:
        if process.poll() is None:
            process.kill()
        process.communicate()
    for session in daemon.call("GET", "/api/sessions", query={"active": "true"}):
        daemon.call("POST", f"/api/sessions/{session['id']}/report", {"kind": "complete"})
    for project in daemon.call("GET", "/api/projects"):
        daemon.call("DELETE", f"/api/projects/{project['id']}")


@pytest.fixture
def guest_project(guest: Maestro) -> dict[str, Any]:
    made: dict[str, Any] = guest.daemon.call("POST", "/api/projects", {"directory": str(guest.cwd)})
    return made
