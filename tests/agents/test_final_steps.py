"""Which step answers a dialog, told from recorded screens: after it nothing more is pressed."""

from __future__ import annotations

from pathlib import Path

import pytest

from maestro.agents.questions import Answer
from maestro.agents.registry import agent_named
from maestro.agents.screen import captured
from maestro.agents.terminal import Step, Terminal

SCREENS = Path(__file__).parent / "screens"
TWO = Answer(parts=(Answer((1,)), Answer((1,))))
THREE = Answer(parts=(Answer((2,)), Answer((1, 2)), Answer((2,))))
FOUR = Answer(parts=(Answer((1,)), Answer((1,)), Answer(text="x"), Answer((1,))))


def step(where: str, answer: Answer) -> Step:
    agent, name = where.split(" ")
    paths = sorted(SCREENS.glob(f"{agent}/*/{name}.*"), reverse=True)
    path = next(path for path in paths if path.suffix != ".json")
    terminal = agent_named(agent)
    assert isinstance(terminal, Terminal)
    found = terminal.answer_step(terminal.read_screen(captured(path.read_text())), answer)
    assert isinstance(found, Step), found
    return found


@pytest.mark.parametrize(
    ("where", "answer"),
    [
        ("claude 14_permission_bash", Answer((1,))),
        ("claude 80_perm_no_typed", Answer((4,), "use pytest")),
        ("claude 62_plan_approval_full", Answer((2,))),
        ("claude 63_plan_feedback", Answer((3,), "add a test step 2")),
        ("claude 20_ask_single", Answer((2,))),
        ("claude 23_ask_other_typed", Answer((), "CockroachDB 42 please")),
        ("claude 33_ask_multi_review", Answer((1, 3))),
        ("claude 43_ask_tabs_review", THREE),
        ("claude 45_ask_preview_digit2", Answer((2,))),
        ("claude preview_notes_left", Answer((2,), "hi")),
        ("claude 02_onboarding_done_only", Answer((1,))),
        ("codex approval", Answer((1,))),
        ("codex plan", Answer((1,))),
        ("codex ask", Answer((1,))),
        ("codex trust", Answer((1,))),
        ("gemini confirm", Answer((1,))),
        ("gemini ask", Answer((1,))),
        ("gemini multi_done", Answer((1, 3))),
        ("gemini plan", Answer((1,))),
        ("gemini four_review", FOUR),
        ("gemini 35_trust", Answer((1,))),
    ],
)
def test_a_step_that_answers(where: str, answer: Answer) -> None:
    assert step(where, answer).is_final


@pytest.mark.parametrize(
    ("where", "answer"),
    [
        ("claude 14_permission_bash", Answer((1,), "then list it")),
        ("claude 62_plan_approval_full", Answer((), "add tests")),
        ("claude 20_ask_single", Answer((), "another one")),
        ("claude 22_ask_other_focused", Answer((), "another one")),
        ("claude 30_ask_multi", Answer((1, 3))),
        ("claude 31_ask_multi_1_3", Answer((1, 3))),
        ("claude 40_ask_tabs", THREE),
        ("claude 42_ask_tabs_q3", THREE),
        ("claude 44_ask_preview", Answer((2,))),
        ("claude 02_onboarding_done_only", Answer((2,))),
        ("codex ask", Answer((2,), "because")),
        ("codex ask2", TWO),
        ("codex 01_hooks_review", Answer((2,))),
        ("gemini ask", Answer((), "another one")),
        ("gemini multi", Answer((1, 3))),
        ("gemini four_choice", FOUR),
    ],
)
def test_a_step_on_the_way(where: str, answer: Answer) -> None:
    assert not step(where, answer).is_final


def test_the_blinking_mark_of_a_call_is_no_part_of_what_was_said() -> None:
    text = (SCREENS / "claude" / "2.1.325" / "16_permission_write.txt").read_text()
    assert "● Write(new.py)" in text
    terminal = agent_named("claude")
    assert isinstance(terminal, Terminal)
    lit, dark = (terminal.read_screen(captured(one)) for one in (text, text.replace("● Write(", "  Write(")))
    assert lit.question == dark.question
