"""Looks at sessions in their panes, and keeps what follows from it: open questions, notify states, status.

Looks when somebody asks, and when an event says that there is something to see. Nothing polls, but for half a minute at
most where a screen looks idle and its log owes an answer.

| what happens | Claude Code | Codex | Gemini CLI |
| --- | --- | --- | --- |
| a turn begins | hook `UserPromptSubmit` | hook `UserPromptSubmit`, title | hook `BeforeAgent`, title |
| it asks | hooks `PreToolUse`, `PermissionRequest` | the same, title | title, hooks `BeforeTool`, `Notification` |
| it asks again at once | the same hooks | the same hooks | looks after an answer |
| its API fails, and it tries again | line `Retrying in` | line `Reconnecting` | nothing: its screen does not say so |
| a turn fails (400, 401, 429, 500) | hook `StopFailure` | title, line `■`, looks after a prompt | title, line `✕`, looks after a prompt |
| a turn ends | hook `Stop` | hook `Stop`, title | title, hook `AfterAgent` |
| it starts too slowly to be waited for | hooks | hooks, title | title |

Hooks arrive at once (`fleet/hearing.py`). Titles and lines are compared by tmux itself, once a second, which tells of a
change; lines only in panes that work (`fleet/tmux.py`). What comes and goes between two comparisons leaves no trace there:
so a session that was given a prompt or an answer is looked at a few more times, by itself, within five seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

import structlog

from maestro.agents.registry import terminal_named
from maestro.agents.screen import UNKNOWN, Screen, ScreenState, captured
from maestro.errors import Conflict, DaemonError, MaestroError, NotFound
from maestro.fleet.asking import Asking
from maestro.fleet.channels import Channels
from maestro.fleet.crew import Crew
from maestro.fleet.endings import Endings
from maestro.fleet.enlarging import Enlarging
from maestro.fleet.facts import PaneRef, Sight
from maestro.fleet.logs import Logs
from maestro.fleet.panes import Notify
from maestro.fleet.roll import STATUS_SHOWN
from maestro.ledger import reports, sessions
from maestro.ledger.facts import Place, Question, ReportKind, Session, SessionChange, SessionStatus
from maestro.ledger.roles import HUMAN

_log = structlog.get_logger("lookout")

_DRAW_SECONDS: Final = 0.05
_TITLE_SECONDS: Final = 1.5
_NEXT_SECONDS: Final = 1.5
# How often, and how many times, an agent is looked at again that seems idle and has not answered yet.
_OWED_SECONDS: Final = 0.2
_OWED_LOOKS: Final = 150
# When a session is looked at again that was given something, in seconds: tmux compares once a second, and a turn that is
# shorter, or the dialog after the next one, may leave it nothing to compare.
_AFTERWARDS: Final = (0.4, 1.2, 2.5, 5.0)
_NOTIFY: Final[dict[ScreenState, Notify]] = {
    "idle": "unchecked",
    "error": "error",
    "limit": "error",
    "working": "working",
    "background": "working",
    "retrying": "working",
    "question": "unchecked",
    "permission": "unchecked",
    "plan": "unchecked",
    "dialog": "unchecked",
}


_PASSING: Final = frozenset[Notify]({"working", "unchecked"})
_AT_REST: Final = frozenset[ScreenState]({"idle", "error", "limit"})
_REPORTED: Final[dict[ReportKind, Notify]] = {"complete": "done", "error": "error"}


def pane_of(place: Place) -> PaneRef:
    return PaneRef(place.server_pid, place.server_started, place.pane_id, place.pane_pid)


class Lookout:
    def __init__(
        self,
        crew: Crew,
        asking: Asking,
        channels: Channels,
        owes_answer: Callable[[Session, int], bool],
        ended_since: Callable[[Session, int], bool],
    ) -> None:
        self.crew = crew
        self.asking = asking
        self.channels = channels
        self.endings = Endings(crew)
        self.logs = Logs(crew, self.see)
        self._enlarging = Enlarging()
        # Whether a session's own log tells of work that a screen which was seen then does not show yet.
        self._owes_answer = owes_answer
        # Whether its log tells of the end of a turn since then.
        self._ended_since = ended_since
        # By session: what its pane's title meant when we last looked, and which lines tmux saw; which agent it is.
        self._titles: dict[str, tuple[ScreenState | None, str]] = {}
        self._afterwards: dict[str, tuple[asyncio.TimerHandle, ...]] = {}
        self._later: set[asyncio.Task[None]] = set()
        self._agents: dict[str, str] = {}
        self._owed_looks: dict[str, int] = {}
        self._looking: dict[str, asyncio.Task[None]] = {}
        self._unlooked: set[str] = set()
        self._closed = False

    async def close(self) -> None:
        self._closed = True
        tasks = [*self._looking.values(), *self._later]
        for timers in self._afterwards.values():
            for timer in timers:
                timer.cancel()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._enlarging.close()

    async def see(self, session: Session) -> Sight | None:
        """What its pane shows now, all of a dialog where that can be had; None when the pane is gone, or is no longer the one that it was."""
        place = session.place
        if place is None or session.host != self.crew.journal.host or not self.crew.runs(place.fleet):
            return None
        states = await self.crew.states(place.fleet)
        try:
            return await self._enlarging.see(
                states, pane_of(place), terminal_named(session.agent), launched=session.mode is not None
            )
        except (Conflict, NotFound, DaemonError):
            return None

    async def read(self, session_id: str, content: str) -> tuple[Screen, Question | None, str]:
        """What a screen that somebody captured says of a session, what is open there, and the screen itself: a later
        one, where a question was only just told of and was not on it yet."""
        at = self.crew.journal.clock()
        session = await self.crew.session(session_id)
        terminal = terminal_named(session.agent)
        screen = UNKNOWN if terminal is None else terminal.read_screen(captured(content))
        before = await self.asking.open(session.id)
        # In a pane that was just enlarged, a dialog may still stand as it was drawn before.
        is_part = screen.question is not None and (screen.question.is_cut or bool(screen.question.unread))
        if is_part or (before is not None and await self.endings.is_over(session, before)):
            sight, question = await self.look(session)
            return (sight.screen, question, sight.content) if sight else (screen, question, content)
        question = await self._shown(session, screen, at)
        if question is not None and (before is None or before.id != question.id):
            # Whoever sees a question first tells of it: a later look takes it for known.
            await self.tell(session, "unchecked", "needs_input")
        if question is not None and self.asking.is_to_be_drawn(question, screen):
            sight, question = await self.look(session)
            if sight is not None:
                return sight.screen, question, sight.content
        return screen, question, content

    async def look(self, session: Session) -> tuple[Sight | None, Question | None]:
        """See, and keep what was seen: the question that is open, or that none is."""
        before = await self.asking.open(session.id)
        is_over = False
        while True:
            at = self.crew.journal.clock()
            sight = await self.see(session)
            if sight is None:
                return None, None if is_over else before
            if before is not None and not is_over and await self.endings.is_over(session, before):
                # A transcript may be faster than the screen: what stands there a moment later is the next dialog.
                await self._wait_for_next(session, sight)
                await self.asking.answered(session.id, before.id, "its transcript has the answer")
                is_over = True
                continue
            question = await self._shown(session, sight.screen, at)
            if question is None or not self.asking.is_to_be_drawn(question, sight.screen):
                break
            # Its hook was faster than its screen, which has what the hook does not: options, digits, what led to it.
            await asyncio.sleep(_DRAW_SECONDS)
        if (question and question.id) != (before and before.id):
            self.channels.let_go(session.id, but=question.id if question else "")
            self.channels.ring(session.id)
            if question is not None:
                await self.tell(session, "unchecked", "needs_input")
            elif before is not None and not self._is_expected(session.id):
                # Whoever answered it, the next one may be drawn in a moment.
                self.expect(session, self.crew.journal.clock())
        return sight, question

    async def _shown(self, session: Session, screen: Screen, at: int) -> Question | None:
        """Keeps what a screen showed then is open, and since when."""
        question = await self.asking.shown(session, screen, at)
        if question is not None:
            await self.endings.note(session, question)
        elif screen.state == "idle":
            self.endings.at_rest(session.id)
        return question

    async def _wait_for_next(self, session: Session, before: Sight) -> None:
        """Waits until the screen shows something else than this dialog, or for a moment."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _NEXT_SECONDS
        sight: Sight | None = before
        while sight is not None and sight.screen == before.screen and loop.time() < deadline:
            await asyncio.sleep(_DRAW_SECONDS)
            sight = await self.see(session)

    async def tell(self, session: Session, notify: Notify, status: SessionStatus | None) -> None:
        """Make the session's pane and its row say what happened."""
        if status is not None and session.status not in {status, *sessions.ENDED}:
            change = SessionChange(status=status)
            await asyncio.to_thread(
                self.crew.journal.write,
                HUMAN,
                lambda c: sessions.change_session(c, session.id, change, None),
            )
        place = session.place
        if place is None or session.host != self.crew.journal.host or not self.crew.runs(place.fleet):
            return
        states = await self.crew.states(place.fleet)
        if notify == "unchecked" and status == "idle":
            notify = await self._reported(session) or notify
        try:
            await states.notify(pane_of(place), notify)
            if notify in _PASSING and (last := await self._last_word(session)):
                # It reported its end while this was on its way, and that stands.
                await states.notify(pane_of(place), last)
        except (Conflict, NotFound):
            # The pane is gone; what ends a session says so elsewhere.
            return

    async def _last_word(self, session: Session) -> Notify | None:
        """What a session said that has ended by its own or a human's word, and whose pane is still there."""
        now = await self.crew.session(session.id)
        return await self._reported(now) if now.status in sessions.ENDED else None

    async def _reported(self, session: Session) -> Notify | None:
        """A turn that reported how it ended has said more than that it is over."""
        said = await asyncio.to_thread(
            self.crew.journal.read, lambda connection: reports.standing_report(connection, session.id)
        )
        return _REPORTED.get(said.kind) if said is not None else None

    # Titles.

    def changed(self, fleet: str) -> None:
        """tmux has news of this fleet: some title may mean something else now."""
        if self._closed:
            return
        self._enlarging.changed()
        self._unlooked.add(fleet)
        running = self._looking.get(fleet)
        if running is None or running.done():
            self._looking[fleet] = asyncio.get_running_loop().create_task(self._look_at_titles(fleet))

    async def _look_at_titles(self, fleet: str) -> None:
        while fleet in self._unlooked:
            self._unlooked.discard(fleet)
            try:
                tmux = await self.crew.running(fleet)
                panes = await tmux.panes() if tmux else ()
                lines = await tmux.lines_shown() if tmux else {}
                shown = [
                    (pane.session_id, pane.title, lines.get(pane.pane_id, ""))
                    for pane in panes
                    if pane.session_id and not pane.dead
                ]
                await asyncio.gather(*(self._look_at_title(*one) for one in shown))
            except MaestroError as error:
                _log.warning("titles", fleet=fleet, error=error.message)

    async def _look_at_title(self, session_id: str, title: str, lines: str) -> None:
        if session_id not in self._agents:
            self._agents[session_id] = (await self.crew.session(session_id)).agent
        terminal = terminal_named(self._agents[session_id])
        reading = terminal.read_title(title) if terminal else None
        state: ScreenState | None = reading.state if reading else None
        before = self._titles.get(session_id)
        if before == (state, lines):
            return
        self._titles[session_id] = (state, lines)
        session = await self.crew.session(session_id)
        if session.status in sessions.ENDED or self.crew.is_awaited(session_id):
            # Whoever starts a session says when it is ready, and then what its title tells is news.
            self._titles.pop(session_id, None)
            return
        only_lines = before is not None and before[0] == state
        look = self.look(session) if only_lines else self._look_until_drawn(session, state)
        at = self.crew.journal.clock()
        sight, question = await look
        if sight is not None and question is None and sight.screen.state in _NOTIFY:
            seen = sight.screen.state
            session = await self.crew.session(session_id)
            if STATUS_SHOWN[seen] == session.status:
                return
            if seen == "idle" and await self._looks_idle_too_early(session, at):
                return
            await self.tell(session, _NOTIFY[seen], STATUS_SHOWN[seen])

    async def _looks_idle_too_early(self, session: Session, seen_at: int) -> bool:
        """An agent shows an empty box until it takes the prompt that it was started with, and its log may be faster
        than its screen. Then it is looked at again soon: a short turn may leave no other title behind."""
        looks = self._owed_looks.pop(session.id, 0)
        if session.place is None or looks >= _OWED_LOOKS:
            return False
        if not await asyncio.to_thread(self._owes_answer, session, seen_at):
            return False
        self._owed_looks[session.id] = looks + 1
        self._titles.pop(session.id, None)
        asyncio.get_running_loop().call_later(_OWED_SECONDS, self.changed, session.place.fleet)
        return True

    async def _look_until_drawn(
        self, session: Session, title: ScreenState | None
    ) -> tuple[Sight | None, Question | None]:
        """A look, when the screen shows what the title says; a title may be faster than the screen below it."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _TITLE_SECONDS
        while True:
            sight, question = await self.look(session)
            if sight is None or _agree(title, sight.screen.state) or loop.time() > deadline:
                return sight, question
            await asyncio.sleep(_DRAW_SECONDS)

    # After something was given.

    def expect(self, session: Session, since: int) -> None:
        """Looks again soon, a few times, at a session that was given something then: what follows may be shorter than the
        time between two of tmux's comparisons."""
        if self._closed or session.place is None:
            return
        for timer in self._afterwards.pop(session.id, ()):
            timer.cancel()
        loop = asyncio.get_running_loop()
        self._afterwards[session.id] = tuple(
            loop.call_later(seconds, self._look_later, session.id, since) for seconds in _AFTERWARDS
        )

    def _is_expected(self, session_id: str) -> bool:
        timers = self._afterwards.get(session_id, ())
        return any(timer.when() > asyncio.get_running_loop().time() for timer in timers)

    def _look_later(self, session_id: str, since: int) -> None:
        task = asyncio.get_running_loop().create_task(self._look_afterwards(session_id, since))
        self._later.add(task)
        task.add_done_callback(self._later.discard)

    async def _look_afterwards(self, session_id: str, since: int) -> None:
        """Tells a question, and an end of the turn that its log confirms: the screen may still be of the turn before."""
        try:
            session = await self.crew.session(session_id)
            if session.status in sessions.ENDED or self.crew.is_awaited(session_id):
                return
            at = self.crew.journal.clock()
            sight, question = await self.look(session)
            if sight is None or question is not None:
                return
            seen, title = sight.screen.state, sight.title.state if sight.title else None
            session = await self.crew.session(session_id)
            if seen not in _AT_REST or session.status == STATUS_SHOWN[seen] or not _agree(title, seen):
                return
            is_over = await asyncio.to_thread(self._ended_since, session, since)
            if is_over and not await asyncio.to_thread(self._owes_answer, session, at):
                await self.tell(session, _NOTIFY[seen], STATUS_SHOWN[seen])
        except MaestroError as error:
            _log.warning("afterwards", session=session_id, error=error.message)


def _agree(title: ScreenState | None, shown: ScreenState) -> bool:
    """Whether a screen shows what the title above it says; one that says nothing denies only that it works."""
    if title is None:
        return STATUS_SHOWN.get(shown) != "working"
    told, seen = STATUS_SHOWN.get(title), STATUS_SHOWN.get(shown)
    return told == seen or any({told, seen} <= alike for alike in (sessions.AT_REST, sessions.AT_WORK))
