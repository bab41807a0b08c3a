"""New entries of a transcript since the last look. Who follows waits by itself and keeps the cursor."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, Literal

import msgspec

from maestro.agents import Agent, Moment
from maestro.observe.digest import USUAL_SHAPE, Entry, Shape, entry_of
from maestro.observe.recent import entries_among
from maestro.observe.tail import LONGEST_LINE

BLOCK: Final = 256 * 1024
_MARK: Final = 64  # bytes before the offset that tell whether the file is still the same

Change = Literal["", "shrunk", "replaced", "gone"]


class Cursor(msgspec.Struct, frozen=True):
    """How far a transcript was read: always the beginning of a line, unless that line is too long to keep."""

    offset: int = 0
    device: int = 0
    inode: int = 0
    mark: bytes = b""
    skipping: bool = False  # inside a line that is too long
    records: frozenset[str] = frozenset()  # ids already shown, for CLIs that write records again


class Step(msgspec.Struct, frozen=True):
    """What one look gave."""

    cursor: Cursor
    entries: tuple[Entry, ...] = ()
    moments: tuple[Moment, ...] = ()  # everything that happened, for status
    change: Change = ""
    more: bool = False  # there is more to read right now


def at_end(path: str | Path) -> Cursor:
    """A cursor behind the last whole line: only what comes from now on is new."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return Cursor()
    try:
        about = os.fstat(fd)
        position = about.st_size
        while position > 0:
            want = min(BLOCK, position)
            newline = os.pread(fd, want, position - want).rfind(b"\n")
            position -= want
            if newline >= 0:
                return _cursor_at(fd, about, position + newline + 1)
        return _cursor_at(fd, about, 0)
    finally:
        os.close(fd)


def follow(
    agent: Agent, path: str | Path, cursor: Cursor, shape: Shape = USUAL_SHAPE, *, most: int = 4 * 1024 * 1024
) -> Step:
    """The entries that were written since `cursor`, oldest first. A last line that is not whole yet waits.

    At most about `most` bytes are read; `more` says that it is worth looking again at once. If the file is
    another one than before, or was cut, it is read from its beginning, and `change` says so.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return Step(Cursor(), change="gone" if cursor.inode else "")
    try:
        about = os.fstat(fd)
        change = _change(fd, about, cursor)
        if change:
            cursor = Cursor(records=frozenset())
        return _step(agent, fd, about, cursor, change, shape, most)
    finally:
        os.close(fd)


def _change(fd: int, about: os.stat_result, cursor: Cursor) -> Change:
    if not cursor.inode:
        return ""
    if (about.st_dev, about.st_ino) != (cursor.device, cursor.inode):
        return "replaced"
    if about.st_size < cursor.offset:
        return "shrunk"
    if os.pread(fd, len(cursor.mark), cursor.offset - len(cursor.mark)) != cursor.mark:
        return "replaced"
    return ""


def _step(
    agent: Agent, fd: int, about: os.stat_result, cursor: Cursor, change: Change, shape: Shape, most: int
) -> Step:
    offset, skipping = cursor.offset, cursor.skipping
    pending = bytearray()
    moments: list[Moment] = []
    position = offset
    while position < about.st_size and position - cursor.offset < max(most, len(pending) + 1):
        block = os.pread(fd, BLOCK, position)
        if not block:
            break
        position += len(block)
        pending += block
        end = pending.rfind(b"\n") + 1
        if end:
            moments += _moments_of(agent, pending, end, skipping=skipping)
            skipping = False
            offset += end
            del pending[:end]
        if len(pending) > LONGEST_LINE:
            skipping = True
            offset += len(pending)
            pending.clear()
    if skipping:
        offset += len(pending)
    fresh = [moment for moment in moments if not moment.restated]
    shown, records = _unrepeated(fresh, cursor.records)
    after = _cursor_at(fd, about, offset, skipping=skipping, records=records)
    entries = tuple([entry_of(moment, shape) for moment in entries_among(shown, full=shape.full)])
    return Step(after, entries, tuple(fresh), change, more=position < about.st_size)


def _moments_of(agent: Agent, lines: bytearray, end: int, *, skipping: bool) -> list[Moment]:
    moments: list[Moment] = []
    is_noise = agent.noise.match
    start = lines.find(b"\n") + 1 if skipping else 0
    while start < end:
        newline = lines.find(b"\n", start, end)
        if 0 < newline - start <= LONGEST_LINE and not is_noise(lines, start, newline):
            moments += agent.read(lines, start, newline)
        start = newline + 1
    return moments


def _unrepeated(moments: list[Moment], before: frozenset[str]) -> tuple[list[Moment], frozenset[str]]:
    """What was not shown yet: a record that is written again with the same id brings no new text."""
    seen = set(before)
    shown: list[Moment] = []
    for moment in moments:
        if not moment.record or moment.kind not in {"text", "prompt", "api_error"}:
            shown.append(moment)
        elif moment.record not in seen:
            seen.add(moment.record)
            shown.append(moment)
    return shown, frozenset(seen)


def _cursor_at(
    fd: int,
    about: os.stat_result,
    offset: int,
    *,
    skipping: bool = False,
    records: frozenset[str] = frozenset(),
) -> Cursor:
    start = max(0, offset - _MARK)
    mark = os.pread(fd, offset - start, start)
    return Cursor(offset, about.st_dev, about.st_ino, mark, skipping, records)
