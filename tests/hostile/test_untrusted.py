"""A hostile repository that nobody trusts, under every command, without a terminal: nothing of it runs, nothing outside
of it changes, and each refusal says how to trust it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from tests.hostile import commands
from tests.hostile.commands import Run
from tests.hostile.crowded import SILENT, Crowded
from tests.hostile.scene import NOTHING, UNTRUSTED, staged
from tests.support import Maestro

pytestmark = pytest.mark.more  # make test-more


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
        if SILENT in done.stderr:
            found.append(f"{line}: {SILENT}")
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


def test_what_would_act_is_refused_where_scripted_agents_are_off(maestro: Maestro) -> None:
    acting = [run for run in commands.EVERY if run.refused or run.careful]
    with _crowded(maestro, scripted=False) as crowded:
        assert not (faults := _faults(crowded, acting)), _lines(faults)


def test_nothing_acts_where_scripted_agents_are_off(maestro: Maestro) -> None:
    with _crowded(maestro, scripted=False) as crowded:
        assert not (faults := _faults(crowded, commands.EVERY)), _lines(faults)
