"""The real daemon on a machine whose clock can be set: a program, run with the daemon's own options.

The file `clock` in its home has how many seconds the clock is wrong by; the monotonic clock is right, as it always is.
"""

from __future__ import annotations

import os
import sys
import time

from maestro.server import daemon

_PATH = os.path.join(sys.argv[sys.argv.index("--home") + 1], "clock")
_right = time.time_ns


def _time_ns() -> int:
    with open(_PATH, encoding="ascii") as file:
        return _right() + int(float(file.read()) * 1_000_000_000)


def _time() -> float:
    return _time_ns() / 1_000_000_000


if __name__ == "__main__":
    time.time_ns = _time_ns
    time.time = _time
    daemon.main()
