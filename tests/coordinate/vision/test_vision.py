"""A vision as text: what it says, what is wrong with it, and that a change is of one line."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.coordinate.tags.test_markdown import PIECES

from maestro.coordinate.tags.markdown import lines_of
from maestro.coordinate.tags.tag import STATES, TagState
from maestro.coordinate.vision.document import (
    Vision,
    criterion_named,
    parse_vision,
    ready_chapters,
    ticked,
    unfinished_before,
    with_chapter_tag,
)
from maestro.errors import InvalidInput, NotFound

VISION = """\
---
author: me
---
# The clock

Some words.

## Goal

A clock that is <!-- not yet --> right.

Twice a day is not enough.

## Decision Principles

<!-- - not this one -->
- Prefer speed
  over thoroughness.
* Ask before **deleting**
  - also branches

## Notes

- [ ] no criterion of anybody

## Chapters

Words between.

### Chapter 1: The hands #done-coordinate

- [x] They turn
  - [X] both

### Chapter 2 - The face ###

Text of it.

Depends on: 1

#### Acceptance criteria

* [ ] It can be read
    1. [x] by day
    2. [ ] by night
- plain item
- [a link](x.md)

#### Ideas

- [ ] no criterion

```md
- [ ] nor this
```

### Chapter 10: The bell #claimed-coordinate

**Depends on:** Chapter 1 and 2.

- [ ] It rings

### Appendix

- [ ] nor this
"""


def parsed(text: str) -> Vision:
    vision, _ = parse_vision(text, "VISION.md")
    return vision


def faults(text: str) -> list[str]:
    return [str(fault) for fault in parse_vision(text, "VISION.md")[1]]


def chapters(*bodies: str, head: str = "# T\n## Goal\ng\n## Chapters\n") -> str:
    return head + "".join(bodies)


def test_all_that_it_says() -> None:
    vision, wrong = parse_vision(VISION, "VISION.md")
    assert wrong == ()
    assert vision.title == "The clock"
    assert vision.goal == "A clock that is  right.\n\nTwice a day is not enough."
    assert vision.principles == ("Prefer speed over thoroughness.", "Ask before **deleting** also branches")
    one, two, ten = vision.chapters
    assert [(c.number, c.title, c.depends, c.done, len(c.criteria)) for c in vision.chapters] == [
        (1, "The hands", (), 2, 2),
        (2, "The face", (1,), 1, 3),
        (10, "The bell", (1, 2), 0, 1),
    ]
    assert [(c.number, c.text, c.done, c.depth) for c in two.criteria] == [
        (1, "It can be read", False, 0),
        (2, "by day", True, 1),
        (3, "by night", False, 1),
    ]
    lines = VISION.split("\n")
    assert lines[two.line - 1].startswith("### Chapter 2")
    assert [lines[c.line - 1].strip() for c in two.criteria] == [
        "* [ ] It can be read",
        "1. [x] by day",
        "2. [ ] by night",
    ]
    assert two.text.startswith("Text of it.")
    assert one.is_complete
    assert (one.tag and one.tag.state, two.tag, ten.tag and ten.tag.state) == ("done", None, "claimed")


def test_which_can_be_worked_on() -> None:
    vision = parsed(VISION)
    assert [chapter.number for chapter in ready_chapters(vision)] == [2]
    assert unfinished_before(vision, vision.chapters[2]) == (2,)


def test_windows_lines_say_the_same() -> None:
    unix, windows = parsed(VISION), parsed(VISION.replace("\n", "\r\n"))
    assert windows.goal == unix.goal
    assert windows.principles == unix.principles
    assert [(c.number, c.title, c.depends, c.criteria) for c in windows.chapters] == [
        (c.number, c.title, c.depends, c.criteria) for c in unix.chapters
    ]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "no goal"),
        ("## Goal\n\n<!-- later -->\n", 1, "no goal"),
        ("## Goal\ng\n", 1, "no chapters"),
        ("## Goal\ng\n## Chapters\n", 3, "no chapters"),
        ("## Goal\ng\n## Goal\nh\n", 3, "A second “Goal”"),
        (chapters("### Chapter: X\n"), 5, "“### Chapter N: Title”"),
        (chapters("### Chapter 1\n- [ ] a\n"), 5, "no title"),
        (chapters("### Chapter 1: A\nwords\n"), 5, "no acceptance criteria"),
        (chapters("### Chapter 1: A\n- [ ] a\n### Chapter 1: B\n- [ ] b\n"), 7, "is there twice; the first is in line 5"),
        (chapters("### Chapter 1: A\nDepends on: 7\n- [ ] a\n"), 5, "depends on chapter 7, which is not there"),
        (chapters("### Chapter 1: A\nDepends on: two\n- [ ] a\n"), 6, "“two” is no chapter"),
        (chapters("### Chapter 1: A\nDepends on: 1\n- [ ] a\n"), 5, "wait for each other: 1 → 1"),
        (
            chapters(
                "### Chapter 3: A\nDepends on: 2\n- [ ] a\n",
                "### Chapter 2: B\nDepends on: 5\n- [ ] a\n",
                "### Chapter 5: C\nDepends on: 3\n- [ ] a\n",
            ),
            8,
            "wait for each other: 2 → 5 → 3 → 2",
        ),
        (chapters("### Chapter 1: A #done-coordinate\n- [ ] a\n"), 5, "tagged as done"),
        (chapters("### Chapter 1: A\n- [ ] a\n- [] b\n"), 7, "no checkbox"),
        (chapters("### Chapter 1: A\n- [ ] a\n- [x]b\n"), 7, "no checkbox"),
        (chapters("### Chapter 1: A\n- [ ] a\n-[ ] b\n"), 7, "no checkbox"),
        (chapters("### Chapter 1: A\n- [ ] a\n- [ x] b\n"), 7, "no checkbox"),
        (chapters("### Chapter 1: A\n- [ ] a\n- [✓] b\n"), 7, "no checkbox"),
        (chapters("### Chapter 1: A\n- [ ] a\n- [ ]\n"), 7, "no checkbox"),
        (chapters("### Chapter 1: A\n- [ ] a\n[ ] b\n"), 7, "no checkbox"),
    ],
)  # fmt: skip
def test_what_is_wrong(text: str, line: int, words: str) -> None:
    found = [fault for fault in parse_vision(text, "VISION.md")[1] if words in fault.what]
    assert [fault.line for fault in found] == [line], faults(text)


def test_all_faults_at_once_by_line() -> None:
    text = chapters("### Chapter 1: A\nDepends on: 9\n### Chapter 1: B\n- [] x\n", head="## Chapters\n")
    found = parse_vision(text, "VISION.md")[1]
    assert len(found) == 6
    assert [fault.line for fault in found] == sorted(fault.line for fault in found)
    assert str(found[0]).startswith("VISION.md:1: ")


@pytest.mark.parametrize("words", ["none", "-", "Nothing.", ""])
def test_nothing_to_depend_on(words: str) -> None:
    text = chapters(f"### Chapter 1: A\nDepends on: {words}\n- [ ] a\n")
    assert faults(text) == []
    assert parsed(text).chapters[0].depends == ()


def test_links_are_no_checkboxes() -> None:
    text = chapters("### Chapter 1: A\n- [ ] a\n- [x](y.md)\n- [x][ref]\n- [word] x\n- [^1] x\n")
    assert faults(text) == []


def test_one_criterion_is_ticked() -> None:
    vision = parsed(VISION)
    _, criterion = criterion_named(vision, "2.3")
    after = ticked(VISION, criterion, done=True)
    assert after == VISION.replace("2. [ ] by night", "2. [x] by night")
    assert ticked(after, criterion, done=False) == VISION


@pytest.mark.parametrize("word", ["", "2", "2.", "a.b", "2.3.4", "-1.2"])
def test_no_criterion(word: str) -> None:
    with pytest.raises(InvalidInput):
        criterion_named(parsed(VISION), word)


@pytest.mark.parametrize("word", ["3.1", "2.4", "2.0"])
def test_a_criterion_that_is_not_there(word: str) -> None:
    with pytest.raises(NotFound):
        criterion_named(parsed(VISION), word)


VISIONARY = st.lists(
    st.one_of(
        PIECES,
        st.sampled_from(
            [
                "\n# T\n", "\n## Goal\n", "\n## Decision Principles\n", "\n## Chapters\n", "\n### Chapter 1: A\n",
                "\n### Chapter 2: B #needs-coordinate\n", "\n### Chapter 2\n", "\nDepends on: 1, 2\n", "\nDepends on: x\n",
                "\n- [ ] a\n", "\n- [x] b\n", "\n  - [X] c\n", "\n- [] d\n", "\nAcceptance criteria:\n", "\n- e\n",
            ]
        ),
    ),
    max_size=20,
).map("".join)  # fmt: skip
WHOLE = VISIONARY.map(lambda middle: chapters("### Chapter 1: A\n- [ ] a\n") + middle)


@given(st.one_of(VISIONARY, st.text()))
def test_every_text_has_a_meaning(text: str) -> None:
    vision, wrong = parse_vision(text, "VISION.md")
    count = len(lines_of(text))
    assert all(1 <= chapter.line <= count for chapter in vision.chapters)
    assert all(1 <= fault.line <= max(count, 1) for fault in wrong)
    for chapter in vision.chapters:
        assert [one.number for one in chapter.criteria] == list(range(1, len(chapter.criteria) + 1))


@given(WHOLE, st.integers(0))
def test_a_tick_changes_its_line_alone(text: str, which: int) -> None:
    vision = parsed(text)
    criteria = [one for chapter in vision.chapters for one in chapter.criteria]
    assume(criteria)
    criterion = criteria[which % len(criteria)]
    after = ticked(text, criterion, done=not criterion.done)
    _only(text, after, criterion.line)
    changed = [one for chapter in parsed(after).chapters for one in chapter.criteria]
    assert [
        one.line for one in changed if one.done != (one.line in {c.line for c in criteria if c.done})
    ] == [criterion.line]
    assert ticked(after, criterion, done=criterion.done).lower() == text.lower(), "X is written as x"


@given(WHOLE, st.integers(0), st.sampled_from(STATES))
def test_a_chapters_tag_changes_its_heading_alone(text: str, which: int, state: TagState) -> None:
    vision = parsed(text)
    assume(vision.chapters)
    chapter = vision.chapters[which % len(vision.chapters)]
    after = with_chapter_tag(text, chapter, state)
    _only(text, after, chapter.line)
    found = next(one for one in parsed(after).chapters if one.line == chapter.line)
    assert found.tag is None or found.tag.state == state
    if chapter.tag is not None:
        assert with_chapter_tag(after, found, chapter.tag.state) == text


def _only(before: str, after: str, number: int) -> None:
    old, new = lines_of(before), lines_of(after)
    assert len(old) == len(new)
    for place, (one, other) in enumerate(zip(old, new, strict=True), 1):
        assert other.end == one.end
        assert place == number or other.text == one.text
