"""The demo's story: a project, a tree of tasks, three scripted workers in panes whose reports move the board.

Two of them ask something on the way; the demo answers as a person would, with `maestro session prompt`. Everything
happens in a temporary folder with a daemon and a tmux server of its own: nothing of the user's is read or written, and
nothing is left behind.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from maestro.errors import TimedOut
from maestro.server import client, lifecycle
from maestro.server.client import Daemon

_SECONDS = 55.0
_STAGE = (
    # title, who, script, titles that it waits for
    ("Fix login validation", "Frontend Dev", "frontend.json", ()),
    ("User deletion API", "Backend Dev", "backend.json", ()),
    ("Write auth tests", "Test Writer", "tester.json", ("Fix login validation", "User deletion API")),
)


_FLEET = "demo"
_READING_SECONDS = 1.5
# What a person answers: a word of the question → the answer.
_ANSWERS = {"deleted": "Choose 2: an audit needs to know who it was", "npm": "Choose 1"}


class Scene(NamedTuple):
    """What there is to show at one moment: what happened and was said since the last one, and how all stands."""

    events: list[dict[str, Any]]
    lines: list[dict[str, Any]]
    tasks: list[dict[str, Any]]
    sessions: list[dict[str, Any]]


class Outcome(NamedTuple):
    tasks_completed: int
    tasks_total: int
    events: int
    seconds: float
    digest_tokens: int
    raw_tokens: int


def play(show: Callable[[Scene], None], env: Mapping[str, str]) -> Outcome:
    """Play the story; `show` gets a scene at the start and whenever there is news."""
    began = time.monotonic()
    with _stage(env) as (daemon, place):
        project = daemon.call("POST", "/api/projects", {"directory": place, "name": "demo"})
        tasks = _tasks(daemon, project["id"])
        troupe = _Troupe(daemon, place)
        try:
            events = _until_the_end(daemon, troupe, tasks, show, began + _SECONDS)
        finally:
            troupe.dismiss()
        last = daemon.call("GET", "/api/tasks", query={"projectId": project["id"]})
        done = sum(task["status"] == "completed" for task in last)
        stats = daemon.call(
            "GET", "/api/sessions/stats", query={"sessionIds": ",".join(sorted(troupe.sessions))}
        )
        digest, raw = (sum(one["saving"][part] for one in stats) for part in ("digestTokens", "rawTokens"))
        return Outcome(done, len(last), events, time.monotonic() - began, digest, raw)


@contextmanager
def _stage(env: Mapping[str, str]) -> Iterator[tuple[Daemon, str]]:
    folder = tempfile.mkdtemp(prefix="maestro-demo-")
    place = os.path.join(folder, "shop")
    os.mkdir(place)
    # Something to read: the workers look at real files, and their transcripts grow as real ones do.
    for name, source in (("login.py", client.__file__), ("accounts.py", lifecycle.__file__)):
        shutil.copyfile(source, os.path.join(place, name))
    own = lifecycle.scrubbed(env) | {
        "HOME": folder,
        "MAESTRO_HOME": os.path.join(folder, "m"),
        "CLAUDE_CONFIG_DIR": os.path.join(folder, "claude"),
        # The workers call `maestro` by name, as agents do: this one.
        "PATH": os.path.dirname(sys.executable) + os.pathsep + env.get("PATH", os.defpath),
    }
    own.pop("MAESTRO_DATABASE_URL", None)
    daemon = Daemon(own)
    try:
        yield daemon, place
    finally:
        lifecycle.stop(daemon.home)
        shutil.rmtree(folder, ignore_errors=True)


def _tasks(daemon: Daemon, project_id: str) -> dict[str, str]:
    """The tree of tasks: title → id."""
    root = daemon.call("POST", "/api/tasks", {"title": "Ship accounts", "projectId": project_id})
    ids: dict[str, str] = {}
    for title, who, _, waits_for in _STAGE:
        body = {
            "title": title,
            "assignee": who,
            "parentId": root["id"],
            "dependsOn": [ids[other] for other in waits_for],
        }
        ids[title] = daemon.call("POST", "/api/tasks", body)["id"]
    return ids | {"Ship accounts": root["id"]}


class _Troupe:
    """The workers: each a session in a pane of its own, played by the scripted agent."""

    def __init__(self, daemon: Daemon, place: str) -> None:
        self._daemon = daemon
        self._place = place
        self.sessions: set[str] = set()

    def start(self, who: str, script: str, task_id: str) -> None:
        body = {
            "agent": "scripted",
            "model": os.path.join(os.path.dirname(__file__), script),
            "name": who,
            "label": who,
            "taskIds": [task_id],
            "fleet": _FLEET,
            "cwd": self._place,
            "directory": self._place,
            "environment": {name: self._daemon.env[name] for name in ("HOME", "PATH", "CLAUDE_CONFIG_DIR")},
        }
        session = self._daemon.call("POST", "/api/sessions/spawn", body, timeout=_SECONDS)
        self.sessions.add(session["id"])

    def answer(self, session_id: str, message: str) -> None:
        """As a person does: in a shell, with a receipt."""
        command = [sys.executable, "-m", "maestro", "session", "prompt", session_id, "--message", message]
        subprocess.run(command, env=dict(self._daemon.env), stdout=subprocess.DEVNULL, check=True)

    def dismiss(self) -> None:
        if self.sessions:
            self._daemon.call("POST", f"/api/fleets/{_FLEET}/down", {}, timeout=_SECONDS)


def _until_the_end(
    daemon: Daemon, troupe: _Troupe, tasks: dict[str, str], show: Callable[[Scene], None], deadline: float
) -> int:
    told = _Audience(daemon, troupe, show)
    told.look()
    completed: set[str] = set()
    waiting = list(_STAGE)
    ended: set[str] = set()
    seen = 0
    _start_free(troupe, tasks, waiting, completed)
    while waiting or ended != troupe.sessions:
        for event in told.look():
            seen += 1
            changes = event["data"].get("changes", {})
            if changes.get("endedAt") and event["subjectId"] in troupe.sessions:
                ended.add(event["subjectId"])
            if changes.get("status") == "completed":
                completed.add(event["subjectId"])
            if event["kind"] == "question.asked":
                _answer(troupe, event["data"]["question"])
        _start_free(troupe, tasks, waiting, completed)
        if time.monotonic() > deadline:
            raise TimedOut("The demo took too long.", hint="Is the machine very busy? Try again.")
    root = tasks["Ship accounts"]
    daemon.call("POST", f"/api/tasks/{root}/report", {"kind": "complete", "message": "All parts are done"})
    told.look()
    return seen


class _Audience:
    """Looks at events and at what is said, as `session watch` and `session logs -f` do, and shows both."""

    def __init__(self, daemon: Daemon, troupe: _Troupe, show: Callable[[Scene], None]) -> None:
        self._daemon = daemon
        self._troupe = troupe
        self._show = show
        self._cursor = daemon.call("GET", "/api/events", query={"since": "now"})["cursor"]
        self._said: dict[str, Any] = {}
        self._first = True

    def look(self) -> list[dict[str, Any]]:
        """The events since the last look; waits a little for some."""
        page = self._daemon.call(
            "GET", "/api/events", query={"since": self._cursor, "wait": 0 if self._first else 1}
        )
        self._cursor = page["cursor"]
        lines: list[dict[str, Any]] = []
        if self._troupe.sessions:
            body = {"sessionIds": sorted(self._troupe.sessions), "cursor": self._said, "wait": 0}
            news = self._daemon.call("POST", "/api/sessions/log-follow", body)
            self._said, lines = news["cursor"], news["lines"]
        if page["events"] or lines or self._first:
            tasks, sessions = (
                self._daemon.call("GET", "/api/tasks"),
                self._daemon.call("GET", "/api/sessions"),
            )
            self._show(Scene(page["events"], lines, tasks, sessions))
        self._first = False
        return list(page["events"])


def _start_free(troupe: _Troupe, tasks: dict[str, str], waiting: list[Any], completed: set[str]) -> None:
    for part in list(waiting):
        title, who, script, waits_for = part
        if all(tasks[other] in completed for other in waits_for):
            waiting.remove(part)
            troupe.start(who, script, tasks[title])


def _answer(troupe: _Troupe, question: dict[str, Any]) -> None:
    words = f"{question['text']} {question['asked'].get('detail', '')}".lower()
    answer = next((answer for word, answer in _ANSWERS.items() if word in words), None)
    if answer is not None:
        # Long enough for somebody who watches to read the question.
        time.sleep(_READING_SECONDS)
        troupe.answer(question["sessionId"], answer)
