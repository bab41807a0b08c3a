"""Every chain, from its intent to its report, by the scripted agent."""

from __future__ import annotations

import json

import pytest
from tests.chains.run.support import SCRIPTED, Stage, read_project, rung_for, statuses
from tests.chains.support import package
from tests.support import SOAK, Maestro, some_in_test

pytestmark = pytest.mark.more  # make test-more

CHAINS = sorted(name for name in package().chains if name not in package().commands)
COMMANDS = sorted(package().commands)


def begin(maestro: Maestro, chain: str) -> Stage:
    stage = Stage(maestro)
    rung = rung_for(package(), chain)
    if rung != "none":
        stage.project(rung)
    return stage


@pytest.mark.parametrize("chain", some_in_test(CHAINS, every=6))
def test_every_chain(maestro: Maestro, chain: str) -> None:
    stage = begin(maestro, chain)
    done = stage.run("-y", "--chain", chain, "--no-review", "mend ISSUE-7 in the login")
    assert done.returncode == 0, done.stderr + done.stdout
    steps = package().chains[chain].steps
    assert statuses(stage.told()) == ["completed"] * len(steps)
    assert stage.done() == [package().commands[step.command].seed_name or step.command for step in steps]
    assert f"({len(steps)}/{len(steps)})" in done.stdout
    for number in range(1, len(steps) + 1):
        assert (stage.folder() / f"step-{number}-prompt.md").read_text().startswith(f"# Step {number}/")
        assert "STATUS: SUCCESS" in (stage.folder() / f"step-{number}-output.txt").read_text()


@pytest.mark.soak
@pytest.mark.parametrize(
    "command", some_in_test(COMMANDS if SOAK else COMMANDS[::9])
)  # test_artifacts has each, in one process
def test_every_command_is_a_chain(maestro: Maestro, command: str) -> None:
    stage = begin(maestro, command)
    done = stage.run("-y", "--chain", command, "mend ISSUE-7 in the login")
    assert done.returncode == 0, done.stderr + done.stdout
    told = stage.told()
    assert statuses(told) == ["completed"]
    assert told["steps"][0]["review"] == ""  # one step is not reviewed
    for path in told["steps"][0]["artifacts"]:
        assert (maestro.cwd / path).is_file()


@pytest.mark.parametrize("chain", CHAINS)
def test_dry_run_is_as_it_was(maestro: Maestro, chain: str, request: pytest.FixtureRequest) -> None:
    begin(maestro, chain)
    intent = "mend ISSUE-7 in the login"
    done = maestro("chain", "run", "--dry-run", "--chain", chain, intent, *SCRIPTED)
    assert done.returncode == 0, done.stderr
    golden = request.path.parent / "golden" / f"{chain}.txt"
    assert done.stdout == golden.read_text()
    assert not (maestro.cwd / ".maestro" / "chains").exists()


def test_the_project_moves_on_with_its_chain(maestro: Maestro) -> None:
    stage = Stage(maestro)
    assert stage.run("-y", "--no-review", "--chain", "roadmap-driven", "a shop").returncode == 0
    project = read_project(stage)
    assert project is not None
    assert [(phase.number, phase.status) for phase in project.phases] == [(1, "verified"), (2, "pending")]
    # And so “continue” is the next thing.
    assert maestro.json("chain", "route", "continue")["chain"] == "review"


def test_reviews_chain_by_their_session_and_hint_at_the_next_step(maestro: Maestro) -> None:
    stage = Stage(maestro)
    done = stage.run("-y", "add rate limiting to the login endpoint")
    assert done.returncode == 0, done.stderr
    told = stage.told()
    assert [step["analysis"]["quality_score"] for step in told["steps"]] == [85, 85, 85]
    assert "[✓] 2. maestro-plan — completed (quality: 85/100)" in done.stdout
    assert "Avg Quality: 85/100" in done.stdout
    second = (stage.folder() / "step-2-prompt.md").read_text()
    assert '"hint after maestro-analyze"' in second
    assert '"hint after maestro-analyze"' not in (stage.folder() / "step-3-prompt.md").read_text()
    runs = [
        json.loads((stage.state / "runs" / step["review_id"] / "run.json").read_text())
        for step in told["steps"]
    ]
    assert runs[0]["resume"] == ""
    assert {run["resume"] for run in runs[1:]} == {told["gemini_session_id"]} == {runs[0]["session_id"]}
    assert {(run["mode"], run["rule"]) for run in runs} == {("analysis", "analysis-review-code-quality")}


def test_the_state_has_the_seeds_keys_and_the_costs(maestro: Maestro) -> None:
    stage = Stage(maestro)
    facts = json.loads(
        stage.run(
            "-y", "--json", "--no-review", "the login crashes with a 500, find out why and fix it"
        ).stdout
    )
    told = stage.told()
    assert {
        "session_id", "status", "created_at", "intent", "task_type", "chain_name", "auto_mode", "phase",
        "current_step", "gemini_session_id", "step_analyses", "steps",
    } <= set(told)  # fmt: skip
    assert {"index", "cmd", "args", "status", "exec_id", "analysis", "retried"} <= set(told["steps"][0])
    assert facts["spent"]["cost_usd"] == pytest.approx(0.01)
    assert facts["steps"][0]["tool"] == "scripted"
    assert facts["avg_quality"] is None


def test_from_a_step_on(maestro: Maestro) -> None:
    stage = Stage(maestro)
    stage.project("planned")
    done = stage.run("-y", "--no-review", "--chain", "full-lifecycle", "--from", "5")
    assert done.returncode == 0, done.stderr
    assert statuses(stage.told()) == ["skipped"] * 4 + ["completed"] * 3
    refused = stage.run("-y", "--chain", "full-lifecycle", "--from", "8")
    assert (refused.returncode, "1 to 7" in refused.stderr) == (2, True)


def test_by_itself_in_the_background(maestro: Maestro) -> None:
    stage = Stage(maestro, {"maestro-analyze": ["wait"]})
    done = stage.run("-y", "--async", "--no-review", "add rate limiting to the login endpoint")
    assert done.returncode == 0, done.stderr
    session = done.stdout.strip()
    # From the first moment on, also before its process can say who it is.
    assert maestro.json("chain", "status", session)["alive"]
    while stage.told()["steps"][0]["status"] != "running":
        pass
    busy = stage.resume(session)
    assert (busy.returncode, "another process" in busy.stderr) == (4, True)
    assert maestro.json("chain", "status", session)["alive"]
    stage.script.with_name("script.json.go").touch()
    while stage.told()["status"] == "running":
        pass
    assert statuses(maestro.json("chain", "status", session)) == ["completed"] * 3
    texts = maestro.json("chain", "logs", session)
    assert [text["step"] for text in texts] == [1, 2, 3]
