"""A hostile repository that nobody trusts, under every command, without a terminal: nothing of it runs, nothing outside
of it changes, and each refusal says how to trust it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.hostile import commands
from tests.hostile.commands import Run
from tests.hostile.files_of_maestro import DANGEROUS
from tests.hostile.scene import NOTHING, UNTRUSTED, Scene, staged
from tests.patience import Deadline, end_of
from tests.support import Maestro

_SILENT = "It waits for something that never comes."
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
        text = _SILENT if is_silent else shown.read_text(errors="replace")
        shown.unlink()
        return subprocess.CompletedProcess(process.args, code, text, text)


@contextmanager
def _crowded(maestro: Maestro, *, scripted: bool) -> Iterator[Crowded]:
    with staged(maestro, NOTHING, scripted=scripted) as scene:
        yield Crowded(scene)


def _faults(crowded: Crowded, runs: Sequence[Run]) -> list[str]:
    """Runs each command, and returns a line for each that did what it must not."""
    scene, found = crowded.scene, []
    before = scene.surroundings()
    for run in runs:
        done = crowded.done(run)
        line = f"maestro {' '.join(run.words)}"
        if evidence := scene.repository.evidence():
            found.append(f"{line}: acted: {evidence}")
            for path in scene.repository.canary.iterdir():
                path.unlink()
        now = scene.surroundings()
        if changed := sorted(path for path, _ in before.items() ^ now.items()):
            found.append(f"{line}: changed {changed}")
            before = now
        if scene.stranger.poll() is not None:
            found.append(f"{line}: killed a stranger")
            return found
        is_refused = done.returncode == UNTRUSTED and "maestro trust" in done.stderr
        if run.refused and not is_refused:
            found.append(f"{line}: exit code {done.returncode}, not refused: {done.stderr.strip()[:300]}")
        if done.returncode == UNTRUSTED and not is_refused:
            found.append(f"{line}: refused without the line to type: {done.stderr.strip()[:300]}")
        if not (run.refused or run.careful) and done.returncode == UNTRUSTED:
            found.append(f"{line}: refused, though it only looks: {done.stderr.strip()[:300]}")
        if done.returncode == 1 and "Traceback" in done.stderr:
            found.append(f"{line}: {done.stderr.strip()[-300:]}")
        if _SILENT in done.stderr:
            found.append(f"{line}: {_SILENT}")
        if re.search(r"^usage:|unrecognized arguments|invalid choice", done.stderr, re.MULTILINE):
            found.append(f"{line}: it was never run: {done.stderr.strip()[:300]}")
    return found


def _lines(faults: Sequence[str]) -> str:
    return "\n".join(faults)


def test_every_command_is_run_here() -> None:
    assert commands.known() - commands.covered() == set(), "a command without a row in commands.py"
    assert {run.line for run in commands.OF_README} == set(commands.lines_of_readme())
    assert commands.mentioned_in_readme() & commands.known() <= commands.covered()


def test_nothing_acts_for_a_user_of_scripted_agents(maestro: Maestro) -> None:
    with _crowded(maestro, scripted=True) as crowded:
        assert not (faults := _faults(crowded, commands.EVERY)), _lines(faults)


@pytest.mark.more  # make test-more
def test_what_would_act_is_refused_where_scripted_agents_are_off(maestro: Maestro) -> None:
    acting = [run for run in commands.EVERY if run.refused or run.careful]
    with _crowded(maestro, scripted=False) as crowded:
        assert not (faults := _faults(crowded, acting)), _lines(faults)


@pytest.mark.more
def test_nothing_acts_where_scripted_agents_are_off(maestro: Maestro) -> None:
    with _crowded(maestro, scripted=False) as crowded:
        assert not (faults := _faults(crowded, commands.EVERY)), _lines(faults)
