"""Esc on a terminal does what Ctrl-C does, while something runs that has no other use for the keyboard."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import termios
import threading
import tty
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_ESCAPE: Final = b"\x1b"
_SEQUENCE_SECONDS: Final = 0.05  # the rest of an arrow key comes at once


@contextlib.contextmanager
def escape_interrupts() -> Iterator[None]:
    """Within this, a pressed Esc interrupts the program as Ctrl-C does. Without a terminal nothing changes."""
    if not sys.stdin.isatty():
        yield
        return
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    ended, end = os.pipe()
    watcher = threading.Thread(target=_watch, args=(terminal, ended), daemon=True)
    tty.setcbreak(terminal)
    watcher.start()
    try:
        yield
    finally:
        os.write(end, b"x")
        watcher.join()
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
        os.close(ended)
        os.close(end)


def _watch(terminal: int, ended: int) -> None:
    while True:
        ready, _, _ = select.select([terminal, ended], [], [])
        if ended in ready:
            return
        pressed = os.read(terminal, 64)
        if not pressed:
            return
        if pressed == _ESCAPE and not select.select([terminal], [], [], _SEQUENCE_SECONDS)[0]:
            os.kill(os.getpid(), signal.SIGINT)
            return
