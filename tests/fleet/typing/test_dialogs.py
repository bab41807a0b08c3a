"""Every dialog that an agent shows is answered by `session prompt`: by its hook where it waits, by its keys elsewhere.

What was answered is what the agent itself wrote.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest
from tests.fleet.typing.stage import Stage
from tests.patience import until

pytestmark = pytest.mark.more  # make test-more

SAY = {"*": [{"say": "Got: ${answer}"}]}
REJECTED = "User rejected tool use"  # a No ends the turn: nothing more is said


class Dialog(NamedTuple):
    name: str
    step: dict[str, Any]
    message: str
    got: str  # what it then writes
    imitate: str = "claude"
    hook: bool = True  # a waiting hook can give this answer


def ask(question: str, *options: Any, **named: Any) -> dict[str, Any]:
    return {
        "ask": {"question": question, "header": "Head", "options": list(options), "answers": SAY, **named}
    }


CHOICE = ask("Which way?", {"label": "North", "description": "where it is cold"}, "South")
MULTI = ask("Which days?", "Monday", "Tuesday", "Friday", multi=True)
LOOKS = ask("Which look?", {"label": "Wide", "preview": "[      ]"}, {"label": "Tall", "preview": "[]\n[]"})
WORDS = {"ask": {"question": "What is it called?", "header": "Name", "free_text": True, "answers": SAY}}
SEVERAL = {
    "ask": {
        "questions": [
            {"question": "Which way?", "header": "Way", "options": ["North", "South"]},
            {"question": "Which days?", "header": "Days", "options": ["Monday", "Friday"], "multi": True},
        ],
        "answers": SAY,
    }
}
SEVERAL_SINGLE = {
    "ask": {
        "questions": [
            {"question": "Which way?", "header": "Way", "options": ["North", "South"]},
            {"question": "How fast?", "header": "Speed", "options": ["Slowly", "Quickly"]},
        ],
        "answers": SAY,
    }
}
MAY = {
    "permission": {
        "command": "make release",
        "description": "Build and publish",
        "answers": {
            "yes": [{"say": "Got: yes"}],
            "always": [{"say": "Got: always"}],
            "no": [{"say": "Got: no"}],
            "*": [{"say": "Got: other"}],
        },
    }
}
PLAN = {
    "plan": {
        "plan": "1. Build it\n2. Ship it",
        "answers": {
            "yes": [{"say": "Got: approved"}],
            "no": [{"say": "Got: no"}],
            "*": [{"say": "Got: ${answer}"}],
        },
    }
}
TRUST = {"dialog": "trust"}

DIALOGS = [
    Dialog("single", CHOICE, "Choose 2", "Got: South"),
    Dialog("single by its label", CHOICE, "north", "Got: North"),
    Dialog("codex with a reason", CHOICE, "Choose 2: it is warmer", "South (it is warmer)", "codex"),
    Dialog("single in words", CHOICE, "Neither; stay here", "Got: Neither; stay here"),
    Dialog("multi", MULTI, "Choose 1, 3", "Got: Monday, Friday"),
    Dialog("multi with words", MULTI, "Choose 2: and Sunday", "Got: Tuesday, and Sunday"),
    Dialog("preview", LOOKS, "Choose 2", "Got: Tall"),
    Dialog("several", SEVERAL, "Choose 2\nChoose 1, 2", "Got: South; Monday, Friday"),
    Dialog("permission yes", MAY, "Choose 1", "Got: yes"),
    Dialog("permission no", MAY, "no", REJECTED),
    Dialog("plan yes", PLAN, "Choose 1", "Got: approved", hook=False),
    Dialog("plan with feedback", PLAN, "Smaller steps, please", "Got: Smaller steps, please", hook=False),
    Dialog("codex single", CHOICE, "Choose 2", "Got: South", "codex"),
    Dialog("codex in words", CHOICE, "Neither", "None of the above (Neither)", "codex"),
    Dialog("codex several", SEVERAL_SINGLE, "Choose 2; Choose 1", "Got: South; Slowly", "codex"),
    Dialog("codex permission yes", MAY, "Choose 1", "Got: yes", "codex"),
    Dialog("codex permission no", MAY, "Choose 3", REJECTED, "codex"),
    Dialog("codex plan", PLAN, "Choose 1", "Got: approved", "codex"),
    Dialog("gemini single", CHOICE, "Choose 1", "Got: North", "gemini"),
    Dialog("gemini in words", CHOICE, "Neither", "Got: Neither", "gemini"),
    Dialog("gemini free text", WORDS, "Maestro", "Got: Maestro", "gemini"),
    Dialog("gemini multi", MULTI, "Choose 1, 3", "Got: Monday, Friday", "gemini"),
    Dialog("gemini several", SEVERAL, "Choose 2\nChoose 1, 2", "Got: South; Monday, Friday", "gemini"),
    Dialog("gemini permission yes", MAY, "Choose 1", "Got: yes", "gemini"),
    Dialog("gemini plan", PLAN, "Choose 1", "Got: approved", "gemini"),
]


def answered(stage: Stage, session: str, dialog: Dialog) -> dict[str, Any]:
    question = until(lambda: stage.explain(session)["question"], lambda: stage.screen(session))
    told = stage.sent(session, dialog.message)
    assert told["state"] == "submitted", (told, stage.screen(session))
    assert told["questionId"] == question["id"]
    until(
        lambda: dialog.got in json.dumps(stage.records(session)[-6:], ensure_ascii=False),
        lambda: (stage.records(session)[-6:], stage.screen(session)),
    )
    return told


@pytest.mark.parametrize("dialog", DIALOGS, ids=lambda dialog: dialog.name)
def test_by_keys(stage: Stage, dialog: Dialog) -> None:
    """An agent of the user's own tmux, which tells us nothing."""
    session = stage.adopt(dialog.name.replace(" ", "-"), dialog.step, imitate=dialog.imitate)
    told = answered(stage, session, dialog)
    assert "hook" not in " ".join(told["evidence"])
    assert until(lambda: stage.explain(session)["question"] is None)


@pytest.mark.parametrize(
    "dialog", [one for one in DIALOGS if one.imitate == "claude"], ids=lambda dialog: dialog.name
)
def test_by_the_waiting_hook(stage: Stage, dialog: Dialog) -> None:
    session = stage.spawn(dialog.name, dialog.step)
    told = answered(stage, session, dialog)
    if dialog.hook:
        assert "given to the hook that waited for it" in told["evidence"], told
    else:
        assert "hook" not in " ".join(told["evidence"])


def test_the_same_question_again_at_once_is_another_one(stage: Stage) -> None:
    """Its screen looks as before the answer: that the hook asks anew proves that the answer arrived."""
    times = 8
    again = {"ask": {"question": "Once more?", "header": "Again", "options": ["Yes", "No"]}}
    session = stage.spawn("again", *[again] * times)
    answered_ones: list[str] = []
    for _ in range(times):
        new = lambda: (found := stage.explain(session)["question"]) and found["id"] not in answered_ones  # noqa: E731
        until(new, lambda: stage.screen(session))
        told = stage.sent(session, "Choose 1")
        assert told["state"] == "submitted", (told, stage.screen(session))
        answered_ones.append(told["questionId"])
    assert len(set(answered_ones)) == times
