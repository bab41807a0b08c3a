"""A coordinator waits: it is given what needs it, once, and never what the human looks at. On a real tmux."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from pathlib import Path

import pytest
from tests.fleet.state.floor import QUIET, Floor, blocked, in_loop, sweep
from tests.support import SOAK

from maestro.errors import Conflict, InvalidInput, NotFound
from maestro.fleet import colours
from maestro.fleet.facts import Pane
from maestro.fleet.states import PaneStates
from maestro.fleet.wait import coordinate_wait


@pytest.mark.parametrize(
    ("notify", "engaged", "focused", "line"),
    [
        ("working", False, False, "TIMEOUT"),
        ("working", False, True, "TIMEOUT"),
        ("unchecked", False, False, "unchecked"),
        ("unchecked", False, True, "FOCUSED"),
        ("unchecked", True, False, "TIMEOUT"),
        ("unchecked", True, True, "FOCUSED"),
        ("error", False, False, "error"),
        ("error", False, True, "FOCUSED"),
        ("done", False, False, "done"),
        ("done", False, True, "FOCUSED"),
        ("checked", False, False, "TIMEOUT"),
        ("checked", False, True, "TIMEOUT"),
    ],
)
@in_loop
async def test_every_row_of_the_matrix(
    place: Path, notify: str, *, engaged: bool, focused: bool, line: str
) -> None:
    async with Floor(place) as floor:
        pane = await floor.worker("w", notify)
        human = await floor.human()
        if engaged:
            await floor.states.connect(pane.ref, "another")
            assert await floor.option(pane.ref, "window-style") == colours.ENGAGED
        if focused:
            await human.look_at(pane.ref)
            await floor.until(lambda look: look.states[pane.pane_id].focused)
        waited = await sweep(floor)
        expected = f"{pane.pane_id}|{notify}|w|main:1.0" if line in {"unchecked", "error", "done"} else line
        assert waited.first_line == expected
        if engaged and focused:
            # The human has taken it over; it is theirs until they leave.
            assert not await floor.states.still_engaged(pane.ref, "another")
            assert await floor.option(pane.ref, "@pane_notify") == "unchecked"
            await human.leave()
            await floor.until(lambda look: not look.states[pane.pane_id].focused)
            assert (await sweep(floor)).first_line.startswith(pane.pane_id)


@in_loop
async def test_what_a_person_sees(place: Path) -> None:
    async with Floor(place) as floor:
        pane = await floor.worker("w|x\n", "unchecked", argv=("sh", "-c", "echo Which one?; exec cat"))
        await floor.worker("v", "working")
        await floor.see(pane.ref, "Which one?")
        await floor.states.look()
        assert await floor.tmux.run("show-options", "-gv", "@maestro_status") == ["1 working · 1 needs you"]
        assert await floor.tmux.run("show-options", "-wv", "-t", pane.window_id, "@window_notify") == [
            "unchecked"
        ]
        waited = await sweep(floor)
        assert waited.first_line == f"{pane.pane_id}|unchecked|w x |main:1.0"
        assert "Which one?" in waited.capture["content"]
        assert waited.capture["paneLabel"] == "w|x\n"
        assert str(waited.status) == (
            "STATUS total=2 working=1 unchecked=1 error=0 done=0 checked=0 focused=0"
        )
        assert await floor.option(pane.ref, "@pane_coordinator_active") == "1"
        assert await floor.option(pane.ref, "window-style") == colours.ENGAGED
        await floor.states.notify(pane.ref, "working")
        assert await floor.option(pane.ref, "@pane_coordinator_active") == "0"
        assert await floor.option(pane.ref, "window-style") == ""
        await floor.states.look()
        assert await floor.tmux.run("show-options", "-gv", "@maestro_status") == ["2 working"]


@in_loop
async def test_all_workers_err_at_once_and_come_one_at_a_time(place: Path) -> None:
    async with Floor(place) as floor:
        made = [await floor.worker(f"w{number}", "error") for number in range(3)]
        lines = [(await sweep(floor)).first_line.split("|")[0] for _ in range(3)]
        assert lines == [pane.pane_id for pane in made]


@in_loop
async def test_error_before_unchecked_before_done_and_first_come_first_served(place: Path) -> None:
    async with Floor(place) as floor:
        states = ("done", "unchecked", "error", "unchecked")
        for number, notify in enumerate(states):
            await floor.worker(f"w{number}", notify)
            floor.clock.ahead += 10
        labels = [(await sweep(floor)).first_line.split("|")[2] for _ in states]
        assert labels == ["w2", "w1", "w3", "w0"]


@in_loop
async def test_a_handled_done_does_not_return(place: Path) -> None:
    async with Floor(place) as floor:
        pane = await floor.worker("w", "done")
        assert (await sweep(floor)).outcome == "PANE"
        again = await sweep(floor)
        assert again.first_line == "TIMEOUT"
        assert str(again.status).startswith("STATUS total=1 working=0 unchecked=0 error=0 done=1")
        await floor.states.notify(pane.ref, "done")
        assert (await sweep(floor)).outcome == "PANE"


@in_loop
async def test_error_then_recovered_is_skipped(place: Path) -> None:
    async with Floor(place) as floor:
        pane = await floor.worker("w", "error")
        await floor.states.notify(pane.ref, "working")
        assert (await sweep(floor)).first_line == "TIMEOUT"


@in_loop
async def test_news_while_it_is_busy_is_found_by_the_next_sweep(place: Path) -> None:
    async with Floor(place) as floor:
        first, second = await floor.worker("a", "unchecked"), await floor.worker("b", "working")
        assert (await sweep(floor)).first_line.startswith(first.pane_id)
        await floor.states.notify(second.ref, "unchecked")
        await floor.states.notify(first.ref, "working")
        assert (await sweep(floor)).first_line.startswith(second.pane_id)
        assert await floor.option(first.ref, "@pane_coordinator_active") == "0"


@in_loop
async def test_a_blocked_wait_is_woken_by_a_notify_and_by_an_option_set_by_hand(place: Path) -> None:
    async with Floor(place) as floor:
        pane = await floor.worker("w", "working")
        waiting = await blocked(floor)
        await floor.states.notify(pane.ref, "unchecked")
        assert (await waiting).first_line.startswith(pane.pane_id)
        await floor.states.notify(pane.ref, "working")
        waiting = await blocked(floor)
        floor.outside("set-option", "-p", "-t", pane.pane_id, "@pane_notify", "error")
        assert (await waiting).taken is not None


@in_loop
async def test_two_coordinators_never_get_the_same_pane(place: Path) -> None:
    async with Floor(place) as floor:
        made = {(await floor.worker(f"w{number}", "unchecked")).pane_id for number in range(4)}
        waited = await asyncio.gather(*(sweep(floor, f"boss{number}") for number in range(6)))
        given = [one.taken.pane.pane_id for one in waited if one.taken]
        assert sorted(given) == sorted(made)
        # Each of them hands back only its own.
        mine = waited[0].taken
        assert mine is not None
        again = await sweep(floor, "boss0")
        assert again.taken is not None
        assert again.taken.pane.pane_id == mine.pane.pane_id


@in_loop
async def test_leases_and_explicit_connections(place: Path) -> None:
    async with Floor(place) as floor:
        pane = await floor.worker("w", "unchecked")
        await floor.states.connect(pane.ref, "boss")
        await floor.states.connect(pane.ref, "boss")
        with pytest.raises(Conflict, match="engaged by boss"):
            await floor.states.connect(pane.ref, "other")
        with pytest.raises(Conflict, match="engaged by boss"):
            await floor.states.disconnect(pane.ref, "other")
        assert await floor.states.still_engaged(pane.ref, "boss")
        floor.clock.ahead += 901_000
        assert not await floor.states.still_engaged(pane.ref, "boss")
        assert (await sweep(floor, "other")).first_line.startswith(pane.pane_id)
        await floor.states.disconnect(pane.ref)
        assert await floor.option(pane.ref, "@pane_coordinator_active") == "0"
        floor.clock.ahead = 0
        human = await floor.human()
        await human.look_at(pane.ref)
        await floor.until(lambda look: look.states[pane.pane_id].focused)
        with pytest.raises(Conflict, match="human"):
            await floor.states.connect(pane.ref, "boss")
        with pytest.raises(InvalidInput):
            await floor.states.notify(pane.ref, "sleeping")


@in_loop
async def test_managed_panes_only(place: Path) -> None:
    async with Floor(place) as floor:
        boss = await floor.worker("Coordinator", "unchecked")
        await floor.tmux.set_options(boss.ref, {"@pane_manages": "Main,SDK"})
        await floor.worker("Other", "error")
        main = await floor.worker("Main", "unchecked")
        waited = await sweep(floor, own_pane=boss.pane_id)
        assert waited.first_line.startswith(main.pane_id)
        assert waited.status.total == 1
        assert (await sweep(floor, managed=["Other"])).first_line.split("|")[2] == "Other"
        with pytest.raises(NotFound, match="“Mai”"):
            await sweep(floor, managed=["Mai"])


@in_loop
async def test_a_pane_that_comes_later_is_seen(place: Path) -> None:
    async with Floor(place) as floor:
        waiting = await blocked(floor)
        pane = await floor.worker("w", "unchecked")
        assert (await waiting).first_line.startswith(pane.pane_id)


@in_loop
async def test_a_daemon_that_starts_again_knows_everything(place: Path) -> None:
    async with Floor(place) as floor:
        kept = await floor.worker("a", "unchecked")
        handled = await floor.worker("b", "done")
        assert (await sweep(floor)).first_line.startswith(kept.pane_id)
        await floor.states.notify(kept.ref, "working")
        assert (await sweep(floor)).first_line.startswith(handled.pane_id)
        assert (await sweep(floor)).first_line == "TIMEOUT"
        await floor.states.notify(kept.ref, "unchecked")
        assert (await sweep(floor)).first_line.startswith(kept.pane_id)
        again = PaneStates(floor.tmux, floor.clock)
        assert (await coordinate_wait(again, "other", timeout=0)).first_line == "TIMEOUT"
        assert (await coordinate_wait(again, "boss", timeout=0)).first_line.startswith(kept.pane_id)


@in_loop
async def test_a_wait_ends_when_the_daemon_does(place: Path) -> None:
    async with Floor(place) as floor:
        await floor.worker("w", "working")
        waiting = await blocked(floor)
        await floor.states.close()
        assert (await waiting).first_line == "TIMEOUT"


@in_loop
async def test_what_nobody_was_told_of_is_given_to_the_next(place: Path) -> None:
    async with Floor(place) as floor:
        await floor.worker("w", "done")
        waited = await sweep(floor)
        assert waited.taken is not None
        await floor.states.release(waited.taken)
        assert (await sweep(floor, "other")).first_line.split("|")[1] == "done"
        await floor.states.release(waited.taken)
        assert (await sweep(floor)).first_line == "TIMEOUT"


@in_loop
async def test_an_answer_that_never_arrived_is_given_again(place: Path) -> None:
    async with Floor(place) as floor:
        pane = await floor.worker("w", "done")
        assert (await sweep(floor, told=False)).first_line.startswith(pane.pane_id)
        # As after a daemon that was killed in the middle of its answer.
        waited = await sweep(floor, told=False)
        assert waited.taken is not None
        await floor.states.confirm(waited.taken)
        assert (await sweep(floor, told=False)).first_line == "TIMEOUT"


@pytest.mark.soak
@in_loop
async def test_no_wake_is_lost(place: Path) -> None:
    """Three workers say `done` now and then; waiters are cut short at any moment, or time out. Each `done` is given
    to somebody once: never lost, never twice."""
    trials = 1000 if SOAK else 60
    chance = random.Random(4)
    async with Floor(place) as floor:
        workers = [await floor.worker(f"w{number}", "working") for number in range(3)]
        given: asyncio.Queue[str] = asyncio.Queue()
        stop = asyncio.Event()

        async def notifier(pane: Pane, times: int) -> None:
            taken = 0
            for _ in range(times):
                await asyncio.sleep(chance.random() * 0.01)
                await floor.states.notify(pane.ref, "done")
                while True:
                    pane_id = await given.get()
                    if pane_id == pane.pane_id:
                        break
                    given.put_nowait(pane_id)
                    await asyncio.sleep(0)
                taken += 1
            assert taken == times

        async def coordinator(name: str) -> None:
            while not stop.is_set():
                limit = chance.choice([0, 0.001, 0.01, 1])
                task = asyncio.create_task(coordinate_wait(floor.states, name, timeout=limit))
                done, _ = await asyncio.wait([task], timeout=chance.choice([0, 0.001, 0.004, 0.02, 2]))
                if not done:
                    task.cancel()
                    await asyncio.wait([task])
                if not task.cancelled() and (waited := task.result()).taken is not None:
                    given.put_nowait(waited.taken.pane.pane_id)

        coordinators = [asyncio.create_task(coordinator(f"boss{number}")) for number in range(2)]
        await asyncio.gather(*(notifier(pane, trials // 3) for pane in workers))
        stop.set()
        await asyncio.gather(*coordinators)
        assert given.empty()


@in_loop
async def test_a_wait_outlives_a_broken_connection(place: Path) -> None:
    async with Floor(place) as floor:
        pane = await floor.worker("w", "working")
        waiting = await blocked(floor)
        control = floor.tmux._connection._control
        assert control is not None
        assert control.pid is not None
        os.kill(control.pid, signal.SIGKILL)
        await control.ended
        await floor.states.notify(pane.ref, "unchecked")
        assert (await waiting).first_line.startswith(pane.pane_id)


@in_loop
async def test_a_pane_that_closes_while_it_is_waited_for(place: Path) -> None:
    async with Floor(place) as floor:
        pane = await floor.worker("w", "working")
        beside = await floor.tmux.split(pane.ref, QUIET, cwd="/")
        waiting = await blocked(floor)
        await floor.tmux.kill_pane(pane.ref)
        await floor.states.notify(beside.ref, "error")
        assert (await waiting).first_line.startswith(beside.pane_id)
