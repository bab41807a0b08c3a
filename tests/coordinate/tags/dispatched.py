"""A project whose tags are handed out to a tool that writes down what it was given."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.chains.run.support import DYING
from tests.patience import run, until
from tests.support import BIN, Maestro

from maestro import processes
from maestro.coordinate.tags.tag_files import ProjectTags

# The third line of the prompt is the tag's own; one write of one line to a file that is only appended to.
TOOLS = """
default = "hand"

[tools.hand]
command = ["sh", "-c", 'w="$(sed -n 3p "$1")"; sleep 0.05; echo $w >> handled.txt; case "$w" in *RUN*) eval "${w#*RUN}";; esac; echo ok', "hand", "{prompt_file}"]
modes = ["write", "analysis"]
"""


class Office:
    def __init__(self, maestro: Maestro) -> None:
        self.maestro = maestro
        self.project = maestro.cwd
        home = Path(maestro.env["MAESTRO_HOME"])
        home.mkdir(mode=0o700, exist_ok=True)
        (home / "tools.toml").write_text(TOOLS)
        self.tags = ProjectTags(str(self.project), maestro.env)

    def note(self, *words: str, name: str = "notes.md", kind: str = "fix") -> list[str]:
        """Lines with approved tags; their ids."""
        before = {seen.tag.id for seen in self.tags.all()}
        with (self.project / name).open("a") as file:
            file.writelines(f"- {word} #needs-{kind}\n" for word in words)
        made = [seen.tag.id for seen in self.tags.all() if seen.tag.id not in before]
        for tag_id in made:
            self.tags.approve(tag_id)
        return made

    @property
    def handled(self) -> list[str]:
        path = self.project / "handled.txt"
        return path.read_text().splitlines() if path.exists() else []

    def wait_until_handled(self) -> None:
        """Until the tool has begun with something."""
        until(lambda: self.handled)

    def dispatch(self, *more: str) -> list[dict[str, Any]]:
        done = self.maestro("tag", "dispatch", "--json", *more, timeout=120)
        assert done.returncode in {0, 1}, done.stderr
        told: list[dict[str, Any]] = json.loads(done.stdout)
        return told

    def dying(self, edge: str, count: int, *, files: str) -> subprocess.CompletedProcess[str]:
        """A dispatcher that is killed at its `count`-th write of these files, before or after it."""
        return run(
            [sys.executable, DYING, edge, str(count), files, "tag", "dispatch", "--as", "ann"],
            env=self.maestro.env,
            cwd=self.project,
            text=True,
            seconds=120,
        )

    def start(self, name: str) -> subprocess.Popen[bytes]:
        """A dispatcher, to be killed without the runs that it began."""
        return subprocess.Popen(
            [BIN / "maestro", "tag", "dispatch", "--as", name],
            env=self.maestro.env, cwd=self.project, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip

    def wait_for_runs(self) -> None:
        """Until no run of any tag goes on."""
        for seen in self.tags.all():
            with self.tags.run_lock(seen.tag.id, wait=True):
                pass

    def runners(self) -> list[int]:
        """The processes that carry out runs of this project. A program that one of them is just starting has its command
        line until it executes: that one is no runner."""
        found = set[int]()
        for name in filter(str.isdecimal, os.listdir("/proc")):
            try:
                words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"maestro.cli.tag_runner" in words and any(
                word.startswith(os.fsencode(self.project.resolve())) for word in words
            ):
                found.add(int(name))
        return sorted(pid for pid in found if processes.parent(pid) not in found)

    def states(self) -> list[str]:
        return [seen.tag.state for seen in self.tags.all()]


def kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
