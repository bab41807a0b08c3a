"""State → screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.testing.stage import BOX, POINTER

from maestro.testing.scripted_agent.box import Box
from maestro.testing.scripted_agent.cells import cells, wrap
from maestro.testing.scripted_agent.claude_screen import MARKS
from maestro.testing.scripted_agent.dialog import Choice, Consent, Dialog
from maestro.testing.scripted_agent.effects import Block
from maestro.testing.scripted_agent.keys import Draft
from maestro.testing.scripted_agent.render import render
from maestro.testing.scripted_agent.screen import ScreenState, Spinner, block_lines
from maestro.testing.scripted_agent.steps import Option

CHOICE = Choice("Which?", "Colour", (Option("Red", "like roses"), Option("Blue")))


def state(**changes: object) -> ScreenState:
    return ScreenState("fixer", "/project", **changes)  # type: ignore[arg-type]  # the test names its fields


def test_the_box_is_at_the_bottom_with_the_cursor_after_the_draft() -> None:
    frame = render(state(box=Box(Draft(("日本 and\n", "more")))), 40, 12)
    assert frame.lines[-5:] == (
        "─" * 40,
        f"{BOX}日本 and",
        "  more\x1b[7m \x1b[27m",
        "─" * 40,
        "  ⏸ manual mode on",
    )
    assert len(frame.lines) == 12
    assert frame.cursor == (9, 6)
    assert not frame.is_cursor_shown


def test_a_working_agent_shows_its_spinner_and_what_is_queued() -> None:
    working = state(
        blocks=(Block("prompt", "do it"),),
        spinner=Spinner(4, "Brewing", 63),
        queued=("and then",),
        placeholder="Try",
    )
    lines = render(working, 60, 20).lines
    place = lines.index(f"{POINTER} do it")
    assert lines[place + 2 : place + 6] == (
        f"{POINTER} and then",
        "  ctrl+x ctrl+s to send now",
        "",
        "✻ Brewing… (1m 3s · ↓ 10 tokens)",
    )
    assert lines[-3] == f"{BOX}\x1b[7mP\x1b[27m\x1b[2mress up to edit queued messages\x1b[22m"
    assert lines[-1] == "  ⏸ manual mode on · esc to interrupt"


def test_a_note_takes_the_place_of_the_spinner() -> None:
    lines = render(
        state(spinner=Spinner(4, "Brewing", 2, "500 oops · Retrying in 4s · attempt 1/10")), 60, 20
    ).lines
    assert "✻ 500 oops · Retrying in 4s · attempt 1/10" in lines


def test_a_question_has_no_box() -> None:
    frame = render(state(dialog=Dialog(CHOICE, focus=1)), 40, 30)
    assert frame.cursor is None
    assert frame.lines[-13:] == (
        "─" * 40,
        " ☐ Colour",
        "",
        "Which?",
        "",
        "  1. Red",
        "     like roses",
        f"{POINTER} 2. Blue",
        "  3. Type something.",
        "─" * 40,
        "  4. Chat about this",
        "",
        "Enter to select · ↑/↓ to navigate · Esc ",
    )


def test_results_are_cut_and_hang_under_their_tool() -> None:
    blocks = (Block("tool", "Read(a)"), Block("result", "1\n2\n3\n4\n5"))
    lines = render(state(blocks=blocks), 40, 20).lines
    place = lines.index("● Read(a)")
    assert lines[place + 1 : place + 5] == ("  ⎿  1", "     2", "     3", "     … +2 lines")


def test_a_long_conversation_shows_its_end() -> None:
    blocks = tuple(Block("text", f"number {number}") for number in range(100))
    lines = render(state(blocks=blocks), 40, 12).lines
    assert "● number 99" in lines
    assert "● number 80" not in lines


@pytest.mark.parametrize(
    ("line", "room", "rows"),
    [
        ("", 5, [""]),
        ("one two three", 8, ["one two", "three"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("日本語", 4, ["日本", "語"]),
        ("a\tb", None, ["a   b"]),
    ],
)
def test_lines_are_wrapped_at_spaces(line: str, room: int | None, rows: list[str]) -> None:
    assert wrap(line, room) == rows


def test_control_characters_never_reach_the_terminal() -> None:
    assert block_lines(Block("text", "a\x1b[31mb\r\nc\x9bd"), MARKS) == ["● a[31mb", "  cd"]


TEXT = st.text(max_size=80)
DIALOGS = st.builds(
    Dialog,
    st.builds(
        Choice, TEXT, TEXT, st.lists(st.builds(Option, TEXT, TEXT), min_size=1).map(tuple), st.booleans()
    )
    | st.builds(Consent, TEXT, TEXT, st.just((Option("Yes"), Option("Always"), Option("No")))),
    position=st.just(0),
)
STATES = st.builds(
    ScreenState,
    TEXT,
    TEXT,
    blocks=st.lists(st.builds(Block, st.sampled_from(["prompt", "text", "result", "done"]), TEXT)).map(tuple),
    spinner=st.none() | st.just(Spinner(3, "Working", 2)),
    queued=st.lists(TEXT, max_size=2).map(tuple),
    box=st.lists(TEXT.filter(bool), max_size=3).map(lambda pieces: Box(Draft(tuple(pieces)))),
    placeholder=TEXT,
    dialog=st.none() | DIALOGS,
)


@given(STATES, st.integers(4, 60), st.integers(1, 20))
def test_every_screen_fits(any_state: ScreenState, width: int, height: int) -> None:
    frame = render(any_state, width, height)
    assert len(frame.lines) <= height
    for line in frame.lines:
        assert cells(line) <= width
        assert "\n" not in line
    if frame.cursor is not None:
        assert 0 <= frame.cursor[0] < height
        assert 0 <= frame.cursor[1] < width
