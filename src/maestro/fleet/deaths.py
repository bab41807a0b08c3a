"""Tells in words how an agent's program ended. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

LAST_LINES: Final = 15
# A shell, and a program that ends itself because of a signal, add the signal's number to this.
_BY_SIGNAL: Final = 128
# Those by which somebody ends a program; by others it ends because of a fault of its own.
_ENDING: Final = {1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 9: "SIGKILL", 15: "SIGTERM"}


def killed_by(exit_status: int | None, exit_signal: str) -> str:
    """Returns the signal that somebody killed the program by; nothing when it ended otherwise."""
    number = exit_signal or str((exit_status or 0) - _BY_SIGNAL)
    if number.isdecimal():
        return _ENDING.get(int(number), "")
    name = f"SIG{number.removeprefix('SIG')}"
    return name if name in _ENDING.values() else ""


def killed_end(signal: str, last_words: str) -> str:
    """Returns the report of a killed agent. Its screen shows what it was at, and no reason."""
    said = f"; it last said: “{last_words}”" if last_words else ", and had said nothing."
    return f"It was killed by {signal}{said}"


def early_end(exit_status: int | None, exit_signal: str, shown: Sequence[str]) -> str:
    """Returns how an agent ended and what its pane still shows. tmux closes a pane when it hears of the program's end,
    and now and then has not read its last words by then: then the pane says nothing."""
    known = exit_status if exit_status is not None else "not known"
    code = f"signal {exit_signal}" if exit_signal else f"exit code {known}"
    written = [line for line in shown if line.strip() and not line.startswith("Pane is dead")]
    if not written:
        return f"It ended early ({code}), and its pane shows no reason. Start it by hand in the same folder to see one."
    return "\n".join([f"It ended early ({code}):", *written[-LAST_LINES:]])
