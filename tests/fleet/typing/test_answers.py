"""What a person writes, as the answer to each kind of question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.agents.questions import Answer, Option, Question
from maestro.errors import InvalidInput
from maestro.fleet.answers import parse_answer

PLAIN = (Option("Staging", number=1), Option("Production", number=2))
WORDS = Option("Type something.", number=3, is_free_text=True)
CHOICE = Question("choice", "Where?", (*PLAIN, WORDS))
PREVIEW = Question("choice", "Which look?", PLAIN)
MULTI = Question("multi_choice", "Which?", (Option("A"), Option("B"), Option("C"), WORDS))
MULTI_ONLY = Question("multi_choice", "Which?", (Option("A"), Option("B")))
PERMISSION = Question("permission", "May it?", (Option("Yes"), Option("Yes, always"), Option("No")))
PLAN = Question("plan", "Ready?", (Option("Yes"), Option("No"), Option("Tell it", is_free_text=True)))
FREE = Question("free_text", "What is it called?")
TRUST = Question("dialog", "Do you trust this folder?", (Option("Yes, I trust it"), Option("No, exit")))
NOTED = Question(
    "choice", "Where?", (*(Option(o.label, number=o.number, takes_notes=True) for o in PLAIN), WORDS)
)
UNSEEN = Question("several", "", parts=(CHOICE, Question("choice", "")))
SEVERAL = Question("several", "", parts=(CHOICE, MULTI, FREE))


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        (CHOICE, "Choose 2", Answer(choices=(2,))),
        (CHOICE, "  choose 1.  ", Answer(choices=(1,))),
        (NOTED, "Choose 2: it is Friday", Answer(choices=(2,), text="it is Friday")),
        (NOTED, "Choose 2 - it is\nFriday", Answer(choices=(2,), text="it is\nFriday")),
        (NOTED, "Choose 1", Answer(choices=(1,))),
        (CHOICE, "Choose 3: the attic", Answer(text="the attic")),
        (CHOICE, "production", Answer(choices=(2,))),
        (MULTI, "c, A", Answer(choices=(3, 1))),
        (MULTI_ONLY, "A, B.", Answer(choices=(1, 2))),
        (MULTI, "A, D", Answer(text="A, D")),
        (CHOICE, "somewhere else", Answer(text="somewhere else")),
        (CHOICE, "type something.", Answer(text="type something.")),
        (CHOICE, "Choose wisely", Answer(text="Choose wisely")),
        (CHOICE, "2", Answer(text="2")),
        (PREVIEW, "staging", Answer(choices=(1,))),
        (MULTI, "Choose 1, 3", Answer(choices=(1, 3))),
        (MULTI, "choose 3 and 1 & 3", Answer(choices=(3, 1))),
        (MULTI, "Choose 1 2: both", Answer(choices=(1, 2), text="both")),
        (MULTI, "none of them", Answer(text="none of them")),
        (MULTI, "Choose 1, 4: and a fourth", Answer(choices=(1,), text="and a fourth")),
        (PERMISSION, "Choose 3", Answer(choices=(3,))),
        (PERMISSION, "yes", Answer(choices=(1,))),
        (PERMISSION, "No", Answer(choices=(3,))),
        (PLAN, "Choose 1", Answer(choices=(1,))),
        (PLAN, "Smaller steps, please", Answer(text="Smaller steps, please")),
        (PLAN, "Choose 3: smaller steps", Answer(text="smaller steps")),
        (FREE, "Choose 1", Answer(text="Choose 1")),
        (FREE, "Maestro\nor so", Answer(text="Maestro\nor so")),
        (TRUST, "Choose 1", Answer(choices=(1,))),
        (TRUST, "no, exit", Answer(choices=(2,))),
        (
            SEVERAL,
            "Choose 2\nChoose 1, 2\nits name; really",
            Answer(parts=(Answer(choices=(2,)), Answer(choices=(1, 2)), Answer(text="its name; really"))),
        ),
        (
            SEVERAL,
            "1) Choose 1; 2= Choose 3: so; 3) a name",
            Answer(
                parts=(Answer(choices=(1,)), Answer(choices=(3,), text="so"), Answer(text="a name"))
            ),
        ),
        (Question("several", "", parts=(MULTI,)), "Choose 2", Answer(choices=(2,))),
    ],
)  # fmt: skip
def test_each_kind(question: Question, text: str, answer: Answer) -> None:
    assert parse_answer(text, question) == answer


@pytest.mark.parametrize(
    ("question", "text", "message", "hint"),
    [
        (CHOICE, " \n ", "empty", "1 Staging; 2 Production"),
        (CHOICE, "Choose 0", "no option 0", "Choose N:"),
        (CHOICE, "Choose 4", "no option 4", "Choose N:"),
        (CHOICE, "Choose 1, 2", "one option, not several", "Choose N:"),
        (CHOICE, "Choose 3", "takes words", "Choose 3: your words"),
        (PREVIEW, "something else", "no words", "1 Staging"),
        (CHOICE, "Choose 2: it is Friday", "no words beside it", "words in place of an option"),
        (PREVIEW, "Choose 1: because", "no words beside it", "`Choose 1` alone"),
        (MULTI_ONLY, "Choose 2: because", "no words beside it", "`Choose 2` alone"),
        (PERMISSION, "Choose 3: use pytest", "no words beside it", "`Choose 3` alone"),
        (UNSEEN, "Choose 1\nChoose 2: because", "not there yet", "without words"),
        (PERMISSION, "maybe", "no words", "3 No"),
        (MULTI, "Choose 1, 4", "takes words", "Choose 4: your words"),
        (MULTI, "Choose 1, 9", "no option 9", "Choose N:"),
        (TRUST, "why?", "no words", "2 No, exit"),
        (SEVERAL, "Choose 1", "3 questions are asked, and 1 answered", "line of its own"),
        (SEVERAL, "Choose 1\nChoose 9\nx", "no option 9", "Choose N:"),
        (FREE, "", "empty", "in words"),
    ],
)
def test_what_it_does_not_take(question: Question, text: str, message: str, hint: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_answer(text, question)
    assert message in caught.value.message
    assert hint in caught.value.hint


ODD = st.sampled_from(
    ["choose", " ", "1", "9" * 5000, ",", "and", ":", "-", "\n", ";", "Yes", "\t" * 3000, "x"]
)


@given(
    st.sampled_from([CHOICE, PREVIEW, MULTI, PERMISSION, PLAN, FREE, TRUST, SEVERAL]),
    st.one_of(st.text(max_size=50), st.lists(ODD, max_size=8).map("".join)),
)
def test_any_text_is_an_answer_or_refused(question: Question, text: str) -> None:
    try:
        answer = parse_answer(text, question)
    except InvalidInput:
        return
    for part, asked in zip(answer.parts or (answer,), question.parts or (question,), strict=True):
        assert part.choices or part.text
        assert all(1 <= number <= len(asked.options) for number in part.choices)


@pytest.mark.timeout(20)
def test_a_long_run_of_spaces_is_read_at_once() -> None:
    assert parse_answer("choose 1" + " " * 200_000 + "x", CHOICE).text
    assert parse_answer("choose " + "1 " * 100_000 + "x", MULTI).text
