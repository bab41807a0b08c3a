"""What is drawn fits its width, says everything without colours, and hides no part of what is asked."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from rich.cells import cell_len

from maestro.cli.live import drawing
from maestro.cli.live.errands import receipt_of
from maestro.coordinate.overview import (
    EscalationView,
    LineView,
    OptionView,
    PaneView,
    PartView,
    QuestionView,
    Row,
)

NOW = 1_000_000
ROW = Row(
    session_id="sess_1", name="backend", agent="claude", role="worker", task="Build it", status="working",
    evidence="calls Bash", needs_you=0, since=NOW - 61_000, line="Half done.",
    lines=(LineView(NOW - 5_000, "First.", "assistant"), LineView(NOW - 2_000, "Half done.", "assistant")),
    question=None, escalation=None, pane=PaneView("shop", "/run/shop", "%3", "shop", "shop:1.0", False, False),
)  # fmt: skip


def question(*options: OptionView, **fields: Any) -> QuestionView:
    known = QuestionView("ques_1", 1, "choice", "one", "", "", "", (PartView("Where?", options),), NOW)
    return msgspec.structs.replace(known, **fields)


def row(**fields: Any) -> Row:
    return msgspec.structs.replace(ROW, **fields)


@pytest.mark.parametrize("width", [30, 52, 80, 200])
@pytest.mark.parametrize("name", ["backend", "名前" * 60, "e\u0301" * 90, "two\nlines", ""])
def test_a_row_has_two_lines_of_its_width(width: int, name: str) -> None:
    for is_selected in (False, True):
        for line in drawing.row_lines(row(name=name, line=name), NOW, width, is_selected=is_selected):
            assert cell_len(line.plain) <= width
            assert "\n" not in line.plain


@pytest.mark.parametrize(("needs", "mark"), [(5, "!"), (2, "!"), (1, "*"), (0, " ")])
@pytest.mark.parametrize("status", list(drawing.STYLES))
def test_state_and_need_are_told_without_colours(status: Any, needs: int, mark: str) -> None:
    first, second = drawing.row_lines(row(status=status, needs_you=needs), NOW, 80, is_selected=True)
    assert first.plain.startswith(f"▸{mark} backend")
    assert first.plain.split()[-3:] == ["claude", status, "1m"]
    assert second.plain.strip() == "Half done."


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [(-5, "0s"), (9_000, "9s"), (59_999, "55s"), (60_000, "1m"), (3_600_000, "1h"), (90_000_000, "1d")],
)
def test_ages(milliseconds: int, shown: str) -> None:
    assert drawing.age(milliseconds) == shown


@pytest.mark.parametrize("width", [1, 20, 80, 140])
def test_header_and_footer_fit(width: int) -> None:
    for inbox_only in (False, True):
        line = drawing.header(
            "3 working · 1 needs you", ["shop", "yours-12ab34"], width, inbox_only=inbox_only
        )
        assert cell_len(line.plain) <= width
    assert cell_len(drawing.footer(width).plain) <= width


def test_every_key_is_named_in_eighty_columns() -> None:
    assert not drawing.footer(80).plain.endswith("…")


def test_a_long_command_is_whole_and_says_so_before_its_options() -> None:
    command = "\n".join(f"step {number}" for number in range(40))
    asked = question(OptionView(1, "Yes", "", False, ""), kind="permission", tool="Bash", detail=command)
    shown = drawing.details(row(question=asked), NOW, 80).plain
    assert shown.index("Bash: step 0") < shown.index("36 more lines below") < shown.index(" 1 Yes")
    assert all(f"step {number}" in shown for number in range(40))


def test_an_escalation_says_why_and_what_would_have_been_answered() -> None:
    escalation = EscalationView(
        "esca_1", "question", "Where?", "not sure", ("git operations",), "Choose 2", NOW
    )
    asked = question(
        OptionView(1, "Here", "close by", False, ""), OptionView(2, "There", "", False, "it lasts")
    )
    shown = drawing.details(row(question=asked, escalation=escalation), NOW, 80).plain
    for words in ("escalated not sure (git operations)", "it would have answered Choose 2", "close by"):
        assert words in shown
    marks = [line for line in shown.splitlines() if line.endswith("y/N")]
    assert [line.split()[:2] for line in marks] == [["2", "There"]]


def test_what_was_said_before_stands_on_a_line_and_the_latest_whole() -> None:
    long = "word " * 60
    lines = (LineView(NOW, long, "assistant"), LineView(None, long, "assistant"))
    shown = drawing.details(row(lines=lines), NOW, 80).plain.splitlines()
    assert len(shown) == 4
    assert cell_len(shown[2]) == 80
    assert shown[3].strip() == long.strip()


def test_where_every_answer_is_asked_again_it_is_said_once() -> None:
    asked = question(
        OptionView(1, "Here", "", False, "it lasts"), OptionView(2, "There", "", False, "it lasts")
    )
    shown = drawing.details(row(question=asked), NOW, 80).plain
    assert "y/N" not in shown
    assert "its number answers, after y" in shown


@pytest.mark.parametrize(
    ("state", "passed", "text", "tone"),
    [
        ("queued", (), "one: queued · it is busy", "going"),
        ("pasted", ("queued",), "one: queued → pasted · it is busy", "going"),
        ("submitted", ("queued", "queued", "pasted"), "one: queued → pasted → submitted · its hook", "good"),
        ("uncertain", ("queued", "typing"), "one: queued → typing → uncertain · it is busy", "bad"),
        ("failed", ("queued",), "one: queued → failed · it is busy", "bad"),
    ],
)
def test_receipts(state: str, passed: tuple[str, ...], text: str, tone: str) -> None:
    told = receipt_of("one", {"state": state, "reason": "it is\nbusy", "evidence": ["its hook"]}, passed)
    assert told.text.startswith(text)
    assert told.tone == tone
