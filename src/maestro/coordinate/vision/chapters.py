"""Chapters of a vision, worked off by coordinators: claimed, resumed, ticked off, completed, and all that logged.

A chapter is claimed by the tag on its heading, as any other tag is, and its criteria are the checkboxes below it.
"""

from __future__ import annotations

import os
import re
from typing import Final, Literal, NamedTuple

import msgspec

from maestro.coordinate.log import NAME as LOG
from maestro.coordinate.log import CoordinateLog, chapter_complete, chapter_started
from maestro.coordinate.tags import claims as tag_claims
from maestro.coordinate.tags.claims import Record, Standing
from maestro.coordinate.tags.tag import COORDINATE, Tag, find_tags
from maestro.coordinate.tags.tag_files import ProjectTags, now_ms
from maestro.coordinate.vision.document import (
    Chapter,
    Criterion,
    Vision,
    chapter_numbered,
    criterion_named,
    parse_vision,
    ready_chapters,
    ticked,
    with_chapter_tag,
)
from maestro.coordinate.vision.document_file import read_vision, require_sound
from maestro.errors import Conflict, InvalidInput

OVERSIGHT: Final = "oversight"  # as `maestro coordinate` names itself
LEASE_SECONDS: Final = 86_400.0  # a chapter takes its time
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")


class Next(NamedTuple):
    chapter: Chapter
    how: Literal["free", "claimed", "resumed"]


def next_chapter(tags: ProjectTags, name: str, claimant: str) -> Next | None:
    """The chapter to go on with: one's own that was begun, else the first that is free. Nothing is changed."""
    vision, _ = read_vision(tags.files, name)
    return _choose(tags, vision, claimant)


def claim_next(tags: ProjectTags, name: str, claimant: str) -> Next | None:
    log = log_of(tags, claimant)
    with tags.locked():
        vision, faults = read_vision(tags.files, name)
        require_sound(faults)
        _settle(tags, vision)
        chosen = _choose(tags, vision, claimant)
        if chosen is None:
            return None
        number = chosen.chapter.number
        tag = _tag_once_claimed(tags.files.text_of(name), name, chosen.chapter)
        was = chosen.chapter.tag or tag
        record = tag_claims.claimed(
            Standing(tag=was, record=tags.record(tag.id)),
            claimant=claimant,
            now=now_ms(),
            lease_seconds=LEASE_SECONDS,
            host=os.uname().nodename,
        )
        tags.write_record(record)
        tags.files.rewrite(name, lambda text: _with_claim(text, name, number))
        vision, _ = read_vision(tags.files, name)
        chapter = chapter_numbered(vision, number)
        if chosen.how == "resumed":
            return Next(chapter, "resumed")
        log.append(chapter_started(now_ms(), number, name, len(chapter.criteria)))
        return Next(chapter, "claimed")


def tick(tags: ProjectTags, name: str, word: str, claimant: str, *, done: bool) -> tuple[Chapter, Criterion]:
    """The M-th criterion of chapter N is met, or not any more. The last one completes the chapter."""
    if claimant:
        log_of(tags, claimant)
    with tags.locked():
        vision, _ = read_vision(tags.files, name)
        _settle(tags, vision)
        before, _ = criterion_named(vision, word)
        seen = _standing(tags, before)
        if claimant and seen and seen.holder not in {"", claimant}:
            raise Conflict(
                f"Chapter {before.number} is {seen.holder}'s.",
                hint="`maestro vision show` shows who has which.",
            )
        tags.files.rewrite(name, lambda text: _with_tick(text, name, word, done=done))
        vision, _ = read_vision(tags.files, name)
        chapter, criterion = criterion_named(vision, word)
        if chapter.is_complete and not before.is_complete:
            _complete(tags, chapter, claimant)
        elif seen and seen.record and not chapter.is_complete:
            _go_on(tags, seen.record, reopened=before.is_complete)
        return chapter, criterion


def _go_on(tags: ProjectTags, record: Record, *, reopened: bool) -> None:
    """Work on a chapter keeps its claim; one that was complete and is not any more is free."""
    if reopened:
        tags.write_record(msgspec.structs.replace(tag_claims.released(record), done_at=0, done_by=""))
    elif record.claimant:
        until = now_ms() + int(LEASE_SECONDS * 1000)
        tags.write_record(msgspec.structs.replace(record, until=until))


def standings(tags: ProjectTags, vision: Vision) -> dict[int, Standing]:
    """By chapter, how its tag stands."""
    found = ((chapter.number, _standing(tags, chapter)) for chapter in vision.chapters)
    return {number: seen for number, seen in found if seen is not None}


def log_of(tags: ProjectTags, name: str) -> CoordinateLog:
    """The log of the oversight of this name."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"“{name}” is no name of a coordinator.", hint="Use letters (A to Z), digits, - and _."
        )
    return CoordinateLog(os.path.join(tags.files.state, "coordinate", name, LOG))


def _choose(tags: ProjectTags, vision: Vision, claimant: str) -> Next | None:
    ready = [(chapter, _standing(tags, chapter)) for chapter in ready_chapters(vision)]
    for chapter, seen in ready:
        own = seen and seen.tag.state == "claimed" and seen.record and seen.record.claimant == claimant
        if claimant and own:
            return Next(chapter, "resumed")
    return next((Next(chapter, "free") for chapter, seen in ready if _is_free(seen)), None)


def _is_free(seen: Standing | None) -> bool:
    """A chapter that somebody claimed elsewhere, of which there is no record here, is not."""
    if seen is None or seen.tag.state in {"needs", "delegated"}:
        return seen is None or not seen.holder
    return seen.tag.state == "claimed" and not seen.holder and bool(seen.record and seen.record.claimant)


def _standing(tags: ProjectTags, chapter: Chapter) -> Standing | None:
    return None if chapter.tag is None else tags.standing(chapter.tag)


def _tag_once_claimed(text: str, name: str, chapter: Chapter) -> Tag:
    """The chapter's tag, also where it has none yet."""
    if chapter.tag is not None:
        return chapter.tag
    written = find_tags(with_chapter_tag(text, chapter, "claimed"), name)
    found = next((tag for tag in written if tag.line == chapter.line and tag.kind == COORDINATE), None)
    if found is None:
        raise InvalidInput(
            f"{name}:{chapter.line}: no tag can stand at the end of this heading.",
            hint=f"Write #needs-{COORDINATE} into it, where it is text.",
        )
    return found


def _with_claim(text: str, name: str, number: int) -> str:
    vision, _ = parse_vision(text, name)
    chapter = chapter_numbered(vision, number)
    return (
        text if chapter.tag and chapter.tag.state == "claimed" else with_chapter_tag(text, chapter, "claimed")
    )


def _with_tick(text: str, name: str, word: str, *, done: bool) -> str:
    vision, _ = parse_vision(text, name)
    _, criterion = criterion_named(vision, word)
    if criterion.done != done:
        text = ticked(text, criterion, done=done)
        vision, _ = parse_vision(text, name)
    chapter, _ = criterion_named(vision, word)
    if chapter.tag is None:
        return text
    if chapter.is_complete:
        return text if chapter.tag.state == "done" else with_chapter_tag(text, chapter, "done")
    # What was complete and is not any more has to be claimed anew.
    return with_chapter_tag(text, chapter, "needs") if chapter.tag.state == "done" else text


def _settle(tags: ProjectTags, vision: Vision) -> None:
    """Chapters whose completion was written, and not logged, when its writer died."""
    for chapter in vision.chapters:
        seen = _standing(tags, chapter)
        if (
            chapter.is_complete
            and seen
            and seen.tag.state == "done"
            and seen.record
            and not seen.record.done_at
        ):
            _complete(tags, chapter, "")


def _complete(tags: ProjectTags, chapter: Chapter, claimant: str) -> None:
    record = tags.record(chapter.tag.id) if chapter.tag else None
    by = claimant or (record.claimant if record else "") or OVERSIGHT
    log_of(tags, by).append(
        chapter_complete(now_ms(), chapter.number, [one.text for one in chapter.criteria])
    )
    if chapter.tag is not None:
        ended = tag_claims.record_of(chapter.tag, record)
        tags.write_record(tag_claims.finished(ended, by=by, now=now_ms()))
