"""Keeps sentences that a person should read once, whatever the command: which project was skipped, what was taken over.

They are found deep inside, where nothing may be printed; the command line prints them when the command is over.
"""

from __future__ import annotations

_pending: dict[str, None] = {}
_MOST = 100  # a daemon that nobody reads them from must not grow


def remark(sentence: str) -> None:
    if len(_pending) < _MOST:
        _pending[sentence] = None


def take_remarks() -> list[str]:
    """Returns what was said since the last call."""
    sentences = list(_pending)
    _pending.clear()
    return sentences
