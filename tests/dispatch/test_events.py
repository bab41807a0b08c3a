"""With a daemon there, runs are events; without one, they are as good."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.dispatch.support import script
from tests.support import Maestro

from maestro.errors import Refused
from maestro.server.client import Daemon

Ended = Callable[..., list[dict[str, Any]]]
SCRIPTED = ("--to", "scripted")


@pytest.fixture
def here(shared_maestro: Maestro) -> Maestro:
    """The daemon that all tests of this file share, in a folder of this test's own."""
    return replace(shared_maestro, cwd=Path(tempfile.mkdtemp(prefix="work", dir=shared_maestro.place)))


@pytest.fixture
def own_project(here: Maestro) -> dict[str, Any]:
    made: dict[str, Any] = here.daemon.call("POST", "/api/projects", {"directory": str(here.cwd)})
    return made


@pytest.fixture
def ended(here: Maestro) -> Ended:
    """Runs that ended since this test began, when there are so many: a result is there before its event is."""
    began = here.daemon.call("GET", "/api/events", query={"since": "now"})["cursor"]

    def wait_for(count: int = 1) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        since, wait = began, 0
        for _ in range(20):
            query: dict[str, str | int | None] = {"limit": 1000, "wait": wait, "since": since}
            page = here.daemon.call("GET", "/api/events", query=query, timeout=40)
            found += [event for event in page["events"] if event["kind"] == "run.ended"]
            if len(found) >= count:
                break
            since, wait = page["cursor"], 10
        return found

    return wait_for


def test_a_run_is_an_event(here: Maestro, own_project: dict[str, Any], ended: Ended) -> None:
    told = here.json("delegate", "x", *SCRIPTED)
    [event] = ended()
    assert (event["subjectId"], event["projectId"], event["data"]["status"]) == (
        told["id"],
        own_project["id"],
        "success",
    )
    assert event["data"]["summary"] == "I was asked: x"


def test_a_run_in_the_background_is_an_event_when_it_ends(
    here: Maestro, own_project: dict[str, Any], ended: Ended
) -> None:
    run = here.json("delegate", script({"fail": "no"}), *SCRIPTED, "--async")
    here("delegate", "wait", run["id"])
    [event] = ended()
    assert (event["subjectId"], event["data"]["status"], event["data"]["summary"]) == (
        run["id"],
        "failed",
        "no",
    )


def test_secrets_do_not_reach_the_log(here: Maestro, own_project: dict[str, Any], ended: Ended) -> None:
    secret = "sk-ant-api03-" + "a1B2" * 20
    here.json("delegate", f"my key is {secret}", *SCRIPTED)
    [event] = ended()
    assert secret not in str(event)


def test_a_session_speaks_of_its_own_runs_only(
    here: Maestro, own_project: dict[str, Any], ended: Ended
) -> None:
    def session(name: str) -> dict[str, Any]:
        body = {"projectId": own_project["id"], "name": name, "agent": "claude"}
        made: dict[str, Any] = here.daemon.call("POST", "/api/sessions", body)
        return made

    one, other = session("one"), session("other")
    own = Daemon(here.env | {"MAESTRO_SESSION_TOKEN": one["token"]})
    body = {
        "id": "r", "tool": "claude", "mode": "write", "status": "success", "directory": str(here.cwd),
        "folder": "/x", "durationMs": 1,
    }  # fmt: skip
    own.call("POST", "/api/runs/ended", body | {"sessionId": one["session"]["id"]})
    with pytest.raises(Refused):
        own.call("POST", "/api/runs/ended", body | {"sessionId": other["session"]["id"]})
    [event] = ended()
    assert event["sessionId"] == one["session"]["id"]


def test_the_session_that_asked_is_told_when_a_run_in_the_background_ends(
    here: Maestro, own_project: dict[str, Any], ended: Ended
) -> None:
    path = here.cwd / "worker.json"
    path.write_text(json.dumps({"steps": [{"say": "I am at work."}]}))
    worker = ("--agent", "scripted", "--model", str(path), "--message", "Begin")
    session = here.json("session", "spawn", *worker)
    session = session.get("session", session)
    own = {"MAESTRO_SESSION_ID": session["id"]}
    run = here.json("delegate", "x", *SCRIPTED, "--async", env=own)
    assert here("delegate", "wait", run["id"]).returncode == 0
    here.json("delegate", "y", *SCRIPTED, env=own)  # whoever waits for it need not be told
    events = ended(2)
    prompts = here.daemon.call("GET", f"/api/sessions/{session['id']}/prompts")
    [told] = [p["text"] for p in prompts if run["id"] in p["text"]]
    assert told.endswith(f"Read it: maestro delegate output {run['id']}")
    assert [event["data"]["sessionId"] for event in events] == [session["id"]] * 2
