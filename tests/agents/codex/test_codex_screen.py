"""Codex CLI: what a worker writes must not be taken for what its CLI asks."""

from pathlib import Path

import pytest

from maestro.agents.codex import ADAPTER
from maestro.agents.screen import captured

SCREENS = Path(__file__).parents[1] / "screens" / "codex" / "0.166.0"
WELCOME = "  Welcome to Codex"


@pytest.mark.parametrize("name", ["06_approval.txt", "approval.ansi", "patch.ansi", "plan.ansi", "ask.ansi"])
def test_a_dialog_below_the_words_of_the_sign_in_screen_stays_what_it_is(name: str) -> None:
    """The model wrote them, and they have scrolled to the first line."""
    whole = ADAPTER.read_screen(captured((SCREENS / name).read_text()))
    lines = (SCREENS / name).read_text().split("\n")
    heading = max(at for at, line in enumerate(captured("\n".join(lines)).lines) if whole.evidence in line)
    shown = ADAPTER.read_screen(captured("\n".join([WELCOME, "", *lines[heading:]])))
    assert whole.question is not None
    assert shown.question is not None
    assert (shown.rule, shown.state) == (whole.rule, whole.state)
    assert shown.question.options == whole.question.options
