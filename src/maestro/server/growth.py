"""Waits until a file grows: only while somebody follows it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

# Files that are not there yet have no folder to watch for sure: look again after this long.
_LOOK_AGAIN_SECONDS = 1.0
# A stuck signal comes with time, not with a change.
_AT_MOST_SECONDS = 5.0


async def wait_for_growth(paths: Iterable[Path], told_otherwise: asyncio.Event, seconds: float) -> None:
    """Return when one of the files changed, when told otherwise, or after `seconds` at the latest."""
    import anyio
    from watchfiles import awatch

    folders = {path.parent for path in paths if path.parent.is_dir()}
    if not folders:
        seconds = min(seconds, _LOOK_AGAIN_SECONDS)
    stop = anyio.Event()

    async def watch() -> None:
        async for _ in awatch(*folders, stop_event=stop, recursive=False, step=25, debounce=100):
            return

    waiting: list[asyncio.Task[object]] = [asyncio.create_task(told_otherwise.wait())]
    if folders:
        waiting.append(asyncio.create_task(watch()))
    try:
        await asyncio.wait(
            waiting, timeout=min(max(seconds, 0), _AT_MOST_SECONDS), return_when=asyncio.FIRST_COMPLETED
        )
    finally:
        stop.set()
        waiting[0].cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
