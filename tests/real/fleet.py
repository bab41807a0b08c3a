"""One real CLI under Maestro, as a test drives it: in a network of its own, in a home of its own."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tests.patience import Deadline
from tests.real import homes
from tests.real.clis import Cli
from tests.real.namespace import Namespace
from tests.real.stub_api import StubApi
from tests.real.turns import Api, Received, Scripted
from tests.support import BIN

from maestro import processes

Seen = TypeVar("Seen")

_APIS: dict[str, Api] = {"claude": "anthropic", "codex": "openai", "gemini": "gemini"}
_LOOK_SECONDS = 0.1


@dataclass(frozen=True)
class Tmux:
    """A tmux server inside the namespace, as a person there uses it."""

    fleet: RealFleet
    socket: str

    def __call__(self, *command: str) -> str:
        """Returns what tmux prints."""
        words = ["tmux", "-S", self.socket, *command]
        done = self.fleet.network.run(words, env=self.fleet.env, cwd=self.fleet.work)
        assert done.returncode == 0, done
        return done.stdout.rstrip("\n")


class RealFleet:
    def __init__(self, cli: Cli, program: Path, place: Path, network: Namespace, api: StubApi) -> None:
        self.cli = cli
        self.api = api
        self.network = network
        self.home = place / "home"
        self.work = place / "work"
        self.home.mkdir()
        self.work.mkdir()
        url = f"http://127.0.0.1:{api.port}"
        homes.seed(self.home, self.work, url)
        self.env = {
            "PATH": f"{program}:{BIN}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "SHELL": "/bin/sh",
            "TERM": "xterm-256color",
            "TMPDIR": str(place),
            "MAESTRO_HOME": str(place / "m"),
        } | homes.variables(url)

        self._sockets = 0
        self._places: dict[str, Any] = {}

    # The person's own tmux.

    @contextlib.contextmanager
    def own_tmux(
        self, *program: str, columns: int = 120, lines: int = 40, cwd: Path | None = None
    ) -> Iterator[Tmux]:
        """Runs a program in pane %0 of a tmux server of the person's own, which ends with the block."""
        # A new path each time: a server that just ends may still take a connection.
        self._sockets += 1
        tmux = Tmux(self, str(self.work.parent / f"own{self._sockets}"))
        size = ("-x", str(columns), "-y", str(lines))
        tmux("-f", "/dev/null", "new-session", "-d", *size, "-c", str(cwd or self.work), *program)
        try:
            yield tmux
        finally:
            tmux("kill-server")

    @contextlib.contextmanager
    def adopted(self, tmux: Tmux, name: str) -> Iterator[str]:
        """Adopts the agent in pane %0 as soon as it is there, and ends its session after a block without a failure."""
        words = ("--pane", "%0", "--tmux-socket", tmux.socket, "--name", name, "--json")
        done = self.until(
            "it is there", lambda: self("session", "adopt", *words), lambda done: done.returncode == 0
        )
        session_id = str(json.loads(done.stdout)["id"])
        yield session_id
        self("session", "report", "complete", "done", "--session", session_id)

    # The command line.

    def __call__(self, *words: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
        return self.network.run([str(BIN / "maestro"), *words], env=self.env, cwd=self.work, timeout=timeout)

    def json(self, *words: str, timeout: float = 60) -> Any:
        done = self(*words, "--json", timeout=timeout)
        assert done.returncode == 0, f"maestro {' '.join(words)}: {done.returncode}\n{done.stderr}"
        return json.loads(done.stdout)

    # The API.

    def load(self, *turns: Scripted, **options: Any) -> int:
        """Script what the model says next; the number of the last request before that."""
        return self.api.load(_APIS[self.cli.name], *turns, **options)

    def asked(self, text: str, *, since: int = 0, seconds: float = 30) -> Received:
        """The first turn that the CLI asked for with this text from the user."""
        found = self.api.wait_for(
            lambda one: any(text in said for said in one.user_texts()), since=since, seconds=seconds
        )
        assert found is not None, f"the API was never asked: {text!r}"
        return found

    # Sessions.

    def spawn(self, message: str = "", mode: str = "cautious") -> str:
        words = ["--message", message] if message else []
        session: dict[str, Any] = self.json(
            "session", "spawn", "--agent", self.cli.name, "--mode", mode, *words, timeout=120
        )
        return str(session["id"])

    def digest(self, session_id: str) -> dict[str, Any]:
        return dict(self.json("session", "logs", session_id))

    def explain(self, session_id: str) -> dict[str, Any]:
        return dict(self.json("session", "explain", session_id))

    def screen(self, session_id: str) -> dict[str, Any]:
        return dict(self.json("fleet", "capture-pane", session_id))

    def tell(self, session_id: str, message: str) -> dict[str, Any]:
        """Type a prompt, or the answer to what is asked; the receipt, which says that it arrived."""
        receipt = self.sent(session_id, message)
        assert receipt["state"] == "submitted", receipt
        assert receipt["evidence"], receipt
        return receipt

    def sent(self, session_id: str, message: str) -> dict[str, Any]:
        """Type a prompt, or an answer; the receipt, whatever became of it."""
        words = ("--message", message, "--timeout", "110", "--json")
        done = self("session", "prompt", session_id, *words, timeout=120)
        assert done.stdout, f"{message!r}: {done.returncode}\n{done.stderr}"
        receipt: dict[str, Any] = json.loads(done.stdout)
        return receipt

    def stop(self, session_id: str) -> dict[str, Any]:
        return dict(self.json("session", "stop", session_id))

    def stop_all(self) -> None:
        for session in self.json("session", "list"):
            # Not by force: Claude Code takes a kill soon after its start for a broken terminal, and draws another way.
            self("session", "stop", session["id"])

    def press(self, session_id: str, *keys: str) -> None:
        """What a human presses at the session's terminal."""
        self._in_pane(session_id, "send-keys", *keys)

    def paste(self, session_id: str, text: str) -> None:
        """Pastes as Maestro does, into a terminal that a daemon has named before: none is started for it."""
        buffer = self.work.parent / "buffer"
        buffer.write_text(text)
        self._in_pane(session_id, "load-buffer", str(buffer))
        self._in_pane(session_id, "paste-buffer", "-p", "-d")

    def _in_pane(self, session_id: str, command: str, *words: str) -> None:
        if session_id not in self._places:
            self._places[session_id] = self.json("session", "show", session_id)["place"]
        place = self._places[session_id]
        target = [] if command == "load-buffer" else ["-t", place["paneId"]]
        self.tmux_of(place["fleet"])(command, *target, *words)

    def tmux_of(self, fleet: str) -> Tmux:
        """Returns the server of a fleet of Maestro's."""
        return Tmux(self, f"{self.env['MAESTRO_HOME']}/fleets/{fleet}")

    # Waiting: a CLI tells nobody when it has drawn its screen.

    def until(
        self, what: str, look: Callable[[], Seen], good: Callable[[Seen], object], seconds: float = 30
    ) -> Seen:
        deadline = Deadline(seconds)
        while True:
            seen = look()
            if good(seen):
                return seen
            if deadline.passed:
                raise AssertionError(f"not within {deadline}: {what}; seen last: {seen!r}")
            time.sleep(_LOOK_SECONDS)

    def until_said(self, session_id: str, text: str) -> dict[str, Any]:
        """Its last words are these, as its transcript tells."""
        return self.until(
            f"it says {text!r}",
            lambda: self.digest(session_id),
            lambda digest: digest["entries"] and digest["entries"][-1]["text"] == text,
        )

    def until_status(self, session_id: str, *statuses: str, seconds: float = 30) -> dict[str, Any]:
        return self.until(
            f"its status is {' or '.join(statuses)}",
            lambda: self.explain(session_id),
            lambda told: told["status"] in statuses,
            seconds,
        )

    def until_asked(self, session_id: str) -> dict[str, Any]:
        """It waits for an answer, as its screen tells."""
        return self.until(
            "it asks something", lambda: self.screen(session_id), lambda screen: screen["hasQuestion"]
        )

    def evidence(self) -> str:
        """What a person would look at after a failure: every screen, the last requests, what runs."""
        parts = []
        done = self("session", "list", "--all", "--json")
        for session in json.loads(done.stdout or "[]"):
            shown = self("fleet", "capture-pane", session["id"], "--json")
            parts.append(f"--- {session['id']} {session['status']} {session['lastReport'] or ''}")
            parts.append(shown.stderr or json.loads(shown.stdout)["content"])
        parts += [
            f"--- {one.number} {one.api} {one.purpose} {one.path}"
            for one in self.api.received(purpose="turn")[-10:]
        ]
        parts += [f"--- {pid} {words[:150]}" for pid, words in self.network.members().items()]
        return "\n".join(parts)

    def pids(self) -> list[int]:
        """The CLI's processes that tmux did not start itself: those it would wake when they are stopped."""
        mark = os.fspath(self.cli.folder)
        members = {pid for pid, words in self.network.members().items() if mark in words}
        return [pid for pid in members if processes.parent(pid) in members]

    def alive(self) -> list[str]:
        """The CLI's processes, by their command lines."""
        mark = os.fspath(self.cli.folder)
        return [
            words
            for words in self.network.members().values()
            if mark in words or words.startswith(f"{self.cli.name} ")
        ]
