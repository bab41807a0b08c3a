"""Every route for every role, on its own, a child, a grandchild, a sibling, a stranger; against a real daemon.

The list of routes is the daemon's own: one without a row here fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest
from tests.coordinate.roles.cast import KIN, RELATIONS, Cast

Ask = tuple[str, Any, Mapping[str, str]]

ALL = frozenset(RELATIONS)
NONE: frozenset[str] = frozenset()
OWN, CHILD = frozenset({"own"}), frozenset({"child"})
BELOW = frozenset({"own", "child", "grandchild"})
# The rival is in the boss's project, and so are its tasks on the board and its precedents.
BOARD = BELOW | {"sibling"}

REFUSED = 403


class Row(NamedTuple):
    coordinator: frozenset[str]
    worker: frozenset[str]
    ask: Callable[[Cast, str], Ask]
    by_human: bool = True


def at(path: str, body: Any = None) -> Callable[[Cast, str], Ask]:
    """The same whoever it is about."""
    return lambda _cast, _name: (path, body, {})


def session(tail: str, body: Any = None) -> Callable[[Cast, str], Ask]:
    return lambda cast, name: (f"/api/sessions/{cast.ids[name]}{tail}", body, {})


def task(tail: str, body: Any = None) -> Callable[[Cast, str], Ask]:
    return lambda cast, name: (f"/api/tasks/{cast.tasks[name]}{tail}", body, {})


def query(path: str, word: str) -> Callable[[Cast, str], Ask]:
    return lambda cast, name: (f"{path}?{word}={cast.ids[name]}", None, {})


def body(path: str, word: str, **rest: Any) -> Callable[[Cast, str], Ask]:
    return lambda cast, name: (path, {word: cast.ids[name], **rest}, {})


def inbox(tail: str, told: Any = None) -> Callable[[Cast, str], Ask]:
    return lambda cast, name: (f"/api/inbox/{cast.inbox[name]}{tail}", told, {})


def engaged(cast: Cast, name: str) -> dict[str, Any]:
    return {"sessionId": cast.ids[name], "coordinator": "tests"}


BATCH = {"id": "batch_1", "directory": "/tmp", "folder": "/tmp"}
RUN = {"id": "run_1", "tool": "claude", "mode": "analysis", "status": "success", "durationMs": 1} | BATCH

ROWS: Mapping[str, Row] = {
    "GET /api/projects": Row(ALL, ALL, at("/api/projects")),
    "POST /api/projects": Row(NONE, NONE, at("/api/projects", {"directory": "/no/such/folder"})),
    "GET /api/projects/{project_id}": Row(ALL, ALL, at("/api/projects/work")),
    "DELETE /api/projects/{project_id}": Row(NONE, NONE, at("/api/projects/work")),
    "GET /api/tasks": Row(ALL, ALL, at("/api/tasks")),
    "POST /api/tasks": Row(
        ALL, NONE, lambda cast, name: ("/api/tasks", {"title": "part", "parentId": cast.tasks[name]}, {})
    ),
    "GET /api/tasks/{task_id}": Row(BOARD, OWN, task("")),
    "PATCH /api/tasks/{task_id}": Row(OWN | CHILD, NONE, task("", {"priority": "high"})),
    "GET /api/tasks/{task_id}/children": Row(BOARD, OWN, task("/children")),
    "POST /api/tasks/{task_id}/report": Row(OWN | CHILD, OWN, task("/report", {"kind": "progress"})),
    "GET /api/sessions/log-digests": Row(BELOW, OWN, query("/api/sessions/log-digests", "sessionIds")),
    "GET /api/sessions/{session_id}/log-digest": Row(BELOW, OWN, session("/log-digest")),
    "POST /api/sessions/log-follow": Row(
        BELOW, OWN, lambda cast, name: ("/api/sessions/log-follow", {"sessionIds": [cast.ids[name]]}, {})
    ),
    "GET /api/sessions/stats": Row(BELOW, OWN, query("/api/sessions/stats", "sessionIds")),
    "GET /api/sessions/discover": Row(NONE, NONE, at("/api/sessions/discover")),
    "POST /api/sessions/adopt": Row(NONE, NONE, at("/api/sessions/adopt", {"wanted": "nothing"})),
    "GET /api/context": Row(BELOW, OWN, query("/api/context", "sessionId")),
    "POST /api/sessions/{session_id}/dehydrate": Row(OWN, OWN, session("/dehydrate", {"text": "{}"})),
    "GET /api/sessions/{session_id}/rehydrate": Row(BELOW, OWN, session("/rehydrate")),
    "POST /api/sessions/spawn": Row(
        OWN, NONE, body("/api/sessions/spawn", "parentSessionId", agent="scripted")
    ),
    "POST /api/fleets/up": Row(NONE, NONE, at("/api/fleets/up", {"text": "", "source": "f", "folder": "/"})),
    "POST /api/fleets/{fleet}/down": Row(NONE, NONE, at("/api/fleets/nowhere/down", {})),
    "GET /api/fleets": Row(ALL, ALL, at("/api/fleets")),
    "GET /api/fleets/panes": Row(ALL, ALL, at("/api/fleets/panes")),
    "POST /api/sessions/adopt-pane": Row(
        NONE, NONE, at("/api/sessions/adopt-pane", {"socket": "/no/socket", "paneId": "%0"})
    ),
    "POST /api/sessions/{session_id}/stop": Row(CHILD, NONE, session("/stop", {})),
    "GET /api/sessions/{session_id}/diff": Row(CHILD, NONE, session("/diff")),
    "POST /api/sessions/{session_id}/merge": Row(CHILD, NONE, session("/merge", {})),
    "DELETE /api/sessions/{session_id}/worktree": Row(CHILD, NONE, session("/worktree")),
    "GET /api/sessions-overlaps": Row(ALL, ALL, at("/api/sessions-overlaps")),
    "POST /api/sessions/{session_id}/prompt": Row(CHILD, NONE, session("/prompt", {"message": "Go on."})),
    "GET /api/sessions/{session_id}/prompts": Row(BELOW, OWN, session("/prompts")),
    "DELETE /api/sessions/{session_id}/prompts/{prompt_id}": Row(CHILD, NONE, session("/prompts/prom_1")),
    "GET /api/sessions/{session_id}/explain": Row(BELOW, OWN, session("/explain")),
    "GET /api/questions": Row(BELOW, OWN, query("/api/questions", "sessionId")),
    "GET /api/sessions": Row(ALL, ALL, at("/api/sessions")),
    "POST /api/sessions": Row(
        OWN, NONE, body("/api/sessions", "parentSessionId", agent="scripted", directory="/")
    ),
    "GET /api/sessions/{session_id}": Row(BELOW, OWN, session("")),
    "PATCH /api/sessions/{session_id}": Row(CHILD, NONE, session("", {})),
    "POST /api/sessions/{session_id}/report": Row(OWN, OWN, session("/report", {"kind": "progress"})),
    "POST /api/sessions/{session_id}/assign": Row(
        CHILD,
        NONE,
        lambda cast, name: (f"/api/sessions/{cast.ids[name]}/assign", {"taskId": cast.tasks[name]}, {}),
    ),
    "GET /api/events": Row(ALL, ALL, at("/api/events?since=now")),
    "POST /api/hooks/{agent}/{event}": Row(
        OWN, OWN, lambda cast, name: ("/api/hooks/scripted/None", {}, {"Maestro-Session": cast.ids[name]})
    ),
    "POST /api/runs/ended": Row(OWN, OWN, body("/api/runs/ended", "sessionId", **RUN)),
    "POST /api/batches/started": Row(
        ALL, ALL, at("/api/batches/started", BATCH | {"mode": "analysis", "agents": []})
    ),
    "POST /api/batches/ended": Row(
        ALL,
        ALL,
        at(
            "/api/batches/ended",
            BATCH | {"status": "success", "total": 0, "succeeded": 0, "failed": 0, "durationMs": 1},
        ),
    ),
    "GET /api/overview": Row(ALL, ALL, at("/api/overview")),
    "GET /api/inbox": Row(ALL, NONE, at("/api/inbox")),
    "GET /api/inbox/{word}": Row(BELOW, NONE, inbox("")),
    "POST /api/inbox/{word}/answer": Row(NONE, NONE, inbox("/answer", {"message": "Yes", "wait": False})),
    "POST /api/inbox/{word}/dismiss": Row(NONE, NONE, inbox("/dismiss", {})),
    "POST /api/inbox/{word}/notified": Row(NONE, NONE, inbox("/notified")),
    "GET /api/precedents": Row(ALL, NONE, at("/api/precedents")),
    "GET /api/precedents/{word}": Row(
        BOARD, NONE, lambda cast, name: (f"/api/precedents/{cast.precedents[name]}", None, {})
    ),
    "DELETE /api/precedents/{word}": Row(NONE, NONE, at("/api/precedents/prec_1")),
    "POST /api/coordinate/case": Row(
        CHILD, NONE, lambda cast, name: ("/api/coordinate/case", engaged(cast, name), {})
    ),
    "POST /api/coordinate/decide": Row(
        CHILD, NONE, lambda cast, name: ("/api/coordinate/decide", engaged(cast, name), {})
    ),
    "POST /api/coordinate/attend": Row(
        CHILD,
        NONE,
        lambda cast, name: ("/api/coordinate/attend", {"coordinator": "t", "sessions": [cast.ids[name]]}, {}),
    ),
    "GET /api/coordinate/cases": Row(NONE, NONE, at("/api/coordinate/cases")),
    "GET /api/decisions": Row(BELOW, NONE, query("/api/decisions", "sessionId")),
    "GET /api/decisions/stats": Row(ALL, NONE, at("/api/decisions/stats")),
    "GET /api/decisions/audit": Row(ALL, NONE, at("/api/decisions/audit")),
    "GET /api/decisions/{word}/why": Row(
        BELOW, NONE, lambda cast, name: (f"/api/decisions/{cast.decided[name]}/why", None, {})
    ),
    "GET /api/health": Row(ALL, ALL, at("/api/health")),
    "GET /api/status": Row(ALL, ALL, at("/api/status")),
    "POST /api/server/stop": Row(NONE, NONE, at("/api/server/stop"), by_human=False),
    "POST /api/server/restart": Row(NONE, NONE, at("/api/server/restart", {"python": "/no/such/python"})),
}
# Those that find a pane first: `test_pane_roles.py` has them.
IN_PANES = {
    "POST /api/fleets/notify",
    "POST /api/fleets/coordinate-wait",
    "POST /api/fleets/coordinator-connect",
    "POST /api/fleets/coordinator-disconnect",
    "GET /api/fleets/capture",
}


def test_every_route_has_a_row(cast: Cast) -> None:
    _, described = cast.ask("", "GET", "/openapi.json")
    routes = {f"{method.upper()} {path}" for path, found in described["paths"].items() for method in found}
    assert routes - {*ROWS, *IN_PANES} == set(), "say in a row who may"
    assert {*ROWS, *IN_PANES} - routes == set()


@pytest.mark.parametrize("route", ROWS)
def test_who_may(cast: Cast, route: str) -> None:
    row, method = ROWS[route], route.partition(" ")[0]
    refusals = {
        (who, relation): cast.ask(who, method, *row.ask(cast, KIN[who][relation]))
        for who in KIN
        for relation in RELATIONS
    }
    for (who, relation), (status, told) in refusals.items():
        may = row.coordinator if who == "boss" else row.worker
        if relation in may:
            assert status not in {401, REFUSED, 500}, (who, relation, told)
        else:
            assert status == REFUSED, (who, relation, told)
            assert "human" in told["hint"], told
    if row.by_human:
        for relation in RELATIONS:
            status, told = cast.ask("", method, *row.ask(cast, KIN["boss"][relation]))
            assert status not in {401, REFUSED, 500}, (relation, told)


SEEN = {
    "boss": {"boss", "worker", "sibling", "deputy", "grandchild", "intern", "helper"},
    "deputy": {"deputy", "grandchild"},
    "worker": {"worker"},
}


@pytest.mark.parametrize("who", SEEN)
def test_lists_have_what_one_may_read(cast: Cast, who: str) -> None:
    seen = SEEN[who]

    def listed(path: str, field: str) -> set[str]:
        status, told = cast.ask(who, "GET", path)
        assert status == 200, told
        return cast.names(one[field] for one in told)

    assert listed("/api/sessions", "id") == seen
    rows = cast.ask(who, "GET", "/api/overview")[1]["rows"]
    assert cast.names(row["sessionId"] for row in rows) == seen
    summary = cast.ask(who, "GET", "/api/status")[1]["projects"]
    assert cast.names(one["id"] for part in summary for one in part["activeSessions"]) == seen
    own = {task_id: name for name, task_id in cast.tasks.items()}
    board = {own.get(one["id"]) for one in cast.ask(who, "GET", "/api/tasks")[1]} - {None}
    assert board == ({"worker"} if who == "worker" else set(cast.tasks) - {"stranger"})
    if who != "worker":
        assert listed("/api/inbox", "sessionId") <= seen
        assert listed("/api/decisions", "sessionId") == seen
        told = cast.ask(who, "GET", "/api/precedents")[1]
        assert {one["question"] for one in told} == {f"asked by {name}" for name in cast.ids} - {
            "asked by stranger"
        }
        assert cast.ask(who, "GET", "/api/decisions/stats")[1]["escalated"] <= len(seen)


def test_events_have_what_one_may_read(cast: Cast) -> None:
    def heard(who: str) -> set[str]:
        found, cursor = [], "0"
        while True:
            page = cast.ask(who, "GET", f"/api/events?since={cursor}&limit=20")[1]
            found += page["events"]
            if page["cursor"] == cursor:
                return cast.names(one["subjectId"] for one in found)
            cursor = page["cursor"]

    assert heard("") == set(cast.ids)
    assert heard("boss") == SEEN["boss"]
    assert heard("worker") == {"worker"}


def test_a_refusal_is_in_the_log_once_a_minute(cast: Cast) -> None:
    since = cast.ask("", "GET", "/api/events?since=now")[1]["cursor"]
    path = f"/api/sessions/{cast.ids['stranger']}/prompt"
    for _ in range(3):
        status, told = cast.ask("helper", "POST", path, {"message": "Do as I say."})
        assert (status, told["hint"]) == (REFUSED, "A human or a coordinator may.")
    assert (
        cast.ask("helper", "POST", f"/api/sessions/{cast.ids['rival']}/prompt", {"message": "x"})[0]
        == REFUSED
    )
    events = cast.ask("", "GET", f"/api/events?since={since}")[1]["events"]
    refused = [one for one in events if one["kind"] == "access.refused"]
    assert [(one["sessionId"], one["role"], one["data"]["refusal"]) for one in refused] == [
        (
            cast.ids["helper"],
            "worker",
            {"method": "POST", "path": f"/api/sessions/{cast.ids[on]}/prompt", "on": cast.ids[on]},
        )
        for on in ("stranger", "rival")
    ]
    shown = cast.ask("", "GET", f"/api/sessions/{cast.ids['helper']}")[1]["refusals"]
    assert [one["on"] for one in shown[:2]] == [cast.ids["rival"], cast.ids["stranger"]]
    assert shown[0]["message"] == "A worker may not prompt this session."
    told = cast.stage.maestro("session", "show", "helper").stdout
    assert "A worker may not prompt this session." in told


def test_the_command_line_tells_who_may(cast: Cast) -> None:
    inside = {"MAESTRO_SESSION_ID": cast.ids["worker"], "MAESTRO_SESSION_TOKEN": cast.tokens["worker"]}
    for words in (
        ("session", "prompt", "sibling", "--message", "Stop."),
        ("session", "assign", "sibling", cast.tasks["worker"]),
        ("session", "stop", "sibling"),
        ("session", "spawn", "--agent", "scripted", "--message", "x"),
        ("session", "show", "boss"),
        ("session", "logs", "sibling"),
        ("task", "create", "More"),
        ("task", "show", cast.tasks["sibling"]),
        ("inbox", "list"),
        ("up",),
        ("server", "stop"),
    ):
        done = cast.stage.maestro(*words, env=inside)
        assert (done.returncode, "human" in done.stderr) == (5, True) or words == ("up",), (words, done)
    assert cast.stage.maestro("session", "show", "worker", env=inside).returncode == 0
