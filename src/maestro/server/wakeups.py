"""Wakes whoever waits for news. Nothing is carried: who wakes looks at the ledger again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Wakeups:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._next = asyncio.Event()
        self.closing = False
        # Also told, in the loop, whether or not anybody waits.
        self.on_news: Callable[[], None] | None = None

    def ring(self) -> None:
        """From any thread: there is news."""
        self._loop.call_soon_threadsafe(self._wake)

    def close(self) -> None:
        """No more news: everybody who waits, or would, goes on at once."""
        self.closing = True
        self._wake()

    def next(self) -> asyncio.Event:
        """Take this before looking, wait on it after: news in between is then not missed."""
        return self._next

    async def wait(self, news: asyncio.Event, seconds: float) -> None:
        if self.closing or seconds <= 0:
            return
        try:
            async with asyncio.timeout(seconds):
                await news.wait()
        except TimeoutError:
            return

    def _wake(self) -> None:
        self._next.set()
        self._next = asyncio.Event()
        if self.on_news is not None and not self.closing:
            self.on_news()
