"""Panes that get more room for a moment, on a real tmux: two of one window, cancelled, closed, with a pane put beside."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import pytest
from tests.fleet.state.floor import Floor, in_loop
from tests.fleet.typing.sights import sight
from tests.patience import within

from maestro.agents.questions import Question
from maestro.agents.screen import UNKNOWN, Capture, Screen
from maestro.agents.terminal import Terminal, TitleReading
from maestro.fleet.commands import ROOM, Command, restore_command
from maestro.fleet.crew import Crew
from maestro.fleet.enlarging import Enlarging
from maestro.fleet.facts import Pane, PaneRef, Sight
from maestro.fleet.room import Settling
from maestro.fleet.tmux import Tmux

pytestmark = pytest.mark.more  # make test-more

# Draws a dialog with the size that it has, and works once it has an answer.
AGENT = """
import itertools, os, signal, sys, time
def draw(*_): print("\\x1b[2J\\x1b[H" + sys.argv[1], *os.get_terminal_size(), flush=True)
signal.signal(signal.SIGWINCH, draw)
draw()
sys.stdin.readline()
signal.signal(signal.SIGWINCH, signal.SIG_IGN)
for turn in itertools.count():
    print(f"\\x1b[2J\\x1b[Hworks {turn}", flush=True)
    time.sleep(0.02)
"""


class Reader:
    """Reads what the agent draws: a dialog in less than 160 columns or 100 rows is cut."""

    def is_agent(self, argv: Sequence[str]) -> bool:
        return bool(argv)

    def read_title(self, title: str) -> TitleReading | None:
        return TitleReading("working", title) if title == "works" else None

    def read_screen(self, capture: Capture) -> Screen:
        word, *numbers = next((line for line in capture.lines if line), "nothing").split()
        if word == "works":
            return Screen("working")
        if word != "asks" or len(numbers) != 2:
            return UNKNOWN
        columns, rows = map(int, numbers)
        asked = Question("permission", "May it?", is_cut=columns < 160 or rows < 100)
        return Screen("permission", question=asked)


READER = cast("Terminal", Reader())


def agent(word: str = "asks") -> tuple[str, ...]:
    return (sys.executable, "-S", "-c", AGENT, word)


def is_cut(seen: Sight) -> bool:
    assert seen.screen.question is not None, seen.content
    return seen.screen.question.is_cut


async def look(floor: Floor, enlarging: Enlarging, pane: Pane) -> Sight:
    return await enlarging.see(floor.states, pane.ref, READER, launched=True)


async def asking(floor: Floor, *, beside: Pane | None = None) -> Pane:
    pane = (
        await floor.worker("asking", argv=agent())
        if beside is None
        else await floor.tmux.split(beside.ref, agent(), cwd="/")
    )
    await floor.see(pane.ref, "asks")
    return pane


async def shape(floor: Floor, pane: Pane) -> str:
    """The window as a person finds it, and its own rule for its size."""
    facts = f"#{{window_width}}x#{{window_height}} #{{window_zoomed_flag}} #{{{ROOM}}}"
    panes = "#{pane_active} #{pane_width}x#{pane_height}"
    told = [
        await floor.tmux.run("display-message", "-p", "-t", pane.window_id, facts),
        await floor.tmux.run("list-panes", "-t", pane.window_id, "-F", panes),
        await floor.tmux.run("show-options", "-w", "-v", "-t", pane.window_id, "window-size"),
    ]
    return repr(told)


async def until_left_as_it_was(floor: Floor, pane: Pane, left: str) -> None:
    now = ""
    try:
        async with within():
            while (now := await shape(floor, pane)) != left:  # noqa: ASYNC110 - tmux does not tell
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError(f"{now} and not {left}") from None


@in_loop
async def test_two_panes_of_one_window_have_the_room_one_after_the_other(tmp_path: Path) -> None:
    async with Floor(tmp_path) as floor:
        first = await asking(floor)
        second = await asking(floor, beside=first)
        left = await shape(floor, first)
        enlarging = Enlarging()
        seen = await asyncio.gather(look(floor, enlarging, first), look(floor, enlarging, second))
        assert [is_cut(one) for one in seen] == [False, False], seen
        await until_left_as_it_was(floor, first, left)


@in_loop
async def test_a_pane_that_is_put_beside_a_large_one_does_not_keep_it_large(tmp_path: Path) -> None:
    async with Floor(tmp_path) as floor:
        pane = await asking(floor)
        enlarging = Enlarging()
        assert not is_cut(await look(floor, enlarging, pane))
        await floor.tmux.split(pane.ref, agent(), cwd="/")
        assert not is_cut(await look(floor, enlarging, pane))
        now = ""
        async with within():
            while not (now.startswith("[['200x50 0 ']") and now.endswith(", []]")):
                now = await shape(floor, pane)
                await asyncio.sleep(0.02)


@in_loop
async def test_no_new_pane_goes_into_a_window_that_is_large_for_the_moment(tmp_path: Path) -> None:
    async with Floor(tmp_path) as floor:
        pane = await asking(floor)
        enlarging = Enlarging()
        assert await Crew._in_window(floor.tmux, "main", "asking") is not None
        await look(floor, enlarging, pane)
        assert await Crew._in_window(floor.tmux, "main", "asking") is None
        await enlarging.close()


class Late(Tmux):
    """A busy tmux: it does what it is asked to, and its answer comes when it is let go on."""

    def __init__(self, socket: str, env: Mapping[str, str]) -> None:
        super().__init__(socket, env)
        self.late: Command = ()
        self.done = 0
        self.go_on = asyncio.Event()

    async def _answered(self, command: Command) -> None:
        if self.late and tuple(command[: len(self.late)]) == tuple(self.late):
            self.done += 1
            await self.go_on.wait()

    async def act(self, ref: PaneRef, *commands: Command, typing: bool = False) -> list[str]:
        told = await super().act(ref, *commands, typing=typing)
        await self._answered(commands[0])
        return told

    async def run(self, *command: str) -> list[str]:
        told = await super().run(*command)
        await self._answered(command)
        return told


class BusyFloor(Floor):
    def __init__(self, place: Path) -> None:
        super().__init__(place)
        self.tmux: Late = Late(self.tmux.socket, self.env)
        self.states.tmux = self.tmux
        self.tmux.on_change = self.states.changed

    async def until_done(self, count: int) -> None:
        async with within():
            while self.tmux.done < count:  # noqa: ASYNC110 - bounded by within
                await asyncio.sleep(0.01)


@in_loop
async def test_whoever_is_cancelled_while_a_pane_gets_its_room_leaves_it_as_it_was(tmp_path: Path) -> None:
    async with BusyFloor(tmp_path) as floor:
        pane = await asking(floor)
        left = await shape(floor, pane)
        enlarging = Enlarging()
        floor.tmux.late = ("set-option", "-w", "-t", pane.window_id, ROOM)
        looking = asyncio.create_task(look(floor, enlarging, pane))
        await floor.until_done(1)
        assert await shape(floor, pane) != left
        looking.cancel()
        await asyncio.wait([looking])
        await until_left_as_it_was(floor, pane, left)


@in_loop
async def test_a_pane_may_give_its_room_back_while_all_is_closed(tmp_path: Path) -> None:
    async with BusyFloor(tmp_path) as floor:
        panes = [await asking(floor), await asking(floor)]
        left = [await shape(floor, pane) for pane in panes]
        enlarging = Enlarging()
        for pane in panes:
            await look(floor, enlarging, pane)
        floor.tmux.late = restore_command(enlarging._held[panes[0].ref].room)[:-1]
        closing = asyncio.create_task(enlarging.close())
        await floor.until_done(1)
        await floor.tmux.press(panes[1].ref, ["Enter"])
        await floor.see(panes[1].ref, "works")
        looking = asyncio.create_task(look(floor, enlarging, panes[1]))
        await floor.until_done(2)
        floor.tmux.go_on.set()
        await asyncio.gather(closing, looking)
        for pane, shaped in zip(panes, left, strict=True):
            await until_left_as_it_was(floor, pane, shaped)


@in_loop
async def test_nothing_goes_on_after_the_close(tmp_path: Path) -> None:
    async with BusyFloor(tmp_path) as floor:
        pane = await asking(floor)
        left = await shape(floor, pane)
        enlarging = Enlarging()
        await look(floor, enlarging, pane)
        floor.tmux.late = restore_command(enlarging._held[pane.ref].room)[:-1]
        await floor.until_done(1)  # its time is over, and it gives the room back by itself
        [restoring] = enlarging._restoring
        floor.tmux.late = ()
        await enlarging.close()
        assert restoring.done()
        await until_left_as_it_was(floor, pane, left)


@in_loop
async def test_nothing_is_kept_of_panes_that_are_gone(tmp_path: Path) -> None:
    async with Floor(tmp_path) as floor:
        enlarging = Enlarging()
        for _ in range(2):
            pane = await floor.worker("noise", argv=agent("noise"))
            await floor.see(pane.ref, "noise")
            await floor.tmux.run("resize-window", "-t", pane.window_id, "-x", "40", "-y", "10")
            await floor.see(pane.ref, "noise 40 ")
            await look(floor, enlarging, pane)
            assert set(enlarging._tried) == {pane.ref}
            async with within():
                while enlarging._held or enlarging._restoring:  # noqa: ASYNC110 - no event tells
                    await asyncio.sleep(0.02)
            await floor.tmux.kill_pane(pane.ref)
        assert not enlarging._turns


# Pure.


@pytest.mark.parametrize(
    ("looks", "over"),
    [
        ([(160, "a")] * 9, None),  # it is still large
        ([(160, "a"), (80, "b"), (80, "b"), (80, "b"), (80, "b")], 4),  # drawn, and still for a moment
        ([(160, "a"), (80, "1"), (80, "2"), (80, "3"), (80, "4"), (80, "5"), (80, "6"), (80, "7")], 6),  # a spinner
    ],
)  # fmt: skip
def test_a_pane_is_waited_for_until_it_is_small_and_drawn(
    looks: list[tuple[int, str]], over: int | None
) -> None:
    settling = Settling((80, 24))
    told = [
        settling.is_over(sight(width=width, height=24)._replace(content=content), place / 10)
        for place, (width, content) in enumerate(looks)
    ]
    assert (told.index(True) if True in told else None) == over


def test_a_window_that_somebody_sees_has_the_size_of_their_terminal() -> None:
    settling = Settling((80, 24))
    large = sight(width=200, height=50, shown=True)
    assert [settling.is_over(large, now) for now in (0.0, 0.1, 0.3)] == [False, False, True]
