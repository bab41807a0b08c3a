"""Who there is, for the role matrix: a family of sessions in two projects, each with a task and something in the inbox.

human ─┬─ boss (coordinator) ─┬─ worker ── intern ── helper
       │                      ├─ sibling
       │                      └─ deputy (coordinator) ── grandchild
       ├─ rival (coordinator)
       └─ stranger, in another project
"""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.fleet.typing.stage import Stage, staged
from tests.patience import patience

from maestro.ledger import decisions, escalations, precedents
from maestro.ledger.database import open_database, sqlite_url
from maestro.ledger.journal import Change, Journal
from maestro.ledger.roles import HUMAN
from maestro.server import lifecycle

FAMILY: Mapping[str, tuple[str, str]] = {  # name → role, parent
    "boss": ("coordinator", ""),
    "worker": ("worker", "boss"),
    "sibling": ("worker", "boss"),
    "deputy": ("coordinator", "boss"),
    "grandchild": ("worker", "deputy"),
    "intern": ("worker", "worker"),
    "helper": ("worker", "intern"),
    "rival": ("coordinator", ""),
    "stranger": ("worker", ""),
}
RELATIONS = ("own", "child", "grandchild", "sibling", "stranger")
# Who is what to whom.
KIN: Mapping[str, Mapping[str, str]] = {
    "boss": {
        "own": "boss",
        "child": "worker",
        "grandchild": "grandchild",
        "sibling": "rival",
        "stranger": "stranger",
    },
    "worker": {
        "own": "worker",
        "child": "intern",
        "grandchild": "helper",
        "sibling": "sibling",
        "stranger": "stranger",
    },
}


@dataclass
class Cast:
    stage: Stage
    ids: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    tasks: dict[str, str] = field(default_factory=dict)
    inbox: dict[str, str] = field(default_factory=dict)
    decided: dict[str, str] = field(default_factory=dict)
    precedents: dict[str, str] = field(default_factory=dict)

    def ask(
        self,
        who: str,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, Any]:
        """An answer of the daemon to one of them; to the human when nobody is named."""
        connection = _Connection(self.stage.maestro.home.socket)
        sent = {"Content-Type": "application/json", **(headers or {})}
        if who:
            sent["Authorization"] = f"Bearer {self.tokens[who]}"
        try:
            connection.request(method, path, None if body is None else json.dumps(body), sent)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        finally:
            connection.close()

    def names(self, ids: Any) -> set[str]:
        known = {session_id: name for name, session_id in self.ids.items()}
        return {known[one] for one in ids if one in known}


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(patience(60))
        self.sock.connect(self._path)


@contextmanager
def family() -> Iterator[Cast]:
    with staged() as stage:
        cast = Cast(stage)
        elsewhere = stage.place / "elsewhere"
        elsewhere.mkdir()
        daemon = stage.maestro.daemon
        daemon.call("POST", "/api/projects", {"directory": str(elsewhere)})
        for name, (role, parent) in FAMILY.items():
            directory = str(elsewhere if name == "stranger" else stage.maestro.cwd)
            task = daemon.call("POST", "/api/tasks", {"title": f"of {name}", "directory": directory})
            body = {"agent": "scripted", "name": name, "role": role, "taskIds": [task["id"]]}
            body |= {"parentSessionId": cast.ids[parent]} if parent else {}
            made = daemon.call("POST", "/api/sessions", body)
            cast.ids[name], cast.tokens[name] = made["session"]["id"], made["token"]
            cast.tasks[name] = task["id"]
        _fill_inbox(cast)
        daemon.call("GET", "/api/health")
        yield cast


def _fill_inbox(cast: Cast) -> None:
    """What only an oversight would leave, written by the ledger itself while no daemon has it."""
    home = cast.stage.maestro.home
    projects = {
        one["name"]: one["projectId"] for one in cast.stage.maestro.daemon.call("GET", "/api/sessions")
    }
    lifecycle.stop(home, force=False)
    with open(home.host_id, encoding="ascii") as file:
        journal = Journal(open_database(sqlite_url(home.database)), file.read().strip(), lambda: 1)

    def work(change: Change) -> str:
        for name, session_id in cast.ids.items():
            cast.inbox[name] = escalations.open_escalation(
                change, session_id=session_id, kind="blocked", subject=name, text="No key", reason="blocked"
            )
            cast.decided[name] = decisions.record(
                change, kind="attention", session_id=session_id, action="escalate", by="policy"
            )
            cast.precedents[name] = precedents.remember(
                change,
                project_id=projects[name],
                fingerprint=f"of {name}",
                kind="choice",
                question=f"asked by {name}",
                options=("a", "b"),
                answer="a",
                decision_id=None,
                expires_at=9_999_999_999_999,
            )
        return ""

    try:
        journal.write(HUMAN, work)
    finally:
        journal.engine.dispose()
