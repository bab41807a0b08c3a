"""Work noted in Markdown: `#needs-X` → `#delegated-X` (approved) → `#claimed-X` → `#done-X`. Pure.

A tag is a word of the text; in code, comments and addresses, or after a backslash, it is a mention and not a tag. What
a tag is about is its line, or its heading where it stands alone. By that it is known again when other lines change.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from maestro.coordinate.tags.markdown import Line, heading_text, joined, lines_of, readable, replaced
from maestro.errors import IllegalTransition, InvalidInput, NotFound

TagState = Literal["needs", "delegated", "claimed", "done"]
STATES: Final[tuple[TagState, ...]] = ("needs", "delegated", "claimed", "done")
COORDINATE: Final = "coordinate"  # chapters of a vision: a coordinator takes them without being sent

_KIND: Final = r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*"
# Before it a blank, or what may stand before a word; after it nothing that would make it another word or a path.
TAG: Final = re.compile(
    rf"(?<![^\s(\[{{*~|\"'>,;:.!?])#(needs|delegated|claimed|done)-({_KIND})(?![\w/-]|\.\w)"
)
_MARKS: Final = re.compile(r"^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:\[[ xX]\]\s+)?(?:#{1,6}\s+)?")
_LONGEST_TEXT: Final = 1_000

# done is final: it begins anew only by a person's word, as a new need.
_NEXT: Final[dict[TagState, tuple[TagState, ...]]] = {
    "needs": ("delegated", "claimed"),
    "delegated": ("claimed", "needs"),
    "claimed": ("done", "delegated", "needs"),
    "done": (),
}


class Tag(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One tag where it stands."""

    id: str
    file: str  # in the project
    kind: str
    state: TagState
    line: int  # from 1
    start: int  # in the line
    end: int
    text: str  # what it is about
    heading: str = ""  # under which it stands


def find_tags(text: str, file: str) -> tuple[Tag, ...]:
    """Every tag of a file, in its order."""
    lines = lines_of(text)
    found: list[Tag] = []
    heading = ""
    counted: dict[tuple[str, str], int] = {}
    for number, line in enumerate(lines, 1):
        if line.level:
            heading = words_of(line) or heading
        for match in TAG.finditer(line.seen):
            kind, about = match[2], words_of(line) or heading
            occurrence = counted.get((kind, about), 0)
            counted[kind, about] = occurrence + 1
            found.append(
                Tag(
                    id=identity(file, kind, about, occurrence),
                    file=file,
                    kind=kind,
                    state=_state(match[1]),
                    line=number,
                    start=match.start(),
                    end=match.end(),
                    text=readable(about),
                    heading=readable(heading),
                )
            )
    return tuple(found)


def identity(file: str, kind: str, about: str, occurrence: int) -> str:
    """The same as long as the file, the kind and the words of its line are; of equal ones, by their order."""
    whole = "\0".join((file, kind, about, str(occurrence)))
    return f"tag-{hashlib.sha256(whole.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _state(word: str) -> TagState:
    return next(state for state in STATES if state == word)


def words_of(line: Line) -> str:
    """What the line says, without its tags and the marks of lists, checkboxes and headings."""
    kept, place = [], 0
    for match in TAG.finditer(line.seen):
        kept.append(line.text[place : match.start()])
        place = match.end()
    words = "".join([*kept, line.text[place:]])
    if line.level:
        words = heading_text(line._replace(text=words))
    return " ".join(_MARKS.sub("", words).split())[:_LONGEST_TEXT]


def retagged(text: str, tag: Tag, state: TagState) -> str:
    """The text with this tag in another state. Only its line changes."""
    lines = lines_of(text)
    line = lines[tag.line - 1].text
    return replaced(lines, tag.line, f"{line[: tag.start]}#{state}-{tag.kind}{line[tag.end :]}")


def require_step(tag: Tag, state: TagState) -> None:
    if state in _NEXT[tag.state]:
        return
    if tag.state == "done":
        hint = "Done is final; write a new line, or #needs again, to have it done once more."
    elif tag.state == "needs":
        hint = f"A human approves it first: maestro tag approve {tag.id}"
    elif state == "done":
        hint = f"Claim it first: maestro tag claim {tag.id} --as NAME"
    else:
        hint = "`maestro tag list` shows how they stand."
    raise IllegalTransition(f"{tag.id} is {tag.state}, and cannot become {state}.", hint=hint)


def added(
    text: str, words: str, kind: str, *, state: TagState = "needs", line: int | None = None, heading: str = ""
) -> tuple[str, int]:
    """The text with a new line for a tag, and that line's number: after a line, at the end of a heading's section, or
    at the end of all."""
    checked_kind(kind)
    lines = lines_of(text)
    place = _place(lines, line, heading)
    ending = next((one.end for one in lines if one.end), "\n")
    before, after = joined(lines[:place]), joined(lines[place:])
    if before and not before.endswith(("\n", "\r")):
        before += ending
    item = f"- {_as_words(words)} #{state}-{kind}"
    whole = f"{before}{item}{ending}{after}"
    number = len(lines_of(before)) + 1
    if not any(tag.line == number and tag.kind == kind for tag in find_tags(whole, "")):
        raise InvalidInput(
            f"Line {number} is inside code or a comment, where a tag is only a mention.",
            hint="Give another --line, or a --heading.",
        )
    return whole, number


def checked_kind(kind: str) -> str:
    if not re.fullmatch(_KIND, kind):
        raise InvalidInput(
            f"“{kind}” is no kind of tag.", hint="Use small letters, digits and -, such as fix or research."
        )
    return kind


def _as_words(words: str) -> str:
    """One line, in which only our own tag is a tag."""
    line = " ".join(words.split())
    if not line:
        raise InvalidInput("A tag needs some words.", hint='Say what is needed: maestro tag add FILE "words"')
    return re.sub(r"#(?=(?:needs|delegated|claimed|done)-)", r"\#", line)


def _place(lines: Sequence[Line], line: int | None, heading: str) -> int:
    """After how many lines the new one goes."""
    if line is not None:
        if not 1 <= line <= len(lines):
            raise InvalidInput(f"There is no line {line}.", hint=f"The file has {len(lines)} lines.")
        return line
    if not heading:
        return len(lines)
    wanted = " ".join(heading.lstrip("#").split()).casefold()
    titles = [(number, one) for number, one in enumerate(lines) if one.level]
    begin = next((number for number, one in titles if words_of(one).casefold() == wanted), None)
    if begin is None:
        known = "; ".join(words_of(one) for _, one in titles[:20])
        raise NotFound(f"There is no heading “{heading}”.", hint=f"There are: {known}." if known else "")
    end = next((number for number, _ in titles if number > begin), len(lines))
    while end > begin + 1 and not lines[end - 1].text.strip():
        end -= 1
    return end
