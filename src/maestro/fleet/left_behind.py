"""Deals with prompts that were typed and not proved: after a crash, and when one stands in a box in front of the next.

Nothing is ever pasted again. What surely is our own text, unchanged, is sent while its sender still waits for it; later
it is taken out of the box. What anybody has changed is theirs.
"""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

from maestro.agents.registry import terminal_named
from maestro.agents.terminal import EmptiesBox, Terminal
from maestro.errors import MaestroError
from maestro.fleet.crew import Crew
from maestro.fleet.delivery import Left, what_of_left
from maestro.fleet.facts import Sight
from maestro.fleet.lookout import Lookout
from maestro.fleet.typing import LOOK_SECONDS, Outcome, Typed, Typist
from maestro.ledger import prompts, sessions
from maestro.ledger.facts import Prompt, Session
from maestro.redact import MARK

# Looks in a row that must find it in the box of an agent that has read all keys: it may be about to send it.
_SURE_LOOKS: Final = 2
_MOST_LOOKS: Final = 75
_SENT_LATE: Final = "it stood in its box when the daemon came back"
_TAKEN_OUT: Final = "It stood in its box, unsent and unchanged, and was taken out again: it was not sent."


class _Known(NamedTuple):
    """What is known of a prompt that is uncertain, and is not in the ledger."""

    prompt_id: str
    text: str  # as it was typed: the ledger keeps only what may be shown of one that is over
    pasted: str  # what its box showed of it; empty where nobody saw it there


class LeftBehind:
    def __init__(self, crew: Crew, lookout: Lookout, typist: Typist) -> None:
        self._crew = crew
        self._lookout = lookout
        self._typist = typist
        # By session, until it is settled what became of it.
        self._known: dict[str, _Known] = {}

    def remember(self, prompt: Prompt, pasted: str) -> None:
        """Keeps the text of a prompt that is about to become uncertain, and what its box showed of it."""
        if prompt.kind == "prompt":
            self._known[prompt.session_id] = _Known(prompt.id, prompt.text, pasted)

    async def forget_ended(self) -> None:
        """Drops what is known of prompts of sessions that have ended."""
        for session_id in tuple(self._known):
            if (await self._crew.session(session_id)).status in sessions.ENDED:
                self._known.pop(session_id, None)

    async def recovered(self, prompt: Prompt) -> Outcome:
        """Proves a prompt that was being typed when the daemon died, or sends it from its box; else it is uncertain."""
        session = await self._crew.session(prompt.session_id)
        terminal = terminal_named(session.agent)
        what = "nothing proves that it arrived"
        if terminal is not None and prompt.kind == "prompt":
            proof, seen = await self._typist.proved(session, terminal, prompt)
            if proof:
                return Outcome("submitted", evidence=(proof,))
            left = _left(seen, terminal, _Known(prompt.id, prompt.text, ""), is_told=False)
            to = await self._place(session, terminal)
            if to is not None and seen is not None and what_of_left(left, session.agent) == "send":
                sent = await self._typist.send_left(to, prompt, seen)
                return sent._replace(evidence=(_SENT_LATE, *sent.evidence))
            draft = seen.screen.draft if seen else None
            if draft is not None and terminal.box_holds(draft, terminal.as_text(prompt.text)):
                what = "it stands in its box, not sent"
        return Outcome("uncertain", f"The daemon ended while it was typed; {what}.")

    async def settled(self, to: Typed) -> tuple[Prompt, Outcome] | None:
        """Takes our own text out of the box. Returns which prompt that was and what became of it, if there was one."""
        last = await asyncio.to_thread(
            self._crew.journal.read, lambda c: prompts.last_typed(c, to.session.id)
        )
        if last is None or last.state != "uncertain":
            self._known.pop(to.session.id, None)
            return None
        known = self._known_of(last)
        text = known.text
        if not text or not await self._is_left(to, known):
            return None
        since, size = last.typed_at or 0, last.transcript_size or 0
        proof = await self._typist.proof(to.session, to.terminal, text, since, size)
        if proof:
            # It was sent, and somebody has brought it back into the box since.
            self._known.pop(to.session.id, None)
            return last, Outcome("submitted", evidence=(proof,))
        if not await self._emptied(to, known):
            return None
        self._known.pop(to.session.id, None)
        proof = await self._typist.proof(to.session, to.terminal, text, since, size)
        return last, Outcome("submitted", evidence=(proof,)) if proof else Outcome("failed", _TAKEN_OUT)

    def _known_of(self, prompt: Prompt) -> _Known:
        """Returns what was typed; no text where only a part of it is still known."""
        known = self._known.get(prompt.session_id)
        if known is not None and known.prompt_id == prompt.id:
            return known
        return _Known(prompt.id, "" if MARK in prompt.text else prompt.text, "")

    async def _is_left(self, to: Typed, known: _Known) -> bool:
        """Whether look after look finds it in the box, and the agent reads no key that could still send it."""
        sure = 0
        for _ in range(_MOST_LOOKS):
            has_read = await self._typist.has_read_all(to)
            sight = await self._lookout.see(to.session)
            left = _left(sight, to.terminal, known, is_told=True)
            if what_of_left(left, to.session.agent) != "clear":
                return False
            sure = sure + 1 if has_read is not False else 0
            if sure >= _SURE_LOOKS:
                return True
            await asyncio.sleep(LOOK_SECONDS)
        return False

    async def _emptied(self, to: Typed, known: _Known) -> bool:
        """Presses the keys that empty the box, at once after a look that finds the text there. Never twice."""
        sight = await self._lookout.see(to.session)
        left = _left(sight, to.terminal, known, is_told=True)
        if (
            what_of_left(left, to.session.agent) != "clear"
            or not isinstance(to.terminal, EmptiesBox)
            or sight is None
        ):
            return False
        try:
            await to.tmux.press(to.ref, to.terminal.emptied_by(sight.screen.draft or ""))
        except MaestroError:
            return False
        for _ in range(_MOST_LOOKS):
            sight = await self._lookout.see(to.session)
            if sight is not None and sight.screen.draft == "":
                return True
            await asyncio.sleep(LOOK_SECONDS)
        return False

    async def _place(self, session: Session, terminal: Terminal) -> Typed | None:
        tmux = await self._crew.running(session.place.fleet) if session.place is not None else None
        return None if tmux is None else self._typist.typed(session, terminal, tmux)


def _left(sight: Sight | None, terminal: Terminal, known: _Known, *, is_told: bool) -> Left:
    draft = sight.screen.draft if sight else None
    is_own = (
        draft is not None
        and isinstance(terminal, EmptiesBox)
        and terminal.holds_own(draft, terminal.as_text(known.text), known.pasted)
    )
    return Left(sight, is_own, is_told)
