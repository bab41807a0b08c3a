"""COORDINATE_LOG.md on the disk: entries are appended, whole, each once.

People read this file and may write into it. Only what a write of ours left half done is ever cut off.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from maestro import confined
from maestro.coordinate.log_entries import (
    HEADINGS,
    chapter_complete,
    chapter_started,
    entry,
    heartbeat,
)
from maestro.errors import DiskFull, NoPermission

__all__ = ["CoordinateLog", "chapter_complete", "chapter_started", "entry", "heartbeat"]

NAME: Final = "COORDINATE_LOG.md"
_TITLE: Final = b"# Coordinate log\n"
_BLOCK: Final = 64 * 1024
# An editor may have changed the line ends, or left out the last one.
_END: Final = re.compile(rb"^<!-- (?:deci_[0-9A-Z]{26}|heartbeat|chapter) -->\r?(?:\n|\Z)", re.MULTILINE)
_DECISION: Final = re.compile(rb"^<!-- (deci_[0-9A-Z]{26}) -->\r?$", re.MULTILINE)
_BEGINS: Final = tuple(heading.encode() for heading in HEADINGS)
_INSIDE: Final = (b"- **", b"<!-- ")


class CoordinateLog:
    """Keeps nothing in memory but its path: any number of processes may append to one file, in turn."""

    def __init__(self, path: str) -> None:
        self.path = path

    def append(self, text: str) -> bool:
        """Add an entry, on the disk when this returns. False: the decision's entry is there already."""
        with self._locked() as (descriptor, size):
            tail = _read(descriptor, max(0, size - _BLOCK), size)
            ends = _DECISION.findall(text.encode())
            if ends and ends[-1] in _DECISION.findall(tail):
                return False
            rest = tail[: torn_from(tail)]
            whole = size - len(tail) + len(rest)
            gap = b"" if rest.endswith(b"\n\n") else b"\n" if rest.endswith(b"\n") else b"\n\n"
            if whole < size:
                os.ftruncate(descriptor, whole)
            self._write(descriptor, (gap if whole else _TITLE + b"\n") + text.encode(), whole)
        return True

    def last_logged(self) -> str | None:
        """The id of the last decision whose entry is whole; None where there is none yet."""
        try:
            descriptor = confined.open_file(self.path, os.O_RDONLY)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unusable(error) from error
        try:
            size = os.fstat(descriptor).st_size
            reach = _BLOCK
            while True:
                found = _DECISION.findall(_read(descriptor, max(0, size - reach), size))
                if found or reach >= size:
                    return found[-1].decode() if found else None
                reach *= 8
        finally:
            os.close(descriptor)

    @contextmanager
    def _locked(self) -> Iterator[tuple[int, int]]:
        """The file and its size, for us alone. One that was moved away while we waited is not written to."""
        try:
            confined.make_folders(os.path.dirname(self.path))
            lock = confined.lock(self.path)
        except OSError as error:
            raise self._unusable(error) from error
        with lock as descriptor:
            yield descriptor, os.fstat(descriptor).st_size

    def _write(self, descriptor: int, data: bytes, start: int) -> None:
        """Write all of it at `start`, or leave the file as it was."""
        try:
            done = 0
            while done < len(data):
                done += os.pwrite(descriptor, data[done:], start + done)
            os.fsync(descriptor)
        except OSError as error:
            os.ftruncate(descriptor, start)
            raise self._unusable(error) from error

    def _unusable(self, error: OSError) -> DiskFull | NoPermission:
        if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            return DiskFull(f"No space left to write {self.path}.", hint="Free some disk space.")
        return NoPermission(
            f"{self.path} cannot be used: {error.strerror}.", hint="Check who owns the folder and its mode."
        )


def torn_from(tail: bytes) -> int:
    """Where in the end of a log an entry begins that was never finished; its length where there is none. Pure.

    Everything from there on has to look like an entry of ours: what somebody wrote below one stays.
    """
    ends = [found.end() for found in _END.finditer(tail)]
    place = ends[-1] if ends else 0
    begin: int | None = None
    for line in tail[place:].splitlines(keepends=True):
        whole = line.endswith(b"\n")
        if line.startswith(_BEGINS) or (not whole and _begins_any(line, _BEGINS)):
            begin = place if begin is None else begin
        elif line.startswith(b"\0"):
            return place if begin is None else begin
        elif not (line.startswith(_INSIDE) or (not whole and _begins_any(line, _INSIDE)) or not line.strip()):
            begin = None
        place += len(line)
    return len(tail) if begin is None else begin


def _begins_any(line: bytes, texts: tuple[bytes, ...]) -> bool:
    return any(text.startswith(line) for text in texts)


def _read(descriptor: int, start: int, end: int) -> bytes:
    return os.pread(descriptor, end - start, start)
