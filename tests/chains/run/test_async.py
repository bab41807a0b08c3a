"""A chain in the background that a session began: each step's end is an event, and is typed to that session."""

from __future__ import annotations

import json
from typing import Any

from tests.chains.run.support import Stage, statuses
from tests.support import Maestro


def events_until(maestro: Maestro, kind: str, count: int, **like: str) -> list[dict[str, Any]]:
    """The events of a kind, when there are so many."""
    found: list[dict[str, Any]] = []
    since = ""
    for _ in range(30):
        query: dict[str, str | int | None] = {
            "limit": 1000,
            "wait": 10 if since else 0,
            "since": since or None,
        }
        page = maestro.daemon.call("GET", "/api/events", query=query, timeout=40)
        found += [
            event
            for event in page["events"]
            if event["kind"] == kind and all(event[name] == value for name, value in like.items())
        ]
        if len(found) >= count:
            break
        since = page["cursor"]
    return found


def test_the_session_that_began_a_chain_is_told_of_each_step(
    maestro: Maestro, project: dict[str, Any]
) -> None:
    script = maestro.place / "worker.json"
    script.write_text(json.dumps({"steps": [{"say": "I am at work."}]}))
    worker = ("--agent", "scripted", "--model", str(script), "--message", "Begin")
    made = maestro.json("session", "spawn", *worker)
    session = made.get("session", made)["id"]
    stage = Stage(maestro)
    stage.project("planned")
    maestro.env["MAESTRO_SESSION_ID"] = session
    begun = stage.run("-y", "--async", "--json", "--chain", "execute-verify")
    assert begun.returncode == 0, begun.stderr
    del maestro.env["MAESTRO_SESSION_ID"]
    # Two steps and two reviews ended.
    ended = events_until(maestro, "run.ended", 4)
    assert {event["data"]["status"] for event in ended} == {"success"}
    steps = [step["exec_id"] for step in stage.told()["steps"]]
    reviews = [step["review_id"] for step in stage.told()["steps"]]
    assert [event["subjectId"] for event in ended] == [steps[0], reviews[0], steps[1], reviews[1]]
    assert [event["data"]["sessionId"] for event in ended] == [session, None, session, None]
    # Typed to the session, and proven to have arrived.
    events_until(maestro, "prompt.submitted", 2, subjectId=session)
    prompts = maestro.daemon.call("GET", f"/api/sessions/{session}/prompts")
    news = {p["text"]: p["state"] for p in prompts if "The run " in p["text"]}
    assert sorted(news) == sorted(
        f"The run {run} (scripted, write) has its answer. Read it: maestro delegate output {run}"
        for run in steps
    )
    assert set(news.values()) == {"submitted"}, prompts
    pane = maestro("fleet", "capture-pane", session).stdout
    assert all(run in pane for run in steps)
    assert json.loads(begun.stdout)["session_id"] == stage.told()["session_id"]
    assert statuses(stage.told()) == ["completed"] * 2
