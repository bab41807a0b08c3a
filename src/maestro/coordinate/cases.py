"""From an open question to a case: everything that a decision rests on, gathered at one moment."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

import sqlalchemy as sa
import structlog
from sqlalchemy.engine import Connection

from maestro.agents.questions import HIDDEN
from maestro.agents.questions import Question as Asked
from maestro.coordinate import ALLOWED, Case, Earlier, History, Policy
from maestro.coordinate.attention import has_cap, over_budget
from maestro.coordinate.precedent import fingerprint, question_hash, similar
from maestro.errors import MaestroError
from maestro.fleet.asking import asked_of, stored
from maestro.fleet.crew import Crew
from maestro.fleet.proof import size_of
from maestro.ledger import decisions, escalations, precedents, prompts, questions, schema, sessions, tasks
from maestro.ledger.facts import Decision, Place, Question, Session, Task
from maestro.observe.digest import Digest, Shape
from maestro.observe.observer import Observer
from maestro.redact import MARK

_LAST_TEXTS: Final = 5
_TURN_TEXT: Final = 4000
_ENGINES: Final = 50  # of a session's own answers, for the model
_DAY: Final = 24 * 3600 * 1000
_MOST_RECORDED: Final = 100_000
TURN: Final = "turn_"

_log = structlog.get_logger("cases")

# How the human wants things decided, by the vision of a session's project.
Principles = Callable[[Session], tuple[str, ...]]


class Open(NamedTuple):
    """What a session waits for. A question in words at the end of a turn has no row of its own: `is_turn`."""

    question: Question
    is_turn: bool = False

    @property
    def asked(self) -> Asked:
        return asked_of(self.question)


class Cap(NamedTuple):
    """A cap that is reached, in a sentence; empty where none is. The fleet's is one subject for all its sessions."""

    text: str = ""
    subject: str = ""


class Cases:
    def __init__(self, crew: Crew, observer: Observer, principles: Principles = lambda _: ()) -> None:
        self._crew = crew
        self._principles = principles
        self._observer = observer
        # By session: how long its transcript was when it was counted, and what it had used.
        self._counted: dict[str, tuple[int, int, float]] = {}

    async def gather(self, session: Session, waits: Open, policy: Policy) -> Case:
        asked = waits.asked
        now = self._crew.journal.clock()
        board = await self.board()
        digest = await self.digest(session, board)
        principles = (*policy.principles, *await asyncio.to_thread(self._told_principles, session))
        spent = await self.over_budget(session, policy)

        def read(connection: Connection) -> Case:
            # Its words take a while to be read, which a daemon that nothing is asked of need not spend.
            from maestro.coordinate.gate.judge import gate

            precedent = None
            if policy.precedents.enabled:
                found = precedents.match(connection, session.project_id, fingerprint(asked), now)
                if found is not None:
                    precedent = Earlier(found.id, found.question, found.answer, "human", found.created_at)
            return Case(
                session_id=session.id,
                session_name=session.name,
                agent=session.agent,
                question_id=waits.question.id,
                version=waits.question.version,
                asked=asked,
                gate=gate(asked, policy),
                history=_history(connection, session.id, waits.question, asked),
                precedent=precedent,
                similar=similar(asked, _earlier(connection, session, now)),
                task="\n".join(_words(board[task]) for task in session.task_ids if task in board),
                digest=tuple(entry.text for entry in digest.entries),
                principles=principles,
                over_budget=spent.text,
                is_turn_end=waits.is_turn,
            )

        return await asyncio.to_thread(self._crew.journal.read, read)

    def _told_principles(self, session: Session) -> tuple[str, ...]:
        try:
            return self._principles(session)
        except MaestroError as error:
            # They help a model to judge; without them it is only less sure.
            _log.warning("principles", session=session.id, error=error.message)
            return ()

    async def turn(self, session: Session) -> Open | None:
        """The question in words that its last turn ended with, if it did. The same turn has the same id."""
        board = await self.board()
        whole = await self.digest(session, board, Shape(full=True, max_length=_TURN_TEXT), last=1)
        said = [entry for entry in whole.entries if entry.source == "assistant"]
        if whole.status != "asking" or not said or whole.last_activity_timestamp is None:
            return None
        text = said[-1].text
        name = f"{session.id} {whole.last_activity_timestamp} {text}"
        # A digest is redacted before it is cut: what stood there is not known any more, and may be more than a secret.
        asked = stored(Asked(kind="free_text", text=text, unread=HIDDEN if MARK in text else ""))
        question = Question(
            id=TURN + hashlib.sha256(name.encode(errors="replace")).hexdigest()[:26].upper(),
            session_id=session.id,
            version=1,
            kind="free_text",
            text=asked["text"],
            asked=asked,
            source=questions.IN_WORDS,
            call_id="",
            opened_at=whole.last_activity_timestamp,
            closed_at=None,
            closed_by="",
        )
        return Open(question, is_turn=True)

    async def board(self) -> dict[str, Task]:
        found = await asyncio.to_thread(self._crew.journal.read, tasks.list_tasks)
        return {task.id: task for task in found}

    async def digest(
        self, session: Session, board: dict[str, Task], shape: Shape | None = None, last: int = _LAST_TEXTS
    ) -> Digest:
        [digest] = await asyncio.to_thread(
            lambda: self._observer.digests([session], board, last=last, shape=shape or Shape())
        )
        return digest

    async def recorded(self, since: int, limit: int) -> list[tuple[Case, dict[str, str]]]:
        """Questions that were decided since then, each as a case of its own, with what was done in the end."""

        def read(connection: Connection) -> list[tuple[Case, dict[str, str]]]:
            asked = {one.id: one for one in questions.list_questions(connection)}
            last: dict[str, Decision] = {}
            for one in decisions.list_decisions(
                connection, since_ms=since, kinds=("verdict", "resolution"), limit=_MOST_RECORDED
            ):
                known = last.get(one.question_id or "")
                if one.question_id in asked and (known is None or known.by != "human"):
                    last[one.question_id or ""] = one
            found = []
            for question_id, decision in list(last.items())[-limit:]:
                session = sessions.get_session(connection, decision.session_id)
                question = asked[question_id]
                case = Case(
                    session_id=session.id,
                    session_name=session.name,
                    agent=session.agent,
                    question_id=question.id,
                    version=question.version,
                    asked=asked_of(question),
                    gate=ALLOWED,
                )
                found.append((case, {"action": decision.action, "text": decision.text, "by": decision.by}))
            return found

        return await asyncio.to_thread(self._crew.journal.read, read)

    # Budget.

    async def over_budget(self, session: Session, policy: Policy) -> Cap:
        """Which cap is reached. Transcripts are counted only where there is a cap, and only when they have grown."""
        if not has_cap(policy):
            return Cap()
        place = session.place

        def work() -> Cap:
            known = self._crew.journal.read(sessions.list_sessions)
            # Whoever has ended has spent it all the same; a fleet that was taken down and up again begins anew.
            mates = [one for one in known if place is not None and _is_mate(one.place, place)]
            self._count([session, *mates])
            own = self._spent(session)
            every = [self._spent(one) for one in {one.id: one for one in [session, *mates]}.values()]
            fleet = (sum(one[0] for one in every), sum(one[1] for one in every))
            if text := over_budget(policy, own, (0, 0.0)):
                return Cap(text, f"{session.id}:budget")
            text = over_budget(policy, (0, 0.0), fleet)
            return Cap(text, f"{place.fleet}:{place.server_started}:budget" if place else session.id)

        return await asyncio.to_thread(work)

    def _count(self, wanted: Iterable[Session]) -> None:
        for session in wanted:
            path = self._crew.transcript_of(session)
            size = size_of(path)
            known = self._counted.get(session.id)
            if known is None or known[0] != size:
                tokens, cost = 0, 0.0
                for found in self._observer.stats([session], {}):
                    tokens += sum(m.input + m.output + m.cache_write for m in found.models)
                    cost += found.cost_usd or 0.0
                self._counted[session.id] = (size, tokens, cost)

    def _spent(self, session: Session) -> tuple[int, float]:
        _, tokens, cost = self._counted.get(session.id, (0, 0, 0.0))
        _, brain_tokens, brain_cost = self._crew.journal.read(
            lambda c: decisions.spent_since(c, session.created_at, session.id)
        )
        return tokens + brain_tokens, cost + brain_cost


def _is_mate(place: Place | None, other: Place) -> bool:
    return place is not None and (place.fleet, place.server_started) == (other.fleet, other.server_started)


def _history(connection: Connection, session_id: str, question: Question, asked: Asked) -> History:
    answer = decisions.answer_of(connection, question.id, question.version)
    pending = ""
    if answer is not None and answer.prompt_id is not None:
        state = prompts.get_prompt(connection, answer.prompt_id).state
        pending = answer.prompt_id if state not in decisions.NOT_TYPED else ""
    waiting = escalations.open_of(connection, question.id) or escalations.dismissed(
        connection, question.id, question.version
    )
    return History(
        answered_before=len(decisions.same_before(connection, session_id, question_hash(asked))),
        probed=_was_probed(connection, session_id),
        pending=pending,
        escalated=waiting.id if waiting is not None and waiting.version == question.version else "",
        failures=_failures(connection, question),
    )


def _was_probed(connection: Connection, session_id: str) -> bool:
    """Whether what it asks now comes after a probe, and nothing else was decided since."""
    table = schema.decisions
    query = (
        sa.select(table.c.action)
        .where(table.c.session_id == session_id, table.c.kind == "verdict", table.c.shadow.is_(False))
        .order_by(table.c.seq.desc())
        .limit(1)
    )
    return connection.execute(query).scalar() == "probe"


def _failures(connection: Connection, question: Question) -> int:
    """How often an answer to this occurrence could not be typed; being held because a human looks is no failure."""
    table = schema.decisions
    query = sa.select(sa.func.count()).where(
        table.c.question_id == question.id, table.c.kind == "receipt", table.c.action == "failed"
    )
    return connection.execute(query).scalar() or 0


def _earlier(connection: Connection, session: Session, now: int) -> Sequence[Earlier]:
    """What humans answered in this project, and what we answered in this session."""
    human = [
        Earlier(one.id, one.question, one.answer, "human", one.created_at)
        for one in precedents.list_precedents(connection, project_id=session.project_id, now=now)
    ]
    made = decisions.list_decisions(
        connection, session_id=session.id, kinds=("verdict",), since_ms=max(1, now - _DAY)
    )
    answers = [one for one in made if one.action == "answer" and not one.shadow][-_ENGINES:]
    return [*human, *(_of_engine(connection, one) for one in answers)]


def _of_engine(connection: Connection, decision: Decision) -> Earlier:
    table = schema.questions
    text = connection.execute(sa.select(table.c.text).where(table.c.id == decision.question_id)).scalar()
    return Earlier(decision.id, text or "", decision.text, "engine", decision.at)


def _words(task: Task) -> str:
    return f"{task.title}: {task.description}" if task.description else task.title
