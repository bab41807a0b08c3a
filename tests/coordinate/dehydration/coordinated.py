"""A coordinator that is an agent, with workers below it: real panes, real hooks, and what its model is told by them."""

from __future__ import annotations

import sqlite3
from typing import Any

from tests.fleet.typing.stage import Stage
from tests.patience import until


class Coordinated(Stage):
    def lead(self, name: str, *steps: dict[str, Any], tasks: tuple[str, ...] = (), **rest: Any) -> str:
        """A coordinator in a pane; its id, when it is ready."""
        return self._start(name, "coordinator", None, tasks, *steps, **rest)

    def worker(
        self, name: str, parent: str | None, *steps: dict[str, Any], tasks: tuple[str, ...] = (), **rest: Any
    ) -> str:
        return self._start(name, "worker", parent, tasks, *steps, **rest)

    def _start(
        self,
        name: str,
        role: str,
        parent: str | None,
        tasks: tuple[str, ...],
        *steps: dict[str, Any],
        **rest: Any,
    ) -> str:
        body = {
            "agent": "scripted",
            "role": role,
            "model": self.script(*(steps or ({"say": "I am ready."},)), **rest),
            "name": name,
            "message": "Begin",
            "taskIds": list(tasks),
            "directory": str(self.maestro.cwd),
            "environment": self.maestro.env,
        }
        if parent is not None:
            body["parentSessionId"] = parent
        found: dict[str, Any] = self.maestro.daemon.call("POST", "/api/sessions/spawn", body, timeout=60)
        assert found["endedAt"] is None, found
        return str(found["id"])

    def told(self, session: str, hook: str) -> list[str]:
        """What hooks of this name put before the model, oldest first: `UserPromptSubmit`, `SessionStart:compact`."""
        attached = [one["attachment"] for one in self.records(session) if one["type"] == "attachment"]
        return [one["content"][0] for one in attached if one.get("hookName") == hook]

    def until_told(self, session: str, hook: str, number: int = 1) -> str:
        """The latest of so many."""
        until(lambda: len(self.told(session, hook)) >= number, lambda: self.screen(session))
        return self.told(session, hook)[-1]

    def turn(self, session: str, message: str) -> None:
        """Prompt it, and wait until its turn is over."""
        before = self._ends(session)
        done = self.prompt(session, message)
        assert done.returncode == 0, (done.stderr, self.screen(session))
        until(lambda: self._ends(session) > before, lambda: self.screen(session))

    def _ends(self, session: str) -> int:
        return sum(one.get("subtype") == "turn_duration" for one in self.records(session))

    def make_coordinator(self, session: str) -> None:
        """As if this one, which has no hooks, had been started as a coordinator."""
        self.kill_daemon()
        with sqlite3.connect(self.maestro.home.database) as ledger:
            ledger.execute("UPDATE sessions SET role = 'coordinator' WHERE id = ?", (session,))
        ledger.close()

    def events(self, kind: str, about: str) -> list[dict[str, Any]]:
        cursor, found = "0", []
        while True:
            page = self.maestro.daemon.call("GET", "/api/events", query={"since": cursor})
            found += page["events"]
            if not page["events"]:
                break
            cursor = page["cursor"]
        return [one["data"] for one in found if one["kind"] == kind and one["subjectId"] == about]
