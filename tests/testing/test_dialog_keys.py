"""Which key does what in the dialogs of each CLI: the tables of what was recorded on the real ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.testing.imitated import key_named, typed

from maestro.testing.scripted_agent.dialog import (
    Answer,
    Asked,
    Choice,
    Consent,
    Dialog,
    Gate,
    PlanApproval,
    Several,
)
from maestro.testing.scripted_agent.keys import Key
from maestro.testing.scripted_agent.render import LOOKS, render
from maestro.testing.scripted_agent.screen import ScreenState
from maestro.testing.scripted_agent.steps import Imitated, Option

ONE = Choice("Which?", "Colour", (Option("Red"), Option("Green"), Option("Blue")))
ANY = Choice("Which ones?", "Colours", ONE.options, multi=True)
SIZE = Choice("How big?", "Size", (Option("Small"), Option("Large")))
LOOKED_AT = Choice("Which layout?", "Layout", (Option("Left", preview="|x"), Option("Top", preview="=x")))
WORDS = Choice("Any name?", "Name", ())
COMMAND = Consent("rm x", "")
PLAN = PlanApproval("1. Do it")
ENDED = Answer(ends_turn=True)


def keys(script: str) -> list[Key]:
    """`2 Down "some text" Enter`: keys by their name, text that is typed in quotes, a paste in angle brackets."""
    found: list[Key] = []
    for place, piece in enumerate(script.split('"')):
        if place % 2:
            found += typed(piece)
            continue
        for word in piece.split():
            found.append(Key("paste", word[1:-1]) if word.startswith("<") else key_named(word))
    return found


def press_all(imitate: Imitated, asked: Asked, script: str) -> Dialog | Answer:
    look = LOOKS[imitate]
    state: Dialog | Answer = look.open(asked)
    for key in keys(script):
        assert isinstance(state, Dialog), f"answered before {key}"
        state = look.press(state, key)
    return state


CLAUDE: list[tuple[Asked, str, Answer]] = [
    (ONE, "2", Answer(("Green",))),  # selects and submits
    (ONE, "Down Enter", Answer(("Green",))),
    (ONE, '4 "2 of 3" Enter', Answer(("2 of 3",))),
    (ONE, "<purple> Enter", Answer(("purple",))),  # words go to their row by themselves
    (ONE, "5", Answer()),
    (ONE, "Escape", ENDED),
    (ANY, "1 3 Right 1", Answer(("Red", "Blue"))),
    (ANY, "Enter Down Enter Right Enter", Answer(("Red", "Green"))),
    (ANY, '2 Down Down Down "24x7" Down Enter Enter', Answer(("Green", "24x7"))),
    (ANY, "1 Right 2", ENDED),
    (ANY, "5", Answer()),
    (LOOKED_AT, "2 Enter", Answer(("Top",))),
    (LOOKED_AT, "Down Down Enter", Answer()),
    (Several((ONE, ANY, SIZE)), "2 1 2 Right 1 1", Answer(parts=(("Green",), ("Red", "Green"), ("Small",)))),
    (Several((ONE, SIZE)), '4 "mauve" Enter 2 1', Answer(parts=(("mauve",), ("Large",)))),
    (Several((ONE, SIZE)), "1 2 Left Left 3 2 1", Answer(parts=(("Blue",), ("Large",)))),
    (Several((ONE, SIZE)), "1 Escape", ENDED),
    (COMMAND, "1", Answer(("yes",))),
    (COMMAND, "2", Answer(("always",))),
    (COMMAND, "3", Answer(("no",), ends_turn=True)),
    (COMMAND, "Escape", ENDED),
    (COMMAND, 'Down Down Tab "no 2" Enter', Answer(("no",), notes=("no 2",))),
    (COMMAND, 'Tab "then 3" Enter', Answer(("yes",), notes=("then 3",))),
    (PLAN, "2", Answer(("yes", "Yes, manually approve edits"))),
    (PLAN, '3 "add 2" Enter', Answer(("add 2",))),
    (PLAN, "Escape", ENDED),
    (PlanApproval(""), "1", Answer(("yes",))),
    (PlanApproval(""), "2", Answer(("no",), ends_turn=True)),
    (Gate("trust"), "Enter", ENDED),
    (Gate("trust"), "Down Enter", Answer(("yes",))),
    (Gate("bypass"), "Enter", ENDED),
    (Gate("key"), "Enter", ENDED),
    (Gate("key"), "Up Enter", Answer(("yes",))),
]
CODEX: list[tuple[Asked, str, Answer]] = [
    (ONE, "2", Answer(("Green",))),
    (ONE, "Down Down Down Enter", Answer(("None of the above",))),
    (ONE, 'Tab "note 7" Enter', Answer(("Red",), notes=("note 7",))),
    (ONE, 'Down Tab "x" Tab Enter', Answer(("Green",))),  # the second Tab clears the notes
    (ONE, 'Tab "x" Escape 3', Answer(("Blue",))),
    (ONE, "<pasted> Enter", Answer(("Red",), notes=("pasted",))),
    (ONE, "Escape", ENDED),
    (Several((ONE, SIZE)), '3 Tab "why" Enter', Answer(parts=(("Blue",), ("Small",)), notes=("", "why"))),
    (Several((ONE, SIZE)), "Right 2 2 1 1", Answer(parts=(("Red",), ("Small",)))),
    (Several((ONE, SIZE)), "Right 2 1", Answer(parts=((), ("Large",)))),
    (COMMAND, "1", Answer(("yes",))),
    (COMMAND, "y", Answer(("yes",))),
    (COMMAND, "p", Answer(("always",))),
    (COMMAND, "3", Answer(("no",), ends_turn=True)),
    (COMMAND, "Escape", ENDED),
    (PLAN, "1", Answer(("yes", "Yes, implement this plan"))),
    (PLAN, "Down Down Enter", Answer(("no",), ends_turn=True)),
    (Gate("hooks"), "2 Enter", Answer(("yes",))),
    (Gate("trust"), "Down Enter", ENDED),
]
GEMINI: list[tuple[Asked, str, Answer]] = [
    (ONE, "2", Answer(("Green",))),
    (ONE, '4 "12 of them" Enter', Answer(("12 of them",))),
    (ONE, "<purple> Enter", Answer(("purple",))),
    (ONE, "Escape", ENDED),
    (ANY, "3 1 Down Down Down Down Down Enter", Answer(("Red", "Blue"))),
    (ANY, '1 5 "Extra 3" Enter', Answer(("Red", "Extra 3"))),
    (ANY, "4 Down Down Enter", Answer(("Red", "Green", "Blue"))),  # all of the above
    (ANY, "4 2 Down Down Down Down Enter", Answer(("Red", "Blue"))),
    (WORDS, '"Proj 1" Enter', Answer(("Proj 1",))),
    (Several((ANY, WORDS)), '1 Right "Proj 1" Enter Enter', Answer(parts=(("Red",), ("Proj 1",)))),
    (Several((ONE, SIZE)), '2 3 "XL 5" Enter Enter', Answer(parts=(("Green",), ("XL 5",)))),
    (Several((ONE, SIZE)), "1 2 BTab BTab 3 2 Enter", Answer(parts=(("Blue",), ("Large",)))),
    (COMMAND, "1", Answer(("yes",))),
    (COMMAND, "2", Answer(("always",))),
    (COMMAND, "Down Down Enter", Answer(("no",), ends_turn=True)),
    (COMMAND, "Escape", ENDED),
    (PLAN, "1", Answer(("yes", "Yes, automatically accept edits"))),
    (PLAN, '3 "2 tests" Enter', Answer(("2 tests",))),
    (Gate("trust"), "1", Answer(("yes",))),
    (Gate("trust"), "3", ENDED),
]


@pytest.mark.parametrize(("asked", "script", "answer"), CLAUDE)
def test_claude_code_takes_these_keys(asked: Asked, script: str, answer: Answer) -> None:
    assert press_all("claude", asked, script) == answer


@pytest.mark.parametrize(("asked", "script", "answer"), CODEX)
def test_codex_takes_these_keys(asked: Asked, script: str, answer: Answer) -> None:
    assert press_all("codex", asked, script) == answer


@pytest.mark.parametrize(("asked", "script", "answer"), GEMINI)
def test_gemini_takes_these_keys(asked: Asked, script: str, answer: Answer) -> None:
    assert press_all("gemini", asked, script) == answer


@pytest.mark.parametrize(
    ("imitate", "asked", "script", "seen"),
    [
        # The digit of the row for words ticks it, but does not take the keyboard there.
        ("claude", ANY, '4 "words"', f"{' ' * 2}4. [✔] Type something"),
        ("claude", ONE, "4", "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT} 4. Type something."),
        ("claude", LOOKED_AT, "2", "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT} 2. Top"),
        ("claude", LOOKED_AT, '3 "words"', "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT} 1. Left"),
        ("claude", Gate("trust"), "1 2 y", "No, exit"),
        ("claude", ANY, "Right 1", "Ready to submit your answers?"),
        ("claude", PLAN, "3 Enter", "3. Tell Claude what to change"),
        ("codex", Gate("hooks"), "2", "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK} 2. Trust all"),
        ("codex", ONE, '"words"', "tab to add notes"),
        ("codex", Several((ONE, SIZE)), "Right 2", "Submit with unanswered questions?"),
        ("gemini", ANY, "5", "● 5. [x] "),
        ("gemini", ANY, "Down Down Down", "● 4. [ ] All of the above"),
        ("gemini", WORDS, "Enter", "> "),
    ],
)
def test_keys_that_do_not_answer(imitate: Imitated, asked: Asked, script: str, seen: str) -> None:
    dialog = press_all(imitate, asked, script)
    assert isinstance(dialog, Dialog)
    lines = render(ScreenState("fixer", "/p", imitate=imitate, dialog=dialog), 100, 40).lines
    assert any(seen in line for line in lines), "\n".join(lines)


def test_of_many_options_gemini_shows_a_few_at_a_time() -> None:
    dialog = press_all("gemini", ANY, "Down Down Down Down")
    assert isinstance(dialog, Dialog)
    text = "\n".join(render(ScreenState("fixer", "/p", imitate="gemini", dialog=dialog), 100, 40).lines)
    assert "1. [ ] Red" not in text
    assert "3. [ ] Blue" in text


ASKED: list[tuple[Imitated, Asked]] = [
    *(("claude", asked) for asked, _, _ in CLAUDE),
    *(("codex", asked) for asked, _, _ in CODEX),
    *(("gemini", asked) for asked, _, _ in GEMINI),
]
NAMED = [
    "Up",
    "Down",
    "Left",
    "Right",
    "Enter",
    "Tab",
    "BTab",
    "BSpace",
    "C-u",
    "Escape",
    "1",
    "3",
    "5",
    "9",
    "x",
    "²",
]
KEYS = st.sampled_from([key_named(name) for name in NAMED] + [Key("paste", "a\nb"), Key("newline")])


@given(st.sampled_from(ASKED), st.lists(KEYS, max_size=25), st.integers(4, 90), st.integers(1, 30))
def test_any_keys_leave_a_dialog_that_can_be_drawn(
    case: tuple[Imitated, Asked], pressed: list[Key], width: int, height: int
) -> None:
    imitate, asked = case
    look = LOOKS[imitate]
    state: Dialog | Answer = look.open(asked)
    for key in pressed:
        if isinstance(state, Answer):
            return
        frame = render(ScreenState("fixer", "/p", imitate=imitate, dialog=state), width, height)
        assert len(frame.lines) <= height
        state = look.press(state, key)
