"""REST as any program would call it: names, bodies, errors, long poll."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.patience import patience
from tests.support import Maestro

Call = Callable[..., tuple[int, Any]]


@pytest.fixture(scope="module")
def call(shared_maestro: Maestro) -> Call:
    shared_maestro("server", "start")

    class Connection(http.client.HTTPConnection):
        def connect(self) -> None:
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(patience(30))
            self.sock.connect(shared_maestro.home.socket)

    def calling(
        method: str, path: str, body: Any = None, *, raw: bytes | None = None, **headers: str
    ) -> tuple[int, Any]:
        connection = Connection("localhost")
        try:
            payload = raw if raw is not None else None if body is None else json.dumps(body)
            connection.request(
                method,
                path,
                payload,
                {"Content-Type": "application/json"} | {n.replace("_", "-"): v for n, v in headers.items()},
            )
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        finally:
            connection.close()

    return calling


@pytest.fixture
def project_id(call: Call, place: Path) -> str:
    status, project = call("POST", "/api/projects", {"directory": str(place)})
    assert status == 201
    return str(project["id"])


def test_tasks_by_rest(call: Call, project_id: str) -> None:
    status, parent = call(
        "POST", "/api/tasks", {"title": "Fix login", "projectId": project_id, "assignee": "Ann"}
    )
    assert (status, parent["status"], parent["assignee"]) == (201, "pending", "Ann")
    _, child = call("POST", "/api/tasks", {"title": "Regex", "parentId": parent["id"]})
    assert call("GET", f"/api/tasks/{parent['id']}/children")[1] == [child]
    status, moved = call(
        "POST", f"/api/tasks/{child['id']}/report", {"kind": "blocked", "message": "no serde"}
    )
    assert (status, moved["status"], moved["blockedReason"]) == (200, "blocked", "no serde")
    status, changed = call("PATCH", f"/api/tasks/{child['id']}", {"status": "in_progress"})
    assert (status, changed["blockedReason"]) == (200, None)
    assert len(call("GET", f"/api/tasks?projectId={project_id}&status=in_progress,pending")[1]) == 2


def test_sessions_by_rest(call: Call, project_id: str) -> None:
    body = {"agent": "claude", "role": "coordinator", "projectId": project_id}
    status, made = call("POST", "/api/sessions", body)
    assert (status, made["token"][:4]) == (201, "mst_")
    parent = made["session"]["id"]
    _, child = call(
        "POST", "/api/sessions", {"agent": "codex", "projectId": project_id, "parentSessionId": parent}
    )
    found = call("GET", f"/api/sessions?parentSessionId={parent}&active=true")[1]
    assert [s["id"] for s in found] == [child["session"]["id"]]
    call("POST", f"/api/sessions/{child['session']['id']}/report", {"kind": "complete"})
    assert call("GET", f"/api/sessions?parentSessionId={parent}&active=true")[1] == []


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "words"),
    [
        ("POST", "/api/tasks", {"title": "x"}, 400, "Provide projectId or directory"),
        ("POST", "/api/tasks", {"title": 7}, 400, "title: input should be a valid string"),
        ("POST", "/api/tasks", {"titel": "x"}, 400, "title: field required (and 1 more)"),
        ("POST", "/api/tasks", {"title": "x", "priority": "now"}, 400, "priority:"),
        ("GET", "/api/events?wait=900", None, 400, "wait:"),
        ("GET", "/api/events?since=x", None, 400, "not an event cursor"),
        ("GET", "/api/tasks/task_nope", None, 404, "There is no task"),
        ("GET", "/api/sessions/log-digests", None, 400, "Provide parentSessionId or sessionIds"),
        ("GET", "/api/sessions/log-digests?sessionIds=x", None, 404, "There is no session “x”"),
        ("GET", "/api/sessions/x/log-digest", None, 404, "There is no session “x”"),
        ("GET", "/api/sessions/x/log-digest?last=-1", None, 400, "last:"),
        ("GET", "/api/sessions/stats", None, 400, "Provide sessionIds or projectId"),
        ("POST", "/api/sessions/log-follow", {"sessionIds": []}, 400, "sessionIds:"),
        ("POST", "/api/tasks", {"title": "x", "parentId": "\0"}, 400, "cannot be stored"),
        ("POST", "/api/projects", {"directory": "/\ud800"}, 400, "directory:"),
        ("GET", "/api/nothing", None, 404, "There is no /api/nothing"),
        ("DELETE", "/api/tasks", None, 405, "Method Not Allowed"),
        ("POST", "/api/projects", {"directory": "relative"}, 400, "not an absolute path"),
        ("POST", "/api/projects", {"directory": "/no/such/folder"}, 404, "is not a folder"),
        ("POST", "/api/server/restart", {"python": "/no/such/python"}, 400, "cannot be run"),
    ],
)
def test_errors_have_one_shape(
    call: Call, method: str, path: str, body: Any, status: int, words: str
) -> None:
    got, told = call(method, path, body)
    assert (got, words in told["error"]) == (status, True), told
    assert isinstance(told["code"], str)


@pytest.mark.parametrize(
    "raw", [b"{", b"", b"nonsense", b"[1]", b'"x"', b"\xff\xfe", b'{"title": NaN}', b"[" * 100_000]
)
def test_bad_json_is_explained(call: Call, project_id: str, raw: bytes) -> None:
    status, told = call("POST", "/api/tasks", raw=raw)
    assert status == 400
    assert told["error"].endswith(".")


def test_an_idempotency_key_works_over_the_wire(call: Call, project_id: str) -> None:
    body = {"title": "once", "projectId": project_id}
    first = call("POST", "/api/tasks", body, Idempotency_Key="k" * 16)
    assert call("POST", "/api/tasks", body, Idempotency_Key="k" * 16) == first
    status, told = call("POST", "/api/tasks", body | {"title": "other"}, Idempotency_Key="k" * 16)
    assert (status, told["code"]) == (409, "key_reused")
    assert len(call("GET", f"/api/tasks?projectId={project_id}")[1]) == 1


def test_a_repeated_session_request_gets_a_token_that_works(call: Call, project_id: str) -> None:
    body = {"agent": "claude", "projectId": project_id}
    _, first = call("POST", "/api/sessions", body, Idempotency_Key="s" * 16)
    _, again = call("POST", "/api/sessions", body, Idempotency_Key="s" * 16)
    assert again["session"]["id"] == first["session"]["id"]
    report = f"/api/sessions/{again['session']['id']}/report"
    assert call("POST", report, {"kind": "progress"}, Authorization=f"Bearer {again['token']}")[0] == 200
    assert call("POST", report, {"kind": "progress"}, Authorization=f"Bearer {first['token']}")[0] == 401


def test_secrets_and_control_characters_are_not_stored(call: Call, project_id: str) -> None:
    secret = "sk-ant-api03-" + "a1B2" * 10
    title = f"Use {secret}\x1b]0;x\x07\x00 now"
    _, task = call(
        "POST", "/api/tasks", {"title": title, "projectId": project_id, "description": f"token={secret}"}
    )
    _, reported = call(
        "POST", f"/api/tasks/{task['id']}/report", {"kind": "progress", "message": f"key: {secret}"}
    )
    assert task["title"] == "Use [redacted] now"
    assert (
        call("POST", "/api/tasks", {"title": "\0", "projectId": project_id})[1]["error"]
        == "A task needs a title."
    )
    everything = json.dumps([task, reported, call("GET", "/api/events")[1], call("GET", "/api/tasks")[1]])
    assert secret not in everything
    assert "\\u001b" not in everything
    assert "\\u0000" not in everything


def test_a_long_poll_answers_when_there_is_news(call: Call, project_id: str) -> None:
    _, page = call("GET", "/api/events?since=now")
    assert page["events"] == []
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(call, "GET", f"/api/events?since={page['cursor']}&wait=25")
        _, task = call("POST", "/api/tasks", {"title": "news", "projectId": project_id})
        _, news = waiting.result(patience(30))
    assert [(e["kind"], e["subjectId"]) for e in news["events"]] == [("task.created", task["id"])]
    assert news["events"][0]["data"]["task"]["projectId"] == project_id
    assert call("GET", f"/api/events?since={news['cursor']}&wait=0")[1]["events"] == []


def test_openapi_describes_what_there_is(call: Call) -> None:
    _, described = call("GET", "/openapi.json")
    assert {
        "/api/projects",
        "/api/tasks",
        "/api/tasks/{task_id}/children",
        "/api/sessions",
        "/api/events",
    } <= set(described["paths"])
    assert {"/api/sessions/{session_id}/log-digest", "/api/sessions/log-digests"} <= set(described["paths"])
    digest = described["paths"]["/api/sessions/{session_id}/log-digest"]["get"]["responses"]["200"]
    assert "isFirstSentence" in json.dumps(digest)
    assert "parentSessionId" in json.dumps(described["paths"]["/api/tasks"]["get"])
