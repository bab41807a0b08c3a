"""A batch as a person runs it: a folder of prompts, the real command, real processes.

The whole suite is written against the command and the files, so that every engine has to pass it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.support import BIN, Maestro

from maestro import processes

# A tool that plays its prompt, after our preamble, as a shell script.
TOOLS = """
default = "sh"

[tools.sh]
command = ["sh", "-c", 'eval "$(sed "1,/^$/d" "$1")"', "agent", "{prompt_file}"]
modes = ["write", "analysis"]

[tools.other]
command = ["sh", "-c", 'cat >/dev/null; echo other tool, model {model}']
modes = ["write", "analysis"]
"""


@dataclass
class Stage:
    maestro: Maestro
    folder: Path
    engine: str

    @property
    def project(self) -> Path:
        return self.maestro.cwd

    @property
    def results(self) -> Path:
        return self.folder / "results"

    @property
    def summary(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads((self.results / "summary.json").read_text())
        return told

    def write(self, **prompts: str) -> None:
        """Underscores are dashes: `agent_a` is agent-a.txt."""
        self.write_files({f"{name.replace('_', '-')}.txt": text for name, text in prompts.items()})

    def write_files(self, prompts: dict[str, str | bytes]) -> None:
        (self.folder / "prompts").mkdir(parents=True, exist_ok=True)
        for name, text in prompts.items():
            (self.folder / "prompts" / name).write_bytes(text.encode() if isinstance(text, str) else text)

    def words(self, *more: str, known_only: bool = False) -> list[str]:
        return [
            "dispatch", str(self.folder), "--engine", self.engine, "--stagger", "0",
            *([] if known_only else ["--any-agent"]), *more,
        ]  # fmt: skip

    def run(self, *more: str, known_only: bool = False, **options: Any) -> subprocess.CompletedProcess[str]:
        return self.maestro(*self.words(*more, known_only=known_only), **options)

    def start(self, *more: str) -> subprocess.Popen[str]:
        """A dispatcher in a process group of its own, to be killed without its agents."""
        process = subprocess.Popen(
            [BIN / "maestro", *self.words(*more)],
            env=self.maestro.env, cwd=self.maestro.cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self.maestro.started.append(process)
        return process

    def row(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = next(row for row in self.summary["agents"] if row["name"] == name)
        return found

    def alive(self) -> dict[int, str]:
        """Every live process of any batch of this stage, looked for without any help of the product."""
        found = {}
        for pid in (int(name) for name in os.listdir("/proc") if name.isdecimal()):
            home = processes.variable(pid, "MAESTRO_HOME")
            marker = processes.variable(pid, "MAESTRO_RUN_ID")
            if marker and home == self.maestro.env["MAESTRO_HOME"] and processes.start_time(pid) is not None:
                found[pid] = marker
        return found


@pytest.fixture(params=["local"])
def stage(request: pytest.FixtureRequest, maestro: Maestro) -> Iterator[Stage]:
    home = Path(maestro.env["MAESTRO_HOME"])
    home.mkdir(mode=0o700)
    (home / "tools.toml").write_text(TOOLS)
    made = Stage(maestro, maestro.place / "batch", request.param)
    yield made
    for pid in made.alive():
        os.kill(pid, signal.SIGKILL)


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=T", "-c", "user.email=t@t", *words],
        cwd=folder, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout


@pytest.fixture
def repository(stage: Stage) -> Stage:
    """The project is a repository with one commit."""
    git(stage.project, "init", "-q", "-b", "main")
    git(stage.project, "config", "user.name", "Test")
    git(stage.project, "config", "user.email", "test@localhost")
    (stage.project / "src").mkdir()
    for name in ("file-a.txt", "file-b.txt"):
        (stage.project / "src" / name).write_text("placeholder\n")
    git(stage.project, "add", "-A")
    git(stage.project, "commit", "-qm", "Begin")
    return stage
