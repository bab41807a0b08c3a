"""Ctrl-C ends what runs in the foreground whole, whenever it comes: also while its event loop is being made."""

from __future__ import annotations

import sys

import pytest
from tests.patience import run

PROGRAM = """
import asyncio, os, signal, sys
from maestro.coordinate.interruptible import run_interruptibly

class Interrupting(asyncio.DefaultEventLoopPolicy):
    def new_event_loop(self):
        interrupt("making")
        return super().new_event_loop()

def interrupt(moment):
    if moment == sys.argv[1]:
        os.kill(os.getpid(), signal.SIGINT)

async def work():
    try:
        interrupt("working")
        await asyncio.sleep(60 if sys.argv[1] in ("making", "working") else 0)
    finally:
        print("ended")
    interrupt("returning")
    return "result"

asyncio.set_event_loop_policy(Interrupting())
try:
    print(run_interruptibly(work))
except KeyboardInterrupt:
    print("interrupted")
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""


@pytest.mark.parametrize(
    ("moment", "shown"),
    [
        ("never", ["ended", "result"]),
        ("making", ["interrupted"]),
        ("working", ["ended", "interrupted"]),
        ("returning", ["ended", "interrupted"]),
    ],
)
def test_an_interrupt_leaves_nothing_half_done(moment: str, shown: list[str]) -> None:
    done = run([sys.executable, "-X", "dev", "-c", PROGRAM, moment], text=True)
    assert (done.stdout.split(), done.stderr, done.returncode) == (shown, "", 0)
