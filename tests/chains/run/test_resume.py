"""Chains whose process dies, at every edge of every step: each step is done once, and the end is the same."""

from __future__ import annotations

import json
import os
import random
import signal
from pathlib import Path

import pytest
from tests.chains.run.support import SCRIPTED, Stage, statuses
from tests.patience import end_of, patience
from tests.support import SOAK, Maestro, some_in_test

from maestro.processes import exists, wait_for_end

pytestmark = pytest.mark.more  # make test-more

WORDS = ("-y", "--chain", "execute-verify", *SCRIPTED)
ALL = [
    "maestro-execute",
    "review maestro-execute",
    "maestro-verify",
    "review maestro-verify",
]


def outcome(stage: Stage) -> tuple[object, ...]:
    told = stage.told()
    project = json.loads((stage.state / "project.json").read_text())
    return (
        told["status"],
        statuses(told),
        [step["analysis"]["quality_score"] for step in told["steps"]],
        [step["summary"] for step in told["steps"]],
        [phase["status"] for phase in project["phases"]],
        [step["spent"]["cost_usd"] for step in told["steps"]],
    )


WHOLE = (
    "completed",
    ["completed", "completed"],
    [85, 85],
    ["maestro-execute is done.", "maestro-verify is done."],
    ["verified", "planned"],
    [0.01, 0.01],
)


@pytest.mark.soak
@pytest.mark.parametrize("edge", some_in_test(["before", "after"]))
def test_killed_at_every_write_of_its_state(maestro: Maestro, edge: str) -> None:
    """Each process gets one transition further. What it had begun before it died is not begun again."""
    stage = Stage(maestro)
    stage.project("planned")
    # Before its second write a process has done the work of the second, and recorded the first.
    count = 2 if edge == "before" else 1
    died = stage.dying(edge, count, *WORDS)
    kills = 1
    while stage.told()["status"] != "completed":
        assert died.returncode == -signal.SIGKILL, died.stderr
        kills += 1
        assert kills < 40
        died = stage.dying(edge, count, "-c", "-y")
    assert outcome(stage) == WHOLE
    assert kills >= 7
    assert stage.done() == ALL


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20 if SOAK else 2))
def test_killed_at_any_write(maestro: Maestro, seed: int) -> None:
    """Also around the records of its runs and of the project: begun and not started, started and not recorded."""
    chance = random.Random(seed)
    stage = Stage(maestro)
    stage.project("planned")

    def run(*words: str) -> None:
        edge = chance.choice(["before", "after"])
        files = "state.json,run.json,project.json"
        died = stage.dying(edge, chance.randint(2, 9), *words, files=files)
        assert died.returncode in (0, -signal.SIGKILL), died.stderr

    run(*WORDS)
    while not stage.has_begun() or stage.told()["status"] != "completed":
        run("-c", "-y") if stage.has_begun() else run(*WORDS)
    assert outcome(stage) == WHOLE
    assert stage.done() == ALL


def test_a_step_that_still_runs_is_waited_for(maestro: Maestro) -> None:
    stage = Stage(maestro, {"maestro-execute": ["wait"]})
    stage.project("planned")
    first = maestro.start("chain", "run", *WORDS)
    stage.until_done(first, ["maestro-execute"])
    first.kill()
    first.wait()
    assert maestro.json("chain", "status")["alive"] is False
    again = maestro.start("chain", "run", "-c", "-y")
    assert again.stdout is not None
    assert "still running" in again.stdout.readline()
    Path(f"{stage.script}.go").touch()
    assert end_of(again, 120) == 0
    assert outcome(stage) == WHOLE
    assert stage.done() == ALL


def test_a_step_whose_process_is_just_starting_is_not_started_again(maestro: Maestro) -> None:
    """The chain dies when the step's process is there and run.json still names the chain's own."""
    stage = Stage(maestro)
    stage.project("planned")
    go, late = maestro.place / "go", maestro.place / "late"
    late.mkdir()
    (late / "sitecustomize.py").write_text(
        "import os, sys, time\n"
        "while 'maestro.cli.delegated' in sys.orig_argv and not os.path.exists(os.environ['GO']): time.sleep(0.02)\n"
    )
    maestro.env |= {"PYTHONPATH": str(late), "GO": str(go)}
    # Its first run.json is of the run that begins, its second names who carries it out.
    assert stage.dying("before", 2, *WORDS, files="run.json").returncode == -signal.SIGKILL
    [step, _] = stage.told()["steps"]
    run = json.loads((stage.state / "runs" / step["exec_id"] / "run.json").read_text())
    assert not exists(run["runner"]["pid"])
    again = maestro.start("chain", "run", "-c", "-y")
    assert again.stdout is not None
    assert "still running" in again.stdout.readline()
    go.touch()
    assert end_of(again, 120) == 0
    assert outcome(stage) == WHOLE
    assert stage.done() == ALL
    assert len(stage.told()["steps"][0]["attempts"]) == 1


def test_a_step_whose_process_died_with_the_chain_is_done_again(maestro: Maestro) -> None:
    stage = Stage(maestro, {"maestro-execute": ["wait", "ok"]})
    stage.project("planned")
    first = maestro.start("chain", "run", *WORDS)
    stage.until_done(first, ["maestro-execute"])
    first.kill()
    first.wait()
    run = stage.state / "runs" / stage.told()["steps"][0]["exec_id"] / "run.json"
    runner = json.loads(run.read_text())["runner"]["pid"]
    os.kill(runner, signal.SIGKILL)
    assert wait_for_end(runner, patience(30))
    done = stage.resume()
    assert done.returncode == 0, done.stderr
    assert outcome(stage)[:5] == WHOLE[:5]
    assert stage.done() == ["maestro-execute", *ALL]
    assert "process died" in (stage.folder() / "step-1-prompt.md").read_text()


def test_interrupted_by_a_person_it_ends_its_step_and_can_go_on(maestro: Maestro) -> None:
    stage = Stage(maestro, {"maestro-execute": ["wait", "ok"]})
    stage.project("planned")
    first = maestro.start("chain", "run", *WORDS)
    stage.until_done(first, ["maestro-execute"])
    first.send_signal(signal.SIGINT)
    assert end_of(first) == 130
    told = stage.told()
    assert (told["status"], statuses(told)) == ("stopped", ["pending", "pending"])
    [run] = maestro.json("delegate", "list")
    assert run["state"] == "cancelled"
    assert stage.resume().returncode == 0


def test_what_changed_meanwhile_is_pointed_out(maestro: Maestro) -> None:
    stage = Stage(maestro, {"maestro-verify": ["blocked"]})
    stage.project("planned")
    assert stage.run("-y", "--no-review", "--chain", "execute-verify").returncode == 1
    commands = stage.state / "commands"
    commands.mkdir()
    (commands / "verify.md").write_text(
        '+++\npurpose = "Look."\nseed_name = "maestro-verify"\nartifacts = []\n+++\nLook at `{state}`.\n'
    )
    project = json.loads((stage.state / "project.json").read_text())
    (stage.state / "project.json").write_text(json.dumps(project | {"goal": "another"}))
    stage.script.write_text("{}")
    stage.trust()
    done = stage.resume()
    assert done.returncode == 0, done.stderr
    assert f"not built in: {commands / 'verify.md'}" in done.stderr
    assert "commands say something else" in done.stderr
    assert "project.json has changed" in done.stderr
