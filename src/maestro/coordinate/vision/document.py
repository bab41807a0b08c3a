"""A vision document: goal, decision principles, chapters with acceptance criteria. Pure.

    # Title
    ## Goal
    ## Decision Principles
    - how the human wants things decided
    ## Chapters
    ### Chapter 1: Title #needs-coordinate
    Depends on: 2, 3
    Acceptance criteria:
    - [ ] what has to be true
      - [x] and what in it is true already

Everything else that stands in the document is its author's, and stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from maestro.coordinate.tags.markdown import (
    HIDDEN,
    Line,
    lines_of,
    readable,
    replaced,
    without_comments,
)
from maestro.coordinate.tags.tag import COORDINATE, Tag, TagState, find_tags, retagged, words_of
from maestro.errors import InvalidInput, NotFound

_GOAL: Final = "goal"
_PRINCIPLES: Final = "decision principles"
_CHAPTERS: Final = "chapters"
_CHAPTER: Final = re.compile(r"chapter\s+(\d{1,6})\s*(?:[:.-]\s*(.*))?$", re.IGNORECASE)
_NO_CHAPTER: Final = re.compile(r"chapter\b", re.IGNORECASE)
_ITEM: Final = re.compile(r"([ \t>]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)")
_BOX: Final = re.compile(r"([ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[)([ xX])(\][ \t]+)(\S.*)")
_BAD_BOX: Final = re.compile(
    r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]*)?\[(?:[ \t]{0,3}[xX]?[ \t]{0,3}|[^\w\s\]^])\](?![(\[:])"
)
_LABEL: Final = re.compile(r"[\s*_#]*acceptance criteria[\s*_:#]*$", re.IGNORECASE)
_DEPENDS: Final = re.compile(
    r"\s*(?:[-*+]\s+)?[*_]{0,3}depends on[*_]{0,3}\s*:[*_]{0,3}\s*(.*)$", re.IGNORECASE
)
_NUMBER: Final = re.compile(r"(?:chapters?\s+)?#?(\d{1,6})", re.IGNORECASE)
_NOTHING: Final = frozenset({"", "-", "none", "nothing"})


class Criterion(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    number: int  # in its chapter, from 1
    text: str
    line: int  # from 1
    done: bool
    depth: int = 0  # how many others it stands in


class Chapter(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    number: int
    title: str
    line: int
    text: str = ""
    depends: tuple[int, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    tag: Tag | None = None  # of the kind `coordinate`, on its heading

    @property
    def done(self) -> int:
        return sum(one.done for one in self.criteria)

    @property
    def is_complete(self) -> bool:
        return bool(self.criteria) and self.done == len(self.criteria)


class Vision(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    file: str
    title: str = ""
    goal: str = ""
    principles: tuple[str, ...] = ()
    chapters: tuple[Chapter, ...] = ()


class Fault(msgspec.Struct, frozen=True, rename="camel"):
    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


class _Section(NamedTuple):
    """A heading and the lines below it, up to the next one that is not inside it."""

    line: int
    heading: Line
    body: tuple[tuple[int, Line], ...]


def parse_vision(text: str, file: str) -> tuple[Vision, tuple[Fault, ...]]:
    """The document as facts, and all that is wrong with it, by line. Any text has both."""
    lines = lines_of(text)
    faults: list[Fault] = []
    named: dict[str, _Section] = {}
    for section in _sections(lines, 2):
        name = _title(section.heading).casefold()
        if name in {_GOAL, _PRINCIPLES, _CHAPTERS} and name in named:
            faults.append(
                Fault(file, section.line, f"A second “{_title(section.heading)}”; the first one counts.")
            )
        named.setdefault(name, section)
    goal = _prose(named[_GOAL].body) if _GOAL in named else ""
    if not goal:
        place = named[_GOAL].line if _GOAL in named else 1
        faults.append(Fault(file, place, "There is no goal: say it in a section “## Goal”."))
    tags = {tag.line: tag for tag in find_tags(text, file) if tag.kind == COORDINATE}
    chapters = _chapters(named.get(_CHAPTERS), file, tags, faults)
    title = next((_title(one.heading) for one in _sections(lines, 1)), "")
    principles = tuple(_principles(named[_PRINCIPLES].body)) if _PRINCIPLES in named else ()
    vision = Vision(file=file, title=title, goal=goal, principles=principles, chapters=chapters)
    faults += _faults_between(vision)
    return vision, tuple(sorted(faults, key=lambda fault: (fault.line, fault.what)))


def _sections(lines: Sequence[Line], level: int, start: int = 1) -> Iterator[_Section]:
    numbered = list(enumerate(lines, start))
    begins = [place for place, (_, line) in enumerate(numbered) if line.level == level]
    for begin in begins:
        end = next(
            (place for place in range(begin + 1, len(numbered)) if 0 < numbered[place][1].level <= level),
            len(numbered),
        )
        number, heading = numbered[begin]
        yield _Section(number, heading, tuple(numbered[begin + 1 : end]))


def _title(heading: Line) -> str:
    return readable(words_of(heading))


def _prose(body: Sequence[tuple[int, Line]]) -> str:
    shown = readable(without_comments([line for _, line in body]))
    return shown.replace("\r\n", "\n").replace("\r", "\n").strip()


def _principles(body: Sequence[tuple[int, Line]]) -> Iterator[str]:
    """The items of the list, each with all that stands in it."""
    current: list[str] = []
    outer: int | None = None
    for raw in _prose(body).split("\n"):
        found = _ITEM.fullmatch(raw)
        indent = len(raw.expandtabs(4)) - len(raw.expandtabs(4).lstrip())
        if found and (outer is None or indent <= outer):
            if current:
                yield " ".join(" ".join(current).split())
            current, outer = [found[2]], indent
        elif current and raw.strip() and not raw.lstrip().startswith("#"):
            current.append(found[2] if found else raw)
    if current:
        yield " ".join(" ".join(current).split())


def _chapters(
    section: _Section | None, file: str, tags: dict[int, Tag], faults: list[Fault]
) -> tuple[Chapter, ...]:
    if section is None:
        faults.append(Fault(file, 1, "There are no chapters: begin a section “## Chapters”."))
        return ()
    found = []
    for part in _sections([line for _, line in section.body], 3, section.line + 1):
        title = _title(part.heading)
        match = _CHAPTER.fullmatch(title)
        if match is None:
            if _NO_CHAPTER.match(title):
                faults.append(Fault(file, part.line, "A chapter's heading is “### Chapter N: Title”."))
            continue
        if not (match[2] or "").strip():
            faults.append(Fault(file, part.line, f"Chapter {int(match[1])} has no title."))
        found.append(
            _chapter(part, int(match[1]), (match[2] or "").strip(), file, tags.get(part.line), faults)
        )
    if not found:
        faults.append(Fault(file, section.line, "There are no chapters: write “### Chapter 1: Title”."))
    return tuple(found)


def _chapter(
    part: _Section, number: int, title: str, file: str, tag: Tag | None, faults: list[Fault]
) -> Chapter:
    depends: list[int] = []
    prose: list[tuple[int, Line]] = []
    for place, line in part.body:
        stated = None if _is_hidden(line) else _DEPENDS.fullmatch(line.text)
        if stated is not None:
            depends += _numbers(stated[1], file, place, faults)
        elif not (_BOX.fullmatch(line.text) or _LABEL.fullmatch(line.text)):
            prose.append((place, line))
    return Chapter(
        number=number,
        title=title,
        line=part.line,
        text=_prose(prose),
        depends=tuple(dict.fromkeys(depends)),
        criteria=tuple(_criteria(part, file, faults)),
        tag=tag,
    )


def _numbers(words: str, file: str, place: int, faults: list[Fault]) -> Iterator[int]:
    if words.strip(" .*_").casefold() in _NOTHING:
        return
    for word in re.split(r"\s*(?:,|;|\band\b|&)\s*", words.strip(" .*_")):
        found = _NUMBER.fullmatch(word.strip())
        if found is None:
            faults.append(
                Fault(file, place, f"“{readable(word.strip())}” is no chapter: write “Depends on: 1, 2”.")
            )
        else:
            yield int(found[1])


def _criteria(part: _Section, file: str, faults: list[Fault]) -> Iterator[Criterion]:
    """The checkboxes below the words “Acceptance criteria”; without these words, all of the chapter's."""
    body = [(place, line) for place, line in part.body if not _is_hidden(line)]
    labels = [index for index, (_, line) in enumerate(body) if _LABEL.fullmatch(line.text)]
    if labels:
        below = body[labels[0] + 1 :]
        end = next((index for index, (_, line) in enumerate(below) if line.level), len(below))
        body = below[:end]
    indents: list[int] = []
    number = 0
    for place, line in body:
        found = _BOX.fullmatch(line.text)
        if found is None:
            if _BAD_BOX.match(line.text):
                faults.append(
                    Fault(file, place, "This is no checkbox: write “- [ ] words” or “- [x] words”.")
                )
            continue
        number += 1
        indent = len(line.text.expandtabs(4)) - len(line.text.expandtabs(4).lstrip())
        while indents and indent <= indents[-1]:
            indents.pop()
        yield Criterion(
            number=number,
            text=readable(found[4].strip()),
            line=place,
            done=found[2] in "xX",
            depth=len(indents),
        )
        indents.append(indent)


def _is_hidden(line: Line) -> bool:
    """Code, or a comment of whole lines."""
    return bool(line.text) and not line.seen.strip(HIDDEN)


def _faults_between(vision: Vision) -> Iterator[Fault]:
    numbers: dict[int, Chapter] = {}
    for chapter in vision.chapters:
        if chapter.number in numbers:
            first = numbers[chapter.number].line
            what = f"Chapter {chapter.number} is there twice; the first is in line {first}."
            yield Fault(vision.file, chapter.line, what)
        numbers.setdefault(chapter.number, chapter)
    for chapter in vision.chapters:
        if not chapter.criteria:
            what = f"Chapter {chapter.number} has no acceptance criteria: write “- [ ] words” below it."
            yield Fault(vision.file, chapter.line, what)
        if chapter.tag is not None and chapter.tag.state == "done" and not chapter.is_complete:
            what = f"Chapter {chapter.number} is tagged as done, and not all of its criteria are."
            yield Fault(vision.file, chapter.line, what)
        for other in chapter.depends:
            if other not in numbers:
                what = f"Chapter {chapter.number} depends on chapter {other}, which is not there."
                yield Fault(vision.file, chapter.line, what)
    for circle in _circles(numbers):
        what = f"Chapters wait for each other: {' → '.join(map(str, circle))}."
        yield Fault(vision.file, numbers[circle[0]].line, what)


def _circles(numbers: dict[int, Chapter]) -> Iterator[tuple[int, ...]]:
    """Each circle of dependencies once, as a way from its smallest chapter back to it."""
    told: set[frozenset[int]] = set()
    for start in sorted(numbers):
        way = _way_back(numbers, start)
        if way is not None and (members := frozenset(way)) not in told and start == min(members):
            told.add(members)
            yield tuple(way)


def _way_back(numbers: dict[int, Chapter], start: int) -> list[int] | None:
    came_from: dict[int, int] = {}
    waiting = [start]
    while waiting:
        here = waiting.pop(0)
        for other in numbers[here].depends:
            if other == start:
                way = [start, here]
                while way[-1] != start:
                    way.append(came_from[way[-1]])
                return way[::-1]
            if other in numbers and other not in came_from:
                came_from[other] = here
                waiting.append(other)
    return None


# Which is next.


def unfinished_before(vision: Vision, chapter: Chapter) -> tuple[int, ...]:
    """The chapters that it waits for."""
    complete = {one.number for one in vision.chapters if one.is_complete}
    return tuple(number for number in chapter.depends if number not in complete)


def ready_chapters(vision: Vision) -> tuple[Chapter, ...]:
    """Those that can be worked on now, in their order in the document."""
    return tuple(
        chapter
        for chapter in vision.chapters
        if not chapter.is_complete and not unfinished_before(vision, chapter)
    )


def chapter_numbered(vision: Vision, number: int) -> Chapter:
    found = next((one for one in vision.chapters if one.number == number), None)
    if found is None:
        known = ", ".join(str(one.number) for one in vision.chapters)
        raise NotFound(f"There is no chapter {number}.", hint=f"There are: {known or 'none'}.")
    return found


def criterion_named(vision: Vision, word: str) -> tuple[Chapter, Criterion]:
    """`2.3` is the third criterion of chapter 2."""
    match = re.fullmatch(r"(\d{1,6})\.(\d{1,6})", word)
    if match is None:
        raise InvalidInput(f"“{word}” is no criterion.", hint="Write chapter and criterion, such as 2.3.")
    chapter = chapter_numbered(vision, int(match[1]))
    found = next((one for one in chapter.criteria if one.number == int(match[2])), None)
    if found is None:
        raise NotFound(
            f"Chapter {chapter.number} has no criterion {int(match[2])}.",
            hint=f"It has {len(chapter.criteria)}; `maestro vision show` counts them.",
        )
    return chapter, found


# Changes: each is of one line.


def ticked(text: str, criterion: Criterion, *, done: bool) -> str:
    lines = lines_of(text)
    found = _BOX.fullmatch(lines[criterion.line - 1].text)
    assert found is not None
    return replaced(lines, criterion.line, f"{found[1]}{'x' if done else ' '}{found[3]}{found[4]}")


def with_chapter_tag(text: str, chapter: Chapter, state: TagState) -> str:
    """The chapter's heading with its tag in this state; put there where there was none."""
    if chapter.tag is not None:
        return retagged(text, chapter.tag, state)
    lines = lines_of(text)
    line = lines[chapter.line - 1].text.rstrip()
    return replaced(lines, chapter.line, f"{line} #{state}-{COORDINATE}")
