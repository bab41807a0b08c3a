"""What hooks bring and take: prompts that agents say they have, and hooks that wait for the answer to a question."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final, NamedTuple

from maestro.agents.hooks import Payload

_KEPT: Final = 50


class Waiting(NamedTuple):
    """A hook of an agent that stays while its question is open: what it prints is the answer."""

    event: str
    payload: Payload
    question_id: str
    answer: asyncio.Future[bytes | None]


class Channels:
    def __init__(self) -> None:
        self._prompted: dict[str, deque[tuple[int, str]]] = {}
        self._waiting: dict[str, list[Waiting]] = {}
        self._news: dict[str, asyncio.Event] = {}

    def prompted(self, session_id: str, text: str, at: int) -> None:
        """The agent's own hook says that it took this prompt."""
        self._prompted.setdefault(session_id, deque(maxlen=_KEPT)).append((at, text))
        self.ring(session_id)

    def prompts_since(self, session_id: str, at: int) -> list[str]:
        return [text for told, text in self._prompted.get(session_id, ()) if told >= at]

    def ring(self, session_id: str) -> None:
        """Something of this session changed: whoever waits looks again."""
        news = self._news.pop(session_id, None)
        if news is not None:
            news.set()

    def news(self, session_id: str) -> asyncio.Event:
        """What the next ring sets. Take it, then look, then wait: what happens in between is not missed."""
        return self._news.setdefault(session_id, asyncio.Event())

    @staticmethod
    async def wait(news: asyncio.Event, seconds: float) -> None:
        """Until something is told, or for so long."""
        try:
            async with asyncio.timeout(seconds):
                await news.wait()
        except TimeoutError:
            return

    async def wait_for_answer(
        self, session_id: str, event: str, payload: Payload, question_id: str
    ) -> bytes | None:
        """Stay until somebody answers, or the question is over. Cancelled when the hook itself is gone."""
        waiting = Waiting(event, payload, question_id, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(session_id, []).append(waiting)
        self.ring(session_id)
        try:
            return await waiting.answer
        finally:
            self._waiting[session_id].remove(waiting)
            self.ring(session_id)

    def waiting(self, session_id: str, question_id: str) -> Waiting | None:
        return next(
            (one for one in self._waiting.get(session_id, ()) if one.question_id == question_id), None
        )

    def asked_by_hooks(self, session_id: str) -> frozenset[str]:
        """The questions that hooks wait for now."""
        return frozenset(one.question_id for one in self._waiting.get(session_id, ()))

    def let_go(self, session_id: str, *, but: str = "") -> None:
        """Questions are over: their hooks need not wait any longer."""
        for waiting in self._waiting.get(session_id, ()):
            if waiting.question_id != but and not waiting.answer.done():
                waiting.answer.set_result(None)
