"""Finds the transcript of an agent in a person's own pane, and keeps the answer while it holds.

Nothing is kept longer than its doubt: another process in the pane, a file that is gone or replaced, another transcript
of the same folder make it look again. `fleet/log_evidence.py` gathers the evidence, `fleet/ownership.py` decides.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import TimeoutError as LookTimeout
from pathlib import Path
from typing import Any, Final, NamedTuple

from maestro import processes
from maestro.agents import Transcript
from maestro.agents.registry import agent_named, terminal_named
from maestro.agents.terminal import Terminal
from maestro.fleet import log_evidence as evidence
from maestro.fleet.crew import Crew
from maestro.fleet.facts import Sight
from maestro.fleet.log_evidence import Candidates, Identity, Owner, Running
from maestro.fleet.ownership import Prior, Process, Shown, Verdict, ruled_out, whose
from maestro.fleet.proof import lines_since, taken_since
from maestro.ledger import sessions
from maestro.ledger.facts import Session
from maestro.ledger.journal import Change
from maestro.ledger.roles import HUMAN

Lengths = Mapping[Path, int]

_LATER_SECONDS: Final = 600.0  # a queued prompt is taken when the turn before it ends, or never
_LOOK_SECONDS: Final = 1.0
_AGAIN_SECONDS: Final = 0.25  # what was looked at just now is not looked at again
_SCREEN_SECONDS: Final = 3.0
_TOOK_PROMPT: Final = "it took a prompt that Maestro typed into the pane"
_HOOK_TOLD: Final = "the agent's own hook named it"
_SHOWN_BEFORE: Final = "it was shown before the daemon started, and nothing contradicts it"
_ENDED: Final = "it was the last of an agent that has ended"


class Owned(NamedTuple):
    """The transcript of a session, with the evidence for it; or None, with the reason."""

    path: Path | None
    transcript_id: str
    evidence: str


class _Known(NamedTuple):
    owned: Owned
    process: processes.ProcessId | None
    identity: Identity | None
    others: Mapping[str, int]  # transcripts that were there too and are not its own, and how long each was
    held: frozenset[str]
    looked: float  # by the monotonic clock


class Logs:
    def __init__(self, crew: Crew, see: Callable[[Session], Coroutine[Any, Any, Sight | None]]) -> None:
        self._crew = crew
        self._see = see
        self._known: dict[str, _Known] = {}
        self._asked: set[str] = set()  # sessions that were decided on since the daemon started
        self._candidates = Candidates()
        self._later: dict[str, asyncio.Task[None]] = {}
        self._deciding = threading.RLock()
        self._loop = asyncio.get_running_loop()

    # Whose.

    def owned(self, session: Session) -> Owned | None:
        """Returns the transcript of a session that Maestro did not launch, or why it is unknown; None for all others.

        Belongs into a thread: the screen is asked of the loop.
        """
        if not self._is_adopted(session):
            return None
        with self._deciding:
            return self._decided(session)

    def told(self, session: Session, transcript_id: str, path: str) -> None:
        """Takes the word of the agent's own hook."""
        if not self._is_adopted(session):
            return
        with self._deciding:
            found = evidence.running(session)
            process = evidence.process_of(session, found)
            env = evidence.environment_of(session, found)
            log = Path(path) if path else agent_named(session.agent).locate(transcript_id, process.cwd, env)
            logs = evidence.possible_logs(session, process, found)
            self._keep(session, Owned(log, transcript_id, _HOOK_TOLD), logs, found, process.held)

    def _is_adopted(self, session: Session) -> bool:
        return (
            session.mode is None
            and session.place is not None
            and session.ended_at is None
            and session.host == self._crew.journal.host
        )

    def _decided(self, session: Session) -> Owned:
        found = evidence.running(session)
        known = self._known.get(session.id)
        if known is not None and not _still_holds(known, found):
            known = None
            self._known.pop(session.id)
        if known is not None and time.monotonic() - known.looked < _AGAIN_SECONDS:
            return known.owned
        if found is None and evidence.is_told(session) and session.transcript_path is not None:
            # Whoever has the terminal now is no agent: nothing new is written.
            return known.owned if known and known.owned.path else _last_of(session)
        process = evidence.process_of(session, found)
        logs = evidence.possible_logs(session, process, found)
        if known is not None and _is_undoubted(known, logs, process):
            self._known[session.id] = known._replace(looked=time.monotonic())
            return known.owned
        verdict = self._verdict(session, process, found, logs, known)
        return self._settle(session, verdict, logs, found, process.held)

    def _verdict(
        self,
        session: Session,
        process: Process,
        found: Running | None,
        logs: list[Transcript],
        known: _Known | None,
    ) -> Verdict:
        agent = agent_named(session.agent)
        owners = self._owners(session, process.held)
        candidates = [self._candidates.read(agent, log, owners) for log in logs]
        prior = None
        if known is not None and known.owned.path is not None:
            prior = Prior(str(known.owned.path), known.owned.evidence, frozenset(known.others))
        elif session.id not in self._asked and session.transcript_path:
            prior = Prior(session.transcript_path, _SHOWN_BEFORE)
        self._asked.add(session.id)
        shown = self._shown(session)
        verdict = whose(process, candidates, shown, prior)
        if verdict.candidate is None and found is not None:
            # Every process of the machine has to be looked at for this.
            alone = evidence.is_alone(terminal_named(session.agent), found.pid, process.cwd)
            verdict = whose(process._replace(is_alone=alone), candidates, shown, prior)
        return verdict

    def _settle(
        self,
        session: Session,
        verdict: Verdict,
        logs: list[Transcript],
        found: Running | None,
        held: frozenset[str],
    ) -> Owned:
        one = verdict.candidate
        if one is None:
            owned = Owned(None, "", verdict.evidence)
            if session.transcript_path is not None:
                self._write(session, sessions.placeholder_of(session), None)
        else:
            owned = Owned(Path(one.path), one.transcript_id, verdict.evidence)
            if (session.transcript_id, session.transcript_path) != (one.transcript_id, one.path):
                self._write(session, one.transcript_id, one.path)
        self._keep(session, owned, logs, found, held)
        return owned

    def _keep(
        self,
        session: Session,
        owned: Owned,
        logs: list[Transcript],
        found: Running | None,
        held: frozenset[str],
    ) -> None:
        self._known[session.id] = _Known(
            owned,
            found.identity if found else None,
            evidence.identity_of(owned.path) if owned.path else None,
            {str(log.path): log.size for log in logs if log.path != owned.path},
            held,
            time.monotonic(),
        )

    def _write(self, session: Session, transcript_id: str, path: str | None) -> None:
        """Records the transcript, and takes it from the session that has left it: one transcript, one session."""
        left: list[str] = []

        def work(change: Change) -> str:
            for one in sessions.list_sessions(change.connection, active=True):
                is_other = one.id != session.id and one.transcript_id == transcript_id
                if is_other and self._is_adopted(one):
                    sessions.follow_transcript(change, one.id, sessions.placeholder_of(one), None)
                    left.append(one.id)
            return sessions.follow_transcript(change, session.id, transcript_id, path)

        self._crew.journal.write(HUMAN, work)
        for one in left:
            self._known.pop(one, None)

    def _owners(self, session: Session, held: frozenset[str]) -> dict[str, Owner]:
        """Returns the other live session of each transcript. `held`: what this session's agent has open."""
        live = self._crew.journal.read(lambda c: sessions.list_sessions(c, active=True))
        return {
            one.transcript_id: Owner(one.name, is_left=one.transcript_id in held and self._has_left(one))
            for one in live
            if one.id != session.id and one.transcript_id
        }

    def _has_left(self, owner: Session) -> bool:
        """Whether the agent of a person's own pane no longer has the transcript open that is recorded for it."""
        if not self._is_adopted(owner):
            return False
        return owner.transcript_id not in evidence.process_of(owner, evidence.running(owner)).held

    def _shown(self, session: Session) -> Shown:
        """Asks the pane for its screen; nothing where that cannot be had now."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            look = asyncio.run_coroutine_threadsafe(self._see(session), self._loop)
        else:
            return Shown()  # the loop cannot wait for itself
        try:
            return evidence.shown_by(agent_named(session.agent), look.result(_SCREEN_SECONDS))
        except LookTimeout:
            look.cancel()
            return Shown()

    # By a prompt that was typed.

    async def lengths(self, session: Session) -> Lengths | None:
        """How long each log that could be its is now; None where it is known which one is."""
        if session.mode is not None:
            return None

        def work() -> Lengths:
            found = evidence.running(session)
            process = evidence.process_of(session, found)
            return {log.path: log.size for log in evidence.possible_logs(session, process, found)}

        return await asyncio.to_thread(work)

    async def follow_taker(
        self, session: Session, terminal: Terminal, before: Lengths, *typed: str
    ) -> Transcript | None:
        """Returns the one log that has got this prompt since; from now on it is the session's."""
        return await asyncio.to_thread(self._follow_taker, session, terminal, before, *typed)

    def _follow_taker(
        self, session: Session, terminal: Terminal, before: Lengths, *typed: str
    ) -> Transcript | None:
        found = evidence.running(session)
        process = evidence.process_of(session, found)
        agent, owners = agent_named(session.agent), self._owners(session, process.held)
        logs = evidence.possible_logs(session, process, found)
        takers = []
        for log in logs:
            length = before.get(log.path, 0)
            if log.size > length and taken_since(terminal, lines_since(log.path, length), *typed):
                takers.append(log)
        own = [log for log in takers if not ruled_out(self._candidates.read(agent, log, owners), process)]
        if len(own) != 1:
            # Of two that got the same words at the same time, neither is known to be its own.
            return None
        [taker] = own
        with self._deciding:
            owned = Owned(taker.path, taker.session_id, _TOOK_PROMPT)
            self._keep(session, owned, logs, found, process.held)
            self._write(session, taker.session_id, str(taker.path))
        return taker

    def follow_later(self, session: Session, terminal: Terminal, before: Lengths, *typed: str) -> None:
        """The agent has queued this prompt: its log shows it only when the agent takes it."""
        if session.id not in self._later:
            waiting = asyncio.create_task(self._until_taken(session, terminal, before, *typed))
            self._later[session.id] = waiting
            waiting.add_done_callback(lambda _: self._later.pop(session.id))

    async def _until_taken(self, session: Session, terminal: Terminal, before: Lengths, *typed: str) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _LATER_SECONDS
        while loop.time() < deadline and (await self._crew.session(session.id)).ended_at is None:
            if await self.follow_taker(session, terminal, before, *typed) is not None:
                return
            await asyncio.sleep(_LOOK_SECONDS)


def _last_of(session: Session) -> Owned:
    return Owned(Path(session.transcript_path or ""), session.transcript_id or "", _ENDED)


def _still_holds(known: _Known, found: Running | None) -> bool:
    """Whether the same process still runs, or none, and the file is the one that was found."""
    if found is not None and known.process != found.identity:
        return False
    if known.owned.path is None or known.identity is None:
        return True
    return evidence.identity_of(known.owned.path) == known.identity


def _is_undoubted(known: _Known, logs: list[Transcript], process: Process) -> bool:
    """Whether nothing has come, or grown, that could be its own as well."""
    if known.owned.path is None or known.held != process.held:
        return False
    return all(log.path == known.owned.path or known.others.get(str(log.path)) == log.size for log in logs)
