"""What a session does, by everything that tells: asks each source, once, and lets `observe/fusion.py` decide."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from maestro.agents.registry import hooked_named, terminal_named
from maestro.fleet.crew import Crew
from maestro.fleet.facts import Sight
from maestro.fleet.logs import Owned
from maestro.fleet.lookout import Lookout
from maestro.ledger import schema
from maestro.ledger.facts import Event, Fact, Question, Session, Task
from maestro.ledger.sessions import ENDED
from maestro.observe.fusion import Fused, Says, fuse, of_hook, of_screen, of_transcript
from maestro.observe.observer import Observer
from maestro.observe.status import UNMARKED
from maestro.redact import clean, fold, redact

_HEAD = 65_536


class Explanation(Fact):
    """A session's status, what it rests on, and what is open."""

    session_id: str
    status: str
    state: str
    rule: str
    evidence: tuple[dict[str, Any], ...]
    disagreements: tuple[dict[str, Any], ...]
    degraded: tuple[str, ...]
    question: Question | None
    draft: str | None
    queued: tuple[str, ...]
    focused: bool
    transcript: str = (
        ""  # where nobody told it: which one is its own, by what evidence, or why that is unknown
    )


class Insight:
    def __init__(self, crew: Crew, lookout: Lookout, observer: Observer) -> None:
        self._crew = crew
        self._lookout = lookout
        self._observer = observer
        self._versions: dict[str, str] = {}  # by session: banners scroll away

    async def explain(self, session: Session, tasks: Mapping[str, Task]) -> Explanation:
        sight, question = await self._lookout.look(session)
        fused = await self._fused(session, tasks, sight)
        told = msgspec.to_builtins(fused)
        owned = await asyncio.to_thread(self._lookout.logs.owned, session)
        screen = sight.screen if sight else None
        return Explanation(
            session_id=session.id,
            status=fused.status,
            state=fused.state,
            rule=fused.rule,
            evidence=tuple(told["evidence"]),
            disagreements=tuple(told["disagreements"]),
            degraded=fused.degraded,
            question=question,
            # Of a draft that is nothing but spaces, the spaces.
            draft=None if screen is None or screen.draft is None else shown(screen.draft) or screen.draft,
            queued=() if screen is None else tuple(map(shown, screen.queued)),
            focused=sight is not None and sight.focused,
            transcript=_ownership(owned),
        )

    async def _fused(self, session: Session, tasks: Mapping[str, Task], sight: Sight | None) -> Fused:
        if session.status in ENDED:
            ended = Says("process", "exited", f"it has ended: {session.status}", "ledger", session.ended_at)
            return fuse([ended])
        hook, transcript = await asyncio.gather(
            asyncio.to_thread(self._crew.journal.read, lambda c: _last_hook(c, session.id)),
            asyncio.to_thread(self._of_transcript, session, tasks),
        )
        said = [*_of_sight(session, sight), *hook, *transcript]
        version = await asyncio.to_thread(self._version, session, sight)
        return fuse(said, _degraded(session, sight, version, has_hooks=bool(hook)))

    def _of_transcript(self, session: Session, tasks: Mapping[str, Task]) -> list[Says]:
        [digest] = self._observer.digests([session], tasks, last=1)
        if digest.unknown_transcript:
            return [Says("transcript", "unknown", digest.unknown_transcript, "whose", None)]
        return [
            Says(
                "transcript",
                of_transcript(digest.status),
                one.says,
                digest.status,
                one.at,
                weak=one.says == UNMARKED,
            )
            for one in digest.evidence[:1]
        ]

    def _version(self, session: Session, sight: Sight | None) -> str:
        known = sight.screen.version if sight else ""
        if not known and session.id not in self._versions:
            terminal = terminal_named(session.agent)
            path = self._crew.transcript_of(session)
            if terminal is not None and path is not None:
                known = terminal.version_in(_head(path))
        if known:
            self._versions[session.id] = known
        return self._versions.get(session.id, "")


def _head(path: os.PathLike[str]) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_HEAD)
    except OSError:
        return b""  # it was removed since


def _ownership(owned: Owned | None) -> str:
    if owned is None:
        return ""
    return f"{owned.path}: {owned.evidence}" if owned.path else f"unknown: {owned.evidence}"


def _of_sight(session: Session, sight: Sight | None) -> list[Says]:
    if sight is None:
        gone = "its pane is gone" if session.place else ""
        return [Says("process", "exited", gone, "pane", None)] if gone else []
    if sight.pane.dead:
        return [Says("process", "exited", "its pane is dead", "pane", sight.at)]
    said: list[Says] = []
    if sight.in_front is False:
        front = f"“{shown(sight.front)}” has the terminal, not {session.agent}"
        said.append(Says("process", "exited", front, "foreground", sight.at))
    screen = sight.screen
    words = f"“{shown(screen.evidence)}”" if screen.evidence else "nothing on it is known"
    said.append(Says("screen", of_screen(screen.state), words, screen.rule, sight.at))
    if sight.title is not None:
        title = f"“{shown(sight.title.evidence)}”"
        said.append(Says("title", of_screen(sight.title.state), title, "title", sight.at))
    return said


def _last_hook(connection: Connection, session_id: str) -> list[Says]:
    events = schema.events
    query = (
        sa.select(events)
        .where(events.c.subject_id == session_id, events.c.kind.like("agent.%"))
        .order_by(events.c.seq.desc())
        .limit(1)
    )
    row = connection.execute(query).first()
    if row is None:
        return []
    event = Event(**row._mapping)  # noqa: SLF001 - SQLAlchemy's documented name
    hook = event.data.get("hook", {})
    kind = event.kind.removeprefix("agent.")
    status = "working" if kind == "turn_ended" and hook.get("background") else of_hook(kind)
    words = str(hook.get("event", "")) + (f": “{shown(str(hook['text']))}”" if hook.get("text") else "")
    return [Says("hook", status, words, kind, hook.get("toldAt"))]


def _degraded(session: Session, sight: Sight | None, version: str, *, has_hooks: bool) -> list[str]:
    found: list[str] = []
    terminal, hooked = terminal_named(session.agent), hooked_named(session.agent)
    if terminal is None:
        found.append(f"Maestro cannot read {session.agent}'s screen: only its transcript tells.")
    elif version and terminal.recorded_versions and version not in terminal.recorded_versions:
        known = ", ".join(terminal.recorded_versions)
        found.append(
            f"{session.agent} {version} is a version that its screens were not recorded on ({known}): it may be misread."
        )
    if not has_hooks:
        why = hooked.no_session_hooks if hooked is not None else ""
        found.append(f"No hook of it has told anything. {why}".strip())
    if sight is not None and sight.in_front is None:
        found.append("Who has its terminal cannot be told on this system.")
    if session.place is None:
        found.append("It is in no terminal that Maestro knows: only its transcript tells.")
    return found


def shown(text: str, most: int = 160) -> str:
    line = fold(redact(clean(text)))
    return line if len(line) <= most else line[: most - 1] + "…"
