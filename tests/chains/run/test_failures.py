"""Steps that fail, reviews that object, and what a person or nobody says to it."""

from __future__ import annotations

import pytest
from tests.chains.run.support import Stage, read_project, statuses
from tests.support import Maestro

pytestmark = pytest.mark.more  # make test-more

INTENT = "add rate limiting to the login endpoint"


def test_an_answer_without_a_result_is_asked_for_once_more(maestro: Maestro) -> None:
    stage = Stage(maestro, {"maestro-plan": ["no-block", "ok"]})
    done = stage.run("-y", "--no-review", INTENT)
    assert done.returncode == 0, done.stderr
    step = stage.told()["steps"][1]
    assert (step["status"], step["retried"], len(step["attempts"])) == ("completed", True, 2)
    prompt = (stage.folder() / "step-2-prompt.md").read_text()
    assert "## This step was tried before" in prompt
    assert "There is no result block" in prompt
    assert "2 attempts" in done.stdout


@pytest.mark.parametrize(
    ("word", "kind", "attempts"),
    [("no-block", "answer", 2), ("no-files", "answer", 2), ("fail", "failure", 2), ("error", "failure", 2),
     ("blocked", "blocked", 1)],
)  # fmt: skip
def test_a_step_that_fails_ends_a_chain_that_nobody_watches(
    maestro: Maestro, word: str, kind: str, attempts: int
) -> None:
    stage = Stage(maestro, {"maestro-plan": [word]})
    done = stage.run("-y", "--no-review", INTENT)
    assert done.returncode == 1
    assert "E003: Step 2 (maestro-plan) failed" in done.stderr
    told = stage.told()
    assert f"maestro chain run -c {told['session_id']}" in done.stderr
    assert (told["status"], statuses(told)) == ("failed", ["completed", "failed", "pending"])
    assert (told["steps"][1]["failure_kind"], len(told["steps"][1]["attempts"])) == (kind, attempts)
    assert "[✗] 2. maestro-plan — failed" in done.stdout
    # With its cause gone, it goes on where it was.
    stage.script.write_text("{}")
    resumed = stage.resume()
    assert resumed.returncode == 0, resumed.stderr
    assert statuses(stage.told()) == ["completed"] * 3
    assert stage.done().count("maestro-analyze") == 1


def test_what_a_blocked_step_says_stands_in_the_project(maestro: Maestro) -> None:
    stage = Stage(maestro, {"maestro-plan": ["blocked"]})
    stage.project("pending")
    assert stage.run("-y", "--no-review", "--chain", "full-lifecycle").returncode == 1
    project = read_project(stage)
    assert project is not None
    assert (project.phases[0].status, project.phases[0].blocked_by) == (
        "blocked",
        "Which database shall it be?",
    )


def test_a_person_retries_then_skips(maestro: Maestro) -> None:
    stage = Stage(maestro, {"maestro-analyze": ["fail"]})
    # Execute; retry; an answer that is none; skip; then plan and execute go on.
    code, shown = stage.at_terminal("\n1\nperhaps\n2\n", "--no-review", INTENT)
    told = stage.told()
    assert statuses(told) == ["failed", "completed", "completed"]
    assert (told["status"], told["steps"][0]["passed_over"], len(told["steps"][0]["attempts"])) == (
        "failed",
        True,
        2,
    )
    assert code == 1
    assert "[✗] 1. maestro-analyze — failed, and passed over" in shown
    assert "Type a number from 1 to 3." in shown


def test_a_person_aborts(maestro: Maestro) -> None:
    stage = Stage(maestro, {"maestro-analyze": ["fail"]})
    code, shown = stage.at_terminal("\nabort\n", "--no-review", INTENT)
    assert (code, "E003" in shown) == (1, True)
    assert statuses(stage.told()) == ["failed", "pending", "pending"]


def test_a_person_begins_later_or_not_at_all(maestro: Maestro) -> None:
    stage = Stage(maestro)
    code, shown = stage.at_terminal("c\n", INTENT)
    assert (code, "Nothing was run." in shown) == (130, True)
    assert not (stage.state / "chains").exists()
    code, _ = stage.at_terminal("3\n", "--no-review", INTENT)
    assert (code, statuses(stage.told())) == (0, ["skipped", "skipped", "completed"])


def test_a_review_that_is_none_is_asked_for_again_and_then_left(maestro: Maestro) -> None:
    stage = Stage(
        maestro,
        {"review maestro-analyze": ["malformed", "score 70"], "review maestro-plan": ["malformed"]},
    )
    done = stage.run("-y", INTENT)
    assert done.returncode == 0, done.stderr
    told = stage.told()
    assert [step["analysis"] and step["analysis"]["quality_score"] for step in told["steps"]] == [
        70,
        None,
        85,
    ]
    assert [step["review_runs"] for step in told["steps"]] == [2, 2, 1]
    assert "2. maestro-plan — completed (unreviewed)" in done.stdout
    assert "Avg Quality: 78/100" in done.stdout
    assert "There is no JSON object" in told["step_analyses"][1]["why"]


@pytest.mark.parametrize(("word", "options"), [("score 40", ("--min-score", "60")), ("critical", ())])
def test_a_bad_review_has_the_step_done_again_and_then_stops(
    maestro: Maestro, word: str, options: tuple[str, ...]
) -> None:
    stage = Stage(maestro, {"review maestro-analyze": [word]})
    done = stage.run("-y", *options, INTENT)
    assert done.returncode == 1
    told = stage.told()
    assert (told["status"], len(told["steps"][0]["attempts"])) == ("stopped", 2)
    assert "Its review asked for more" in (stage.folder() / "step-1-prompt.md").read_text()
    assert "was done twice" in done.stderr
    stage.script.write_text("{}")
    assert stage.resume().returncode == 0
    assert len(stage.told()["steps"][0]["attempts"]) == 3


def test_a_person_goes_on_in_spite_of_a_review(maestro: Maestro) -> None:
    stage = Stage(maestro, {"review maestro-analyze": ["critical"]})
    code, shown = stage.at_terminal("\n2\n", INTENT)
    assert (code, "critical: It loses data." in shown) == (0, True)
    assert statuses(stage.told()) == ["completed"] * 3
    assert len(stage.told()["steps"][0]["attempts"]) == 1


def test_the_budget_stops_before_the_next_step(maestro: Maestro) -> None:
    stage = Stage(maestro)
    done = stage.run("-y", "--no-review", "--budget", "0.015", INTENT)
    assert (done.returncode, "$0.02 of the budget of $0.01" in done.stderr or "budget" in done.stderr) == (
        1,
        True,
    )
    assert statuses(stage.told()) == ["completed", "completed", "pending"]
    assert stage.resume("--budget", "1").returncode == 0
    assert stage.done() == ["maestro-analyze", "maestro-plan", "maestro-execute"]
