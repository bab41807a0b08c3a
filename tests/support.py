"""The real command, as a person or a program runs it, in an environment that belongs to the test alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from maestro.home import Home
from maestro.server.client import Daemon

SOAK = os.environ.get("MAESTRO_SOAK") == "1"
BIN = Path(sys.executable).parent


def clean_env(place: Path) -> dict[str, str]:
    """The environment of a new user whose home is `place`."""
    return {
        "PATH": f"{BIN}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(place),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "MAESTRO_HOME": str(place / "m"),
        "CLAUDE_CONFIG_DIR": str(place / "claude"),
        "CODEX_HOME": str(place / "codex"),
        "GEMINI_CLI_HOME": str(place / "gemini"),
        "XDG_CONFIG_HOME": str(place / "config"),
        "TMPDIR": tempfile.gettempdir(),
    }


@dataclass
class Maestro:
    """The installed command, run as a person or a program would."""

    place: Path
    env: dict[str, str]
    cwd: Path
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def home(self) -> Home:
        return Home(self.env["MAESTRO_HOME"])

    def __call__(self, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [BIN / "maestro", *words],
            env=self.env | options.pop("env", {}),
            cwd=options.pop("cwd", self.cwd),
            capture_output=True,
            text=True,
            timeout=options.pop("timeout", 60),
            check=False,
            **options,
        )

    def start(self, *words: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [BIN / "maestro", *words],
            env=self.env | dict(env or {}),
            cwd=self.cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def json(self, *words: str, **options: Any) -> Any:
        done = self(*words, "--json", **options)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def json_or_error(self, *words: str) -> Any:
        """The answer, or what the command complained of."""
        done = self(*words, "--json")
        return json.loads(done.stdout) if done.returncode == 0 else done.stderr

    @property
    def daemon(self) -> Daemon:
        return Daemon(self.env)
