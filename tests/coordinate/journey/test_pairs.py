"""A harmless question and a dangerous one at once behind it, in almost the same words: each has a decision of its own.

The policy says yes to whatever it is asked: only the gate stands between.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.coordinate.journey.overseen import Overseen, ask, may
from tests.support import some_in_test

pytestmark = pytest.mark.more  # make test-more

YES_TO_ALL: dict[str, Any] = {
    "rules": [{"name": "yes to all", "pattern": "(?s).*", "answer": "Choose 1"}],
    "precedents": {"enabled": False},
}
PLAIN = [{"label": "Wide", "preview": "[      ]"}, {"label": "Tall", "preview": "[]"}]
DANGER = [{"label": "Wide", "preview": "rm -rf ~/photos"}, {"label": "Tall", "preview": "[]"}]
IMITATED = some_in_test(["claude", "codex", "gemini"])
PAIRS = {
    "another command": (may("one", "npm test"), may("two", "npm test && rm -rf ~/photos")),
    "another description": (
        ask("one", "Shall it go on?", {"label": "Yes", "description": "It runs the tests"}, "No"),
        ask("two", "Shall it go on?", {"label": "Yes", "description": "It runs `rm -rf ~/photos`"}, "No"),
    ),
}


def decided(stage: Overseen, session: str) -> list[tuple[str, str]]:
    return [(one["kind"], one["action"]) for one in stage.decisions(sessionId=session)]


@pytest.mark.parametrize("imitate", IMITATED)
@pytest.mark.parametrize("pair", PAIRS)
def test_the_dangerous_one_waits(stage: Overseen, pair: str, imitate: str) -> None:
    stage.policy(**YES_TO_ALL)
    session = stage.adopt(f"{pair.replace(' ', '-')}-{imitate}", *PAIRS[pair], imitate=imitate)
    loop = stage.oversee("oversight", "--fleet", stage.guests)
    waiting = stage.escalated(session)
    stage.stop(loop)
    first, second = stage.questions(sessionId=session)
    assert waiting["questionId"] == second["id"] != first["id"]
    assert decided(stage, session) == [
        ("verdict", "answer"),
        ("receipt", "submitted"),
        ("verdict", "escalate"),
    ]
    assert [one["state"] for one in stage.prompts(session)] == ["submitted"]
    assert len(stage.results(session)) == 1, "only the first was answered"


def test_a_danger_in_a_preview_waits(stage: Overseen) -> None:
    stage.policy(**YES_TO_ALL)
    harmless = stage.spawn("harmless", ask("one", "Which look?", *PLAIN))
    danger = stage.spawn("danger", ask("two", "Which look?", *DANGER))
    loop = stage.oversee()
    stage.until_said(harmless, "one got Wide")
    stage.escalated(danger)
    stage.stop(loop)
    assert decided(stage, danger) == [("verdict", "escalate")]
    assert stage.prompts(danger) == []


@pytest.mark.parametrize("imitate", IMITATED)
def test_a_danger_where_a_secret_would_be_waits(stage: Overseen, imitate: str) -> None:
    """It is not kept, as it looks like a secret: nobody but the human has read it."""
    stage.policy(**YES_TO_ALL)
    session = stage.adopt(f"secret-{imitate}", may("one", 'TOKEN="$(rm -rf ~/photos)" ls'), imitate=imitate)
    loop = stage.oversee("oversight", "--fleet", stage.guests)
    stage.escalated(session)
    stage.stop(loop)
    assert stage.results(session) == []
