"""What sessions wait for, kept in the ledger: sightings by hooks and on screens become one question each.

The same words asked twice are two questions. They are told apart by the call's own id, by a hook that tells a second time,
by a screen that showed something else, and by a transcript that has the answer to the first.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final, NamedTuple

import msgspec

from maestro.agents.occurrence import likeness
from maestro.agents.questions import HIDDEN, REDACTED, is_same, merged, settled, words_of
from maestro.agents.questions import Question as Asked
from maestro.agents.screen import Screen
from maestro.ages import has_passed
from maestro.ledger import questions
from maestro.ledger.facts import Question, Session
from maestro.ledger.journal import Change, Journal
from maestro.ledger.roles import HUMAN
from maestro.redact import MARK, clean, hides, redact

# A hook tells of a dialog before it is drawn: so long a screen without it means nothing.
DRAWING_MS: Final = 1_500
# A screen in one of these states shows that no dialog is open.
NO_DIALOG = frozenset({"idle", "working", "background", "error", "retrying", "limit", "exited"})


class Sighted(NamedTuple):
    """An open question as it was last seen on the screen, and the hooks that told of it."""

    question_id: str = ""
    on_screen: Asked | None = None
    events: frozenset[str] = frozenset()


class Asking:
    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        # By session: its open question, with what was seen of it. Not kept over a restart.
        self._sighted: dict[str, Sighted] = {}

    async def open(self, session_id: str) -> Question | None:
        return await asyncio.to_thread(self.journal.read, lambda c: questions.open_question(c, session_id))

    async def heard(self, session: Session, asked: Asked, call_id: str, event: str = "") -> Question:
        """A hook told of it, in the agent's own words. Each event tells of a dialog once."""
        return await self._seen(session, asked, source="hook", call_id=call_id, event=event)

    async def shown(self, session: Session, screen: Screen) -> Question | None:
        """What the screen shows is open. A screen that cannot be read changes nothing."""
        known = await self.open(session.id)
        if screen.question is None and (known is None or screen.state not in NO_DIALOG):
            return known
        if known is not None and self.is_to_be_drawn(known, screen):
            return known
        if screen.question is not None:
            return await self._seen(session, screen.question, source="screen", call_id="")
        await self.close(session.id, "it is no longer on the screen")
        return None

    async def close(self, session_id: str, closed_by: str, *, call_id: str = "", of: str = "") -> None:
        """Closes what is open; with `call_id` only what may be of this call, with `of` only this question."""
        known = await self.open(session_id)
        if known is None or (of and known.id != of) or (call_id and known.call_id not in {"", call_id}):
            return

        def work(change: Change) -> str:
            questions.close_all(change, session_id, closed_by)
            return session_id

        await asyncio.to_thread(self.journal.write, HUMAN, work)

    def is_to_be_drawn(self, known: Question, screen: Screen) -> bool:
        """Whether a hook told of it so lately that the screen cannot be expected to show it, and it does not."""
        is_fresh = known.source == "hook" and not has_passed(
            DRAWING_MS, known.opened_at, self.journal.clock()
        )
        return is_fresh and not _shows(screen, known)

    async def _seen(
        self, session: Session, asked: Asked, *, source: str, call_id: str, event: str = ""
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
            whole = stored(merged(asked_of(known), asked, exact=source == "hook"))
            if whole == known.asked and (not call_id or call_id == known.call_id):
                return known.id
            return questions.amend(change, known, whole, call_id=call_id)

        found = await asyncio.to_thread(self.journal.write, HUMAN, work)
        before = sighted if sighted.question_id == found else Sighted(found)
        events = before.events | {event} if event else before.events
        self._sighted[session.id] = Sighted(found, on_screen or before.on_screen, events)
        return await asyncio.to_thread(self.journal.read, lambda c: questions.get_question(c, found))


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
    is_screens = known.source == "screen" and not known.call_id
    return is_screens or known.kind not in {"permission", "plan"}


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
