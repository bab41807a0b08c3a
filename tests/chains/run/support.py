"""Chains by the scripted agent, with a script of what becomes of each step; and a person at a terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.chains.support import project_at
from tests.patience import end_of, run, until
from tests.support import BIN, Maestro

from maestro.chains import Catalogue, Project
from maestro.chains.project import as_json

SCRIPTED = ("--to", "scripted", "--review-by", "scripted")
DYING = Path(__file__).parent / "dying.py"


class Stage:
    """One project whose chains are scripted."""

    def __init__(self, maestro: Maestro, script: dict[str, list[str]] | None = None) -> None:
        self.maestro = maestro
        self.state = maestro.cwd / ".maestro"
        self.script = maestro.place / "script.json"
        self.script.write_text(json.dumps(script or {}))
        maestro.env["SCRIPTED_CHAIN"] = str(self.script)

    def trust(self) -> None:
        """As a person does who knows where the project comes from."""
        assert self.maestro("trust", "--yes").returncode == 0

    def project(self, rung: str) -> None:
        project = project_at(rung)
        assert project is not None
        self.state.mkdir(exist_ok=True)
        (self.state / "project.json").write_bytes(as_json(project))

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.maestro("chain", "run", *words, *SCRIPTED, timeout=240)

    def resume(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.maestro("chain", "run", "-c", "-y", *words, timeout=240)

    def dying(
        self, edge: str, count: int, *words: str, files: str = "state.json"
    ) -> subprocess.CompletedProcess[str]:
        """`maestro chain run …`, by a process that is killed at its `count`-th write of these files, before or after it."""
        return run(
            [sys.executable, DYING, edge, str(count), files, "chain", "run", *words],
            env=self.maestro.env,
            cwd=self.maestro.cwd,
            text=True,
            seconds=240,
        )

    def told(self) -> dict[str, Any]:
        """The latest chain's state."""
        latest = max((self.state / "chains").glob("coord-*/state.json"), key=lambda path: path.parent.name)
        state: dict[str, Any] = json.loads(latest.read_text())
        return state

    def has_begun(self) -> bool:
        return any((self.state / "chains").glob("coord-*/state.json"))

    def folder(self) -> Path:
        return self.state / "chains" / str(self.told()["session_id"])

    def done(self) -> list[str]:
        """What the scripted agent did, in order."""
        log = Path(f"{self.script}.log")
        return log.read_text().splitlines() if log.exists() else []

    def until_done(self, process: subprocess.Popen[str], names: list[str]) -> None:
        """Waits until the agent has done these, and its chain still runs."""

        def is_done() -> bool:
            assert process.poll() is None
            return self.done() == names

        until(is_done, self.done, seconds=120)

    def at_terminal(self, typed: str, *words: str) -> tuple[int, str]:
        """Run by a person who types these lines."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [BIN / "maestro", "chain", "run", *words, *SCRIPTED],
            env=self.maestro.env,
            cwd=self.maestro.cwd,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        os.write(ours, typed.encode())
        shown = b""
        while True:
            try:
                block = os.read(ours, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not block:
                break
            shown += block
        os.close(ours)
        return end_of(process), shown.decode(errors="replace")


def statuses(state: dict[str, Any]) -> list[str]:
    return [step["status"] for step in state["steps"]]


def rung_for(catalogue: Catalogue, chain: str) -> str:
    """How far a project must be for this chain."""
    steps = [step.command for step in catalogue.chains[chain].steps]
    if steps[0] == "init":
        return "none"
    if steps[0] == "roadmap":
        return "empty"
    return "executed" if steps[0] in ("verify", "review", "test", "debug") else "pending"


def read_project(stage: Stage) -> Project | None:
    from maestro.chains.project_file import read_project as read

    return read(str(stage.state))
