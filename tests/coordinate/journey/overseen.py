"""A stage with real `maestro coordinate` processes beside it, and what they leave: decisions, the log, the inbox."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.fleet.crew.seen import close_panes
from tests.fleet.typing.stage import Stage
from tests.patience import told_by, until

NAMES = ("yes", "always", "no", "*")
_ENTRY = re.compile(r"^## (.+?)$.*?^<!-- (\S+) -->$", re.MULTILINE | re.DOTALL)


def ask(key: str, question: str, *options: Any, **named: Any) -> dict[str, Any]:
    """A question whose answer the worker repeats in its own words."""
    answers = {"*": [{"say": f"{key} got ${{answer}}"}]}
    return {
        "ask": {"question": question, "header": "Head", "options": list(options), "answers": answers, **named}
    }


def may(key: str, command: str) -> dict[str, Any]:
    """A permission; a No is not said, for it ends the turn."""
    answers = {name: [{"say": f"{key} got {name}"}] for name in NAMES}
    return {"permission": {"command": command, "description": "It is needed", "answers": answers}}


class Overseen(Stage):
    """The stage, and oversight of it. What it tells of the ledger is of the sessions since it began anew."""

    def begin_anew(self) -> None:
        super().begin_anew()
        self.own: list[str] = []

    def clear(self) -> None:
        """End the loops and whatever is in a pane: the next loop has to do with nothing of this."""
        self.send_everybody_home()
        while self.maestro.started:
            process = self.maestro.started.pop()
            process.kill()
            process.communicate()
        if Path(self.own_socket).exists():
            self.tmux("kill-server")
        close_panes(self.maestro)

    def spawn(self, name: str, *steps: dict[str, Any], **rest: Any) -> str:
        self.own.append(super().spawn(name, *steps, **rest))
        return self.own[-1]

    def adopt(self, name: str, *steps: dict[str, Any], **rest: Any) -> str:
        self.own.append(super().adopt(name, *steps, **rest))
        return self.own[-1]

    def policy(self, **fields: Any) -> None:
        (self.maestro.cwd / "coordinate.config.json").write_text(json.dumps(fields))

    def oversee(self, name: str = "oversight", *words: str) -> subprocess.Popen[str]:
        return self.maestro.start("coordinate", "--as", name, *words)

    def stop(self, loop: subprocess.Popen[str]) -> str:
        """End a loop as Ctrl-C does; what it said."""
        assert loop.poll() is None, loop.communicate()
        loop.send_signal(signal.SIGINT)
        out, err = told_by(loop)
        assert (loop.returncode, err) == (0, ""), (out, err)
        return out

    def require_running(self) -> None:
        """No loop has ended by itself."""
        for process in self.maestro.started:
            assert process.poll() is None, process.communicate()

    @property
    def guests(self) -> str:
        """The name of the user's own tmux among the fleets."""
        fleets = self.maestro.daemon.call("GET", "/api/fleets")
        return str(next(one["name"] for one in fleets if one["socket"] == self.own_socket))

    # What the ledger knows.

    def get(self, path: str, **query: Any) -> Any:
        return self.maestro.daemon.call("GET", f"/api/{path}", query=query)

    def decisions(self, **query: Any) -> list[dict[str, Any]]:
        return self._own(self.get("decisions", limit=10_000, **query))

    def inbox(self) -> list[dict[str, Any]]:
        return self._own(self.get("inbox"))

    def questions(self, **query: Any) -> list[dict[str, Any]]:
        return self._own(self.get("questions", **query))

    def _own(self, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [one for one in found if one["sessionId"] in self.own]

    def asked(self, session: str, text: str = "") -> dict[str, Any]:
        """The open question of a session, with this in it."""

        def open_one() -> dict[str, Any] | None:
            found: dict[str, Any] | None = self.explain(session)["question"]
            return found if found and text in words_of(found) else None

        found: dict[str, Any] = until(open_one, lambda: self.screen(session))
        return found

    def escalated(self, session: str, text: str = "") -> dict[str, Any]:
        """What waits for the human of a session, with this in its question."""
        found: dict[str, Any] = until(
            lambda: next(
                (
                    one
                    for one in self.inbox()
                    if one["sessionId"] == session and text in words_of(one["question"])
                ),
                None,
            ),
            lambda: (self.inbox(), self.screen(session)),
        )
        return found

    def closed(self, escalation_id: str) -> dict[str, Any]:
        """An escalation once it waits no longer; nobody asks for the inbox meanwhile."""
        found: dict[str, Any] = until(
            lambda: (one := self.get(f"inbox/{escalation_id}"))["closedAt"] and one,
            lambda: self.get(f"inbox/{escalation_id}"),
        )
        return found

    def screens(self, sessions: Mapping[str, str]) -> str:
        """What every worker shows, without its empty lines."""
        shown = {name: self.screen(session).splitlines() for name, session in sessions.items()}
        return "\n".join(f"{name}| {line}" for name, lines in shown.items() for line in lines if line.strip())

    def press(self, session: str, *keys: str) -> None:
        for key in keys:
            self.in_pane(session, "send-keys", key)

    def log(self, name: str = "oversight") -> list[tuple[str, str]]:
        """The entries of COORDINATE_LOG.md: heading, and the decision or word that ends it."""
        path = self.maestro.cwd / ".maestro" / "coordinate" / name / "COORDINATE_LOG.md"
        return [(found[1], found[2]) for found in _ENTRY.finditer(path.read_text(encoding="utf-8"))]


def words_of(question: dict[str, Any] | None) -> str:
    """All that a question says, with the command of a permission."""
    return f"{question['text']}\n{question['asked']['detail']}" if question else ""


def require_whole_log(stage: Overseen, name: str = "oversight") -> Counter[str]:
    """The log has every decision of the ledger that belongs there, once; how many entries of each kind."""
    headings = {
        ("verdict", "answer"): "Autonomous Decision",
        ("verdict", "escalate"): "Escalation to Human",
        ("verdict", "probe"): "Pre-Escalation Probe",
        ("resolution", "answer"): "Human Resolution",
        ("resolution", "dismiss"): "Human Resolution",
    }
    made = [
        (headings[one["kind"], one["action"]], one["id"])
        for one in stage.decisions()
        if one["kind"] != "receipt"
    ]
    assert stage.log(name) == made, f"{stage.log(name)}\n{made}"
    return Counter(heading for heading, _ in made)
