"""Stops processes and lets them go on, at random: an agent on a machine that has no time for it."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

RUNNING_SECONDS = (0.1, 1.5)
STOPPED_SECONDS = (0.5, 3.0)  # also longer than Maestro waits before it looks whether Enter was lost


@contextmanager
def stopping(pids: Iterable[int], chance: random.Random) -> Iterator[None]:
    """Stops and continues these processes while the block runs; afterwards all of them run."""
    pids = tuple(pids)
    over = threading.Event()

    def play() -> None:
        while not over.wait(chance.uniform(*RUNNING_SECONDS)):
            send(signal.SIGSTOP)
            over.wait(chance.uniform(*STOPPED_SECONDS))
            send(signal.SIGCONT)

    def send(number: signal.Signals) -> None:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    player = threading.Thread(target=play)
    player.start()
    try:
        yield
    finally:
        over.set()
        player.join()
