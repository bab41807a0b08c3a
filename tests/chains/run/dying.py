"""`maestro` that is killed at its n-th write of a file of these names: `dying.py before|after N NAME,NAME WORDS…`."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

_rename = os.rename


def main() -> int:
    edge, count, names, *words = sys.argv[1:]
    left = int(count)

    def rename(source: Any, target: Any, **folders: Any) -> None:
        nonlocal left
        if os.path.basename(target) not in names.split(","):
            _rename(source, target, **folders)
            return
        left -= 1
        if left == 0 and edge == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        _rename(source, target, **folders)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    setattr(os, "rename", rename)  # noqa: B010 - to mypy a function is no variable

    from maestro.cli.main import main as maestro

    return maestro(words)


if __name__ == "__main__":
    sys.exit(main())
