"""The scripted agent as a subprocess, and in a pane of a tmux server of its own."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.patience import run, until

POINTER = "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}"
BOX = f"{POINTER}\N{NO-BREAK SPACE}"
AGENT = (sys.executable, "-m", "maestro.testing.scripted_agent")


class Home:
    """A home folder that belongs to one test, and the transcripts in it."""

    def __init__(self, root: Path) -> None:
        self.project = root / "project"
        self.project.mkdir()
        self.config = root / "claude"
        self._root = root
        self.env = {
            "HOME": str(root),
            "CLAUDE_CONFIG_DIR": str(self.config),
            "CODEX_HOME": str(root / "codex"),
            "PATH": os.environ["PATH"],
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
        }

    def script(self, *steps: dict[str, Any], **rest: Any) -> Path:
        path = self._root / f"script-{uuid.uuid4().hex}.json"
        path.write_text(json.dumps({"steps": steps, **rest}), encoding="utf-8")
        return path

    def transcripts(self) -> list[Path]:
        return sorted(self.config.glob("projects/*/*.jsonl"))

    def records(self) -> list[dict[str, Any]]:
        """The records of the one transcript that there is; none before it exists."""
        found = self.transcripts()
        assert len(found) <= 1
        if not found:
            return []
        # The last line may be on its way.
        lines = found[0].read_text(encoding="utf-8").split("\n")[:-1]
        return [json.loads(line) for line in lines]

    def prompts(self) -> list[str]:
        contents = [record["message"]["content"] for record in self.records() if record["type"] == "user"]
        return [content for content in contents if isinstance(content, str)]

    def said(self) -> list[str]:
        blocks = [
            record["message"]["content"][0] for record in self.records() if record["type"] == "assistant"
        ]
        return [block["text"] for block in blocks if block["type"] == "text"]

    def play(
        self, script: Path, *options: str, lines: str = "", env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """The agent without a terminal, from its start to its end."""
        return run(
            [*AGENT, "--script", str(script), *options],
            input=lines,
            text=True,
            encoding="utf-8",
            cwd=self.project,
            env={**self.env, **(env or {})},
        )


class Pane:
    """A pane of a tmux server of its own, with the agent in it and a shell after it."""

    def __init__(self, home: Home, sockets: Path) -> None:
        self._home = home
        self._socket = f"maestro-test-{uuid.uuid4().hex}"
        self._env = {**home.env, "TMUX_TMPDIR": str(sockets)}

    def tmux(self, *words: str, text: str | None = None) -> str:
        done = self._call(*words, text=text)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def end(self) -> None:
        """Ends the server; it may never have begun."""
        self._call("kill-server")

    def _call(self, *words: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
        return run(
            ["tmux", "-L", self._socket, "-f", "/dev/null", "-u", *words],
            input=text,
            text=True,
            encoding="utf-8",
            env=self._env,
        )

    def start(self, script: Path, *options: str) -> None:
        agent = shlex.join([*AGENT, "--script", str(script), *options])
        command = f"{agent}; echo ended with $?; exec sh"
        self.tmux("new-session", "-d", "-x", "100", "-y", "40", "-c", str(self._home.project), command)

    def keys(self, *names: str) -> None:
        self.tmux("send-keys", *names)

    def type(self, text: str) -> None:
        self.tmux("send-keys", "-l", text)

    def paste(self, text: str) -> None:
        self.tmux("load-buffer", "-b", "pasted", "-", text=text)
        self.tmux("paste-buffer", "-p", "-d", "-b", "pasted")

    def screen(self, *, styles: bool = False) -> str:
        return self.tmux("capture-pane", "-p", *(["-e"] if styles else []))

    def see(self, *texts: str) -> str:
        """The screen once it shows all of `texts`."""
        return self.until(lambda screen: all(text in screen for text in texts))

    def until(self, holds: Callable[[str], bool]) -> str:
        def probe() -> str:
            screen = self.screen()
            return screen if holds(screen) else ""

        return str(until(probe, self.screen))

    def ended(self) -> int:
        """The agent's exit code, once the shell is back."""
        screen = self.until(lambda screen: "ended with " in screen)
        return int(screen.partition("ended with ")[2].split()[0])
