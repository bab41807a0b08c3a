"""Who looks on: events and what is said, as `session watch` and `session logs -f` tell them, scene by scene."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from maestro.server.client import Daemon


class Spoken(NamedTuple):
    """A line of a coordinator's, or a line at the person's shell."""

    at: int
    by: str
    text: str


class Speaker(Protocol):
    def said(self) -> list[Spoken]:
        """What it said since the last look."""


class Scene(NamedTuple):
    """What there is to show at one moment: what happened and was said since the last one, and how all stands."""

    events: list[dict[str, Any]]
    lines: list[dict[str, Any]]
    spoken: list[Spoken]
    tasks: list[dict[str, Any]]
    sessions: list[dict[str, Any]]


class Audience:
    def __init__(self, daemon: Daemon, show: Callable[[Scene], None]) -> None:
        self._daemon = daemon
        self._show = show
        self._cursor = daemon.call("GET", "/api/events", query={"since": "now"})["cursor"]
        self._sessions: set[str] = set()
        self._said: dict[str, Any] = {}
        self._first = True
        self.speakers: list[Speaker] = []
        self.seen = 0

    def look(self) -> list[dict[str, Any]]:
        """The events since the last look; waits a little for some."""
        page = self._daemon.call(
            "GET", "/api/events", query={"since": self._cursor, "wait": 0 if self._first else 1}
        )
        self._cursor = page["cursor"]
        self._sessions.update(
            event["subjectId"] for event in page["events"] if event["kind"] == "session.created"
        )
        lines: list[dict[str, Any]] = []
        if self._sessions:
            body = {"sessionIds": sorted(self._sessions), "cursor": self._said, "wait": 0}
            news = self._daemon.call("POST", "/api/sessions/log-follow", body)
            self._said, lines = news["cursor"], news["lines"]
        spoken = [line for speaker in self.speakers for line in speaker.said()]
        if page["events"] or lines or spoken or self._first:
            tasks = self._daemon.call("GET", "/api/tasks")
            sessions = self._daemon.call("GET", "/api/sessions")
            self._show(Scene(page["events"], lines, spoken, tasks, sessions))
        self._first = False
        self.seen += len(page["events"])
        return list(page["events"])
