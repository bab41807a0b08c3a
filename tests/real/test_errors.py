"""API errors and limits on the real CLIs: told by `session list`, the panes and `session logs`, without anybody looking.

Nothing here asks for a look (`explain`, `capture-pane`): what is told was brought by an event, which the table in
`fleet/lookout.py` names.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from tests.real.clis import CLIS, Cli
from tests.real.fleet import RealFleet
from tests.real.turns import Failure, Received, Reply, Turn, calls, says

from maestro.server.client import Daemon

ENDS = 120  # seconds in which the CLIs are done with trying again
BAD = Failure(400, "bad request stub")
REFUSED = Failure(401, "invalid x-api-key stub")
BROKEN = Failure(500, "stub 500")
RESETS = int(time.time()) // 60 * 60 + 3 * 24 * 3600
QUOTA = Failure(
    429,
    "the quota is used up",
    kind="usage_limit_reached",
    more={"plan_type": "plus", "resets_at": RESETS},
)


@pytest.fixture(scope="module", params=sorted(CLIS))
def cli(request: pytest.FixtureRequest) -> Cli:
    return CLIS[request.param]


def listed(fleet: RealFleet, session_id: str) -> str:
    return next(str(one["status"]) for one in fleet.json("session", "list") if one["id"] == session_id)


def in_status(fleet: RealFleet, session_id: str) -> str:
    """Its status as `maestro status` tells it."""
    projects = fleet.json("status")["projects"]
    live = [one for project in projects for one in project["activeSessions"]]
    return next(str(one["status"]) for one in live if one["id"] == session_id)


def notify(fleet: RealFleet, session_id: str) -> str:
    panes = fleet.json("fleet", "list-panes")
    return next(str(one["notify"]) for one in panes if one["sessionId"] == session_id)


def until_listed(fleet: RealFleet, session_id: str, *statuses: str, seconds: float = 30) -> float:
    """Waits without a look at the screen. Returns the seconds that it took."""
    began = time.monotonic()
    fleet.until(
        f"it is listed as {' or '.join(statuses)}",
        lambda: listed(fleet, session_id),
        lambda status: status in statuses,
        seconds,
    )
    return time.monotonic() - began


def since_asked(fleet: RealFleet, text: str, since: int) -> float:
    fleet.asked(text, since=since)
    return time.monotonic()


def failed_everywhere(fleet: RealFleet, session_id: str, status: str = "failed") -> dict[str, Any]:
    until_listed(fleet, session_id, status, seconds=ENDS)
    fleet.until("its pane says so", lambda: notify(fleet, session_id), lambda seen: seen == "error")
    assert in_status(fleet, session_id) == status
    digest = fleet.digest(session_id)
    assert digest["status"] == "failed", digest
    changes = [one["data"].get("changes", {}).get("status") for one in events(fleet, session_id)]
    assert status in changes, changes
    return digest


def events(fleet: RealFleet, session_id: str) -> list[dict[str, Any]]:
    told = Daemon(fleet.env).call("GET", "/api/events", query={"subjects": session_id})
    return list(told["events"])


def test_a_bad_request_is_told_and_the_next_one_too(fleet: RealFleet) -> None:
    """The first turn fails, the second does not, the third fails like the first, with that one's error still in sight."""
    since = fleet.load(afterwards=_fails_when_asked)
    session_id = fleet.spawn("fail at once")
    began = since_asked(fleet, "fail at once", since)
    digest = failed_everywhere(fleet, session_id)
    report(fleet, "400", began)
    assert BAD.message in digest["stuck"]["evidence"]
    fleet.tell(session_id, "and now?")
    fleet.until_said(session_id, "Back again.")
    until_listed(fleet, session_id, "idle")
    fleet.tell(session_id, "fail once more")
    began = since_asked(fleet, "fail once more", since)
    failed_everywhere(fleet, session_id)
    report(fleet, "400 again", began)


def _fails_when_asked(request: Received) -> Turn:
    """Claude Code asks more than once after a 400: so the last prompt decides, not the number of the request."""
    told = "\n".join(request.user_texts())
    is_asked = told.rfind("and now?") < max(told.rfind("fail at once"), told.rfind("fail once more"))
    return BAD if is_asked else says("Back again.")


# Gemini CLI tells nobody that it tries again: neither its screen, nor its title, its log or a hook.
@pytest.mark.parametrize("cli", ["claude", "codex"], indirect=True, scope="module")
def test_a_retry_is_told_while_it_lasts(fleet: RealFleet) -> None:
    gate = threading.Event()
    back = Reply(says("Back again.").blocks, gate=gate)
    since = fleet.load(*[BROKEN] * 4, afterwards=back)
    session_id = fleet.spawn("try")
    began = since_asked(fleet, "try", since)
    until_listed(fleet, session_id, "retrying")
    report(fleet, "500, retrying", began)
    assert notify(fleet, session_id) == "working"
    digest = fleet.digest(session_id)
    assert (digest["status"], digest["stuck"]["kind"]) == ("retrying", "api_errors"), digest
    assert digest["evidence"][0]["source"] == "screen"
    assert digest["entries"][-1]["text"] == digest["evidence"][0]["says"]
    gate.set()
    fleet.until_said(session_id, "Back again.")
    until_listed(fleet, session_id, "idle")
    assert fleet.digest(session_id)["stuck"] is None


@pytest.mark.parametrize("cli", ["claude"], indirect=True, scope="module")
def test_a_refused_key_says_what_to_do_while_it_tries_again(fleet: RealFleet) -> None:
    since = fleet.load(afterwards=REFUSED)
    session_id = fleet.spawn("come in")
    began = since_asked(fleet, "come in", since)
    until_listed(fleet, session_id, "retrying")
    report(fleet, "401, retrying", began)
    # The first attempts are shown without their cause.
    digest = fleet.until(
        "it says why",
        lambda: fleet.digest(session_id),
        lambda told: told["stuck"] and REFUSED.message in told["stuck"]["evidence"],
    )
    assert "log in" in digest["stuck"]["remedy"]


@pytest.mark.parametrize("cli", ["codex", "gemini"], indirect=True, scope="module")
def test_a_refused_key_says_what_to_do(fleet: RealFleet) -> None:
    since = fleet.load(afterwards=REFUSED)
    session_id = fleet.spawn("come in")
    began = since_asked(fleet, "come in", since)
    digest = failed_everywhere(fleet, session_id)
    report(fleet, "401", began)
    assert REFUSED.message in digest["stuck"]["evidence"]
    assert "log in" in digest["stuck"]["remedy"]


@pytest.mark.parametrize("cli", ["codex"], indirect=True, scope="module")
@pytest.mark.parametrize("failure", [QUOTA, Failure(429, "too fast")], ids=["quota", "rate"])
def test_a_limit_is_a_limit(fleet: RealFleet, failure: Failure) -> None:
    since = fleet.load(afterwards=failure)
    session_id = fleet.spawn("spend the rest")
    began = since_asked(fleet, "spend the rest", since)
    digest = failed_everywhere(fleet, session_id, "limited")
    report(fleet, "429", began)
    assert digest["stuck"]["kind"] == "limit"
    fleet.until_status(session_id, "limited")
    if failure is QUOTA:
        assert digest["stuck"]["resetsAt"] == RESETS * 1000, digest


# Its turns end by the same hook whether they fail or not, and between two dialogs its title is the same.
@pytest.mark.parametrize("cli", ["gemini"], indirect=True, scope="module")
def test_a_question_right_after_a_permission_is_told(fleet: RealFleet) -> None:
    asks = calls(
        "One question.",
        "ask_user",
        questions=[{"question": "Any name?", "header": "Name", "type": "text"}],
    )
    runs = calls("I will run it.", "run_shell_command", command="touch a.txt", description="Create a file")
    for number in range(3):
        fleet.load(runs, asks, says(f"All is answered, {number}."))
        session_id = fleet.spawn("begin")
        until_listed(fleet, session_id, "needs_input", seconds=60)
        began = time.monotonic()
        fleet.tell(session_id, "Choose 1")
        until_asked_twice(fleet, session_id)
        report(fleet, "question after permission", began)
        until_listed(fleet, session_id, "needs_input")
        fleet.tell(session_id, "Maestro")
        fleet.until_said(session_id, f"All is answered, {number}.")
        fleet.stop(session_id)


def until_asked_twice(fleet: RealFleet, session_id: str) -> None:
    fleet.until(
        "the question is known",
        lambda: [one for one in events(fleet, session_id) if one["kind"] == "question.asked"],
        lambda asked: len(asked) == 2,
    )


def report(fleet: RealFleet, what: str, began: float) -> None:
    print(f"{fleet.cli.name}: {what}: told after {time.monotonic() - began:.1f} s")  # noqa: T201 - what a run reports
