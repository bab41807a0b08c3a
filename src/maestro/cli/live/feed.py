"""What the live view knows, kept fresh: an overview, then again with the next event or after a while.

In a thread of its own, so that the view never waits. It never starts a daemon: one that a person stopped stays
stopped until that person does something.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

import msgspec

from maestro.coordinate.overview import Overview
from maestro.errors import DaemonError, MaestroError
from maestro.server.client import Daemon

_PAUSE: Final = 0.25  # between two looks, however much happens
_AWAY_SECONDS: Final = 1.0
# After news it looks once more: an agent's hook may be faster than what the agent writes.
_AFTER_NEWS: Final = 2


class Feed:
    def __init__(
        self, daemon: Daemon, told: Callable[[Overview], object], away: Callable[[MaestroError], object]
    ) -> None:
        self._daemon = daemon
        self._told = told
        self._away = away
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """It ends with its current request; nobody waits for it."""
        self._over.set()

    def look(self, *, start: bool = False) -> Overview:
        """The overview now."""
        told = self._daemon.call("GET", "/api/overview", start=start)
        try:
            return msgspec.convert(told, Overview)
        except msgspec.ValidationError as error:
            raise DaemonError(
                f"The daemon tells something that this view does not know: {error}.",
                hint="One of them is older: leave, and start `maestro` again.",
            ) from error

    def _run(self) -> None:
        cursor, is_news = "", True
        while not self._over.is_set():
            try:
                if not cursor:
                    # Older than the overview: what happens in between is told again, never missed.
                    cursor, _ = self._wait_for_news("now", 0)
                found = self.look()
                if self._over.is_set():
                    return
                self._told(found)
                self._over.wait(_PAUSE)
                seconds = min(found.refresh_after, _AFTER_NEWS) if is_news else found.refresh_after
                cursor, is_news = self._wait_for_news(cursor, seconds)
            except MaestroError as error:
                if not self._over.is_set():
                    self._away(error)
                cursor, is_news = "", True
                self._over.wait(_AWAY_SECONDS)

    def _wait_for_news(self, cursor: str, seconds: int) -> tuple[str, bool]:
        page = self._daemon.call(
            "GET",
            "/api/events",
            query={"since": cursor, "wait": seconds},
            timeout=seconds + 30.0,
            start=False,
        )
        return str(page["cursor"]), bool(page["events"])
