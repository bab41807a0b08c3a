"""Roles in real panes: what finds a pane first, and processes that forget their token."""

from __future__ import annotations

from typing import Any

import pytest
from tests.coordinate.roles.panes import daemon_as, inside, spawn, token_of
from tests.coordinate.roles.test_role_matrix import IN_PANES
from tests.fleet.typing.stage import Stage
from tests.patience import until

from maestro.errors import Refused
from maestro.server.client import Daemon

# Who may: the boss on its own pane, a child's, a grandchild's, a stranger's; the worker on its own, its sibling's, …
MAY = {
    "POST /api/fleets/notify": ({"boss"}, {"worker"}),
    "POST /api/fleets/coordinate-wait": ({"worker", "sibling", "deputy"}, set()),
    "POST /api/fleets/coordinator-connect": ({"worker", "sibling", "deputy"}, set()),
    "POST /api/fleets/coordinator-disconnect": ({"worker", "sibling", "deputy"}, set()),
    "GET /api/fleets/capture": ({"boss", "worker", "sibling", "deputy", "grandchild"}, {"worker"}),
}


@pytest.fixture(scope="module")
def ids(stage: Stage) -> dict[str, str]:
    made = {"boss": spawn(stage, "boss", role="coordinator")["id"]}
    made["deputy"] = spawn(stage, "deputy", role="coordinator", parentSessionId=made["boss"])["id"]
    for name, parent in (("worker", "boss"), ("sibling", "boss"), ("grandchild", "deputy")):
        made[name] = spawn(stage, name, parentSessionId=made[parent])["id"]
    made["stranger"] = spawn(stage, "stranger")["id"]
    return made


def test_every_pane_route_is_here() -> None:
    assert set(MAY) == IN_PANES


def refusal(daemon: Daemon, method: str, path: str, body: dict[str, Any]) -> str:
    """Who may, when the caller may not."""
    try:
        daemon.call(method, path, None if method == "GET" else body, query=body if method == "GET" else None)
    except Refused as error:
        return error.hint
    return ""


@pytest.mark.parametrize("route", MAY)
def test_who_may_do_what_in_panes(stage: Stage, ids: dict[str, str], route: str) -> None:
    method, path = route.split()
    for who, may in zip(("boss", "worker"), MAY[route], strict=True):
        daemon = daemon_as(stage, ids[who])
        for name, session_id in ids.items():
            bodies: dict[str, dict[str, Any]] = {
                "notify": {"pane": session_id, "state": "working"},
                "coordinate-wait": {"coordinator": "me", "managed": [session_id], "timeout": 0},
            }
            body: dict[str, Any] = bodies.get(
                path.rpartition("/")[2], {"pane": session_id, "coordinator": "me"}
            )
            hint = refusal(daemon, method, path, body)
            assert ("human" in hint) is (name not in may), (who, name, hint)


def test_a_coordinator_is_only_given_its_own_childrens_panes(stage: Stage, ids: dict[str, str]) -> None:
    for name in ("worker", "stranger"):
        stage.maestro.daemon.call("POST", "/api/fleets/notify", {"pane": ids[name], "state": "error"})
    daemon = daemon_as(stage, ids["boss"])
    given = set()
    while True:
        body = {"coordinator": "me", "fleet": "maestro", "timeout": 0, "handled": True}
        told = daemon.call("POST", "/api/fleets/coordinate-wait", body)
        if told["capture"] is None:
            break
        given.add(told["capture"]["sessionId"])
    assert ids["worker"] in given
    assert given <= {ids["worker"], ids["sibling"], ids["deputy"]}


def test_what_panes_there_are_is_told_as_far_as_one_may_know(stage: Stage, ids: dict[str, str]) -> None:
    def panes(who: str) -> set[str]:
        return {one["sessionId"] for one in daemon_as(stage, ids[who]).call("GET", "/api/fleets/panes")}

    assert panes("boss") == {session_id for name, session_id in ids.items() if name != "stranger"}
    assert panes("worker") == {ids["worker"]}
    [fleet] = daemon_as(stage, ids["worker"]).call("GET", "/api/fleets")
    assert [one["id"] for one in fleet["sessions"]] == [ids["worker"]]


@pytest.mark.parametrize(
    ("name", "forgets"),
    [
        ("unset", "env -u MAESTRO_SESSION_TOKEN -u MAESTRO_SESSION_ID"),
        ("empty", 'env -i PATH="$PATH" HOME="$HOME" MAESTRO_HOME="$MAESTRO_HOME"'),
        ("daemon", 'env -u MAESTRO_SESSION_TOKEN MAESTRO_SESSION_TOKEN="$(cat $MAESTRO_HOME/token)"'),
        ("detached", "env -u MAESTRO_SESSION_TOKEN setsid --wait"),
    ],
)
def test_a_worker_that_forgets_its_token_stays_a_worker(
    stage: Stage, ids: dict[str, str], name: str, forgets: str
) -> None:
    """While its session lives, when it says that it is done, and when a human has closed it."""
    out = stage.place / f"tried-{name}"
    attempt = (
        f"{forgets} maestro session prompt {ids['stranger']} --message x >> {out} 2>&1; echo code=$? >> {out}"
    )
    done = {"run": ["maestro", "session", "report", "complete", "All is done."]}
    tries = {"run": ["sh", "-c", attempt]}
    session = spawn(stage, f"forgets-{name}", tries, done, tries, {"wait": True}, tries)["id"]

    def codes() -> list[str]:
        lines = out.read_text().splitlines() if out.exists() else []
        return [line for line in lines if line.startswith("code=")]

    until(lambda: len(codes()) == 2, lambda: stage.screen(session))
    until(lambda: stage.show(session)["status"] == "idle")
    stage.queued(session, "Go on.")
    until(lambda: len(codes()) == 3, lambda: stage.screen(session))
    assert codes() == [f"code={Refused.exit_code}"] * 3, out.read_text()
    assert "A worker may not prompt this session." in out.read_text()
    assert stage.prompts(ids["stranger"]) == []


def test_a_closed_sessions_process_does_not_become_a_human(stage: Stage, ids: dict[str, str]) -> None:
    out, go = stage.place / "closed", stage.place / "closed-goes-on"
    attempt = (
        f"until test -e {go}; do sleep 0.05; done; "
        f"env -u MAESTRO_SESSION_TOKEN maestro session prompt {ids['stranger']} --message x > {out}.new 2>&1; "
        f"echo code=$? >> {out}.new; mv {out}.new {out}"
    )
    session = spawn(stage, "closed", {"say": "I wait."}, {"run": ["sh", "-c", attempt]})["id"]
    token = token_of(stage, session)
    stage.maestro.json("session", "report", "complete", "Enough.", "--session", session)
    assert stage.show(session)["endedAt"] is not None
    go.touch()
    until(out.exists)
    assert f"code={Refused.exit_code}" in out.read_text()
    ended = stage.maestro("session", "show", session, env={"MAESTRO_SESSION_TOKEN": token})
    assert "its session has ended" in ended.stderr


def test_a_worker_reads_itself_and_reports_itself(stage: Stage, ids: dict[str, str]) -> None:
    env = inside(stage, ids["worker"])
    assert stage.maestro("session", "logs", "worker", env=env).returncode == 0
    assert stage.maestro("session", "report", "progress", "half way", env=env).returncode == 0
    boss = inside(stage, ids["boss"])
    assert stage.maestro("session", "logs", "grandchild", env=boss).returncode == 0
    told = stage.maestro("session", "prompt", "grandchild", "--message", "x", env=boss)
    assert (told.returncode, "or a coordinator on what is its own" in told.stderr) == (
        Refused.exit_code,
        True,
    )
