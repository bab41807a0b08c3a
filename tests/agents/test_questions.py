"""Sightings of questions: which are of one dialog, what is known of it from both, and what an answer to it means."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.agents.hooks import Hooked
from maestro.agents.questions import (
    Answer,
    Option,
    Question,
    as_shown,
    is_same,
    is_unchanged,
    merged,
    settled,
)
from maestro.agents.registry import agent_named
from maestro.agents.screen import captured
from maestro.agents.terminal import Terminal

HEARD = Question(
    "choice",
    "Where shall it be deployed, and when exactly?",
    (Option("Staging", "for tests"), Option("Production", "for all")),
    header="Deploy",
)
SEEN = Question(
    "choice",
    "Where shall it be deployed,\n and when",
    (
        Option("Staging", number=1, is_current=True),
        Option("Production", number=2),
        Option("Type something.", number=3, is_free_text=True),
    ),
    preamble="All is built.",
    stage="typing",
    typed="half",
)
ASKED_TO_RUN = Question("permission", "May it use Bash?", (Option("Yes"), Option("No")), detail="git push")
ON_SCREEN = Question(
    "permission",
    "Do you want to proceed?",
    (
        Option("Yes", number=1),
        Option("Yes, and don't ask again", number=2, is_lasting=True),
        Option("No", number=3),
    ),
    detail="git push",
)
PLAN = Question("plan", "Would you like to proceed?", detail="1. Build\n2. Ship")
SEVERAL = Question(
    "several", "", parts=(HEARD, Question("multi_choice", "Which?", (Option("A"), Option("B"))))
)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (HEARD, SEEN, True),
        (HEARD, HEARD, True),
        (HEARD, msgspec.structs.replace(HEARD, text="When?"), False),
        (ASKED_TO_RUN, ON_SCREEN, True),
        (ASKED_TO_RUN, msgspec.structs.replace(ON_SCREEN, detail="rm -rf build"), False),
        (ASKED_TO_RUN, HEARD, False),
        (PLAN, msgspec.structs.replace(PLAN, detail=""), True),
        (PLAN, HEARD, False),
        (SEVERAL, Question("several", "", parts=(HEARD,), position=0), True),
        (SEVERAL, HEARD, True),
        (SEVERAL, Question("several", "Review", stage="review"), True),
        (SEVERAL, Question("several", "", parts=(Question("choice", "Other?", header="X"),)), False),
    ],
)
def test_one_dialog_or_two(one: Question, other: Question, same: bool) -> None:  # noqa: FBT001 - a table's column
    assert is_same(one, other) is same
    assert is_same(other, one) is same


@pytest.mark.parametrize(
    "change",
    [
        {"detail": "git push --force"},
        {"text": "Do you want to proceed? Really?"},
        {"options": ON_SCREEN.options[:2]},
        {"options": (*ON_SCREEN.options[:2], Option("Never", number=3))},
        {"kind": "plan"},
        {"preamble": "The backups shall be deleted."},
        {"header": "Bash command"},
        {"options": (Option("Yes", "and delete all", number=1), *ON_SCREEN.options[1:])},
    ],
)
def test_a_dialog_that_goes_on_is_another(change: dict[str, object]) -> None:
    assert not is_unchanged(ON_SCREEN, msgspec.structs.replace(ON_SCREEN, **change))


def test_a_cursor_that_moved_is_no_change() -> None:
    moved = tuple(msgspec.structs.replace(option, is_current=True) for option in ON_SCREEN.options)
    redrawn = msgspec.structs.replace(ON_SCREEN, options=moved, detail=" git\n  push ")
    assert is_unchanged(ON_SCREEN, redrawn)


@pytest.mark.parametrize(("known", "seen", "exact"), [(HEARD, SEEN, False), (SEEN, HEARD, True)])
def test_both_sightings_in_one(known: Question, seen: Question, exact: bool) -> None:  # noqa: FBT001 - a table's column
    whole = merged(known, seen, exact=exact)
    assert (whole.text, whole.header, whole.preamble) == (HEARD.text, "Deploy", "All is built.")
    assert [(o.label, o.description, o.number) for o in whole.options] == [
        ("Staging", "for tests", 1),
        ("Production", "for all", 2),
        ("Type something.", "", 3),
    ]
    assert (whole.stage, whole.typed, any(o.is_current for o in whole.options)) == ("open", "", False)
    assert merged(whole, seen, exact=exact) == whole, "seen again, nothing changes"


@pytest.mark.parametrize(
    ("known", "seen", "exact"), [(ASKED_TO_RUN, ON_SCREEN, False), (ON_SCREEN, ASKED_TO_RUN, True)]
)
def test_what_the_cli_adds_keeps_its_place(known: Question, seen: Question, exact: bool) -> None:  # noqa: FBT001 - a table's column
    """“Choose 3” is what stands at 3 on the screen, also when a hook knew of two options only."""
    labels = [option.label for option in merged(known, seen, exact=exact).options]
    assert labels == ["Yes", "Yes, and don't ask again", "No"]


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Answer(choices=(1,)), Answer(choices=(1,))),
        (Answer(choices=(2,)), Answer(choices=(3,))),
        (Answer(choices=(3,)), None),
        (Answer(text="do less"), Answer(text="do less")),
        (Answer(choices=(9,)), None),
    ],
)
def test_an_answer_means_the_option_that_it_meant_when_it_was_given(
    answer: Answer, told: Answer | None
) -> None:
    """Answered by what a hook told (Yes, No): a screen with an option in between is not misled."""
    assert as_shown(answer, ASKED_TO_RUN, ON_SCREEN) == told


def test_an_answer_to_several_is_told_part_by_part() -> None:
    answer = Answer(parts=(Answer(choices=(2,)), Answer(choices=(1, 2))))
    turned = msgspec.structs.replace(HEARD, options=HEARD.options[::-1])
    on_screen = msgspec.structs.replace(SEVERAL, parts=(turned, Question("multi_choice", "Which?")))
    assert as_shown(answer, SEVERAL, on_screen) == Answer(
        parts=(Answer(choices=(1,)), Answer(choices=(1, 2)))
    )
    gone = msgspec.structs.replace(turned, options=(Option("Nowhere"),))
    assert as_shown(answer, SEVERAL, msgspec.structs.replace(on_screen, parts=(gone, gone))) is None


def test_a_long_list_shows_a_part_of_itself() -> None:
    days = tuple(Option(label, number=place) for place, label in enumerate("ABCDE", 1))
    whole, part = Question("multi_choice", "Which?", days), Question("multi_choice", "Which?", days[2:4])
    assert as_shown(Answer(choices=(1, 3, 5)), whole, part) == Answer(choices=(1, 3, 5))
    other = Question("multi_choice", "Which?", (Option("Z", number=1), *days[2:4]))
    assert as_shown(Answer(choices=(1,)), whole, other) is None, "another option has its digit"


def test_a_review_has_options_of_its_own() -> None:
    review = Question("choice", "Ready to submit?", (Option("Submit"), Option("Cancel")), stage="review")
    assert as_shown(Answer(choices=(2,)), HEARD, review) == Answer(choices=(2,))


OPTIONS = st.lists(
    st.builds(
        Option,
        st.sampled_from(["A", "B", "C"]),
        number=st.none() | st.integers(1, 9),
        is_free_text=st.booleans(),
        is_chosen=st.booleans(),
        is_current=st.booleans(),
    ),
    max_size=4,
).map(tuple)
PART = st.builds(
    Question,
    st.sampled_from(["choice", "multi_choice", "permission", "plan", "free_text", "dialog"]),
    st.sampled_from(["", "Which?", "Which one?"]),
    OPTIONS,
    header=st.sampled_from(["", "H"]),
    detail=st.sampled_from(["", "ls", "ls -la"]),
    stage=st.sampled_from(["open", "typing", "review"]),
    typed=st.sampled_from(["", "words"]),
)
ANY = PART | st.builds(Question, st.just("several"), st.just(""), parts=st.lists(PART, max_size=3).map(tuple))


@given(ANY, ANY, st.booleans())
def test_any_two_sightings(one: Question, other: Question, exact: bool) -> None:  # noqa: FBT001 - hypothesis gives it
    assert is_same(one, one)
    assert is_same(one, other) is is_same(other, one)
    assert settled(settled(one)) == settled(one)
    assert is_unchanged(one, settled(one))
    whole = merged(one, other, exact=exact)
    assert settled(whole) == whole
    for answer in (Answer(choices=(1,)), Answer(choices=(4,)), Answer(text="x"), Answer(parts=(Answer(),))):
        told = as_shown(answer, one, other)
        assert told is None or len(told.choices) == len(answer.choices)


SCREENS = Path(__file__).parent / "screens"
COMMANDS = {
    "short": "touch notes.txt",
    "long": " ".join(["echo", *(f"word{number:03}" for number in range(60)), "&& rm -rf /tmp/precious"]),
    "multi": "\n".join([*(f"echo line {number}" for number in range(1, 31)), "rm -rf /tmp/precious"]),
}


def told_by_hook(agent: str, command: str) -> Question:
    """A permission as the CLI's own hook tells it."""
    hooked = agent_named(agent)
    assert isinstance(hooked, Hooked)
    payload = {"tool_name": "Bash", "tool_input": {"command": command, "description": "Do it"}}
    question = hooked.read_hook("PermissionRequest", payload).question
    assert question is not None
    return question


def on_screen(name: str) -> Question:
    terminal = agent_named(name.split("/", maxsplit=1)[0])
    assert isinstance(terminal, Terminal)
    question = terminal.read_screen(captured((SCREENS / name).read_text())).question
    assert question is not None
    return question


@pytest.mark.parametrize(
    "name",
    [
        "claude/2.1.325/small_short_20x5.ansi",
        "claude/2.1.325/small_short_40x10.ansi",
        "claude/2.1.325/small_long_40x10.ansi",
        "claude/2.1.325/small_multi_40x24.ansi",
        "codex/0.166.0/small_short_20x5.ansi",
        "codex/0.166.0/small_short_40x10.ansi",
        "codex/0.166.0/small_multi_40x24.ansi",
        "codex/0.166.0/small_long_80x24.ansi",
    ],
)
def test_a_hooks_permission_is_known_again_on_a_small_screen(name: str) -> None:
    """The screen words it otherwise, and tells nothing of what it is for; both in one tell all."""
    heard = told_by_hook(name.split("/", maxsplit=1)[0], COMMANDS[name.split("_")[1]])
    shown = on_screen(name)
    assert shown.is_cut
    assert is_same(heard, shown)
    assert is_same(shown, heard)
    both = merged(heard, shown, exact=False)
    assert (both.detail, both.is_cut, both.unread) == (heard.detail, False, "")


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("claude/2.1.325/14_permission_bash.txt", "touch /home/dev/ws/proj/made.txt && ls -la"),
        ("codex/0.166.0/small_short_40x24.ansi", "touch notes.txt"),
    ],
)
def test_a_screen_that_shows_all_of_it_is_of_no_other_command(name: str, command: str) -> None:
    agent = name.split("/", maxsplit=1)[0]
    assert is_same(told_by_hook(agent, command), on_screen(name))
    assert not is_same(told_by_hook(agent, "rm -rf build"), on_screen(name))


@pytest.mark.parametrize(
    "name", ["claude/2.1.325/small_plan_40x10.ansi", "gemini/0.61.0/small_plan_80x10.ansi"]
)
def test_a_plan_is_known_again_on_a_small_screen(name: str) -> None:
    """Its words are drawn otherwise than they were written."""
    heard = Question("plan", "Would you like to proceed?", detail="# Plan\n\n1. **Create** a.txt")
    assert is_same(heard, on_screen(name))
    assert not is_same(told_by_hook("claude", "touch notes.txt"), on_screen(name))
