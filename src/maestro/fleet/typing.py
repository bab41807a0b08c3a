"""The one way into a terminal: look, record, paste, look again, Enter, prove.

Nothing is ever typed twice. Whatever was recorded before the first key decides after a crash: from then on a prompt can
only become `submitted` by proof, or `uncertain`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Final, Literal, NamedTuple

from maestro import processes
from maestro.agents.registry import agent_named
from maestro.agents.screen import ScreenState
from maestro.agents.terminal import TellsQueue, Terminal
from maestro.errors import Conflict, MaestroError, NotFound
from maestro.fleet.channels import Channels
from maestro.fleet.crew import Crew
from maestro.fleet.delivery import (
    READY,
    AfterEnter,
    Allowance,
    Decision,
    is_queued,
    may_prompt,
    may_touch,
    queue_length,
    unsent_looks,
)
from maestro.fleet.facts import PaneRef, Sight
from maestro.fleet.logs import Lengths
from maestro.fleet.lookout import Lookout, pane_of
from maestro.fleet.proof import (
    AMONG_QUEUED,
    AT_WORK,
    QUEUED,
    is_later,
    lines_since,
    mentions,
    same_prompt,
    taken_since,
)
from maestro.fleet.tmux import Tmux
from maestro.ledger.facts import Prompt, Session
from maestro.redact import clean, fold, redact

PASTE_SECONDS: Final = 3.0  # until the box shows what was pasted
PROOF_SECONDS: Final = 10.0  # until the agent says that it has it
_AGAIN_SECONDS: Final = 1.5  # after this long without a proof, the agent is looked at more closely
# Looks in a row that must find Enter lost before it is pressed again: between two answers of tmux, it has taken in what
# the agent had drawn before the first.
_SURE_LOOKS: Final = 2
_SEARCH_SECONDS: Final = 0.5  # without a proof for this long, its log may be another than we know
_MOST_ENTERS: Final = 3
LOOK_SECONDS: Final = 0.04
_SLOW_CHARACTERS: Final = 25_000
_SHOWN: Final = 80
_AT_WORK: Final = frozenset[ScreenState]({"working", "retrying"})
_ENTERED: Final = "Enter was pressed"

State = Literal["hold", "submitted", "uncertain", "failed"]


class Outcome(NamedTuple):
    state: State
    reason: str = ""
    evidence: tuple[str, ...] = ()
    pasted: str = ""  # what its box showed of it before Enter


class Typed(NamedTuple):
    """What is about to be typed, and where."""

    session: Session
    terminal: Terminal
    tmux: Tmux
    ref: PaneRef


# Records a step before the next thing happens.
Mark = Callable[[Literal["typing", "pasted"]], Awaitable[None]]


class Typist:
    def __init__(self, crew: Crew, lookout: Lookout, channels: Channels) -> None:
        self._crew = crew
        self._lookout = lookout
        self._channels = channels
        self._logs = lookout.logs

    # A prompt.

    async def prompt(self, to: Typed, text: str, mark: Mark, transcript_size: int) -> Outcome:
        """Type a prompt and prove that it arrived; or say why it has to wait, or cannot be."""
        decision = may_prompt(await self._lookout.see(to.session), to.session.agent)
        if decision != READY:
            return undone(decision)
        typed = to.terminal.as_text(text)
        since = self._crew.journal.clock()
        logs = await self._logs.lengths(to.session)
        await mark("typing")
        try:
            await to.tmux.paste(to.ref, typed)
        except (Conflict, NotFound) as error:
            # tmux compares first and pastes then: what it refuses was not typed.
            return Outcome("failed", error.message)
        except MaestroError as error:
            return Outcome("uncertain", f"It may have been pasted. {error.message}")
        await mark("pasted")
        # Nothing comes between this look and Enter.
        in_box = await self._until_in_box(to, typed)
        if isinstance(in_box, Outcome):
            return in_box
        sent = await self._submit(to, text, typed, since, transcript_size, logs, queue_length(in_box), [])
        is_held = in_box.screen.state in _AT_WORK and isinstance(to.terminal, TellsQueue)
        if sent.state == "submitted" and is_held:
            sent = sent._replace(evidence=(*sent.evidence, AT_WORK))
        return sent._replace(pasted=in_box.screen.draft or "")

    async def send_left(self, to: Typed, prompt: Prompt, seen: Sight) -> Outcome:
        """Sends a prompt that stands in its box. Enter may have been pressed before: again only if it was lost."""
        typed = to.terminal.as_text(prompt.text)
        since, size = prompt.typed_at or 0, prompt.transcript_size or 0
        enters = [asyncio.get_running_loop().time()]
        sent = await self._submit(to, prompt.text, typed, since, size, None, queue_length(seen), enters)
        return sent._replace(evidence=(_ENTERED, *sent.evidence)) if len(enters) > 1 else sent

    async def _until_in_box(self, to: Typed, typed: str) -> Sight | Outcome:
        """Waits until the box shows the text, all of it and nothing else, and Enter may be pressed."""
        loop = asyncio.get_running_loop()
        begun, allowance = loop.time(), Allowance(PASTE_SECONDS * _patience(typed), loop.time())
        seen: Sight | None = None
        while not allowance.is_spent:
            read = await has_read(to, loop.time() - begun)
            seen = await self._lookout.see(to.session)
            decision = may_touch(seen, to.session.agent)
            if decision != READY or seen is None:
                return Outcome("uncertain", f"It was pasted and not sent. {decision.reason}")
            draft = seen.screen.draft
            if draft is not None and to.terminal.box_holds(draft, typed):
                wait = to.terminal.submission.gap - (loop.time() - begun)
                if wait <= 0:
                    return seen
                await asyncio.sleep(wait)
                continue
            await asyncio.sleep(LOOK_SECONDS)
            allowance.spend(loop.time(), read)
        return Outcome("uncertain", f"It was pasted and not sent: {says(seen)}.")

    async def _submit(
        self,
        to: Typed,
        text: str,
        typed: str,
        since: int,
        transcript_size: int,
        logs: Lengths | None,
        queued_before: int,
        enters: list[float],
    ) -> Outcome:
        """Presses Enter and proves that the text was taken. `enters`: when Enter was pressed; gets what is pressed here."""
        loop = asyncio.get_running_loop()
        allowance = Allowance(PROOF_SECONDS * _patience(typed), loop.time())
        unsent, searched = 0, 0.0
        read: bool | None = None
        while not allowance.is_spent:
            if not enters or (len(enters) < _MOST_ENTERS and read is True and unsent >= _SURE_LOOKS):
                try:
                    await to.tmux.press(to.ref, to.terminal.submission.keys)
                except (Conflict, NotFound) as error:
                    return Outcome("uncertain", f"It was pasted and not sent. {error.message}")
                except MaestroError as error:
                    return Outcome("uncertain", f"It was pasted, and may have been sent. {error.message}")
                unsent = 0
                enters.append(loop.time())
            news = self._channels.news(to.session.id)
            read = await has_read(to, loop.time() - enters[-1])
            proof = await self.proof(to.session, to.terminal, text, since, transcript_size)
            if proof:
                return Outcome("submitted", evidence=(proof,))
            sight = await self._lookout.see(to.session)
            if sight is not None and any(same_prompt(q, text, typed) for q in sight.screen.queued):
                if logs is not None:
                    self._logs.follow_later(to.session, to.terminal, logs, text, typed)
                return Outcome("submitted", evidence=(AMONG_QUEUED,))
            if sight is not None and is_queued(sight, queued_before):
                return Outcome("submitted", evidence=(QUEUED,))
            if logs is not None and loop.time() - max(enters[-1], searched) > _SEARCH_SECONDS:
                searched = loop.time()
                if await self._logs.follow_taker(to.session, to.terminal, logs, text, typed):
                    return Outcome("submitted", evidence=("a transcript of its folder has this prompt",))
            draft = sight.screen.draft if sight else None
            after = AfterEnter(
                sight,
                read,
                is_in_box=draft is not None and to.terminal.box_holds(draft, typed),
                queued_before=queued_before,
                has_taken=read is True and await self._has_taken(to, text, since, transcript_size),
            )
            unsent = unsent_looks(unsent, after, to.session.agent)
            await self._channels.wait(news, LOOK_SECONDS)
            allowance.spend(loop.time(), read)
        return Outcome("uncertain", f"Enter was pressed, and nothing proves that it arrived: {says(sight)}.")

    async def _has_taken(self, to: Typed, text: str, since: int, transcript_size: int) -> bool:
        """Whether the agent tells since of a prompt that this text is a part of. Its log may still get earlier ones."""
        typed = to.terminal.as_text(text)
        if any(
            mentions(prompt, text, typed) for prompt in self._channels.prompts_since(to.session.id, since)
        ):
            return True
        path = await asyncio.to_thread(self._crew.transcript_of, to.session)
        if path is None:
            return False
        lines = await self._written(to.session, path, transcript_size, since)
        return any(mentions(taken, text, typed) for taken in map(to.terminal.taken, lines) if taken)

    async def proved(self, session: Session, terminal: Terminal, prompt: Prompt) -> tuple[str, Sight | None]:
        """The proof of a prompt that was typed some time ago, or nothing; and what its screen shows."""
        typed = terminal.as_text(prompt.text)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + PASTE_SECONDS
        while True:
            news = self._channels.news(session.id)
            proof = await self.proof(
                session, terminal, prompt.text, prompt.typed_at or 0, prompt.transcript_size or 0
            )
            sight = await self._lookout.see(session)
            if (
                not proof
                and sight is not None
                and any(same_prompt(q, prompt.text, typed) for q in sight.screen.queued)
            ):
                proof = AMONG_QUEUED
            draft = sight.screen.draft if sight else None
            is_unsent = draft is not None and terminal.box_holds(draft, typed)
            if proof or is_unsent or sight is None or loop.time() >= deadline:
                return proof, sight
            await self._channels.wait(news, LOOK_SECONDS)

    async def proof(
        self, session: Session, terminal: Terminal, text: str, since: int, transcript_size: int
    ) -> str:
        """What proves that the agent has this prompt, typed after `since`; empty when nothing does."""
        typed = terminal.as_text(text)
        told = self._channels.prompts_since(session.id, since)
        if any(same_prompt(prompt, text, typed) for prompt in told):
            return "its own hook says that it took this prompt"
        path = await asyncio.to_thread(self._crew.transcript_of, session)
        if path is not None:
            lines = await self._written(session, path, transcript_size, since)
            if taken_since(terminal, lines, text, typed):
                return "its transcript has this prompt"
        return ""

    async def has_read_all(self, to: Typed) -> bool | None:
        """Whether the agent has read all that was typed, and waits for more; None where the system does not tell."""
        return await asyncio.to_thread(processes.has_read_input, to.ref.pane_pid)

    async def _written(
        self, session: Session, path: os.PathLike[str], transcript_size: int, since: int
    ) -> list[bytes]:
        """Returns what the transcript got since. Where nobody launched the session, the size may be another file's."""

        def work() -> list[bytes]:
            lines = list(lines_since(path, transcript_size))
            agent = agent_named(session.agent)
            return lines if session.mode is not None else [x for x in lines if is_later(agent, x, since)]

        return await asyncio.to_thread(work)

    def typed(self, session: Session, terminal: Terminal, tmux: Tmux) -> Typed:
        assert session.place is not None
        return Typed(session, terminal, tmux, pane_of(session.place))


async def has_read(to: Typed, waited: float) -> bool | None:
    """Whether the agent had read all that was typed and waited for more; not asked where it soon answers."""
    if waited < _AGAIN_SECONDS:
        return None
    return await asyncio.to_thread(processes.has_read_input, to.ref.pane_pid)


def _patience(text: str) -> float:
    """How many times longer than a short text it may take: some CLIs draw and send a long one slowly."""
    return 1.0 + len(text) / _SLOW_CHARACTERS


def undone(decision: Decision) -> Outcome:
    return Outcome("hold" if decision.verdict == "hold" else "failed", decision.reason)


def says(sight: Sight | None) -> str:
    """What is seen, in a few words."""
    if sight is None:
        return "its pane is gone"
    screen = sight.screen
    if screen.question is not None:
        return f"it asks “{_short(screen.question.text)}”"
    if screen.draft:
        return f"its box holds “{_short(screen.draft)}”"
    if screen.state == "unknown":
        return "its screen cannot be read"
    return f"its box is {'not there' if screen.draft is None else 'empty'}, its screen says {screen.state}"


def _short(text: str) -> str:
    line = fold(redact(clean(text)))
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
