"""One answer is for one dialog: the next one, however alike, is a question of its own and gets no key of the first."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from tests.fleet.typing.stage import Stage
from tests.patience import until
from tests.support import some_in_test

IMITATED = ("claude", "codex", "gemini")


def ask(*options: Any, question: str = "Shall it go on?") -> dict[str, Any]:
    return {"ask": {"question": question, "header": "Again", "options": list(options or ("Yes", "No"))}}


def may(command: str) -> dict[str, Any]:
    return {"permission": {"command": command, "description": "It has to be done"}}


def say(text: str) -> dict[str, Any]:
    return {"say": text}


class Pair(NamedTuple):
    """Two dialogs, the second one at once after the first, and what each is told."""

    name: str
    steps: tuple[dict[str, Any], ...]
    answers: tuple[str, str]

    def folder(self, imitate: str) -> str:
        """A folder of its own, so that the newest log in it is its own."""
        return f"{self.name.replace(',', '').replace(' ', '-')}-{imitate}"


PAIRS = [
    Pair("equal", (ask(), ask()), ("Choose 1", "Choose 2")),
    Pair(
        "another preamble",
        (say("The tests shall run."), ask(), say("The backups shall be deleted."), ask()),
        ("Choose 1", "Choose 2"),
    ),
    Pair(
        "another description",
        (
            ask({"label": "Yes", "description": "it only looks"}, "No"),
            ask({"label": "Yes", "description": "it deletes"}, "No"),
        ),
        ("Choose 1", "Choose 2"),
    ),
    Pair(
        "words go on",
        (ask(question="Shall it go on?"), ask(question="Shall it go on? And delete all?")),
        ("Choose 1", "Choose 2"),
    ),
    Pair("equal permissions", (may("make release"), may("make release")), ("Choose 1", "Choose 1")),
    Pair("another command", (may("git push"), may("git push --force")), ("Choose 1", "Choose 1")),
    Pair("a plan, then a question", ({"plan": {"plan": "1. Build it"}}, ask()), ("Choose 1", "Choose 2")),
    Pair("words", (ask(), ask()), ("Neither of them", "Choose 1")),
]


def asked(stage: Stage, session: str, *earlier: str) -> dict[str, Any]:
    """The question that is open now, which is none of the earlier ones."""

    def new() -> bool:
        found = stage.explain(session)["question"]
        return found is not None and found["id"] not in earlier

    until(new, lambda: (stage.explain(session)["question"], stage.screen(session)))
    found: dict[str, Any] = stage.explain(session)["question"]
    return found


def answered_apart(stage: Stage, session: str, pair: Pair) -> None:
    first = asked(stage, session)
    told = stage.sent(session, pair.answers[0])
    assert (told["state"], told["questionId"]) == ("submitted", first["id"]), (told, stage.screen(session))
    second = asked(stage, session, first["id"])
    assert len(stage.results(session)) == 1, (
        stage.results(session),
        "the second dialog got a key of the first answer",
    )
    assert len(stage.prompts(session)) == 1
    told = stage.sent(session, pair.answers[1])
    assert (told["state"], told["questionId"]) == ("submitted", second["id"]), (told, stage.screen(session))
    until(lambda: len(stage.results(session)) == 2, lambda: stage.screen(session))


# Every pair with one CLI, in turn, before any pair with the next one.
CASES = [(pair, IMITATED[(place + turn) % 3]) for turn in range(3) for place, pair in enumerate(PAIRS)]


@pytest.mark.parametrize(
    "case", some_in_test(CASES, of=len(PAIRS)), ids=lambda case: f"{case[0].name}-{case[1]}"
)
def test_without_hooks(stage: Stage, case: tuple[Pair, str]) -> None:
    """An agent in the user's own tmux tells nothing: its screen and its transcript have to."""
    pair, imitate = case
    session = stage.adopt(pair.folder(imitate), *pair.steps, imitate=imitate)
    answered_apart(stage, session, pair)


@pytest.mark.more  # make test-more
@pytest.mark.parametrize("imitate", IMITATED)
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_with_hooks(stage: Stage, pair: Pair, imitate: str) -> None:
    session = stage.spawn("pair", *pair.steps, imitate=imitate)
    answered_apart(stage, session, pair)
