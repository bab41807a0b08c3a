"""`GET /api/overview`: what it gathers, and for whom."""

from __future__ import annotations

from typing import Any

from tests.fleet.typing.stage import Stage
from tests.patience import until
from tests.support import Maestro

from maestro.server.client import Daemon


def begin(maestro: Maestro, name: str, **fields: Any) -> tuple[str, Daemon]:
    """A session that nobody sees on a terminal: its id, and the daemon as it sees it."""
    body = {"agent": "scripted", "name": name, "directory": str(maestro.cwd), **fields}
    made = maestro.daemon.call("POST", "/api/sessions", body)
    return made["session"]["id"], Daemon(maestro.env | {"MAESTRO_SESSION_TOKEN": made["token"]})


def names(daemon: Daemon) -> list[str]:
    return [row["name"] for row in daemon.call("GET", "/api/overview")["rows"]]


def test_a_session_sees_itself_and_its_workers_and_a_human_all(
    maestro: Maestro, project: dict[str, Any]
) -> None:
    boss, as_boss = begin(maestro, "boss", role="coordinator")
    _, as_worker = begin(maestro, "worker", parentSessionId=boss)
    begin(maestro, "stranger")
    assert sorted(names(maestro.daemon)) == ["boss", "stranger", "worker"]
    assert sorted(names(as_boss)) == ["boss", "worker"]
    assert names(as_worker) == ["worker"]


def test_what_ended_just_now_stays_for_a_while(maestro: Maestro, project: dict[str, Any]) -> None:
    task = maestro.json("task", "create", "Build it")
    done, _ = begin(maestro, "done", taskIds=[task["id"]])
    failed, _ = begin(maestro, "failed")
    maestro.json("session", "report", "complete", "All of it works.", "--session", done)
    maestro.json("session", "report", "error", "It does not build.", "--session", failed)
    told = maestro.daemon.call("GET", "/api/overview")
    shown = [(row["name"], row["status"], row["line"], row["task"], row["needsYou"]) for row in told["rows"]]
    assert shown == [
        ("failed", "error", "It does not build.", "", 3),
        ("done", "done", "All of it works.", "Build it", 1),
    ]
    assert told["headline"] == "0 working · 1 needs you · 1 done"


def test_a_question_is_told_as_it_is_on_the_screen(stage: Stage) -> None:
    worker = stage.spawn("deployer", {"permission": {"command": "git push", "answers": {"*": []}}})

    def asking() -> dict[str, Any] | None:
        """Its row in the first overview that has the question."""
        [row] = stage.maestro.daemon.call("GET", "/api/overview")["rows"]
        return row if row["question"] else None

    row = until(asking)
    labels = [option["label"] for option in row["question"]["parts"][0]["options"]]
    # Its hook knew of yes and no only.
    assert len(labels) == 3
    assert labels[-1].startswith("No")
    body = {"message": "Choose 3", "questionId": row["question"]["id"], "version": row["question"]["version"]}
    sent = stage.maestro.daemon.call("POST", f"/api/sessions/{worker}/prompt", body, timeout=60)
    assert sent["state"] == "submitted"
    assert row["pane"]["socket"] == stage.fleet
    assert row["pane"]["location"] == "maestro:0.0"
