"""Answers the dialog that was asked about, by its hook or by keys, and no other one.

Dialogs come one upon the other, in the same words. So after every key the dialog has to be the same by evidence: all that
it asks is equal, it stands where the step can have brought it, and no other screen was seen in between. A step that
answers is the last one: nothing is pressed after it, whatever stands there then.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final, NamedTuple

import msgspec

from maestro.agents.occurrence import is_as_answered, is_next_of, likeness
from maestro.agents.questions import Answer, as_shown, is_same
from maestro.agents.questions import Question as Asked
from maestro.agents.screen import Screen
from maestro.agents.terminal import Cannot, Step
from maestro.ages import has_passed
from maestro.errors import Conflict, MaestroError, NotFound
from maestro.fleet.asking import DRAWING_MS, NO_DIALOG, asked_of, fit
from maestro.fleet.channels import Channels, Waiting
from maestro.fleet.crew import Crew
from maestro.fleet.delivery import READY, Allowance, Decision, may_touch
from maestro.fleet.facts import Sight
from maestro.fleet.lookout import Lookout
from maestro.fleet.room import advice, is_cramped, is_partly_read
from maestro.fleet.typing import LOOK_SECONDS, PROOF_SECONDS, Mark, Outcome, Typed, has_read, says, undone
from maestro.ledger import questions
from maestro.ledger.facts import Question

STEP_SECONDS: Final = 3.0  # until a dialog moves on
DRAWING_SECONDS: Final = DRAWING_MS / 1000
_MOST_STEPS: Final = 100
_STILL_SECONDS: Final = 0.12  # a screen that did not change for so long is drawn
_YOUNG_MS: Final = 1_000
_WHOLE_SECONDS: Final = 3.0  # until a dialog is drawn anew in a pane of another size
_NEXT_SECONDS: Final = 0.5  # a dialog that still stands there so long after its end is the next one
# Looks in a row that must show another dialog: one look may fall between two halves of a drawing.
_SURE_LOOKS: Final = 2

_NO_SUCH: Final = Cannot("Its dialog shows no such option.")
_GONE: Final = "the question is gone from its screen"
_ANOTHER: Final = "another dialog stands on its screen"


class Meant(NamedTuple):
    """The one dialog that an answer is for."""

    question: Question
    asked: Asked


class After(NamedTuple):
    """What follows a step that does not answer yet."""

    sight: Sight | None  # the dialog, moved on; None where it cannot be gone on with
    reason: str = ""


class Answering:
    def __init__(self, crew: Crew, lookout: Lookout, channels: Channels) -> None:
        self._crew = crew
        self._lookout = lookout
        self._channels = channels

    async def by_hook(
        self, to: Typed, question: Question, waiting: Waiting, said: bytes, mark: Mark
    ) -> Outcome:
        """The agent's own hook prints the answer: no key is pressed. It is proved by the question's end."""
        meant = await self._meant(to, question)
        sight = await self._drawn_sight(to, meant.asked)
        decision = may_touch(sight, to.session.agent)
        if decision != READY or sight is None:
            return undone(decision)
        shown = sight.screen.question
        if waiting.answer.done() or shown is None or not is_same(meant.asked, fit(shown)):
            # Somebody answered on the screen; the hook may not have been told yet.
            return _over(sight)
        await mark("typing")
        waiting.answer.set_result(said)
        gone = await self._until_over(to, meant, fit(shown))
        if gone:
            return Outcome("submitted", evidence=("given to the hook that waited for it", gone))
        return Outcome(
            "uncertain", "It was given to the agent's hook, and the question is still on its screen."
        )

    async def by_keys(
        self, to: Typed, question: Question, answer: Answer, mark: Mark, *, seen: Asked | None = None
    ) -> Outcome:
        """Presses the keys of the dialog, one step at a time, each decided from the screen as it then is.

        `seen` is what its screen asked when the answer was given; another dialog must not get it.
        """
        meant = await self._meant(to, question)
        sight = await self._drawn_sight(to, meant.asked)
        if sight is not None and not has_passed(_YOUNG_MS, question.opened_at, self._crew.journal.clock()):
            sight = await self._still_sight(to, sight)
        sight = await self._whole_sight(to, meant.asked, seen, sight)
        done: list[str] = []
        taken: set[tuple[Asked, Step]] = set()
        while len(done) < _MOST_STEPS:
            decision = may_touch(sight, to.session.agent)
            if decision != READY or sight is None:
                return _interrupted(decision, done)
            if is_cramped(sight):
                return _lost(done, advice(sight)) if done else _too_small(sight)
            shown = sight.screen.question
            if shown is None or not is_same(meant.asked, fit(shown)):
                return _over(sight) if not done else _lost(done, f"{says(sight)}.")
            if not done and not is_as_answered(meant.asked, seen, fit(shown)):
                return Outcome("failed", f"Its dialog has changed since: {says(sight)}.")
            told = as_shown(answer, meant.asked, fit(shown))
            step = _NO_SUCH if told is None else to.terminal.answer_step(sight.screen, told)
            if isinstance(step, Cannot):
                return _lost(done, step.reason) if done else Outcome("failed", step.reason)
            if (shown, step) in taken:
                return _lost(done, "Its dialog looks as it did before this was typed.")
            taken.add((shown, step))
            if not done:
                await mark("typing")
            failed = await self._take(to, step, done)
            if failed is not None:
                return failed
            done.append(step.note)
            if step.is_final:
                return await self._ended(to, meant, sight.screen, done)
            after = await self._after(to, meant, sight.screen, step)
            if after.sight is None:
                return _lost(done, after.reason)
            sight = after.sight
        return Outcome("uncertain", "Its dialog did not come to an end.", tuple(done))

    async def _meant(self, to: Typed, question: Question) -> Meant:
        await self._lookout.endings.note(to.session, question)
        return Meant(question, asked_of(question))

    @staticmethod
    async def _take(to: Typed, step: Step, done: list[str]) -> Outcome | None:
        """Pastes and presses. Returns what became of the answer where that could not be done."""
        pasted = False
        try:
            if step.text:
                await to.tmux.paste(to.ref, step.text)
                pasted = True
            if step.text and step.keys:
                await asyncio.sleep(to.terminal.submission.gap)
            if step.keys:
                await to.tmux.press(to.ref, step.keys)
        except MaestroError as error:
            untouched = not done and not pasted and isinstance(error, Conflict | NotFound)
            return Outcome("failed" if untouched else "uncertain", error.message, tuple(done))
        return None

    async def _settled_sight(self, to: Typed) -> Sight | None:
        """A look at a screen that can be read: in the middle of drawing it may not be."""
        sight = await self._lookout.see(to.session)
        for _ in range(int(STEP_SECONDS / LOOK_SECONDS)):
            if sight is None or sight.screen.state != "unknown":
                return sight
            await asyncio.sleep(LOOK_SECONDS)
            sight = await self._lookout.see(to.session)
        return sight

    async def _drawn_sight(self, to: Typed, asked: Asked) -> Sight | None:
        """A look at the dialog that was asked about: a hook may tell of it before it stands on the screen."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + DRAWING_SECONDS
        while True:
            sight = await self._settled_sight(to)
            if may_touch(sight, to.session.agent) != READY or sight is None or loop.time() >= deadline:
                return sight
            if sight.screen.question is not None and is_same(asked, fit(sight.screen.question)):
                return sight
            await asyncio.sleep(LOOK_SECONDS)

    async def _whole_sight(
        self, to: Typed, asked: Asked, seen: Asked | None, sight: Sight | None
    ) -> Sight | None:
        """Waits while only a part of the dialog is drawn that was answered: a pane whose size was changed is drawn in
        steps. Another dialog is not waited for."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _WHOLE_SECONDS
        while loop.time() < deadline and sight is not None and is_partly_read(sight):
            shown = sight.screen.question
            if shown is None or not is_same(asked, fit(shown)) or is_as_answered(asked, seen, fit(shown)):
                break
            await asyncio.sleep(LOOK_SECONDS)
            sight = await self._lookout.see(to.session)
        return sight

    async def _still_sight(self, to: Typed, sight: Sight | None) -> Sight | None:
        """A look at a screen that has come to rest: a CLI loses keys while it still draws a dialog."""
        loop = asyncio.get_running_loop()
        begun = since = loop.time()
        while (
            sight is not None and loop.time() - since < _STILL_SECONDS and loop.time() - begun < STEP_SECONDS
        ):
            await asyncio.sleep(LOOK_SECONDS)
            now = await self._lookout.see(to.session)
            if now is None or _bare(now.screen) != _bare(sight.screen):
                since = loop.time()
            sight = now
        return sight

    async def _after(self, to: Typed, meant: Meant, before: Screen, step: Step) -> After:
        """Waits until the dialog has moved on, and stays so: what is half drawn must not decide the next step."""
        loop = asyncio.get_running_loop()
        begun, allowance = loop.time(), Allowance(STEP_SECONDS, loop.time())
        known, seen, since = _bare(before), _bare(before), loop.time()
        others = 0
        assert before.question is not None
        while not allowance.is_spent:
            read = await has_read(to, loop.time() - begun)
            sight = await self._lookout.see(to.session)
            if sight is None:
                return After(None, "its pane is gone.")
            if sight.screen.state in NO_DIALOG:
                return After(None, f"its dialog is gone: {says(sight)}.")
            shown = sight.screen.question
            is_its_own = shown is not None and is_next_of(before.question, step, shown)
            others = 0 if is_its_own or shown is None else others + 1
            now = _bare(sight.screen)
            if now != seen:
                seen, since = now, loop.time()
            is_still = loop.time() - since >= _STILL_SECONDS
            if others >= _SURE_LOOKS and is_still:
                return After(None, f"{_ANOTHER}, or the same again: {says(sight)}.")
            if is_its_own and now != known and is_still:
                over = await self._told_over(to, meant)
                return After(None, f"{over}.") if over else After(sight)
            await asyncio.sleep(LOOK_SECONDS)
            allowance.spend(loop.time(), read)
        return After(None, f"Nothing changed on its screen after: {step.note}.")

    async def _ended(self, to: Typed, meant: Meant, before: Screen, done: list[str]) -> Outcome:
        """Proves that the last step ended the dialog. Whatever stands there afterwards gets no key."""
        assert before.question is not None
        gone = await self._until_over(to, meant, before.question)
        if gone:
            return Outcome("submitted", evidence=(*done, gone))
        sight = await self._lookout.see(to.session)
        if sight is not None and sight.screen.state == "unknown":
            return _lost(done, "its screen cannot be read.")
        if sight is not None and _bare(sight.screen) == _bare(before):
            return _lost(done, "Its dialog looks as it did before this was typed.")
        return _lost(done, f"{says(sight)}.")

    async def _until_over(self, to: Typed, meant: Meant, shown: Asked) -> str:
        """Waits for evidence that the dialog is over; empty when there is none in time."""
        loop = asyncio.get_running_loop()
        begun, allowance = loop.time(), Allowance(PROOF_SECONDS, loop.time())
        others = 0
        while not allowance.is_spent:
            news = self._channels.news(to.session.id)
            read = await has_read(to, loop.time() - begun)
            sight = await self._lookout.see(to.session)
            if sight is not None and sight.screen.state in NO_DIALOG:
                return _GONE
            now = sight.screen.question if sight else None
            is_another = now is not None and likeness(fit(shown), fit(now)) == "other"
            others = others + 1 if is_another else 0
            if others >= _SURE_LOOKS:
                return f"{_GONE}, and {_ANOTHER}"
            told = await self._told_over(to, meant)
            if told:
                await self._until_another(to, shown)
                return told
            await self._channels.wait(news, LOOK_SECONDS)
            allowance.spend(loop.time(), read)
        return ""

    async def _until_another(self, to: Typed, shown: Asked) -> None:
        """Lets the screen catch up with what the agent told: what stands there a moment later is the next dialog."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _NEXT_SECONDS
        while loop.time() < deadline:
            sight = await self._lookout.see(to.session)
            now = sight.screen.question if sight else None
            if sight is None or sight.screen.state in NO_DIALOG:
                return
            if now is not None and likeness(fit(shown), fit(now)) == "other":
                return
            await asyncio.sleep(LOOK_SECONDS)

    async def _told_over(self, to: Typed, meant: Meant) -> str:
        """What the agent itself tells of the dialog's end, by its hooks or in its transcript; or nothing."""

        def read(connection: Any) -> tuple[Question, Question | None]:
            known = questions.get_question(connection, meant.question.id)
            return known, questions.open_question(connection, to.session.id)

        known, current = await asyncio.to_thread(self._crew.journal.read, read)
        if current is not None and current.id != known.id and current.source == questions.HOOK:
            return "its hook asks the next question"
        if known.closed_at is not None and known.closed_by.endswith(questions.SAID_SO):
            return "its hook says that it was answered"
        is_over = await self._lookout.endings.is_over(to.session, known)
        return "its transcript has the answer" if is_over else ""


def _bare(screen: Screen) -> Screen:
    return msgspec.structs.replace(screen, evidence="", rule="")


def _interrupted(decision: Decision, done: list[str]) -> Outcome:
    if not done:
        return undone(decision)
    return Outcome("uncertain", f"Interrupted after {', '.join(done)}: {decision.reason}", tuple(done))


def _lost(done: list[str], reason: str) -> Outcome:
    return Outcome("uncertain", f"After {', '.join(done)}: {reason}", tuple(done))


def _too_small(sight: Sight) -> Outcome:
    """Of our own pane it passes: whoever has its window open leaves."""
    return Outcome("hold" if sight.own else "failed", advice(sight))


def _over(sight: Sight) -> Outcome:
    if is_cramped(sight):
        return _too_small(sight)
    if sight.screen.state == "unknown":
        return Outcome("failed", "Its screen cannot be read: see `maestro session explain`.")
    return Outcome("failed", f"The question is no longer on its screen: {says(sight)}.")
