"""API errors, limits and retries of agents whose hooks do not tell of them: told without anybody looking."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from tests.fleet.typing.stage import Stage
from tests.patience import until

pytestmark = pytest.mark.more  # make test-more

REFUSED = {"api_error": {"status": 400, "text": "bad request"}}
LIMITED = {"limit": {"text": "Usage limit reached", "resets": "3pm"}}
RETRIES = {"api_error": {"status": 500, "text": "overloaded", "retrying": 3600}}
IMITATED = ("claude", "codex", "gemini")


def status(stage: Stage, session: str) -> str:
    """By the list alone: `show` and `list` look at no screen."""
    listed = stage.maestro.daemon.call("GET", "/api/sessions")
    return next(str(one["status"]) for one in listed if one["id"] == session)


def notify(stage: Stage, session: str) -> str:
    return stage.in_pane(session, "display-message", "-p", "#{@pane_notify}").strip()


def digest(stage: Stage, session: str) -> dict[str, Any]:
    found: dict[str, Any] = stage.maestro.daemon.call("GET", f"/api/sessions/{session}/log-digest")
    return found


def until_told(stage: Stage, session: str, wanted: str, in_pane: str) -> None:
    def told() -> tuple[str, str]:
        return status(stage, session), notify(stage, session)

    until(lambda: told() == (wanted, in_pane), lambda: (told(), stage.screen(session)))


@pytest.mark.parametrize("imitate", IMITATED)
def test_a_turn_that_fails_at_once_is_told_each_time(stage: Stage, imitate: str) -> None:
    """It is over before tmux has compared its title even once; the next one fails with this error still in sight."""
    script = (
        REFUSED,
        {"wait": True},
        {"say": "Back again."},
        {"wait": True},
        REFUSED,
        {"wait": True},
        LIMITED,
    )
    session = stage.spawn(f"fails as {imitate}", *script, imitate=imitate)
    until_told(stage, session, "failed", "error")
    stage.sent(session, "and now?")
    until_told(stage, session, "idle", "unchecked")
    stage.sent(session, "once more")
    until_told(stage, session, "failed", "error")
    assert digest(stage, session)["stuck"]["kind"] == "api_errors"
    stage.sent(session, "spend the rest")
    until_told(stage, session, "limited", "error")
    found = digest(stage, session)["stuck"]
    assert found["kind"] == "limit"
    assert found["resetsAt"] is not None


@pytest.mark.parametrize("imitate", ["claude", "codex"])
def test_a_retry_is_told_by_the_line_on_its_screen(stage: Stage, imitate: str) -> None:
    """No hook, no title and no record tells of it: tmux finds the line."""
    session = stage.spawn(
        f"retries as {imitate}", {"say": "I am ready."}, {"wait": True}, RETRIES, imitate=imitate
    )
    until_told(stage, session, "idle", "unchecked")
    stage.sent(session, "go on")
    until_told(stage, session, "retrying", "working")
    found = digest(stage, session)
    assert (found["status"], found["stuck"]["kind"]) == ("retrying", "api_errors")
    assert found["evidence"][0]["source"] == "screen"
    assert found["entries"][-1]["source"] == "system"
    rows = stage.maestro.daemon.call("GET", "/api/overview")["rows"]
    assert next(row["status"] for row in rows if row["sessionId"] == session) == "error"


def test_a_follower_is_told_at_once_of_trouble_that_is_there_already(stage: Stage) -> None:
    """Its transcript does not tell of it: the first answer of `session logs -f` does, the second would wait."""
    session = stage.spawn("followed", RETRIES, imitate="codex")
    until_told(stage, session, "retrying", "working")
    news = stage.maestro.daemon.call("POST", "/api/sessions/log-follow", {"sessionIds": [session]})
    assert news["stuck"][session]["kind"] == "api_errors"
    path = f"/api/sessions/{session}/log-digest?last=1&maxLength=20"
    [entry] = stage.maestro.daemon.call("GET", path)["entries"]
    assert (entry["source"], len(entry["text"])) == ("system", 20)


def test_one_that_starts_too_slowly_is_heard_by_its_own(stage: Stage) -> None:
    """Nobody waits for it any longer, and it runs no hooks; its script comes late, through a pipe."""
    pipe = stage.place / "late.json"
    os.mkfifo(pipe)
    body = {
        "agent": "scripted",
        "model": str(pipe),
        "name": "late",
        "message": "Begin",
        "directory": str(stage.maestro.cwd),
        "environment": stage.maestro.env,
    }
    session = str(stage.maestro.daemon.call("POST", "/api/sessions/spawn", body, timeout=120)["id"])
    assert status(stage, session) == "spawning"
    pipe.write_text(json.dumps({"steps": [{"say": "I am ready."}], "imitate": "gemini", "hookless": True}))
    until_told(stage, session, "idle", "unchecked")
