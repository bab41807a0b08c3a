"""A daemon, scripted agents in panes of ours and of the user's own tmux, and a human at a terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.patience import patience, until
from tests.support import BIN, Maestro, clean_env, end_all_of, forbid_start

from maestro import processes
from maestro.errors import TimedOut
from maestro.server import lifecycle

__all__ = ["BIN", "Human", "Stage", "children", "staged"]

IDLES = ({"say": "I am ready."},)
AGENT = (sys.executable, "-m", "maestro.testing.scripted_agent")
# Starts a program in front of the terminal, as a shell does, and stays away when it is stopped: tmux would wake it.
KEEPER = """
import os, signal, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
child = os.fork()
if not child:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpgrp())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execvp(sys.argv[1], sys.argv[1:])
os.waitpid(child, 0)
"""


def children(pid: int) -> list[int]:
    return [one for one in map(int, filter(str.isdigit, os.listdir("/proc"))) if processes.parent(one) == pid]


class Human:
    """A real terminal with a real tmux client."""

    def __init__(self, env: dict[str, str], socket: str, session: str) -> None:
        self._socket = socket
        self._env = env
        self._master, slave = pty.openpty()
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, b"\x32\x00\xc8\x00\x00\x00\x00\x00")
        self.process = subprocess.Popen(
            ["tmux", "-S", socket, "attach", "-t", f"={session}"],
            stdin=slave, stdout=slave, stderr=slave, env=env, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - a terminal of its own
        )  # fmt: skip
        os.close(slave)
        self._draining = threading.Thread(target=self._drain, daemon=True)
        self._draining.start()

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def leave(self) -> None:
        """Close the terminal."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self._draining.join()
        os.close(self._master)

    def _drain(self) -> None:
        try:
            while os.read(self._master, 65536):
                pass
        except OSError:
            pass


class Stage:
    def __init__(self, place: Path) -> None:
        self.place = place
        self.maestro = Maestro(place, clean_env(place), place / "work")
        self.own_socket = str(place / "own")
        self.humans: list[Human] = []
        self._scripts = self._projects = 0
        self._begin()

    def begin_anew(self) -> None:
        """From here on in another project, and at another tmux of the user's own."""
        self._projects += 1
        self.maestro.cwd = self.place / f"work{self._projects}"
        self.own_socket = str(self.place / f"own{self._projects}")
        self._begin()

    def _begin(self) -> None:
        self.maestro.cwd.mkdir()
        self.project = str(self.maestro.json("project", "add", ".")["id"])

    # Agents.

    def script(self, *steps: dict[str, Any], **rest: Any) -> str:
        self._scripts += 1
        path = self.place / f"script{self._scripts}.json"
        path.write_text(json.dumps({"steps": steps, **rest}))
        return str(path)

    def spawn(self, name: str, *steps: dict[str, Any], **rest: Any) -> str:
        """A session in a pane of ours, with hooks; its id, when its first steps were played."""
        path = self.script(*(steps or IDLES), **rest)
        body = {
            "agent": "scripted",
            "model": path,
            "name": name,
            "message": "Begin",
            "directory": str(self.maestro.cwd),
            "environment": self.maestro.env,
        }
        found: dict[str, Any] = self.maestro.daemon.call("POST", "/api/sessions/spawn", body, timeout=60)
        assert found["endedAt"] is None, found
        return str(found["id"])

    def adopt(
        self,
        name: str,
        *steps: dict[str, Any],
        shell: bool = False,
        keeper: bool = False,
        folder: str = "",
        shows: str = "",
        **rest: Any,
    ) -> str:
        """An agent that somebody started in their own tmux, without hooks, alone or from a shell.

        With `shows` it was started without a prompt, and shows this.
        """
        cwd = self.maestro.cwd / (folder or name)
        cwd.mkdir(exist_ok=True)
        path = self.script(*(steps or IDLES), **rest)
        # Another agent may have written in this folder before.
        logs = f"claude/projects/*-{cwd.parent.name}-{cwd.name}/*.jsonl"
        earlier = set(self.place.glob(logs))
        agent = shlex.join([*AGENT, "--script", path, *([] if shows else ["--prompt", "Begin"])])
        program: tuple[str, ...] = ("bash", "--norc", "-i") if shell else ("sh", "-c", f"exec {agent}")
        if keeper:
            program = (sys.executable, "-c", KEEPER, *shlex.split(agent))
        started = Path(self.own_socket).exists()
        place = ("new-window", "-d") if started else ("new-session", "-d", "-x", "150", "-y", "40")
        pane = self.tmux(*place, "-P", "-F", "#{pane_id}", "-n", name, "-c", str(cwd), *program).strip()
        if shell:
            self.tmux("send-keys", "-t", pane, agent, "Enter")
        if shows:
            until(lambda: shows in self.screen(pane), lambda: self.screen(pane))
        else:
            until(lambda: set(self.place.glob(logs)) - earlier, lambda: self.screen(pane))
        options = ("--pane", pane, "--tmux-socket", self.own_socket, "--name", name, "--agent", "scripted")
        return str(self.maestro.json("session", "adopt", *options)["id"])

    def tmux(self, *words: str, socket: str = "") -> str:
        done = subprocess.run(
            ["tmux", "-S", socket or self.own_socket, "-f", "/dev/null", *words],
            env=self.maestro.env, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def fleet(self) -> str:
        return self.maestro.home.path("fleets", "maestro")

    def place_of(self, session: str) -> tuple[str, str]:
        """Socket and pane."""
        place = self.show(session)["place"]
        return (self.fleet if place["fleet"] == "maestro" else self.own_socket), place["paneId"]

    def in_pane(self, session: str, *words: str) -> str:
        """A command of tmux for a session's pane, as somebody else runs it."""
        socket, pane = self.place_of(session)
        return self.tmux(*words[:1], "-t", pane, *words[1:], socket=socket)

    def screen(self, pane: str) -> str:
        """By pane of the user's own tmux, or by session."""
        if pane.startswith("%"):
            return self.tmux("capture-pane", "-p", "-t", pane)
        return self.in_pane(pane, "capture-pane", "-p")

    def see(self, session: str, text: str) -> str:
        until(lambda: text in self.screen(session), lambda: self.screen(session))
        return self.screen(session)

    @contextmanager
    def frozen(self, session: str) -> Iterator[None]:
        """Its agent, started with `keeper`, neither reads nor draws for a while."""
        agent = until(lambda: children(self.pid(session)))[0]
        os.kill(agent, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(agent, signal.SIGCONT)

    def pid(self, session: str) -> int:
        return int(self.show(session)["place"]["panePid"])

    # Prompts.

    def prompt(
        self, session: str, message: str, *words: str, **named: Any
    ) -> subprocess.CompletedProcess[str]:
        return self.maestro("session", "prompt", session, "--message", message, *words, **named)

    def sent(self, session: str, message: str, *words: str, **named: Any) -> dict[str, Any]:
        """The receipt, whatever became of it."""
        done = self.prompt(session, message, *words, "--json", **named)
        assert done.stdout, done.stderr
        told: dict[str, Any] = json.loads(done.stdout)
        return told

    def times_out(self, session: str, message: str, reason: str) -> None:
        """Sends a prompt that is held for this reason for longer than its sender waits; it stays queued."""
        done = self.prompt(session, message, "--timeout", str(patience(1.5)))
        assert (done.returncode, reason in done.stderr) == (TimedOut.exit_code, True), done.stderr

    def queued(self, session: str, message: str) -> str:
        body = {"message": message, "wait": False}
        return str(self.maestro.daemon.call("POST", f"/api/sessions/{session}/prompt", body)["id"])

    def prompts(self, session: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.maestro.daemon.call("GET", f"/api/sessions/{session}/prompts")
        return found

    def show(self, session: str) -> dict[str, Any]:
        found: dict[str, Any] = self.maestro.daemon.call("GET", f"/api/sessions/{session}")
        return found

    def explain(self, session: str) -> dict[str, Any]:
        found: dict[str, Any] = self.maestro.daemon.call("GET", f"/api/sessions/{session}/explain")
        return found

    def receipt(self, session: str, prompt_id: str) -> dict[str, Any]:
        return next(one for one in self.prompts(session) if one["id"] == prompt_id)

    def held(self, session: str, prompt_id: str, reason: str) -> dict[str, Any]:
        """Its receipt once it waits for this reason."""
        until(
            lambda: reason in self.receipt(session, prompt_id)["reason"],
            lambda: self.receipt(session, prompt_id),
        )
        one = self.receipt(session, prompt_id)
        assert one["state"] == "queued", one
        return one

    def settled(self, session: str, prompt_id: str) -> dict[str, Any]:
        until(
            lambda: self.receipt(session, prompt_id)["settledAt"],
            lambda: (self.receipt(session, prompt_id), self.screen(session)),
        )
        return self.receipt(session, prompt_id)

    # What the agent itself wrote.

    def records(self, session: str) -> list[dict[str, Any]]:
        found = self.show(session)
        path = found["transcriptPath"] or next(
            self.place.glob(f"claude/projects/*/{found['transcriptId']}.jsonl"), None
        )
        if path is None:
            return []
        # The last line may be on its way.
        lines = Path(path).read_text(encoding="utf-8").split("\n")[:-1]
        return [json.loads(line) for line in lines]

    def heard(self, session: str) -> list[str]:
        """Every prompt that the agent took, but for its first."""
        contents = [one["message"]["content"] for one in self.records(session) if one["type"] == "user"]
        return [content for content in contents if isinstance(content, str)][1:]

    def until_heard(self, session: str, *texts: str) -> None:
        """Until these are all that it took: its hook tells of a prompt before its log has it."""
        until(lambda: self.heard(session) == list(texts), lambda: (self.heard(session), self.screen(session)))

    def said(self, session: str) -> list[str]:
        blocks = [one["message"]["content"][0] for one in self.records(session) if one["type"] == "assistant"]
        return [block["text"] for block in blocks if block["type"] == "text"]

    def until_said(self, session: str, *texts: str) -> None:
        """Until this is all that it said."""
        until(lambda: self.said(session) == list(texts), lambda: (self.said(session), self.screen(session)))

    def results(self, session: str) -> list[Any]:
        """What each tool gave, the answers to its questions among them."""
        return [one["toolUseResult"] for one in self.records(session) if "toolUseResult" in one]

    # Others.

    def human(self, session: str) -> Human:
        """Somebody who looks at this session's pane."""
        socket, pane = self.place_of(session)
        self.tmux("select-window", "-t", pane, socket=socket)
        self.tmux("select-pane", "-t", pane, socket=socket)
        name = self.tmux("display-message", "-p", "-t", pane, "#{session_name}", socket=socket).strip()
        human = Human(self.maestro.env, socket, name)
        self.humans.append(human)
        until(lambda: self.explain(session)["focused"])
        return human

    def send_everybody_home(self) -> None:
        for human in self.humans:
            if human.process.poll() is None:
                human.leave()
        self.humans.clear()

    def kill_daemon(self) -> None:
        record = lifecycle.read_record(self.maestro.home)
        if record and lifecycle.is_alive(record):
            os.kill(record["pid"], signal.SIGKILL)
            assert processes.wait_for_end(record["pid"], patience(10))

    def close(self) -> None:
        self.send_everybody_home()
        for process in self.maestro.started:
            if process.poll() is None:
                process.kill()
            process.communicate()
        # Agents that end now say so by their hooks, which would start a daemon again.
        forbid_start(self.maestro.home)
        for socket in (self.own_socket, *map(str, Path(self.maestro.home.path("fleets")).glob("*"))):
            subprocess.run(["tmux", "-S", socket, "kill-server"], check=False, capture_output=True)
        lifecycle.stop(self.maestro.home, force=True)
        end_all_of(self.maestro.home)
        shutil.rmtree(self.place, ignore_errors=True)


@contextmanager
def staged() -> Iterator[Stage]:
    stage = Stage(Path(tempfile.mkdtemp(prefix="mt")))
    try:
        yield stage
    finally:
        stage.close()
