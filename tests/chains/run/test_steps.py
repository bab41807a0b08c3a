"""A step's prompt, and what its run's outcome is worth."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.chains.run.test_moves import chain
from tests.chains.support import package, project_at

from maestro.chains import Context, Phase, Project
from maestro.chains.artifacts import Ground
from maestro.chains.catalogue.catalogue_file import step_template
from maestro.chains.settling import settled
from maestro.chains.state import Analysis, ChainState, Hints
from maestro.chains.steps import assembled, judged, kept_statuses
from maestro.dispatch.runs import RunResult
from maestro.errors import InvalidInput

BLOCK = "=== RESULT ===\nSTATUS: {status}\nARTIFACTS: none\nSUMMARY: Why not.\n=== END ==="
PLAN = package().commands["plan"]


def result(text: str, status: Any = "success", error: str = "") -> RunResult:
    return RunResult(
        id="r", tool="scripted", status=status, text=text, error=error, session_id="s", usage=(), cost_usd=0.5,
        cost_is_estimate=False, counts_session=False, exit_code=0, signal=None, started_at=0, ended_at=7,
        duration_ms=7,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("run", "kind"),
    [
        (result(BLOCK.format(status="SUCCESS")), ""),
        (result(BLOCK.format(status="SUCCESS"), "denied"), ""),
        (result(BLOCK.format(status="FAILURE")), "failure"),
        (result(BLOCK.format(status="BLOCKED")), "blocked"),
        (result("All done."), "answer"),
        (result(""), "answer"),
        # A run that did not come to its end is no success, whatever it had printed.
        (result(BLOCK.format(status="SUCCESS"), "timeout"), "failure"),
        (result(BLOCK.format(status="SUCCESS"), "failed"), "failure"),
        (result(BLOCK.format(status="SUCCESS"), "limit"), "limit"),
        (result(BLOCK.format(status="SUCCESS"), "cancelled"), "cancelled"),
    ],
)
def test_judged(run: RunResult, kind: str) -> None:
    found = judged(run, PLAN)
    assert found.kind == kind
    assert bool(found.failure) == bool(kind)


def scratch(**more: Any) -> ChainState:
    context = Context(description="x", scratch_dir=".maestro/scratch/x", work="scratch")
    return chain({}, {}, context=context, **more)


def test_a_success_without_its_files_is_none(tmp_path: Any) -> None:
    state = scratch()
    run = result(BLOCK.format(status="SUCCESS"))
    folder = tmp_path / ".maestro"
    ground = Ground(str(tmp_path), str(folder))
    after = settled(state, 0, run, PLAN, ground)
    assert (after.steps[0].status, after.steps[0].failure_kind) == ("failed", "answer")
    assert ".maestro/scratch/x/plan.md" in after.steps[0].failure
    (folder / "scratch" / "x").mkdir(parents=True)
    (folder / "scratch" / "x" / "plan.md").touch()
    after = settled(state, 0, run, PLAN, ground)
    assert (after.steps[0].status, after.steps[0].spent.cost_usd, after.current_step) == ("completed", 0.5, 1)


def test_a_broken_project_file_is_the_steps_failure(tmp_path: Any) -> None:
    (tmp_path / ".maestro").mkdir()
    (tmp_path / ".maestro" / "project.json").write_text("{")
    run = result(BLOCK.format(status="SUCCESS"))
    ground = Ground(str(tmp_path), str(tmp_path / ".maestro"))
    after = settled(scratch(), 0, run, package().commands["init"], ground)
    assert (after.steps[0].status, after.steps[0].failure_kind) == ("failed", "answer")
    assert "project.json" in after.steps[0].failure


def test_what_is_needed_and_not_known_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="needed here and not known"):
        assembled(chain({}), 0, package(), None, ".maestro", step_template())


def test_the_prompt_has_the_hints_of_the_last_step_that_was_done() -> None:
    told = Analysis(quality_score=70, assessment="x", next_step_hints=Hints(cautions=("{phase} {{PROMPT}}",)))
    context = Context(description="x", scratch_dir=".maestro/scratch/x", work="scratch")
    done = {"status": "completed", "analysis": told}
    state = chain(done, {"status": "failed", "passed_over": True}, {}, context=context)
    made = assembled(state, 2, package(), None, ".maestro", step_template())
    # What a reviewer wrote is never filled in again.
    assert '"{phase} {{PROMPT}}"' in made.prompt
    assert made.args == "--auto"
    assert "Auto-confirm all prompts." in made.prompt
    quiet = msgspec.structs.replace(state, auto_mode=False)
    assert "Auto-confirm" not in assembled(quiet, 2, package(), None, ".maestro", step_template()).prompt


def test_how_a_phase_stands_is_not_the_agents_to_say() -> None:
    before = project_at("planned")
    assert before is not None
    forged = msgspec.structs.replace(
        before,
        goal="better",
        phases=tuple(msgspec.structs.replace(phase, status="done", tested=True) for phase in before.phases),
    )
    kept = kept_statuses(before, forged, phase=1, command=PLAN)
    assert (kept.goal, kept.phases[0]) == ("better", before.phases[0])
    # Phase 2 may be another chain's.
    assert kept.phases[1].status == "done"
    new = Project(name="x", phases=(Phase(number=1, title="New", status="done"),), current_phase=1)
    made = kept_statuses(None, new, phase=None, command=package().commands["roadmap"])
    assert made.phases[0].status == "pending"
