"""The real command, as a person or a program runs it, in an environment that belongs to the test alone."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.patience import patience, run

from maestro import processes
from maestro.errors import Refused
from maestro.home import Home
from maestro.server.client import Daemon

SOAK = os.environ.get("MAESTRO_SOAK") == "1"
BIN = Path(sys.executable).parent
# In /proc/PID/stat:
_KERNEL_THREAD = 0x00200000  # PF_KTHREAD among the flags
_ENDED = {b"Z", b"X"}  # states


def some_in_test(values: Iterable[Any], of: int = 1, every: int = 0) -> list[Any]:
    """Returns parameters of which `make test` runs the first `of`, and one of `every`; `make test-more` runs the rest."""
    return [
        value if place < of or (every and place % every == 0) else pytest.param(value, marks=pytest.mark.more)
        for place, value in enumerate(values)
    ]


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
        "TZ": "UTC",
        "GIT_CONFIG_NOSYSTEM": "1",
        "MAESTRO_SCRIPTED": "1",
        # Tests write the project's files themselves; tests/hostile and tests/trust are about the others.
        "MAESTRO_TRUST_ONCE": "1",
    }


def forbid_start(home: Home) -> None:
    """From now on no hook of an agent starts a daemon here: as if one had done so a moment ago, for five minutes."""
    spool = Path(home.path("spool"))
    if spool.parent.exists():
        spool.mkdir(mode=0o700, exist_ok=True)
        now = int(time.time()) // 10
        for period in range(now - 1, now + 30):
            (spool / f".start-{period}").touch()


def end_all_of(home: Home) -> None:
    """Kill whatever this Maestro started and left: it is known by its MAESTRO_HOME. Each of them may start another, and
    one that is becoming another program cannot be read: two looks in a row must find none of either kind."""
    mark = f"MAESTRO_HOME={home.root}".encode()
    quiet = 0
    for _ in range(1000):
        known = {pid: _has(pid, mark) for pid in map(int, filter(str.isdigit, os.listdir("/proc")))}
        left = [pid for pid, has in known.items() if has]
        quiet = quiet + 1 if all(has is False for has in known.values()) else 0
        if quiet == 2:
            return
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in left:
            processes.wait_for_end(pid, patience(5))
        if not left:
            time.sleep(0.002)


def _has(pid: int, mark: bytes) -> bool | None:
    """Whether the process carries the mark; None where it is just becoming another program, and nobody can tell."""
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes()
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
        state, *_, flags = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2].split()[:7]
    except OSError:
        return False
    if pid == os.getpid():
        return False
    is_empty = not environment and not words
    if is_empty and state not in _ENDED and not int(flags) & _KERNEL_THREAD:
        return None
    home = mark.partition(b"=")[2]
    is_daemon = b"maestro.server" in words and home in words.split(b"\0")
    return mark in environment.split(b"\0") or is_daemon


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
        given = options.pop("env", {})
        done = run(
            [BIN / "maestro", *words],
            env=self.env | given,
            cwd=options.pop("cwd", self.cwd),
            text=True,
            seconds=options.pop("timeout", 60),
            **options,
        )
        if not given and done.returncode == Refused.exit_code:
            _skip_below_agent(f"{done.stdout}{done.stderr}")
        return done

    def start(
        self, *words: str, env: Mapping[str, str] | None = None, start_new_session: bool = False
    ) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [BIN / "maestro", *words],
            env=self.env | dict(env or {}),
            cwd=self.cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=start_new_session,
        )
        self.started.append(process)
        return process

    def json(self, *words: str, **options: Any) -> Any:
        done = self(*words, "--json", **options)
        assert done.returncode == 0, (done.stderr, done.stdout)
        return json.loads(done.stdout)

    def json_or_error(self, *words: str) -> Any:
        """The answer, or what the command complained of."""
        done = self(*words, "--json")
        return json.loads(done.stdout) if done.returncode == 0 else done.stderr

    @property
    def daemon(self) -> Daemon:
        return PatientDaemon(self.env)


def _skip_below_agent(told: str) -> None:
    """Skips a test whose command is refused only since an agent runs all of the tests."""
    from tests import skips

    if skips.IS_BELOW_AGENT and "An agent may not" in told:
        skips.skip_for(skips.PERSON)


class PatientDaemon(Daemon):
    """The client of the product; its deadlines are those of a quiet machine."""

    def call(self, *request: Any, timeout: float = 30.0, **options: Any) -> Any:
        return super().call(*request, timeout=patience(timeout), **options)
