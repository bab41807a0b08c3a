"""What a human answered once counts when exactly the same is asked again, and for nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.coordinate.journey.overseen import Overseen, ask, may, require_whole_log
from tests.patience import until

pytestmark = pytest.mark.more  # make test-more

# No rules: nothing but a precedent can answer.
POLICY: dict[str, Any] = {"preset": "autonomous", "rules": []}
PAGE = "Which module renders page 12 of the report in src/api?"
OPTIONS = ("Gateway", "Worker")
LINT = "npm run lint -- src/api"
# Each differs from what was answered in one thing.
OTHERS = {
    "number": ask("number", PAGE.replace("12", "13"), *OPTIONS),
    "path": ask("path", PAGE.replace("src/api", "src/web"), *OPTIONS),
    "negation": ask("negation", PAGE.replace("renders", "does not render"), *OPTIONS),
    "label": ask("label", PAGE, "Gateway", "Scheduler"),
    "order": ask("order", PAGE, "Worker", "Gateway"),
    "command": may("command", LINT.replace("src/api", "src/web")),
}


def answer(stage: Overseen, session: str, option: str, text: str = "") -> str:
    """What `maestro answer` says."""
    done = stage.maestro("answer", stage.escalated(session, text)["id"], option)
    assert done.returncode == 0, done.stderr
    return done.stdout


def verdicts(stage: Overseen, session: str) -> list[tuple[str, str]]:
    made = stage.decisions(sessionId=session)
    return [(one["action"], one["by"]) for one in made if one["kind"] == "verdict"]


def test_exactly_the_same_is_answered_as_before(stage: Overseen) -> None:
    stage.policy(**POLICY)
    same = (ask("module", PAGE, *OPTIONS), may("lint", LINT))
    first = stage.spawn("first", *same)
    loop = stage.oversee()
    answer(stage, first, "2", PAGE)
    answer(stage, first, "1", LINT)
    stage.until_said(first, "module got Worker", "lint got yes")
    again = stage.spawn("again", *same)
    stage.until_said(again, "module got Worker", "lint got yes")
    assert verdicts(stage, first) == [("escalate", "rules")] * 2
    assert verdicts(stage, again) == [("answer", "precedent")] * 2
    assert stage.inbox() == []
    every = stage.maestro.json("precedent", "list")
    known = {one["question"]: one for one in every if one["projectId"] == stage.project}
    assert [known[words]["uses"] for words in (PAGE, LINT)] == [1, 1]
    # Forgotten, it is asked again; the other one still counts.
    assert stage.maestro("precedent", "forget", known[PAGE]["id"]).returncode == 0
    third = stage.spawn("third", *reversed(same))
    stage.escalated(third, PAGE)
    assert stage.said(third) == ["lint got yes"]
    assert verdicts(stage, third) == [("answer", "precedent"), ("escalate", "rules")]
    stage.stop(loop)
    require_whole_log(stage)


def test_what_differs_in_anything_is_asked(stage: Overseen) -> None:
    stage.policy(**POLICY)
    first = stage.spawn("first", ask("module", PAGE, *OPTIONS), may("lint", LINT))
    loop = stage.oversee()
    answer(stage, first, "2", PAGE)
    answer(stage, first, "1", LINT)
    asking = {name: stage.spawn(name, step) for name, step in OTHERS.items()}
    until(lambda: len(stage.inbox()) == len(OTHERS), lambda: (stage.inbox(), stage.screens(asking)))
    for session in asking.values():
        assert (verdicts(stage, session), stage.said(session)) == ([("escalate", "rules")], [])
    stage.stop(loop)


def test_three_equal_answers_are_offered_as_a_rule(stage: Overseen) -> None:
    """And the rule does what it promises."""
    stage.policy(**POLICY, precedents={"enabled": False})
    session = stage.spawn("asker", *(ask(f"n{number}", PAGE, *OPTIONS) for number in range(4)))
    loop = stage.oversee()
    told = []
    for number in range(3):
        told.append(answer(stage, session, "2"))
        stage.until_said(session, *(f"n{earlier} got Worker" for earlier in range(number + 1)))
    assert ["times" in text for text in told] == [False, False, True], told
    fourth = stage.escalated(session)
    stage.stop(loop)
    offered = json.loads(next(line for line in told[2].splitlines() if line.strip().startswith("{")))
    assert offered["answer"] == "Worker"
    assert stage.maestro("answer", fourth["id"], "--dismiss").returncode == 0
    stage.policy(preset="autonomous", rules=[offered], precedents={"enabled": False})
    fresh = stage.spawn("fresh", ask("fresh", PAGE, *OPTIONS))
    loop = stage.oversee()
    stage.until_said(fresh, "fresh got Worker")
    assert verdicts(stage, fresh) == [("answer", "rules")]
    stage.stop(loop)
