"""What the real CLIs show of a prompt under tmux 3.3a: recorded, known again, and told from any other text.

`shown/<agent>-<version>.json`: by name, the text that was pasted into an empty box, the bottom of the screen as `tmux
capture-pane -e -p` printed it then, and the cursor.
"""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.characters import FAMILY, ODD

from maestro.agents import shown
from maestro.agents.registry import terminal_named
from maestro.agents.screen import captured
from maestro.agents.shown import folded, is_drawn_whole, shows
from maestro.agents.terminal import EmptiesBox, Terminal, holds

RECORDED: dict[str, dict[str, Any]] = {
    path.stem: json.loads(path.read_text())
    for path in sorted((Path(__file__).parent / "shown").glob("*.json"))
}
CASES = [(stem, name) for stem, recorded in RECORDED.items() for name in recorded]
# Nothing tells these from a text without the characters that are not drawn, or that others are drawn over.
NEVER_SURE = {
    *((stem, name) for stem in RECORDED for name in ("young emoji", "noncharacters", "higher than the box")),
    ("claude-2.1.325", "many of them"),
}


def terminal_of(stem: str) -> Terminal:
    terminal = terminal_named(stem.partition("-")[0])
    assert terminal is not None
    return terminal


def draft(stem: str, name: str) -> str:
    one = RECORDED[stem][name]
    read = terminal_of(stem).read_screen(captured(one["screen"], cursor=tuple(one["cursor"])))
    assert read.draft is not None, read
    return read.draft


def test_every_cli_was_tried_with_every_text() -> None:
    assert {stem.partition("-")[0] for stem in RECORDED} == {"claude", "codex", "gemini"}
    for stem, recorded in RECORDED.items():
        assert set(ODD) <= set(recorded), stem
        assert stem.partition("-")[2] in terminal_of(stem).recorded_versions


@pytest.mark.parametrize(("stem", "name"), CASES)
def test_a_prompt_is_known_again_in_its_box(stem: str, name: str) -> None:
    terminal, seen, text = terminal_of(stem), draft(stem, name), RECORDED[stem][name]["text"]
    if not text.strip():
        assert seen == text, "a space is a draft, and a suggestion is none"
        return
    assert terminal.box_holds(seen, text)
    for other in ODD.values():
        if folded(other) != folded(text):
            assert not terminal.box_holds(seen, terminal.as_text(other)), other
    for changed in (f"{text} more", f"more {text}", text.replace("end", "and")):
        assert not terminal.box_holds(seen, changed) or name == "higher than the box"


@pytest.mark.parametrize(("stem", "name"), CASES)
def test_a_prompt_that_somebody_changed_is_theirs(stem: str, name: str) -> None:
    terminal, seen, text = terminal_of(stem), draft(stem, name), RECORDED[stem][name]["text"]
    assert isinstance(terminal, EmptiesBox)
    if (stem, name) in NEVER_SURE or not text.strip():
        assert not terminal.holds_own(seen, text)
        return
    assert terminal.holds_own(seen, text)
    for changed in (f"{seen} more", f"x{seen}", seen.replace("e", "", 1), seen.replace("end", "End"), ""):
        if changed != seen:
            assert not terminal.holds_own(changed, text), changed


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_a_mark_is_ours_only_if_it_counts_as_much(agent: str) -> None:
    terminal = terminal_named(agent)
    assert isinstance(terminal, EmptiesBox)
    lines, long = "\n".join("line" for _ in range(12)), "long \U0001f600 " * 200
    marks = {
        "claude": (("[Pasted text #3 +11 lines]", lines), ("[Pasted text #3 +12 lines]", None), ("[Pasted text #3]", None)),
        "codex": ((f"[Pasted Content {len(long)} chars]", long), (f"[Pasted Content {len(long) + 1} chars]", None)),
        "gemini": (
            ("[Pasted Text: 12 lines]", lines),
            ("[Pasted Text: 11 lines]", None),
            (f"[Pasted Text: {len(long) + 200} chars]", long),
        ),
    }  # fmt: skip
    for mark, text in marks[agent]:
        for pasted in (lines, long):
            assert terminal.holds_own(mark, pasted, mark) is (pasted == text), (mark, pasted[:20])
        assert not terminal.holds_own(f"{mark} and more", lines, mark)


@pytest.mark.parametrize(
    ("agent", "mark", "other"),
    [
        ("claude", "[Pasted text #1 +4 lines]", "[Pasted text #2 +4 lines]"),
        ("gemini", "[Pasted Text: 5 lines]", "[Pasted Text: 5 lines #2]"),
    ],
)
def test_a_mark_that_tells_only_lines_is_ours_only_if_it_is_the_one_that_was_seen(
    agent: str, mark: str, other: str
) -> None:
    """A person may paste as many lines."""
    terminal, ours = terminal_named(agent), "one\ntwo\nthree\nfour\nfive"
    assert isinstance(terminal, EmptiesBox)
    assert terminal.holds_own(mark, ours, mark)
    assert not terminal.holds_own(other, ours, mark)
    assert not terminal.holds_own(mark, ours), "nobody saw it in its box"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("rm a", "rm b"),
        ("e\u0301tude", "etude"),
        ("\u4e2d", "\u570b"),
        ("git push", "git push --force"),
        (f"{FAMILY} yes", f"{FAMILY} no"),
        ("\U0001f680", "\U0001f4a5"),
        ("\u2714\ufe0f", "\u2716\ufe0f"),
        ("Yes", "yes"),
        ("-1", "1"),
        # tmux cuts a family at a joiner, which joins nothing then.
        (f"ship it {FAMILY}", f"ship it {FAMILY[:-1]}!"),
        ("\u0915\u094d\u200d\u0937", "\u0915\u094d\u200d\u0915"),
    ],
)
def test_what_looks_different_is_different(one: str, other: str) -> None:
    assert folded(one) != folded(other)
    assert not shows(one, other)
    assert not shows(other, one)


@given(st.text(max_size=60), st.sampled_from("\u200b\u200d\ufe0f\u00ad\u2060\u202e"), st.integers(0, 60))
def test_what_nobody_sees_is_no_difference(text: str, hidden: str, place: int) -> None:
    if hidden == "\u200d" and any(unicodedata.category(one) not in {"Ll", "Lu", "Nd"} for one in text):
        return  # it joins symbols to one
    plain = "".join(one for one in text if unicodedata.category(one) not in {"Mn", "Me"})
    assert folded(f"{plain[:place]} {hidden} {plain[place:]}") == folded(f"{plain[:place]} {plain[place:]}")


@given(st.text(max_size=200))
def test_any_text_shows_itself(text: str) -> None:
    assert shows(text, text)
    assert shows("\n  ".join(text.split(" ")), text)
    assert folded(folded(text)) == folded(text) or not is_drawn_whole(text) or "\u200d" in text


def test_plain_letters_need_no_closer_look() -> None:
    """The quick way gives what the slow one would."""
    for code in range(0x2FFFF):
        letter = chr(code)
        if shown._LETTERS.fullmatch(letter):
            assert shown._drawn(letter) == letter, hex(code)


@pytest.mark.parametrize(
    ("seen", "text", "is_ours"),
    [
        ("fix it Coex", "fix it \U0001faea\U0001faea", True),  # what the box suggested before
        ("Coexfix it", "\U0001faea\U0001faeafix it", True),
        ("fix itt", "\U0001faeafix it", True),  # the gap is closed, and leaves a letter at the end
        ("fix it please now!", "fix it \U0001faea\U0001faea\U0001faea", False),
        ("rm -rf /", "\U0001faea\U0001faea", False),
        ("fix it Coexnow", "fix it \U0001faea\U0001faea", False),
        ("fix", "fix it \U0001faea", False),
        ("fax it", "fix it \U0001faea", False),
    ],
)
def test_gaps_hold_as_much_as_was_drawn_there_and_no_more(seen: str, text: str, *, is_ours: bool) -> None:
    assert shows(seen, text) is is_ours
    assert holds(seen, text) is is_ours


@given(st.text("ab", max_size=8), st.text("ab\U0001faea", max_size=8))
def test_gaps_are_filled_as_a_pattern_would_fill_them(seen: str, text: str) -> None:
    pattern = "".join(".{0,2}" if one == "\U0001faea" else one for one in text) + ".*"
    gaps = text.count("\U0001faea")
    has_room = len(seen) <= len(text) - gaps + 2 * gaps
    is_filled = gaps > 0 and has_room and re.fullmatch(pattern, seen) is not None
    assert shows(seen, text) is (is_filled or seen == text.replace("\U0001faea", ""))
