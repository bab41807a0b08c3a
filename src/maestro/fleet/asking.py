"""What sessions wait for, kept in the ledger: sightings by hooks and on screens become one question each.

The same words asked twice are two questions. They are told apart by the call's own id, by a hook that tells a second time,
by a screen that showed something else, and by a transcript that has the answer to the first.

An agent goes on before what its hook said is taken in. So each sighting has its time: a hook ends no dialog that came after
it spoke, and a dialog that it ended may stand on the screen for a moment.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final, NamedTuple
from weakref import WeakValueDictionary

import msgspec

from maestro.agents.occurrence import likeness
from maestro.agents.questions import HIDDEN, REDACTED, is_same, merged, settled, words_of
from maestro.agents.questions import Question as Asked
from maestro.agents.screen import Screen
from maestro.ages import has_passed, is_from_before
from maestro.ledger import questions
from maestro.ledger.facts import Question, Session
from maestro.ledger.journal import Change, Journal
from maestro.ledger.roles import HUMAN
from maestro.redact import MARK, clean, hides, redact

# A hook tells of a dialog before it is drawn, and of its end before it is wiped out: so long the screen means nothing.
DRAWING_MS: Final = 1_500
# A screen in one of these states shows that no dialog is open.
NO_DIALOG = frozenset({"idle", "working", "background", "error", "retrying", "limit", "exited"})


class Sighted(NamedTuple):
    """The last question as it was last seen on the screen, and the hooks that told of it."""

    question_id: str = ""
    since: int = 0  # when it was first seen, or told of
    on_screen: Asked | None = None
    events: frozenset[str] = frozenset()
    ended_at: int | None = None  # when a hook told that it is over


class Asking:
    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        # By session: its latest question, with what was seen of it. Not kept over a restart.
        self._sighted: dict[str, Sighted] = {}
        # One sighting of a session at a time: each is compared with all that was seen before it.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def open(self, session_id: str) -> Question | None:
        return await asyncio.to_thread(self.journal.read, lambda c: questions.open_question(c, session_id))

    async def heard(self, session: Session, asked: Asked, call_id: str, event: str, at: int) -> Question:
        """A hook told of it then, in the agent's own words. Each event tells of a dialog once."""
        async with self._turn(session.id):
            return await self._seen(session, asked, at, source=questions.HOOK, call_id=call_id, event=event)

    async def shown(self, session: Session, screen: Screen, at: int) -> Question | None:
        """What the screen showed then is open. A screen that cannot be read changes nothing."""
        async with self._turn(session.id):
            return await self._shown(session, screen, at)

    async def _shown(self, session: Session, screen: Screen, at: int) -> Question | None:
        known = await self.open(session.id)
        if screen.question is None and (known is None or screen.state not in NO_DIALOG):
            return known
        if known is not None and self.is_to_be_drawn(known, screen):
            return known
        if screen.question is not None:
            if known is None and await self._is_to_be_wiped_out(session.id, fit(screen.question)):
                return None
            return await self._seen(session, screen.question, at, source="screen", call_id="")
        await self._close(session.id, "it is no longer on the screen")
        return None

    async def answered(self, session_id: str, question_id: str, closed_by: str) -> None:
        """Closes this question, if it is still the open one."""
        async with self._turn(session_id):
            known = await self.open(session_id)
            if known is not None and known.id == question_id:
                await self._close(session_id, closed_by)

    async def ended(self, session_id: str, event: str, call_id: str, at: int) -> Question | None:
        """A hook told then that whatever was asked is over; with `call_id`, what this call asks. Returns what came since,
        and stays open."""
        async with self._turn(session_id):
            return await self._ended(session_id, event, call_id, at)

    async def _ended(self, session_id: str, event: str, call_id: str, at: int) -> Question | None:
        known = await self.open(session_id)
        if known is None:
            return None
        sighted = self._sighted.get(session_id, Sighted())
        if sighted.question_id != known.id:
            sighted = Sighted(known.id, known.opened_at)
        is_named = bool(call_id) and known.call_id == call_id
        is_other = bool(call_id) and known.call_id not in {"", call_id}
        is_later = sighted.since > at and not is_from_before(sighted.since, at)
        if is_other or (is_later and not is_named):
            return known
        await self._close(session_id, f"{event} {questions.SAID_SO}")
        self._sighted[session_id] = sighted._replace(ended_at=self.journal.clock())
        return None

    def _turn(self, session_id: str) -> asyncio.Lock:
        return self._locks.setdefault(session_id, asyncio.Lock())

    async def _close(self, session_id: str, closed_by: str) -> None:
        def work(change: Change) -> str:
            questions.close_all(change, session_id, closed_by)
            return session_id

        await asyncio.to_thread(self.journal.write, HUMAN, work)

    def is_to_be_drawn(self, known: Question, screen: Screen) -> bool:
        """Whether a hook told of it so lately that the screen cannot be expected to show it, and it does not."""
        is_fresh = known.source == questions.HOOK and not has_passed(
            DRAWING_MS, known.opened_at, self.journal.clock()
        )
        return is_fresh and not _shows(screen, known)

    async def _is_to_be_wiped_out(self, session_id: str, asked: Asked) -> bool:
        """Whether a hook told so lately of the end of this dialog that the screen may still show it."""
        last = self._sighted.get(session_id, Sighted())
        if last.ended_at is None or has_passed(DRAWING_MS, last.ended_at, self.journal.clock()):
            return False
        if last.on_screen is not None:
            return likeness(last.on_screen, asked) != "other"
        known = await asyncio.to_thread(
            self.journal.read, lambda c: questions.get_question(c, last.question_id)
        )
        return is_same(asked_of(known), asked)

    async def _seen(
        self, session: Session, asked: Asked, at: int, *, source: str, call_id: str, event: str = ""
    ) -> Question:
        asked = fit(asked)
        sighted = self._sighted.get(session.id, Sighted())
        on_screen = asked if source == "screen" else None

        def work(change: Change) -> str:
            known = questions.open_question(change.connection, session.id)
            before = sighted if known is not None and known.id == sighted.question_id else Sighted()
            if known is None or not _is_of(known, before, asked, call_id, on_screen, event):
                return questions.ask(
                    change, session.id, stored(settled(asked)), source=source, call_id=call_id
                )
            whole = stored(merged(asked_of(known), asked, exact=source == questions.HOOK))
            is_known = call_id in {"", known.call_id} and source in {"screen", known.source}
            if whole == known.asked and is_known:
                return known.id
            return questions.amend(change, known, whole, source=source, call_id=call_id)

        found = await asyncio.to_thread(self.journal.write, HUMAN, work)
        question = await asyncio.to_thread(self.journal.read, lambda c: questions.get_question(c, found))
        before = sighted if sighted.question_id == found else Sighted(found, min(at, question.opened_at))
        events = before.events | {event} if event else before.events
        self._sighted[session.id] = before._replace(on_screen=on_screen or before.on_screen, events=events)
        return question


def _shows(screen: Screen, known: Question) -> bool:
    return screen.question is not None and is_same(asked_of(known), fit(screen.question))


def _is_of(
    known: Question, before: Sighted, asked: Asked, call_id: str, on_screen: Asked | None, event: str
) -> bool:
    if call_id and known.call_id:
        return call_id == known.call_id
    if event in before.events:
        return False
    if on_screen is not None and before.on_screen is not None:
        return likeness(before.on_screen, on_screen) != "other"
    if not is_same(asked_of(known), asked):
        return False
    # Kept by an earlier daemon: the same by its words alone may be the next one, which nobody has read.
    is_left = on_screen is not None and not before.question_id
    return not (is_left and _can_compare(known)) or likeness(asked_of(known), asked) != "other"


def _can_compare(known: Question) -> bool:
    """Whether what is kept of a question has the words that its screen shows: a hook has others of an approval."""
    return known.source != questions.HOOK or known.kind not in {"permission", "plan"}


def asked_of(question: Question) -> Asked:
    return msgspec.convert(question.asked, Asked)


def fit(asked: Asked) -> Asked:
    """What is on a screen, as it is kept: what was kept is compared with this."""
    return msgspec.convert(stored(asked), Asked)


def without_the_rest(asked: Asked) -> Asked:
    """What a hook told, and what lay on the disk without its secrets: only a screen can show what these were."""
    is_whole = not any(MARK in words for words in words_of(asked))
    return asked if is_whole else msgspec.structs.replace(asked, unread=REDACTED)


def told(question: Question | None) -> dict[str, Any]:
    """An open question as `capture-pane` tells it: seed words first, then all of it."""
    if question is None:
        return {"hasQuestion": False, "questionText": "", "options": [], "preamble": ""}
    asked = question.asked
    return {
        "hasQuestion": True,
        "questionText": question.text,
        "options": asked.get("options", []),
        "preamble": asked.get("preamble", ""),
        "questionId": question.id,
        "version": question.version,
        "kind": question.kind,
        "header": asked.get("header", ""),
        "tool": asked.get("tool", ""),
        "detail": asked.get("detail", ""),
        "parts": asked.get("parts", []),
        "askedAt": question.opened_at,
    }


def stored(asked: Asked) -> dict[str, Any]:
    """Fit to keep: what agents write is stored without secrets and control characters. Where that takes away what a
    person should have read, it says so: whoever judges the question sees only what is kept."""
    kept: dict[str, Any] = _kept(msgspec.to_builtins(asked))
    if _hides(asked):
        kept["unread"] = HIDDEN
    return kept


def _hides(asked: Asked) -> bool:
    offered = (
        text for option in asked.options for text in (option.label, option.description, option.preview)
    )
    if any(map(hides, (asked.text, asked.header, asked.tool, asked.detail, *offered))):
        return True
    # What was said before, and what an edit writes, may be code about secrets.
    beside = (asked.preamble, asked.inputs)
    return any(hides(text, values=False) for text in beside) or any(map(_hides, asked.parts))


def _kept(value: Any) -> Any:
    if isinstance(value, str):
        return redact(clean(value))
    if isinstance(value, dict):
        return {name: _kept(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_kept(inner) for inner in value]
    return value
