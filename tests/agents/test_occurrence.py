"""One dialog or the next: what two screens must share, and where a step can have brought a dialog."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from msgspec.structs import replace
from tests.agents.test_questions import ANY

from maestro.agents.occurrence import Likeness, is_as_answered, is_next_of, likeness
from maestro.agents.questions import Option, Question, settled
from maestro.agents.terminal import Step

ROWS = (
    Option("Yes", "it only looks", 1, is_current=True),
    Option("No", number=2),
    Option("Type something", number=3, is_free_text=True),
)
ASKED = Question("choice", "Shall it go on?", ROWS, header="Again", preamble="The tests shall run.")
RUN = Question("permission", "Proceed?", ROWS[:2], header="Bash command", tool="Bash", detail="git push")
TICKS = (Option("Monday", number=1), Option("Friday", number=2, is_chosen=True))
MULTI = Question("multi_choice", "Which days?", TICKS, header="Days", preamble="Soon.")
REVIEW = Question(
    "multi_choice",
    "Ready to submit your answers?",
    (Option("Submit answers", number=1), Option("Cancel", number=2)),
    header="Days",
    preamble="Soon.",
    detail="Which days? → Friday",
    position=1,
    stage="review",
)
FIRST = Question("choice", "Which way?", ROWS, header="Way")
SECOND = Question("choice", "How fast?", ROWS, header="Speed")
UNSEEN = (Question("choice", "", header="Way"), Question("choice", "", header="Speed"))
TWO = Question("several", "Which way?", parts=(FIRST, UNSEEN[1]), preamble="Two questions.")
TWO_LATER = replace(TWO, text="How fast?", parts=(replace(UNSEEN[0], stage="review"), SECOND), position=1)

TWO_LISTED = Question(
    "several",
    "Ready to submit your answers?",
    parts=tuple(
        replace(part, text=text, stage="review")
        for part, text in zip(UNSEEN, ("Which way?", "How fast?"), strict=True)
    ),
    preamble="Two questions.",
    position=2,
    stage="review",
)

MOVES = Step("move", keys=("Down",))
TICK = Step("tick", keys=("1",))
UNTICK = Step("untick", keys=("2",), undoes=True)
ANSWERS = Step("answer", keys=("1",), is_final=True)


@pytest.mark.parametrize(
    ("before", "change", "like"),
    [
        (ASKED, {}, "same"),
        (ASKED, {"options": (replace(ROWS[0], is_current=False), *ROWS[1:])}, "same"),
        (ASKED, {"text": " Shall it\n go on? "}, "same"),
        (ASKED, {"typed": "words", "stage": "typing"}, "same"),
        (ASKED, {"preamble": "The backups shall be deleted."}, "other"),
        (ASKED, {"preamble": ""}, "unclear"),
        (ASKED, {"preamble": "shall run."}, "unclear"),
        (ASKED, {"text": "Shall it go on? And delete all?"}, "unclear"),
        (ASKED, {"text": "Shall it end?"}, "other"),
        (ASKED, {"header": "Other"}, "other"),
        (ASKED, {"kind": "multi_choice"}, "other"),
        (ASKED, {"options": ROWS[:2]}, "other"),
        (ASKED, {"options": (replace(ROWS[0], description="it deletes"), *ROWS[1:])}, "other"),
        (ASKED, {"options": (replace(ROWS[0], description=""), *ROWS[1:])}, "unclear"),
        (RUN, {"detail": "git push --force"}, "unclear"),
        (RUN, {"detail": "rm -rf build"}, "other"),
        (RUN, {"tool": "Write"}, "other"),
        (MULTI, {"options": (TICKS[0], replace(TICKS[1], is_chosen=False))}, "same"),
    ],
)
def test_what_two_screens_must_share(before: Question, change: dict[str, Any], like: Likeness) -> None:
    assert likeness(before, replace(before, **change)) == like
    assert likeness(replace(before, **change), before) == like


@pytest.mark.parametrize(
    ("one", "other", "like"),
    [
        (MULTI, REVIEW, "same"),
        (MULTI, replace(REVIEW, detail="Which weeks? → All"), "other"),
        (MULTI, replace(REVIEW, header="Weeks"), "other"),
        (ASKED, REVIEW, "other"),
        (TWO, TWO_LATER, "same"),
        (TWO, replace(TWO_LATER, parts=(UNSEEN[0], replace(SECOND, header="Colour"))), "other"),
        (TWO, replace(TWO, parts=(replace(FIRST, text="Which car?"), UNSEEN[1])), "other"),
        (TWO_LATER, TWO_LISTED, "same"),
        (
            TWO_LATER,
            replace(TWO_LISTED, parts=(TWO_LISTED.parts[0], replace(UNSEEN[1], text="How slow?"))),
            "other",
        ),
        (TWO, Question("several", "Leave some?", ROWS, stage="review", preamble="Two questions."), "same"),
    ],
)
def test_a_dialog_of_several_screens(one: Question, other: Question, like: Likeness) -> None:
    assert likeness(one, other) == like
    assert likeness(other, one) == like


def test_a_list_that_scrolls() -> None:
    days = tuple(Option(label, number=place) for place, label in enumerate("ABCDE", 1))
    window = [Question("multi_choice", "Which?", days[at : at + 3]) for at in range(3)]
    assert likeness(window[0], window[1]) == "same"
    assert likeness(window[1], window[2]) == "same"
    changed = replace(window[1], options=(Option("Z", number=2), *days[2:4]))
    assert likeness(window[0], changed) == "other"


@pytest.mark.parametrize(
    ("before", "step", "now", "is_next"),
    [
        (ASKED, MOVES, replace(ASKED, options=(replace(ROWS[0], is_current=False), *ROWS[1:])), True),
        (ASKED, MOVES, ASKED, True),  # not drawn yet
        (ASKED, MOVES, replace(ASKED, preamble="Another."), False),
        (ASKED, MOVES, replace(ASKED, preamble=""), False),
        (ASKED, ANSWERS, ASKED, False),
        (ASKED, ANSWERS, replace(ASKED, stage="typing"), False),
        (MULTI, TICK, replace(MULTI, options=(replace(TICKS[0], is_chosen=True), TICKS[1])), True),
        (MULTI, TICK, replace(MULTI, options=(TICKS[0], replace(TICKS[1], is_chosen=False))), False),
        (MULTI, UNTICK, replace(MULTI, options=(TICKS[0], replace(TICKS[1], is_chosen=False))), True),
        (replace(ASKED, stage="typing", typed="x"), MOVES, replace(ASKED, stage="typing"), False),
        (replace(ASKED, stage="typing"), MOVES, ASKED, False),
        (MULTI, MOVES, REVIEW, True),
        (REVIEW, MOVES, MULTI, False),
        (TWO, TICK, TWO_LATER, True),
        (TWO_LATER, MOVES, TWO_LISTED, True),
        (TWO_LATER, TICK, TWO, False),  # the answer to the first is gone: a new dialog
    ],
)
def test_where_a_step_can_lead(before: Question, step: Step, now: Question, is_next: bool) -> None:  # noqa: FBT001 - a table's column
    assert is_next_of(before, step, now) is is_next


@pytest.mark.parametrize(
    ("asked", "seen", "shown", "is_it"),
    [
        (RUN, RUN, RUN, True),
        (RUN, RUN, replace(RUN, preamble="Another."), False),
        (RUN, None, replace(RUN, preamble="Another."), True),  # a hook does not tell what was said before
        (RUN, None, replace(RUN, detail="git pu"), True),  # cut off
        (RUN, None, replace(RUN, detail="git push --force"), False),
        (replace(RUN, detail=""), None, RUN, True),
        (ASKED, None, replace(ASKED, text="Shall it go on? And delete all?"), False),
        (TWO, None, TWO_LATER, True),
    ],
)
def test_what_was_answered(asked: Question, seen: Question | None, shown: Question, is_it: bool) -> None:  # noqa: FBT001 - a table's column
    assert is_as_answered(asked, seen, shown) is is_it


def test_what_was_answered_had_these_arguments_and_previews() -> None:
    called = replace(RUN, inputs="a")
    assert is_as_answered(called, called, called)
    assert not is_as_answered(called, called, replace(called, inputs="b"))
    looks = replace(ASKED, options=(replace(ROWS[0], preview="[ ]"), *ROWS[1:]))
    assert is_as_answered(looks, looks, ASKED), "only the row under the cursor shows its preview"
    assert not is_as_answered(
        looks, looks, replace(looks, options=(replace(ROWS[0], preview="rm"), *ROWS[1:]))
    )


@given(ANY, ANY)
def test_any_two_screens(one: Question, other: Question) -> None:
    assert likeness(one, one) == "same"
    assert likeness(one, other) == likeness(other, one)
    assert not is_next_of(one, ANSWERS, one)
    assert is_next_of(one, MOVES, one)
    if likeness(one, settled(one)) != "same":
        assert one.stage == "review", "only a review asks in other words"
