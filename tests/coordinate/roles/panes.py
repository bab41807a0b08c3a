"""Scripted agents in real panes, with parents, roles and tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.fleet.typing.stage import Stage

from maestro.server.client import Daemon


def spawn(stage: Stage, name: str, *steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A session; `on_prompt` goes into its script, everything else into the request."""
    rest = {"on_prompt": more.pop("on_prompt")} if "on_prompt" in more else {}
    body = {
        "agent": "scripted",
        "model": stage.script(*(steps or ({"say": "I am ready."},)), **rest),
        "name": name,
        "message": "Begin",
        "directory": str(stage.maestro.cwd),
        "environment": stage.maestro.env,
    }
    found: dict[str, Any] = stage.maestro.daemon.call("POST", "/api/sessions/spawn", body | more, timeout=60)
    assert found["endedAt"] is None, found
    return found


def token_of(stage: Stage, session_id: str) -> str:
    """As any process of the same user can read it."""
    words = Path(f"/proc/{stage.pid(session_id)}/environ").read_bytes().split(b"\0")
    [token] = [word for word in words if word.startswith(b"MAESTRO_SESSION_TOKEN=")]
    return token.partition(b"=")[2].decode()


def inside(stage: Stage, session_id: str) -> dict[str, str]:
    return {"MAESTRO_SESSION_ID": session_id, "MAESTRO_SESSION_TOKEN": token_of(stage, session_id)}


def daemon_as(stage: Stage, session_id: str) -> Daemon:
    return Daemon(stage.maestro.env | inside(stage, session_id))


def task(stage: Stage, title: str, **more: Any) -> str:
    body = {"title": title, "directory": str(stage.maestro.cwd), **more}
    return str(stage.maestro.daemon.call("POST", "/api/tasks", body)["id"])


def shown_task(stage: Stage, task_id: str) -> dict[str, Any]:
    found: dict[str, Any] = stage.maestro.daemon.call("GET", f"/api/tasks/{task_id}")
    return found


def notify_of(stage: Stage, session_id: str) -> str:
    [pane] = [
        one for one in stage.maestro.daemon.call("GET", "/api/fleets/panes") if one["sessionId"] == session_id
    ]
    return str(pane["notify"])


def events_of(stage: Stage, session_id: str, kind: str) -> list[dict[str, Any]]:
    found = stage.maestro.daemon.call("GET", "/api/events", query={"subjects": session_id})["events"]
    return [one for one in found if one["kind"] == kind]
