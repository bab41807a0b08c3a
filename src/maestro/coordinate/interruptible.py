"""Runs a coroutine to its end in the foreground, so that Ctrl-C ends it whole, whenever it comes.

An interrupt in the middle of making an event loop would leave a half-made one, and a coroutine that nobody awaits.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")


def run_interruptibly(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Returns what the coroutine returns. Raises KeyboardInterrupt when it is interrupted, after it was cancelled."""
    if threading.current_thread() is not threading.main_thread():
        return asyncio.run(work())
    interrupts: list[int] = []
    running: list[asyncio.Task[T]] = []

    def interrupt(number: int, _frame: FrameType | None) -> None:
        interrupts.append(number)
        for task in running:
            task.get_loop().call_soon_threadsafe(task.cancel)

    async def main() -> T:
        task = asyncio.ensure_future(work())
        running.append(task)
        if interrupts:
            task.cancel()
        try:
            return await task
        finally:
            running.clear()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        result = asyncio.run(main())
    except asyncio.CancelledError:
        if interrupts:
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupts:
        raise KeyboardInterrupt
    return result
