"""A user who had sessions in a repository before it turned hostile, and every command as this user types it."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.hostile.commands import Run
from tests.hostile.files_of_maestro import DANGEROUS
from tests.hostile.scene import Scene
from tests.patience import Deadline, end_of

SILENT = "It waits for something that never comes."
_MILD = "Which colour shall the button have?"


class Crowded:
    """A scene whose user had sessions in the repository before it turned hostile."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        scene.maestro.cwd = scene.folder
        scene.maestro.json("project", "add", ".")
        self.task = str(scene.maestro.json("task", "create", "Work")["id"])
        self.worker = self._spawn("Worker", self._asks(DANGEROUS), "--worktree")
        self._spawn("Asker", self._asks(_MILD))
        self.free = self._spawn("Free", {"say": "I am ready."})
        scene.repository.turn_hostile()
        scene.repository.poison(self._tree())

    def _spawn(self, name: str, step: dict[str, Any], *more: str) -> str:
        """Starts an agent of the user's own, which plays a script from outside of the repository."""
        path = self.scene.maestro.place / f"{name}.json"
        path.write_text(json.dumps({"steps": [step]}))
        words = ("--agent", "scripted", "--model", str(path), "--name", name, "--message", "Begin", *more)
        return str(self.scene.maestro.json("session", "spawn", *words, env={"MAESTRO_SCRIPTED": "1"})["id"])

    def _asks(self, question: str) -> dict[str, Any]:
        """Returns a step that asks, and tells the canary when anybody answers."""
        evidence = str(self.scene.repository.canary / "question-was-answered")
        told = [{"run": ["cp", "/dev/null", evidence]}]
        options = [{"label": "Yes"}, {"label": "No"}]
        return {"ask": {"question": question, "options": options, "answers": {"*": told}}}

    def _tree(self) -> Path:
        worktree = self.scene.maestro.json("session", "show", self.worker)["worktree"]
        return Path(worktree["path"])

    def words(self, run: Run) -> tuple[str, ...]:
        stand_for = {"SESSION": self.worker, "FREE": self.free, "TASK": self.task}
        return tuple(stand_for.get(word, word) for word in run.words)

    def done(self, run: Run) -> subprocess.CompletedProcess[str]:
        words = self.words(run)
        if run.endless:
            return self._interrupted(*words)
        options: dict[str, Any] = {"input": run.input} if run.input else {}
        return self.scene(*words, timeout=120, **options)

    def _interrupted(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs a command until it shows something, then presses Ctrl-C."""
        shown = self.scene.maestro.place / "shown"
        with shown.open("wb") as out:
            process = subprocess.Popen(
                [self.scene.program, *words],
                env=self.scene.maestro.env, cwd=self.scene.folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            )  # fmt: skip
            deadline = Deadline(5)
            while process.poll() is None and not shown.stat().st_size and not deadline.passed:
                time.sleep(0.02)
            is_silent = process.poll() is None and not shown.stat().st_size
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            code = end_of(process)
        text = SILENT if is_silent else shown.read_text(errors="replace")
        shown.unlink()
        return subprocess.CompletedProcess(process.args, code, text, text)
