"""What agents' own hooks tell: kept as events, questions and notify states; and the answer that a hook waits for."""

from __future__ import annotations

import asyncio
from typing import Any, Final, Protocol

import structlog

from maestro.agents.hooks import EndsAlike, Happening, HappeningKind, Payload, TellsModel
from maestro.agents.limits import is_limit
from maestro.agents.registry import hooked_named
from maestro.errors import NotFound
from maestro.fleet.asking import Asking, without_the_rest
from maestro.fleet.channels import Channels
from maestro.fleet.lookout import Lookout
from maestro.fleet.panes import Notify
from maestro.ledger import sessions
from maestro.ledger.facts import Session, SessionStatus
from maestro.ledger.journal import Change, Journal
from maestro.ledger.roles import Actor
from maestro.redact import clean, redact

_log = structlog.get_logger("hearing")

_TOLD: Final = 500
_NOTIFY: Final[dict[HappeningKind, tuple[Notify, SessionStatus]]] = {
    "prompted": ("working", "working"),
    "asked": ("unchecked", "needs_input"),
    "answered": ("working", "working"),
    "turn_ended": ("unchecked", "idle"),
    "turn_failed": ("error", "failed"),
    "idle": ("unchecked", "idle"),
}
# With any of these, whatever was asked before is over.
_ENDS_QUESTIONS: Final = frozenset({"prompted", "answered", "turn_ended", "turn_failed", "session_ended"})
# After these something short may follow that no hook tells of.
_BEGINS: Final = frozenset({"prompted", "answered"})
_BRIEFED: Final = frozenset({"prompted", "session_started", "compacting", "compacted"})
_BRIEF_SECONDS: Final = 0.7  # a hook waits a second for all of its answer


class Brief(Protocol):
    """What the model is told at a happening; empty: nothing. Without somebody who `listens`, what is kept of it."""

    async def __call__(self, session: Session, happening: Happening, *, listens: bool) -> str: ...


class Hearing:
    def __init__(self, journal: Journal, lookout: Lookout, asking: Asking, channels: Channels) -> None:
        self._journal = journal
        self._lookout = lookout
        self._asking = asking
        self._channels = channels

        self.brief: Brief | None = None

    async def heard(
        self,
        agent: str,
        event: str,
        payload: Payload,
        *,
        session_id: str | None,
        at: int,
        waits: bool,
        listens: bool,
        is_redacted: bool = False,
    ) -> bytes | None:
        """Take in what a hook told. What it must print, if anything, where it still `listens`; with `waits` that may
        take as long as the question is open. `is_redacted`: secrets were taken out of it before."""
        try:
            hooked = hooked_named(agent)
        except NotFound:
            return None
        if hooked is None:
            return None
        happening = hooked.read_hook(event, payload)
        session = await self._session(agent, session_id, happening)
        if session is None or session.status in sessions.ENDED or happening.kind == "other":
            return None
        if not _is_its_own(session, happening):
            return None
        await self._record(session, event, happening, at)
        question = kept = None
        if happening.kind == "asked" and happening.question is not None:
            asked = without_the_rest(happening.question) if is_redacted else happening.question
            question = await self._asking.heard(session, asked, happening.call_id, event, at)
            self._channels.let_go(session.id, but=question.id)
        elif happening.kind in _ENDS_QUESTIONS:
            kept = await self._asking.ended(session.id, event, happening.call_id, at)
            self._channels.let_go(session.id, but=kept.id if kept else "")
        if happening.kind == "prompted":
            self._channels.prompted(session.id, happening.text, at)
        if kept is None:
            await self._tell(session, happening, ends_alike=isinstance(hooked, EndsAlike))
        if kept is not None or happening.kind in _BEGINS:
            self._lookout.expect(session, at)
        self._channels.ring(session.id)
        if waits and question is not None:
            return await self._channels.wait_for_answer(session.id, event, payload, question.id)
        if not isinstance(hooked, TellsModel):
            await self._told(session, happening, listens=False)
            return None
        text = await self._told(session, happening, listens=listens)
        return hooked.hook_context(event, text) if text else None

    async def _told(self, session: Session, happening: Happening, *, listens: bool) -> str:
        """What the model is told at this. Nothing rather than late: the agent waits for its hook."""
        if self.brief is None or happening.kind not in _BRIEFED:
            return ""
        try:
            async with asyncio.timeout(_BRIEF_SECONDS):
                return await self.brief(session, happening, listens=listens)
        except TimeoutError:
            _log.warning("brief took too long", session=session.id, happening=happening.kind)
        except Exception:  # noqa: BLE001 - the edge to whatever is told: the agent goes on without it
            _log.exception("brief", session=session.id, happening=happening.kind)
        return ""

    async def _tell(self, session: Session, happening: Happening, *, ends_alike: bool) -> None:
        if happening.kind == "turn_ended" and happening.background:
            await self._lookout.tell(session, "working", "working")
        elif happening.kind in _NOTIFY:
            notify, status = _NOTIFY[happening.kind]
            if status == "failed" and is_limit(happening.text):
                status = "limited"
            # An agent that has been at rest for a while is no news.
            is_known = session.status == "needs_input" or session.status in sessions.AT_REST
            if happening.kind == "idle" and is_known:
                return
            if happening.kind == "turn_ended" and ends_alike:
                # The screen, or the look that is still to come, tells how it ended.
                self._lookout.expect(session, 0)
                if session.status in sessions.AT_REST:
                    return
            await self._lookout.tell(session, notify, status)

    async def _session(self, agent: str, session_id: str | None, happening: Happening) -> Session | None:
        """The session that is meant: by its own id, or, for one started by hand, by its transcript's."""

        def work(connection: Any) -> Session | None:
            live = sessions.list_sessions(connection, active=True)
            for session in live:
                if session.id == session_id:
                    return session
            return next(
                (
                    session
                    for session in live
                    if session_id is None
                    and session.agent == agent
                    and happening.transcript_id
                    and session.transcript_id == happening.transcript_id
                ),
                None,
            )

        return await asyncio.to_thread(self._journal.read, work)

    async def _record(self, session: Session, event: str, happening: Happening, at: int) -> None:
        begins_log = happening.transcript_id and happening.transcript_id != session.transcript_id

        def work(change: Change) -> str:
            told = {
                "event": event,
                "told_at": at,
                "text": redact(clean(happening.text))[:_TOLD],
                "background": happening.background,
                "source": happening.source,
            }
            change.record(f"agent.{happening.kind}", session.id, session.project_id, {"hook": told})
            if begins_log:
                # Cleared, resumed, or a CLI that gives its logs ids of its own.
                sessions.follow_transcript(
                    change, session.id, happening.transcript_id, happening.transcript_path or None
                )
            return session.id

        await asyncio.to_thread(self._journal.write, Actor(session.role, session.id), work)
        if happening.transcript_id:
            await asyncio.to_thread(
                self._lookout.logs.told, session, happening.transcript_id, happening.transcript_path
            )


def _is_its_own(session: Session, happening: Happening) -> bool:
    """Whether the session's own agent tells it. One that the session runs itself, in its shell, has its variables too."""
    known, told = session.transcript_id, happening.transcript_id
    if not told or known == told or known is None or known.startswith(_PLACEHOLDER):
        return True
    return happening.kind == "session_started" and happening.source in _BEGIN_ANOTHER_LOG


# What an adopted pane's session has for an id until its agent tells its own.
_PLACEHOLDER: Final = "%"
_BEGIN_ANOTHER_LOG: Final = frozenset({"clear", "resume", "compact"})
