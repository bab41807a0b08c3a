from __future__ import annotations

import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.fleet.typing.stage import Stage, staged
from tests.patience import until

from maestro.coordinate.overview import RECENT_MS


@pytest.fixture(scope="module")
def theatre() -> Iterator[Stage]:
    with staged() as made:
        yield made


@pytest.fixture
def stage(theatre: Stage) -> Iterator[Stage]:
    """One daemon for all tests of a file. The view shows every session that there is, so each test begins without
    any, in a folder and a project of its own."""
    folder = Path(tempfile.mkdtemp(prefix="work", dir=theatre.place))
    theatre.maestro.cwd = folder
    theatre.own_socket = f"{theatre.place}/own-{folder.name}"
    theatre.maestro.daemon.call("POST", "/api/projects", {"directory": str(folder)})
    yield theatre
    theatre.send_everybody_home()
    subprocess.run(["tmux", "-S", theatre.own_socket, "kill-server"], check=False, capture_output=True)
    clear(theatre)


@pytest.fixture
def lone_stage() -> Iterator[Stage]:
    """With a daemon that the test may end."""
    with staged() as made:
        yield made


def clear(stage: Stage) -> None:
    """End every session, as if long ago: nobody is in the view any more, and nothing in the inbox."""
    daemon = stage.maestro.daemon
    for fleet in daemon.call("GET", "/api/fleets"):
        if fleet["running"]:
            daemon.call("POST", f"/api/fleets/{fleet['name']}/down", {}, timeout=60)
    for session in daemon.call("GET", "/api/sessions", query={"active": "true"}):
        body = {"kind": "complete", "message": "The test is over."}
        daemon.call("POST", f"/api/sessions/{session['id']}/report", body)
    with closing(sqlite3.connect(stage.maestro.home.database)) as database, database:
        database.execute("UPDATE sessions SET ended_at = ended_at - ?", [RECENT_MS])
    until(lambda: not daemon.call("GET", "/api/overview")["rows"])
    until(lambda: not daemon.call("GET", "/api/inbox"))
