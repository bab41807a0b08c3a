"""With a daemon there, runs are events; without one, they are as good."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.dispatch.support import script
from tests.support import Maestro

from maestro.errors import Refused
from maestro.server.client import Daemon

SCRIPTED = ("--to", "scripted")


def ended(maestro: Maestro, count: int = 1) -> list[dict[str, Any]]:
    """Runs that ended, when there are so many: a result is there before its event is."""
    found: list[dict[str, Any]] = []
    since, wait = "", 0
    for _ in range(20):
        query: dict[str, str | int | None] = {"limit": 1000, "wait": wait, "since": since or None}
        page = maestro.daemon.call("GET", "/api/events", query=query, timeout=40)
        found += [event for event in page["events"] if event["kind"] == "run.ended"]
        if len(found) >= count:
            break
        since, wait = page["cursor"], 10
    return found


def test_a_run_is_an_event(maestro: Maestro, project: dict[str, Any]) -> None:
    told = maestro.json("delegate", "x", *SCRIPTED)
    [event] = ended(maestro)
    assert (event["subjectId"], event["projectId"], event["data"]["status"]) == (
        told["id"],
        project["id"],
        "success",
    )
    assert event["data"]["summary"] == "I was asked: x"


def test_a_run_in_the_background_is_an_event_when_it_ends(maestro: Maestro, project: dict[str, Any]) -> None:
    run = maestro.json("delegate", script({"fail": "no"}), *SCRIPTED, "--async")
    maestro("delegate", "wait", run["id"])
    [event] = ended(maestro)
    assert (event["subjectId"], event["data"]["status"], event["data"]["summary"]) == (
        run["id"],
        "failed",
        "no",
    )


def test_secrets_do_not_reach_the_log(maestro: Maestro, project: dict[str, Any]) -> None:
    secret = "sk-ant-api03-" + "a1B2" * 20
    maestro.json("delegate", f"my key is {secret}", *SCRIPTED)
    [event] = ended(maestro)
    assert secret not in str(event)


def test_a_session_speaks_of_its_own_runs_only(maestro: Maestro, project: dict[str, Any]) -> None:
    def session(name: str) -> dict[str, Any]:
        body = {"projectId": project["id"], "name": name, "agent": "claude"}
        made: dict[str, Any] = maestro.daemon.call("POST", "/api/sessions", body)
        return made

    one, other = session("one"), session("other")
    own = Daemon(maestro.env | {"MAESTRO_SESSION_TOKEN": one["token"]})
    body = {
        "id": "r", "tool": "claude", "mode": "write", "status": "success", "directory": str(maestro.cwd),
        "folder": "/x", "durationMs": 1,
    }  # fmt: skip
    own.call("POST", "/api/runs/ended", body | {"sessionId": one["session"]["id"]})
    with pytest.raises(Refused):
        own.call("POST", "/api/runs/ended", body | {"sessionId": other["session"]["id"]})
    [event] = ended(maestro)
    assert event["sessionId"] == one["session"]["id"]


def test_the_session_that_asked_is_told_when_a_run_in_the_background_ends(
    maestro: Maestro, project: dict[str, Any]
) -> None:
    path = maestro.place / "worker.json"
    path.write_text(json.dumps({"steps": [{"say": "I am at work."}]}))
    worker = ("--agent", "scripted", "--model", str(path), "--message", "Begin")
    session = maestro.json("session", "spawn", *worker)
    session = session.get("session", session)
    own = {"MAESTRO_SESSION_ID": session["id"]}
    run = maestro.json("delegate", "x", *SCRIPTED, "--async", env=own)
    assert maestro("delegate", "wait", run["id"]).returncode == 0
    maestro.json("delegate", "y", *SCRIPTED, env=own)  # whoever waits for it need not be told
    events = ended(maestro, 2)
    prompts = maestro.daemon.call("GET", f"/api/sessions/{session['id']}/prompts")
    [told] = [p["text"] for p in prompts if run["id"] in p["text"]]
    assert told.endswith(f"Read it: maestro delegate output {run['id']}")
    assert [event["data"]["sessionId"] for event in events] == [session["id"]] * 2
