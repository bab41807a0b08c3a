"""A human at a real terminal: where they look, coordinators keep away; where they left, somebody comes again."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

from tests.fleet.state.floor import Floor, blocked, in_loop, sweep

from maestro.fleet.states import PaneStates


@in_loop
async def test_the_human_leaves_and_a_blocked_wait_goes_on(place: Path) -> None:
    async with Floor(place) as floor:
        pane, human = await floor.worker("w", "working"), await floor.human()
        await human.look_at(pane.ref)
        await floor.until(lambda look: look.states[pane.pane_id].focused)
        await floor.states.notify(pane.ref, "unchecked")
        waiting = await blocked(floor)
        await human.leave()
        assert (await waiting).first_line.startswith(pane.pane_id)


@in_loop
async def test_looking_checks_and_leaving_unchecks(place: Path) -> None:
    async with Floor(place) as floor:
        pane, human = await floor.worker("w", "unchecked"), await floor.human()
        for _ in range(3):
            await human.look_at(pane.ref)
            await floor.until(lambda look: look.states[pane.pane_id].notify == "checked")
            assert await floor.option(pane.ref, "@pane_user_focused") == "1"
            await human.leave()
            await floor.until(lambda look: look.states[pane.pane_id].notify == "unchecked")
            assert await floor.option(pane.ref, "@pane_user_focused") == "0"
        await human.look_at(pane.ref)
        await floor.until(lambda look: look.states[pane.pane_id].focused)
        await floor.states.notify(pane.ref, "working")
        await human.leave()
        look = await floor.until(lambda look: not look.states[pane.pane_id].focused)
        assert look.states[pane.pane_id].notify == "working"


@in_loop
async def test_rapid_toggling_ends_where_the_human_ends(place: Path) -> None:
    async with Floor(place) as floor:
        pane, human = await floor.worker("w", "unchecked"), await floor.human()
        for _ in range(20):
            await human.look_at(pane.ref)
            await human.leave()
        look = await floor.until(lambda look: look.states[floor.desk.pane_id].focused)
        assert look.states[pane.pane_id].notify == "unchecked"
        assert (await sweep(floor)).first_line.startswith(pane.pane_id)


@in_loop
async def test_a_killed_client_looks_at_nothing(place: Path) -> None:
    async with Floor(place) as floor:
        pane, human = await floor.worker("w", "unchecked"), await floor.human()
        await human.look_at(pane.ref)
        await floor.until(lambda look: look.states[pane.pane_id].notify == "checked")
        waiting = await blocked(floor)
        human.kill()
        assert (await waiting).first_line.startswith(f"{pane.pane_id}|unchecked")


@in_loop
async def test_a_terminal_in_the_background_does_not_look(place: Path) -> None:
    async with Floor(place) as floor:
        pane, human = await floor.worker("w", "unchecked"), await floor.human()
        await human.look_at(pane.ref)
        await floor.until(lambda look: look.states[pane.pane_id].focused)
        human.press(b"\x1b[O")
        await floor.until(lambda look: not look.states[pane.pane_id].focused)
        human.press(b"\x1b[I")
        await floor.until(lambda look: look.states[pane.pane_id].focused)


@in_loop
async def test_a_terminal_left_open_does_not_freeze_its_pane(place: Path) -> None:
    async with Floor(place) as floor:
        pane, human = await floor.worker("w", "unchecked"), await floor.human()
        await human.look_at(pane.ref)
        await floor.until(lambda look: look.states[pane.pane_id].focused)
        floor.clock.ahead += 122_000
        assert (await sweep(floor)).first_line.startswith(pane.pane_id)


@in_loop
async def test_the_lapse_of_focus_wakes_by_itself(place: Path) -> None:
    async with Floor(place) as floor:
        floor.states = PaneStates(floor.tmux, floor.clock, focus_idle=1)
        floor.tmux.on_change = floor.states.changed
        # The focus lasts until somebody waits, however long that takes.
        floor.clock.stop()
        pane, human = await floor.worker("w", "unchecked"), await floor.human()
        await human.look_at(pane.ref)
        human.press(b"x")
        await floor.until(lambda look: look.states[pane.pane_id].focused)
        # From here on tmux tells nothing: only the time can wake.
        floor.tmux.on_change = lambda: None
        waiting = await blocked(floor)
        floor.clock.go_on()
        assert (await waiting).first_line.startswith(pane.pane_id)


@in_loop
async def test_a_control_client_is_no_human(place: Path) -> None:
    async with Floor(place) as floor:
        pane = await floor.worker("w", "unchecked")
        await floor.tmux.select(pane.ref)
        program = await asyncio.create_subprocess_exec(
            *("tmux", "-S", floor.tmux.socket, "-C", "attach", "-t", "=main"),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=floor.env,
        )  # fmt: skip
        assert program.stdout is not None
        while not (await program.stdout.readline()).startswith(b"%session-changed"):
            continue
        assert [client.control for client in await floor.tmux.clients()] == [True]
        assert (await sweep(floor)).first_line.startswith(pane.pane_id)
        await program.communicate(b"")


@in_loop
async def test_the_key_leads_to_the_pane_that_needs_the_human(place: Path) -> None:
    async with Floor(place) as floor:
        await floor.worker("a", "working")
        pane, human = await floor.worker("b", "error"), await floor.human()
        await floor.states.look()
        human.press(b"\x02N")
        await floor.until(lambda look: look.states[pane.pane_id].focused)
