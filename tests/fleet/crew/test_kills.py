"""A daemon that is killed while it starts and ends sessions."""

from __future__ import annotations

import os
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.fleet.crew.seen import agents, panes
from tests.patience import patience, until
from tests.support import SOAK, Maestro

from maestro.errors import MaestroError
from maestro.server import lifecycle


@pytest.mark.more
@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_spawn_and_stop_survive_kills_of_the_daemon(
    maestro: Maestro, project: dict[str, Any], script: Any
) -> None:
    """What was acknowledged holds, no session runs twice, nothing is left over."""
    kills = 200 if SOAK else 3
    rng = random.Random(20261115)
    body = {
        "agent": "scripted",
        "model": script({"say": "I am at work on it."}),
        "message": "Begin",
        "directory": str(maestro.cwd),
        "environment": maestro.env,
    }
    running: set[str] = set()
    stopped: set[str] = set()

    def disturbed(path: str, sent: dict[str, Any]) -> dict[str, Any] | None:
        """The answer to a request during which the daemon was killed; None when it was refused or failed."""
        going = pool.submit(maestro.daemon.call, "POST", path, sent, timeout=60)
        time.sleep(rng.uniform(0.0, 0.5))
        record = lifecycle.read_record(maestro.home)
        if record and lifecycle.is_alive(record):
            os.kill(record["pid"], signal.SIGKILL)
        try:
            answer: dict[str, Any] = going.result(patience(90))
        except MaestroError:
            return None
        return answer

    with ThreadPoolExecutor(1) as pool:
        for number in range(kills):
            if running and number % 2:
                session_id = rng.choice(sorted(running))
                answer = disturbed(f"/api/sessions/{session_id}/stop", {})
                if answer is not None:
                    running.discard(session_id)
                    stopped.add(session_id)
            else:
                answer = disturbed("/api/sessions/spawn", body | {"name": f"w{number}"})
                if answer is not None and answer["status"] in {"working", "idle"}:
                    running.add(answer["id"])
    found = {session["id"]: session for session in maestro.json("session", "list", "--all")}
    shown = panes(maestro)
    assert len(shown) == len(set(shown)), "a session runs twice"
    assert {one for one in running if found[one]["endedAt"] is None} <= set(shown)
    assert all(found[one]["endedAt"] is not None for one in stopped)
    assert not set(shown) & stopped
    # A stop that was not acknowledged may have happened; whatever else was acknowledged still runs.
    lost = [one for one in running if found[one]["endedAt"] is not None]
    assert all("Stopped" in found[one]["lastReport"] or "ended" in found[one]["lastReport"] for one in lost)
    for session_id in [one for one, session in found.items() if session["endedAt"] is None]:
        maestro("session", "stop", session_id)
    assert maestro.json("session", "list") == []
    until(lambda: not agents(maestro))
