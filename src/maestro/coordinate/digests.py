"""Reads the digests of sessions, from their transcripts and, where those do not tell, from their screens."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from maestro.fleet.facts import Sight
from maestro.fleet.lookout import Lookout
from maestro.ledger.facts import Session, SessionStatus, Task
from maestro.observe.digest import DEFAULT_LAST, USUAL_SHAPE, Digest, Shape, with_screen
from maestro.observe.observer import News, Observer

# What an event said of these stands on the screen, and maybe nowhere else.
_ON_SCREEN: Final = frozenset[SessionStatus]({"retrying", "failed", "limited"})


class Digests:
    def __init__(self, observer: Observer, lookout: Lookout) -> None:
        self._observer = observer
        self._lookout = lookout

    async def read(
        self,
        sessions: Sequence[Session],
        tasks: Mapping[str, Task],
        *,
        last: int = DEFAULT_LAST,
        since: int | None = None,
        shape: Shape = USUAL_SHAPE,
    ) -> list[Digest]:
        """Digests in the sessions' order. Looks at the panes of those that are known to be in trouble."""
        digests, seen = await asyncio.gather(
            asyncio.to_thread(self._observer.digests, sessions, tasks, last=last, since=since, shape=shape),
            asyncio.gather(*map(self._seen, sessions)),
        )
        return [
            digest if sight is None else with_screen(digest, sight.screen, sight.at, last=last, shape=shape)
            for digest, sight in zip(digests, seen, strict=True)
        ]

    async def add_stuck(self, news: News, sessions: Sequence[Session], tasks: Mapping[str, Task]) -> News:
        """Adds how those are stuck whose trouble is known by an event, and maybe by nothing that they wrote."""
        troubled = [session for session in sessions if session.status in _ON_SCREEN]
        digests = await self.read(troubled, tasks, last=1)
        shown = {digest.session_id: digest.stuck for digest in digests if digest.stuck is not None}
        return msgspec.structs.replace(news, stuck={**news.stuck, **shown})

    async def _seen(self, session: Session) -> Sight | None:
        return await self._lookout.see(session) if session.status in _ON_SCREEN else None


def is_worth_telling(news: News, sessions: Sequence[Session], since: int) -> bool:
    """Whether a follower is told now: there are new lines, or an event tells of trouble that came since."""
    return bool(news.lines) or any(
        one.id in news.stuck and one.status in _ON_SCREEN and one.updated_at >= since for one in sessions
    )
