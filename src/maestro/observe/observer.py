"""From the ledger's sessions to what they are doing: resolve, read, digest. On demand; only paths are kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, Protocol

import msgspec

from maestro.agents import Agent
from maestro.agents.registry import agent_named, agent_names
from maestro.agents.screen import Screen
from maestro.errors import NotFound
from maestro.ledger.board import ENDED
from maestro.ledger.facts import Session, Task
from maestro.observe.context import MOST_TOKENS, BoardTask, Watched, coordinator_context
from maestro.observe.digest import (
    DEFAULT_LAST,
    USUAL_SHAPE,
    Digest,
    Entry,
    Shape,
    Source,
    Subject,
    unseen,
    with_screen,
)
from maestro.observe.discover import Sighting, discover, find_transcript, project_of
from maestro.observe.follow import Cursor, at_end, follow
from maestro.observe.resolve import Resolver, Sought
from maestro.observe.stats import Saving, SessionStats, digest_saving, load_prices, session_stats
from maestro.observe.status import UNMARKED, Status
from maestro.observe.stuck import Stuck
from maestro.observe.transcript import DigestRequest, digest_transcript, digest_transcripts

_OWING: Final = frozenset[Status]({"thinking", "unknown"})
_DRAWN_WITHIN: Final = 1_000  # milliseconds that a screen may be behind its transcript
_TRIES_AGAIN: Final = Screen("retrying", evidence="an API error")
_UNKNOWN: Final = "It is unknown which transcript is its own"
_REMEDY: Final = "Send it a prompt, and it shows."
_MOST_STEPS: Final = 64  # of four megabytes each, in one look at one transcript


class Line(msgspec.Struct, frozen=True, rename="camel"):
    """One new text, with whose it is: a line of a multiplexed log."""

    session_id: str
    worker: str
    timestamp: int | None
    text: str
    source: Source


class News(msgspec.Struct, frozen=True, rename="camel"):
    """What followers get: new lines by time, who is stuck, and where to go on from."""

    lines: tuple[Line, ...]
    stuck: dict[str, Stuck]
    cursor: dict[str, Cursor]


class Owned(Protocol):
    """The transcript that evidence shows to be a session's own; or None, with the reason."""

    @property
    def path(self) -> Path | None: ...
    @property
    def evidence(self) -> str: ...


class Adoptable(msgspec.Struct, frozen=True):
    """A transcript that a person chose to make a session of."""

    agent: str
    transcript_id: str
    path: str
    cwd: str


class Observer:
    def __init__(self, env: Mapping[str, str], home: str, clock: Callable[[], int]) -> None:
        self._env = env
        self._home = Path(home)
        self._clock = clock
        self._resolver = Resolver()
        # Set by whoever looks at panes: of a session that Maestro did not launch, the transcript by evidence.
        self.owned: Callable[[Session], Owned | None] = lambda _session: None

    def digests(
        self,
        sessions: Iterable[Session],
        tasks: Mapping[str, Task],
        *,
        last: int = DEFAULT_LAST,
        since: int | None = None,
        shape: Shape = USUAL_SHAPE,
    ) -> list[Digest]:
        now = self._clock()
        requests: list[DigestRequest] = []
        reasons: list[str] = []
        for session in sessions:
            path, unknown = self._found(session, now)
            requests.append(DigestRequest(agent_named(session.agent), path, subject_of(session, tasks)))
            reasons.append(unknown)
        digests = digest_transcripts(requests, now=now, last=last, since=since, shape=shape)
        return [
            msgspec.structs.replace(digest, unknown_transcript=unknown) if unknown else digest
            for digest, unknown in zip(digests, reasons, strict=True)
        ]

    def begin(self, sessions: Sequence[Session], tasks: Mapping[str, Task], last: int, shape: Shape) -> News:
        """The last lines of each, and a cursor behind them."""
        now = self._clock()
        cursors: dict[str, Cursor] = {}
        for session in sessions:
            path = self._path(session, now)
            cursors[session.id] = at_end(path) if path is not None else Cursor()
        digests = self.digests(sessions, tasks, last=last, shape=shape)
        told = [line for digest in digests for line in _lines(digest, digest.entries)]
        # What was written while the digests were read is in both: it counts once.
        late = self.go_on(sessions, tasks, cursors, shape)
        lines = [*told, *(line for line in late.lines if line not in told)]
        return News(_by_time(lines), late.stuck, late.cursor)

    def go_on(
        self,
        sessions: Iterable[Session],
        tasks: Mapping[str, Task],
        cursors: Mapping[str, Cursor],
        shape: Shape = USUAL_SHAPE,
    ) -> News:
        """What each wrote behind its cursor."""
        now = self._clock()
        lines: list[Line] = []
        after: dict[str, Cursor] = {}
        stuck: dict[str, Stuck] = {}
        for session in sessions:
            agent, path = agent_named(session.agent), self._path(session, now)
            cursor = cursors.get(session.id, Cursor())
            if path is None:
                after[session.id] = cursor
                continue
            subject = subject_of(session, tasks)
            for _ in range(_MOST_STEPS):
                step = follow(agent, path, cursor, shape)
                cursor = step.cursor
                lines += _lines_of(subject, step.entries)
                if not step.more:
                    break
            after[session.id] = cursor
            digest = digest_transcript(agent, path, subject, now=now, last=1)
            if digest.stuck is not None:
                stuck[session.id] = digest.stuck
        return News(_by_time(lines), stuck, after)

    def owes_answer(self, session: Session, seen_at: int) -> bool:
        """Returns whether a screen that was seen then may be older than the work that it does not show.

        It is, where the transcript has a prompt without an answer or went on since; and where a session that Maestro
        launched was given a prompt and has not begun its transcript.
        """
        now = self._clock()
        path = self._path(session, now)
        if path is None:
            return session.mode is not None and session.status == "working"
        digest = digest_transcript(agent_named(session.agent), path, subject_of(session, {}), now=now, last=1)
        at = digest.evidence[0].at if digest.evidence else None
        went_on = digest.status == "working" and at is not None and at > seen_at - _DRAWN_WITHIN
        return digest.status in _OWING or went_on

    def last_words(self, session: Session) -> str:
        """The first sentence of what it said last; nothing where it said nothing."""
        [digest] = self.digests([session], {})
        said = (entry.text for entry in reversed(digest.entries) if entry.source == "assistant")
        return next(said, "")

    def ended_since(self, session: Session, since: int) -> bool:
        """Returns whether the last that its transcript has is the end of a turn, or may be one, and was written since then.
        A call of a tool is none."""
        now = self._clock()
        path = self._path(session, now)
        if path is None:
            return False
        digest = digest_transcript(agent_named(session.agent), path, subject_of(session, {}), now=now, last=1)
        if not digest.evidence or digest.status in _OWING:
            return False
        told = digest.evidence[0]
        is_over = digest.status != "working" or told.says == UNMARKED
        return is_over and told.at is not None and told.at >= since

    def transcripts(self, sessions: Iterable[Session]) -> list[Path]:
        """The files that are there now: what a follower waits on."""
        now = self._clock()
        paths = (self._path(session, now) for session in sessions)
        return [path for path in paths if path is not None]

    def discover(self, env: Mapping[str, str], *, most: int, cwd: str = "") -> list[Sighting]:
        return discover(_agents(), {**self._env, **env}, now=self._clock(), most=most, cwd=cwd)

    def find(self, env: Mapping[str, str], wanted: str) -> Adoptable:
        agent, transcript = find_transcript(_agents(), {**self._env, **env}, wanted)
        return Adoptable(
            agent.name, transcript.session_id, str(transcript.path), project_of(agent, transcript)
        )

    def stats(self, sessions: Iterable[Session], tasks: Mapping[str, Task]) -> list[SessionStats]:
        now = self._clock()
        prices = load_prices(os.environ, self._home)
        found = []
        for session in sessions:
            path, unknown = self._found(session, now)
            if unknown:
                found.append(SessionStats(session.id, (), None, (), prices.as_of, unknown_transcript=unknown))
            if path is None:
                continue
            agent = agent_named(session.agent)
            try:
                saving = self._saving(agent, path, session, tasks)
                found.append(session_stats(agent, path, session.id, prices, saving=saving))
            except OSError as error:
                raise NotFound(
                    f"The transcript {path} cannot be read: {error.strerror}.", hint="Is it still there?"
                ) from error
        return found

    def context(
        self,
        sessions: Sequence[Session],
        tasks: Sequence[Task],
        *,
        asks: Mapping[str, str] = MappingProxyType({}),
        escalated: Mapping[str, str] = MappingProxyType({}),
        coordinator: str = "",
        most_tokens: int = MOST_TOKENS,
    ) -> str:
        """`<coordinator_context>` of these sessions and tasks. `asks` and `escalated`: by session, what it waits for."""
        board = {task.id: task for task in tasks}
        digests = [self._digest_as_far_as_known(session, board) for session in sessions]
        watched = [
            Watched(
                digest,
                asks.get(session.id, ""),
                escalated.get(session.id, ""),
                _under(session, coordinator),
            )
            for session, digest in zip(sessions, digests, strict=True)
        ]
        holders = {task_id: session.name for session in sessions for task_id in session.task_ids}
        rows = [
            BoardTask(
                t.id,
                t.title,
                t.status,
                t.assignee or holders.get(t.id, ""),
                t.blocked_reason or "",
                t.updated_at,
            )
            for t in tasks
        ]
        return coordinator_context(rows, watched, most_tokens=most_tokens)

    def _digest_as_far_as_known(self, session: Session, tasks: Mapping[str, Task]) -> Digest:
        """One worker whose agent is no longer installed must not hide the others."""
        try:
            [digest] = self.digests([session], tasks)
        except NotFound:
            return unseen(subject_of(session, tasks))
        # Its transcript does not say so, and nobody looks at a screen for this.
        return with_screen(digest, _TRIES_AGAIN, self._clock()) if session.status == "retrying" else digest

    def _saving(self, agent: Agent, path: Path, session: Session, tasks: Mapping[str, Task]) -> Saving:
        [digest] = self.digests([session], tasks)
        shown = "\n".join(entry.text for entry in digest.entries)
        return digest_saving(agent, path, shown, DEFAULT_LAST)

    def _path(self, session: Session, now: int) -> Path | None:
        return self._found(session, now)[0]

    def _found(self, session: Session, now: int) -> tuple[Path | None, str]:
        """Returns the transcript; where that is unknown, None and a sentence about it."""
        owned = self.owned(session)
        if owned is not None:
            return owned.path, "" if owned.path else f"{_UNKNOWN}: {owned.evidence}. {_REMEDY}"
        sought = Sought(session.id, session.transcript_id or "", session.cwd, session.transcript_path or "")
        env = {**self._env, **session.environment}
        return self._resolver.resolve(agent_named(session.agent), sought, env, now), ""


def _under(session: Session, coordinator: str) -> str:
    """Whose worker it is, where a coordinator looks at it that did not start it."""
    parent = session.parent_session_id or ""
    return parent if coordinator and parent != coordinator else ""


def subject_of(session: Session, tasks: Mapping[str, Task]) -> Subject:
    """Whose digest it is. A worker goes by the name that its task was given to."""
    own = [tasks[task_id] for task_id in session.task_ids if task_id in tasks]
    return Subject(
        session_id=session.id,
        session_name=session.name,
        worker_name=next((task.assignee for task in own if task.assignee), session.name),
        task_ids=session.task_ids,
        agent=session.agent,
        task_open=any(task.status not in ENDED for task in own),
    )


def _agents() -> list[Agent]:
    """Those whose transcripts a machine holds by themselves; the scripted agent's are Claude's."""
    return [agent_named(name) for name in agent_names() if name != "scripted"]


def _lines(digest: Digest, entries: Iterable[Entry]) -> list[Line]:
    name = digest.worker_name or digest.session_name
    return [Line(digest.session_id, name, e.timestamp, e.text, e.source) for e in entries]


def _lines_of(subject: Subject, entries: Iterable[Entry]) -> list[Line]:
    name = subject.worker_name or subject.session_name
    return [Line(subject.session_id, name, e.timestamp, e.text, e.source) for e in entries]


def _by_time(lines: Iterable[Line]) -> tuple[Line, ...]:
    return tuple(sorted(lines, key=lambda line: line.timestamp or 0))
