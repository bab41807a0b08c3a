"""The lines of a file from its end, read backwards in blocks into one buffer that is used again and again."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from typing import Final

BLOCK: Final = 64 * 1024
LONGEST_LINE: Final = 8 * 1024 * 1024
FARTHEST: Final = 128 * 1024 * 1024  # how far from the end to look before giving up
_USUAL: Final = 16 * BLOCK
_HEAD: Final = 4096

# One line is buffer[start:end], valid until the next one is asked for. Not whole: the line is longer than
# LONGEST_LINE and these are only its first bytes.
Span = tuple[bytearray, int, int, bool]


class TailReader:
    """Reads lines backwards. One reader serves one thread; it never holds more than one long line."""

    def __init__(self) -> None:
        self._buffer = bytearray(_USUAL)
        self.bytes_read = 0

    def lines(self, fd: int, size: int, noise: re.Pattern[bytes], farthest: int = FARTHEST) -> Iterator[Span]:
        """Lines of the first `size` bytes, the last one first, without their ends; empty ones and those that
        `noise` matches are left out."""
        is_noise = noise.match
        self.bytes_read = 0
        if len(self._buffer) > _USUAL:
            self._buffer = bytearray(_USUAL)
        buffer = self._buffer
        low = high = len(buffer)  # the bytes buffer[low:high] begin at `position` in the file
        position = size
        stop_at = max(0, size - farthest)
        while position > stop_at:
            if low == 0:
                if high > LONGEST_LINE:
                    position, head = self._start_of_long_line(fd, position, stop_at)
                    if head:
                        yield head, 0, len(head), False
                    low = high = len(buffer)
                    continue
                buffer, low, high = self._make_room(high)
            want = min(BLOCK, position, low)
            got = os.preadv(fd, [memoryview(buffer)[low - want : low]], position - want)
            self.bytes_read += got
            if got < want:
                return  # the file became shorter while it was read
            position -= want
            low -= want
            newline = buffer.rfind(b"\n", low, low + want)
            while newline >= 0:
                if newline + 1 < high and not is_noise(buffer, newline + 1, high):
                    yield buffer, newline + 1, high, high - newline <= LONGEST_LINE
                high = newline
                newline = buffer.rfind(b"\n", low, high)
        if position == 0 and low < high:
            yield buffer, low, high, high - low <= LONGEST_LINE

    def _make_room(self, used: int) -> tuple[bytearray, int, int]:
        """The unfinished line, at the buffer's beginning, moves to the end of it or of a larger one."""
        old = self._buffer
        size = len(old) if used * 2 <= len(old) else len(old) * 2
        new = old if size == len(old) else bytearray(size)
        new[size - used :] = old[:used]
        self._buffer = new
        return new, size - used, size

    def _start_of_long_line(self, fd: int, position: int, stop_at: int) -> tuple[int, bytearray]:
        """Where the line before a too long one ends, and the long line's first bytes."""
        while position > stop_at:
            want = min(BLOCK, position)
            block = os.pread(fd, want, position - want)
            self.bytes_read += len(block)
            position -= want
            newline = block.rfind(b"\n")
            if newline >= 0:
                return position + newline, bytearray(os.pread(fd, _HEAD, position + newline + 1))
        head = os.pread(fd, _HEAD, 0) if position == 0 else b""
        return position, bytearray(head)


_readers = threading.local()


def tail_reader() -> TailReader:
    """This thread's reader."""
    reader: TailReader | None = getattr(_readers, "reader", None)
    if reader is None:
        reader = _readers.reader = TailReader()
    return reader
