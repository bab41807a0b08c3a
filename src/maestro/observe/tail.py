"""The lines of a file from its end, read backwards in blocks into one buffer that is used again and again."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import Final

BLOCK: Final = 64 * 1024
LONGEST_LINE: Final = 8 * 1024 * 1024
FARTHEST: Final = 128 * 1024 * 1024  # how far from the end to look before giving up
_USUAL: Final = 16 * BLOCK
_MARGIN: Final = 3
_LINE_END: Final = 0x0A

# Whole lines: they lie between the line ends buffer[floor] and buffer[high], or the buffer's end, and are valid
# until the next ones are asked for. Three bytes more can be read.
Lines = tuple[bytearray, int, int]


class TailReader:
    """Reads lines backwards. One reader serves one thread; it never holds more than one long line."""

    def __init__(self) -> None:
        self._buffer = bytearray(_USUAL)
        self.bytes_read = 0

    def blocks(self, fd: int, size: int, farthest: int = FARTHEST) -> Iterator[Lines]:
        """Lines of the first `size` bytes, the last ones first. Those longer than LONGEST_LINE are left out."""
        self.bytes_read = 0
        if len(self._buffer) > _USUAL:
            self._buffer = bytearray(_USUAL)
        buffer = self._buffer
        low = high = len(buffer) - _MARGIN  # the bytes buffer[low:high] begin at `position` in the file
        position = size
        stop_at = max(0, size - farthest)
        while position > stop_at:
            if low == 0:
                if high > LONGEST_LINE:
                    position = self._end_of_line_before(fd, position, stop_at)
                    low = high = len(buffer) - _MARGIN
                    continue
                buffer, low, high = self._make_room(high)
            want = min(BLOCK, position, low)
            got = os.preadv(fd, [memoryview(buffer)[low - want : low]], position - want)
            self.bytes_read += got
            if got < want:
                return  # the file became shorter while it was read
            position -= want
            low -= want
            newline = buffer.find(b"\n", low, low + want)
            if newline >= 0:
                if high - newline > LONGEST_LINE:
                    high = buffer.rfind(b"\n", low, low + want)
                yield buffer, newline, high
                high = newline
        if position == 0 and high - low <= LONGEST_LINE:
            if low == 0:
                buffer, low, high = self._make_room(high)
            buffer[low - 1] = _LINE_END
            yield buffer, low - 1, high

    def _make_room(self, used: int) -> tuple[bytearray, int, int]:
        """The unfinished line, at the buffer's beginning, moves to the end of it or of a larger one."""
        old = self._buffer
        size = len(old) if used * 2 <= len(old) else len(old) * 2
        new = old if size == len(old) else bytearray(size)
        high = size - _MARGIN
        new[high - used : high] = old[:used]
        self._buffer = new
        return new, high - used, high

    def _end_of_line_before(self, fd: int, position: int, stop_at: int) -> int:
        """Where the line before a too long one ends."""
        while position > stop_at:
            want = min(BLOCK, position)
            block = os.pread(fd, want, position - want)
            self.bytes_read += len(block)
            position -= want
            newline = block.rfind(b"\n")
            if newline >= 0:
                return position + newline
        return position


_readers = threading.local()


def tail_reader() -> TailReader:
    """This thread's reader."""
    reader: TailReader | None = getattr(_readers, "reader", None)
    if reader is None:
        reader = _readers.reader = TailReader()
    return reader
