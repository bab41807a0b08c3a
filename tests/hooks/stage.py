"""Agents' hooks as an agent runs them, and a daemon that writes down what it heard."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.patience import end_of, patience, told_by, until
from tests.support import Maestro, forbid_start

from maestro import home as homes
from maestro import processes
from maestro.agents.hook_command import hook_command
from maestro.server import lifecycle
from maestro.server.spool import FOLDER

_LISTENER = Path(__file__).with_name("listening_daemon.py")


class Stage:
    def __init__(self, maestro: Maestro) -> None:
        self.maestro = maestro
        self.home = maestro.home
        homes.prepare(self.home)
        self.spool = Path(self.home.path(FOLDER))
        self.started: list[subprocess.Popen[bytes]] = []

    def listen(self) -> int:
        """Start the listening daemon; its pid, when it answers."""
        reader, writer = os.pipe()
        words = [sys.executable, str(_LISTENER), "--home", self.home.root, "--ready-fd", str(writer)]
        daemon = subprocess.Popen(
            words,
            env=lifecycle.scrubbed(self.maestro.env) | {"PYTHONPATH": str(_LISTENER.parents[2])},
            pass_fds=(writer,),
            start_new_session=True,
        )
        self.started.append(daemon)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            assert select.select([pipe], [], [], patience(60))[0], "the daemon does not answer"
            assert b"ready" in pipe.readline()
        return daemon.pid

    def kill_daemon(self) -> None:
        record = lifecycle.read_record(self.home)
        assert record
        os.kill(record["pid"], signal.SIGKILL)
        for process in self.started:
            if process.pid == record["pid"]:
                end_of(process)
        assert processes.wait_for_end(record["pid"], patience(30))

    def forbid_start(self) -> None:
        """As if a hook had started a daemon a moment ago."""
        forbid_start(self.home)

    def start(
        self,
        payload: object,
        event: str = "Stop",
        *,
        wait: bool = False,
        env: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """A hook as an agent's settings have it. It has its payload, and stdin is closed."""
        hook = self.open(event, wait=wait, env=env)
        assert hook.stdin
        hook.stdin.write(payload if isinstance(payload, bytes) else json.dumps(payload).encode())
        hook.stdin.close()
        hook.stdin = None
        return hook

    def open(
        self, event: str, *, wait: bool = False, env: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        hook = subprocess.Popen(
            ["/bin/sh", "-c", hook_command("claude", event, wait)],
            env=self.maestro.env if env is None else env,
            cwd=self.maestro.cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.started.append(hook)
        return hook

    def run(self, payload: object, event: str = "Stop", **options: Any) -> bytes:
        return self.end_of(self.start(payload, event, **options))

    def end_of(self, hook: subprocess.Popen[bytes]) -> bytes:
        """What it printed; it has ended as every hook must."""
        out, err = told_by(hook)
        assert (hook.returncode, err) == (0, b"")
        return out

    @property
    def heard(self) -> list[dict[str, Any]]:
        path = Path(self.home.path("heard.jsonl"))
        # The last line may be on its way.
        lines = path.read_text().split("\n")[:-1] if path.exists() else []
        return [json.loads(line) for line in lines]

    def hears(self, number: int) -> list[dict[str, Any]]:
        """So many things, when they were heard; a hook does not wait for that."""
        until(lambda: len(self.heard) >= number, f"{number} things to be heard")
        return self.heard

    @property
    def kept(self) -> list[Path]:
        return sorted(path for path in self.spool.glob("*") if not path.name.startswith("."))
