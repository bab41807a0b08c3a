"""Prompts on their way: a durable queue per session, answered questions first, one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, Literal, NamedTuple

import msgspec
import structlog

from maestro.agents.questions import Answer, settled
from maestro.agents.questions import Question as Asked
from maestro.agents.registry import hooked_named, terminal_named
from maestro.errors import Conflict, InvalidInput, MaestroError
from maestro.fleet.answering import Answering
from maestro.fleet.answers import parse_answer
from maestro.fleet.asking import asked_of, stored
from maestro.fleet.channels import Channels
from maestro.fleet.crew import Crew
from maestro.fleet.delivery import LONGEST, READY, may_prompt, typable
from maestro.fleet.left_behind import LeftBehind
from maestro.fleet.lookout import Lookout
from maestro.fleet.proof import LOST, is_held, size_of
from maestro.fleet.typing import Mark, Outcome, Typed, Typist
from maestro.ledger import prompts, questions, sessions
from maestro.ledger.facts import Prompt, PromptState, Question, Session
from maestro.ledger.journal import Change, Once
from maestro.ledger.roles import HUMAN, Actor, require
from maestro.ledger.sight import is_child
from maestro.redact import fold

_log = structlog.get_logger("outbox")

# Done in the transaction that queues an answer, with the prompt's id.
Also = Callable[[Change, str], None]
# May this actor give this answer to what is open? Raises Refused, or tells what to record with it.
Admit = Callable[[Actor, Session, Question, str], Awaitable[Also | None]]
# Done in the transaction that settles a prompt.
Settled = Callable[[Change, str], object]


class Addition(NamedTuple):
    """What goes behind a prompt, and what is recorded when it is typed."""

    text: str = ""
    also: Settled | None = None


# What a session is told with a prompt, where no hook of its own tells it.
Append = Callable[[Session], Awaitable[Addition]]

# What holds a prompt back may end without anybody telling us; while one is held, we look this often.
_LOOK_SECONDS: Final = 1.0
_CALM_SECONDS: Final = 1.0


class Outbox:
    def __init__(self, crew: Crew, lookout: Lookout, channels: Channels) -> None:
        self.crew = crew
        self.lookout = lookout
        self.channels = channels
        self.typist = Typist(crew, lookout, channels)
        self.answering = Answering(crew, lookout, channels)
        self._left_behind = LeftBehind(crew, lookout, self.typist)
        self._delivering: dict[str, asyncio.Task[None]] = {}
        # Sessions whose queue got something since it was last read.
        self._unread: set[str] = set()
        self._closed = False
        self.admit: Admit | None = None
        self.on_settled: Settled | None = None
        self.append: Append | None = None

    async def close(self) -> None:
        """Stop where we are: what was recorded says how to go on."""
        self._closed = True
        for task in self._delivering.values():
            task.cancel()
        await asyncio.gather(*self._delivering.values(), return_exceptions=True)

    # Sending.

    async def send(
        self,
        actor: Actor,
        wanted: str,
        message: str,
        *,
        question_id: str | None = None,
        version: int | None = None,
        once: Once | None = None,
        also: Also | None = None,
        as_prompt: bool = False,
    ) -> Prompt:
        """Queue text for a session: the answer to what it asks, when it asks something, or else a prompt.

        Whoever has decided already passes what to record with it as `also`; everybody else's answer is admitted first.
        `as_prompt`: it must not become an answer.
        """
        session = await self.crew.session(wanted)
        _require_own(actor, session)
        if once is not None and (earlier := await asyncio.to_thread(self.crew.journal.earlier, once)):
            # It was taken, and only the answer was lost: whatever is open by now is not what it was for.
            return await self.prompt(earlier)
        text = typable(message)
        if not text.strip():
            raise InvalidInput(
                "The message is empty.", hint="Say something: --message TEXT, --file FILE or -."
            )
        if len(text) > LONGEST:
            raise InvalidInput(
                f"The message has {len(text):,} characters; {LONGEST:,} can be typed.",
                hint="Put it into a file of the project, and tell the session to read that.",
            )
        self._require_reachable(session)
        sight, open_question = await self.lookout.look(session)
        if question_id is not None:
            _require_open(open_question, question_id, version)
        if as_prompt and open_question is not None:
            raise Conflict(
                "It asks something now, and a prompt would be taken for the answer.",
                hint="Answer that first: `maestro session explain ID` shows it.",
            )
        if open_question is None:
            prompt_id = await self._enqueue(
                actor, session, await self._signed(actor, text), once=once, also=also
            )
        else:
            answer = parse_answer(text, asked_of(open_question))
            if also is None and self.admit is not None:
                also = await self.admit(actor, session, open_question, text)
            shown = sight.screen.question if sight else None
            told = {
                **msgspec.to_builtins(answer),
                "seen": stored(settled(shown)) if shown else None,
                "written": size_of(await asyncio.to_thread(self.crew.transcript_of, session)),
            }
            prompt_id = await self._enqueue(
                actor, session, text, question=open_question, answer=told, once=once, also=also
            )
        self.deliver(session.id)
        return await self.prompt(prompt_id)

    async def queue(self, session: Session, text: str) -> None:
        """A prompt of Maestro's own, never an answer: a first one that the CLI cannot be started with, or news."""
        await self._enqueue(HUMAN, session, typable(text))
        self.deliver(session.id)

    async def tell(self, wanted: str, text: str) -> None:
        """News of Maestro's own for a session that can still hear it. Not `send`: while the session asks something,
        that would be its answer."""
        session = await self.crew.session(wanted)
        if session.status not in sessions.ENDED and session.place is not None:
            await self.queue(session, text)

    async def withdraw(self, actor: Actor, wanted: str, prompt_id: str) -> Prompt:
        session = await self.crew.session(wanted)
        _require_own(actor, session)
        prompt = await self.prompt(prompt_id)
        if prompt.session_id != session.id:
            raise InvalidInput(f"{prompt_id} is not a prompt of {session.id}.")
        if prompt.state != "queued":
            raise Conflict(
                f"It is {prompt.state} already.", hint="Only what is still queued can be withdrawn."
            )
        await self._move(prompt_id, "withdrawn", reason=f"Withdrawn by a {actor.role}.")
        return await self.prompt(prompt_id)

    async def settled(self, prompt_id: str, seconds: float) -> Prompt:
        """Wait until it is over, or for so long."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        prompt = await self.prompt(prompt_id)
        while True:
            news = self.channels.news(prompt.session_id)
            prompt = await self.prompt(prompt_id)
            left = deadline - loop.time()
            if prompt.state in prompts.SETTLED or left <= 0 or self._closed:
                return prompt
            await self.channels.wait(news, min(left, _LOOK_SECONDS))

    async def prompt(self, prompt_id: str) -> Prompt:
        return await asyncio.to_thread(self.crew.journal.read, lambda c: prompts.get_prompt(c, prompt_id))

    # Delivering.

    def deliver(self, session_id: str) -> None:
        """See to it that this session's queue is worked off."""
        self._unread.add(session_id)
        running = self._delivering.get(session_id)
        if self._closed or (running is not None and not running.done()):
            self.channels.ring(session_id)
            return
        task = asyncio.get_running_loop().create_task(self._work_off(session_id))
        self._delivering[session_id] = task

    async def recover(self) -> None:
        """After a start of the daemon: work off every queue that has something left."""
        host = self.crew.journal.host
        left = await asyncio.to_thread(self.crew.journal.read, lambda c: prompts.unsettled(c, host))
        for session_id in dict.fromkeys(prompt.session_id for prompt in left):
            self.deliver(session_id)

    async def _work_off(self, session_id: str) -> None:
        while True:
            self._unread.discard(session_id)
            prompt = await self._next(session_id)
            if prompt is None and session_id in self._unread:
                # Queued after it was read, and this task still ran: nobody else looks.
                continue
            if prompt is None:
                return
            news = self.channels.news(session_id)
            since = self.crew.journal.clock()
            try:
                outcome = await self._deliver(prompt)
                if outcome.state == "hold":
                    await self._hold(prompt, outcome.reason)
                else:
                    await self._settle(prompt, outcome, since)
                    if prompt.kind == "answer":
                        await self._until_calm(session_id)
                    continue
            except Exception as error:  # noqa: BLE001 - the edge of a loop that has to go on
                # Looked at again: one that was being typed as after a crash, one that was not is still queued.
                _log.error("deliver", session=session_id, prompt=prompt.id, error=repr(error))
            await self.channels.wait(news, _LOOK_SECONDS)

    async def _until_calm(self, session_id: str) -> None:
        """Dialogs come one upon the other: no prompt is pasted into the moment between two of them."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _CALM_SECONDS
        while (left := deadline - loop.time()) > 0:
            news = self.channels.news(session_id)
            following = await self._next(session_id)
            if following is None or following.kind == "answer":
                return
            await self.channels.wait(news, left)

    async def _next(self, session_id: str) -> Prompt | None:
        """What was begun comes first; then answers, as a prompt cannot get past a dialog; then the oldest."""
        left = await asyncio.to_thread(self.crew.journal.read, lambda c: prompts.left_of(c, session_id))
        return min(
            left, key=lambda one: (one.state not in prompts.UNDER_WAY, one.kind != "answer"), default=None
        )

    async def _settle(self, prompt: Prompt, outcome: Outcome, since: int) -> None:
        if outcome.state == "uncertain":
            await self._left_behind.forget_ended()
            self._left_behind.remember(await self.prompt(prompt.id), outcome.pasted)
        await self._move(prompt.id, outcome.state, reason=outcome.reason, evidence=outcome.evidence)
        if outcome.state != "submitted":
            return
        if prompt.kind == "answer":
            await self._close_question(prompt)
        # The next dialog may stand there already, under the same title: nothing else would tell of it. Whoever saw it
        # first may have said so before it was said that the session works.
        session = await self.crew.session(prompt.session_id)
        _, following = await self.lookout.look(session)
        if following is not None:
            await self.lookout.tell(session, "unchecked", "needs_input")
        self.lookout.expect(session, since)

    async def _deliver(self, prompt: Prompt) -> Outcome:
        if prompt.state in prompts.UNDER_WAY:
            return await self._left_behind.recovered(prompt)
        session = await self.crew.session(prompt.session_id)
        terminal = terminal_named(session.agent)
        if session.status in sessions.ENDED:
            return Outcome("failed", f"The session has ended ({session.status}).")
        if terminal is None or session.place is None:
            return Outcome("failed", "It has no terminal that Maestro can type into.")
        tmux = await self.crew.running(session.place.fleet)
        if tmux is None:
            return Outcome("failed", "Its tmux server is gone.")
        size = size_of(await asyncio.to_thread(self.crew.transcript_of, session))
        to = self.typist.typed(session, terminal, tmux)
        if prompt.kind == "prompt":
            await self._settle_left(to)

        addition = await self._addition(session) if prompt.kind == "prompt" else Addition()
        text = f"{prompt.text}\n\n{addition.text}" if addition.text else prompt.text

        async def mark(state: Literal["typing", "pasted"]) -> None:
            also, whole = (addition.also, text) if state == "typing" and addition.text else (None, None)
            await self._move(prompt.id, state, also=also, transcript_size=size, text=whole)

        if prompt.kind == "answer":
            return await self._answer(prompt, session, to, mark, size)
        return await self.typist.prompt(to, text, mark, size)

    async def _settle_left(self, to: Typed) -> None:
        """An earlier prompt may stand in the box, unsent: its receipt tells what becomes of it."""
        left = await self._left_behind.settled(to)
        if left is None:
            return
        earlier, outcome = left

        def work(change: Change) -> str:
            state: PromptState = "submitted" if outcome.state == "submitted" else "failed"
            prompts.resolve(change, earlier.id, state, reason=outcome.reason, evidence=outcome.evidence)
            if self.on_settled is not None:
                self.on_settled(change, earlier.id)
            return earlier.id

        await asyncio.to_thread(self.crew.journal.write, HUMAN, work)

    async def _addition(self, session: Session) -> Addition:
        """As things are when it is typed: one that is held is told nothing yet."""
        if self.append is None or session.role != "coordinator":
            return Addition()
        if may_prompt(await self.lookout.see(session), session.agent) != READY:
            return Addition()
        try:
            return await self.append(session)
        except (MaestroError, OSError) as error:
            _log.warning("nothing appended", session=session.id, error=repr(error))
            return Addition()

    async def _answer(self, prompt: Prompt, session: Session, to: Typed, mark: Mark, written: int) -> Outcome:
        # Each look keeps what it saw: while the answer was held, the question may have gone and come again.
        await self.lookout.look(session)
        question = await asyncio.to_thread(
            self.crew.journal.read, lambda c: questions.get_question(c, prompt.question_id or "")
        )
        if question.closed_at is not None:
            return Outcome("failed", f"The question is no longer open: {question.closed_by}.")
        asked, told = asked_of(question), prompt.answer or {}
        if prompt.reason and not question.call_id and told.get("written") != written:
            # It was held, and no hook tells one question from the next of the same words.
            return Outcome(
                "failed", "It went on while the answer was held: the question may no longer be open."
            )
        answer, seen = msgspec.convert(told, Answer), msgspec.convert(told.get("seen"), Asked | None)
        waiting = self.channels.waiting(session.id, question.id)
        hooked = hooked_named(session.agent)
        if waiting is not None and hooked is not None:
            said = hooked.hook_answer(waiting.event, waiting.payload, asked, answer)
            if said is not None:
                return await self.answering.by_hook(to, question, waiting, said, mark)
        return await self.answering.by_keys(to, question, answer, mark, seen=seen)

    async def _close_question(self, prompt: Prompt) -> None:
        await asyncio.to_thread(
            self.crew.journal.write,
            HUMAN,
            lambda c: questions.close(c, prompt.question_id or "", f"answered by {prompt.id}"),
        )
        await self.lookout.tell(await self.crew.session(prompt.session_id), "working", "working")

    # The ledger.

    async def _enqueue(
        self,
        actor: Actor,
        session: Session,
        text: str,
        *,
        question: Question | None = None,
        answer: dict[str, Any] | None = None,
        once: Once | None = None,
        also: Also | None = None,
    ) -> str:
        def work(change: Change) -> str:
            prompt_id = prompts.enqueue(
                change,
                session.id,
                text,
                kind="prompt" if question is None else "answer",
                question_id=None if question is None else question.id,
                answer=answer,
            )
            if also is not None:
                also(change, prompt_id)
            return prompt_id

        return await asyncio.to_thread(self.crew.journal.write, actor, work, once)

    async def _move(self, prompt_id: str, state: Any, *, also: Settled | None = None, **fields: Any) -> None:
        def work(change: Change) -> str:
            was_settled = prompts.get_prompt(change.connection, prompt_id).state in prompts.SETTLED
            prompts.move(change, prompt_id, state, **fields)
            if state == "submitted" and is_held(fields.get("evidence", ())):
                self._lose_with_session(change, prompt_id)
            if also is not None:
                also(change, prompt_id)
            if state in prompts.SETTLED and not was_settled and self.on_settled is not None:
                self.on_settled(change, prompt_id)
            return prompt_id

        await asyncio.to_thread(self.crew.journal.write, HUMAN, work)
        prompt = await self.prompt(prompt_id)
        self.channels.ring(prompt.session_id)

    @staticmethod
    def _lose_with_session(change: Change, prompt_id: str) -> None:
        """Its agent may have ended between the look at its queue and now; nobody looks after its prompts again."""
        session_id = prompts.get_prompt(change.connection, prompt_id).session_id
        if sessions.get_session(change.connection, session_id).status in sessions.ENDED:
            prompts.lose(change, prompt_id, LOST)

    async def _hold(self, prompt: Prompt, reason: str) -> None:
        if prompt.reason != reason:
            await asyncio.to_thread(
                self.crew.journal.write, HUMAN, lambda c: prompts.hold(c, prompt.id, reason)
            )

    def _require_reachable(self, session: Session) -> None:
        if session.status in sessions.ENDED:
            raise Conflict(f"The session has ended ({session.status}).", hint="Start or resume one.")
        if session.place is None or terminal_named(session.agent) is None:
            raise Conflict(
                "The session is in no terminal that Maestro can type into.",
                hint="Adopt its pane: `maestro session adopt --pane`, or start one with `session spawn`.",
            )

    async def _signed(self, actor: Actor, text: str) -> str:
        """Between sessions a prompt says whose it is."""
        if actor.session_id is None:
            return text
        sender = await self.crew.session(actor.session_id)
        return f"[From: {fold(typable(sender.name))} ({sender.id})] {text}"


def _require_own(actor: Actor, session: Session) -> None:
    require(actor, "session.prompt", own=is_child(session, actor))


def _require_open(question: Question | None, wanted: str, version: int | None) -> None:
    if question is None or question.id != wanted:
        raise Conflict(
            f"Question {wanted} is no longer open.",
            hint="`maestro session explain ID` shows what is asked now.",
        )
    if version is not None and question.version != version:
        raise Conflict(
            f"Question {wanted} has changed since: version {question.version}, not {version}.",
            hint="Look at it again before you answer.",
        )
