"""A tool at a limit is no failure: the chain pauses, waits where that is bearable, and can go on later."""

from __future__ import annotations

import json
import math
import signal
import subprocess

import pytest
from tests.chains.run.support import SCRIPTED, Stage, statuses
from tests.patience import end_of, patience, told_by, until
from tests.support import Maestro

from maestro.dispatch.process import now_ms

pytestmark = pytest.mark.more  # make test-more

WORDS = ("-y", "--no-review", "--chain", "execute-verify", *SCRIPTED)
NAMES = ["maestro-execute", "maestro-verify"]


def at_limit(maestro: Maestro, end: str) -> Stage:
    """Whose second step finds its tool at a limit, once."""
    stage = Stage(maestro, {"maestro-verify": [f"limit You hit your limit, try again {end}", "ok"]})
    stage.project("planned")
    return stage


def until_paused(stage: Stage, process: subprocess.Popen[str]) -> None:
    def is_paused() -> bool:
        assert process.poll() is None
        return stage.has_begun() and stage.told()["status"] == "paused"

    until(is_paused, "the chain is not paused", seconds=120)


def test_a_limit_that_ends_soon_is_waited_for(maestro: Maestro) -> None:
    stage = at_limit(maestro, f"in {math.ceil(patience(4))} seconds")
    process = maestro.start("chain", "run", *WORDS)
    until_paused(stage, process)
    paused = stage.told()
    assert statuses(paused) == ["completed", "pending"]
    assert "Step 2 (maestro-verify): scripted is at a limit until 2" in paused["error"]
    out, error = told_by(process, seconds=120)
    assert process.returncode == 0, error
    assert out.count("is at a limit until") == 1
    told = stage.told()
    assert (told["status"], told["paused_until"], statuses(told)) == ("completed", None, ["completed"] * 2)
    step = told["steps"][1]
    assert (len(step["attempts"]), step["retried"], step["failure"]) == (2, False, "")
    run = json.loads((stage.state / "runs" / step["exec_id"] / "run.json").read_text())
    assert run["started_at"] >= paused["paused_until"]


def test_a_limit_that_ends_late_ends_the_command_and_says_how_to_go_on(maestro: Maestro) -> None:
    stage = at_limit(maestro, "in 7 hours")
    for done in (maestro("chain", "run", *WORDS), stage.resume()):
        told = stage.told()
        assert done.returncode == 4
        assert "PAUSED" in done.stdout
        assert "is at a limit until" in done.stderr
        assert f"Go on then with: maestro chain run -c {told['session_id']}" in done.stderr
        assert (told["status"], statuses(told)) == ("paused", ["completed", "pending"])
        assert told["paused_until"] > now_ms() + 6 * 3_600_000
        assert stage.done() == NAMES  # it is not tried before
    # By a tool that a person names it goes on at once.
    assert stage.resume("--to", "scripted").returncode == 0
    assert stage.done() == [*NAMES, "maestro-verify"]


def test_a_person_is_told_and_does_not_wait(maestro: Maestro) -> None:
    stage = at_limit(maestro, "in 2 hours")
    code, shown = stage.at_terminal("\n", "--no-review", "--chain", "execute-verify")
    assert (code, "is at a limit until" in shown, stage.told()["status"]) == (4, True, "paused")


def test_waiting_can_be_interrupted_and_taken_up(maestro: Maestro) -> None:
    stage = at_limit(maestro, "in 2 hours")
    process = maestro.start("chain", "run", *WORDS)
    until_paused(stage, process)
    assert "goes on by itself" in maestro("chain", "status").stdout
    process.send_signal(signal.SIGINT)
    assert end_of(process) == 130
    before = stage.told()
    assert before["status"] == "paused"
    # Killed while it waits, it is as far as it was.
    again = maestro.start("chain", "run", "-c", "-y")
    assert again.stdout is not None
    assert "It waits" in again.stdout.readline()
    again.kill()
    again.wait()
    assert (stage.told()["status"], stage.told()["paused_until"]) == ("paused", before["paused_until"])
    assert stage.done() == NAMES
    # When it has ended, the chain goes on.
    state = stage.folder() / "state.json"
    state.write_text(json.dumps(stage.told() | {"paused_until": now_ms()}))
    assert stage.resume().returncode == 0
    assert stage.done() == [*NAMES, "maestro-verify"]


def reviewer_at_limit(maestro: Maestro, end: str) -> Stage:
    """Whose first review finds its tool at a limit, and is malformed the next time."""
    words = [f"limit You hit your limit, try again {end}", "malformed", "score 40", "ok"]
    stage = Stage(maestro, {"review maestro-execute": words})
    stage.project("planned")
    return stage


REVIEW = "review maestro-execute"
GATED = ("-y", "--min-score", "60", "--chain", "execute-verify", *SCRIPTED)


def test_a_reviewer_at_a_limit_is_waited_for_and_its_gate_holds(maestro: Maestro) -> None:
    stage = reviewer_at_limit(maestro, "in 2 seconds")
    done = maestro("chain", "run", *GATED)
    assert done.returncode == 0, done.stderr
    assert "Review of step 1 (maestro-execute): scripted is at a limit until 2" in done.stdout
    # At the limit, malformed, too low: done again; then good enough.
    redone = ["maestro-execute", REVIEW]
    verified = ["maestro-verify", "review maestro-verify"]
    assert stage.done() == ["maestro-execute", *[REVIEW] * 3, *redone, *verified]
    told = stage.told()
    assert (told["status"], told["paused_until"], told["steps"][0]["redone"]) == ("completed", None, True)


def test_a_review_that_has_to_wait_long_pauses_the_chain(maestro: Maestro) -> None:
    stage = reviewer_at_limit(maestro, "in 7 hours")
    for done in (maestro("chain", "run", *GATED), stage.resume(), stage.resume("--to", "scripted")):
        assert (done.returncode, "Review of step 1" in done.stderr) == (4, True)
        assert statuses(stage.told()) == ["completed", "pending"]
        assert stage.done() == ["maestro-execute", REVIEW]
    # A person does without, or names another reviewer.
    assert stage.resume("--no-review").returncode == 0
    assert stage.done() == ["maestro-execute", REVIEW, "maestro-verify"]
