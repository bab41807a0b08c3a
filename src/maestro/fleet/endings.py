"""Tells by a session's transcript which of its questions have their answer.

A dialog may come again in the same words, and a CLI writes a result some time after its dialog went: so every question that
was seen gets one result, the oldest first, and a result is never taken for two of them.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from os import PathLike
from typing import Final

from maestro.agents.questions import Question as Asked
from maestro.agents.questions import is_same
from maestro.agents.registry import terminal_named
from maestro.fleet.asking import asked_of
from maestro.fleet.crew import Crew
from maestro.fleet.proof import results_since, size_of
from maestro.ledger.facts import Question, Session

_MOST: Final = 20  # questions of a session that are remembered


@dataclass
class _Seen:
    question_id: str
    asked: Asked
    call_id: str
    since: int  # how long the transcript was when the question was first seen
    checked: int  # and when it was last read
    path: PathLike[str] | None  # which one that was
    result: str = ""  # the call whose result ended it


class Endings:
    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._seen: dict[str, list[_Seen]] = {}

    async def note(self, session: Session, question: Question) -> None:
        """Remembers a question that is open, as of now."""
        await asyncio.to_thread(self._note, session, question)

    async def is_over(self, session: Session, question: Question) -> bool:
        """Whether the transcript got the result of the call that asks this, since it was first seen."""
        return await asyncio.to_thread(self._is_over, session, question)

    def at_rest(self, session_id: str) -> None:
        """The session's turn is over: no result of an earlier question will come any more."""
        self._seen.pop(session_id, None)

    def _note(self, session: Session, question: Question) -> _Seen:
        seen = self._seen.setdefault(session.id, [])
        known = next((one for one in seen if one.question_id == question.id), None)
        if known is not None:
            known.call_id = known.call_id or question.call_id
            return known
        path = self._crew.transcript_of(session)
        size = size_of(path)
        made = _Seen(question.id, asked_of(question), question.call_id, size, size, path)
        seen.append(made)
        del seen[:-_MOST]
        return made

    def _is_over(self, session: Session, question: Question) -> bool:
        known = self._note(session, question)
        path = self._crew.transcript_of(session)
        if path is not None and path != known.path:
            # Another transcript is known to be its own now: its earlier results answer nothing that is open.
            if known.path is not None or session.mode is None:
                known.since = known.checked = size_of(path)
            known.path = path
        if known.result or path is None or size_of(path) == known.checked:
            return bool(known.result)
        known.checked = size_of(path)
        self._assign(session, path, known)
        return bool(known.result)

    def _assign(self, session: Session, path: PathLike[str], known: _Seen) -> None:
        terminal = terminal_named(session.agent)
        seen = self._seen[session.id]
        open_ones = [one for one in seen if not one.result and is_same(one.asked, known.asked)]
        if terminal is None or not open_ones:
            return
        used = {one.result for one in seen}
        since = min(one.since for one in open_ones)
        for call_id in results_since(terminal, path, since, known.asked):
            if call_id in used:
                continue
            its_own = next((one for one in seen if one.call_id == call_id), None)
            unnamed = (one for one in open_ones if not one.call_id and not one.result)
            taker = its_own or next(unnamed, None)
            if taker is not None:
                taker.result = call_id
