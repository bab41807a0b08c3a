"""Rows S7, S8, S9 and S10: fifty panes, read, waited for, typed into, and left alone."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.fleet.idle import idle_fleet
from bench.measure import Row, row
from maestro.fleet.facts import Pane
from maestro.fleet.states import PaneStates
from maestro.fleet.tmux import Tmux
from maestro.fleet.wait import coordinate_wait

PANES = 50
DIMENSIONS = ("@pane_notify", "@pane_coordinator_active", "@pane_user_focused")
READ_ROUNDS = 5
READS_A_ROUND = 20
WAIT_ROUNDS = 30
TYPE_ROUNDS = 30
IDLE_SECONDS = 60.0
PROMPT = "Add a test for the parser, and say in one sentence what it found.\nThen stop."
# Everything that reaches its terminal goes on to a pipe, a byte at a time if it must.
RECEIVER = "stty raw -echo; printf ready > {pipe}; exec cat > {pipe}"


def rows(wanted: set[str]) -> Iterator[Row]:
    ours = {"S7", "S8", "S9", "S10"}
    chosen = wanted & ours if wanted else ours
    if chosen:
        with tempfile.TemporaryDirectory(prefix="mb") as name:
            yield from asyncio.run(_measure(Path(name), chosen))
    if "S10" in chosen:
        yield idle_fleet()


async def _measure(place: Path, chosen: set[str]) -> list[Row]:
    env = {"PATH": os.environ["PATH"], "HOME": str(place), "LANG": "C.UTF-8"}
    tmux = Tmux(str(place / "tmux"), env)
    await tmux.start()
    states = PaneStates(tmux, lambda: time.time_ns() // 1_000_000)
    tmux.on_change = states.changed
    found: list[Row] = []
    try:
        panes = [await _worker(tmux, states, number) for number in range(PANES)]
        await states.install()
        if "S7" in chosen:
            found.append(await _reading(tmux, panes))
        if "S8" in chosen:
            found.append(await _waiting(tmux, states, panes))
        if "S9" in chosen:
            found.append(await _typing(tmux, place))
        if "S10" in chosen:
            found.append(await _idle(tmux, states))
    finally:
        await states.close()
        await tmux.kill_server()
    return found


async def _worker(tmux: Tmux, states: PaneStates, number: int) -> Pane:
    options = {"@pane_label": f"worker {number}", "@session_id": f"sess_{number:026}"}
    if number:
        pane = await tmux.new_window("main", ("cat", "-"), cwd="/", name=f"w{number}", options=options)
    else:
        pane = await tmux.new_session("main", ("cat", "-"), cwd="/", window_name="w0", options=options)
    await states.notify(pane.ref, "working")
    return pane


async def _reading(tmux: Tmux, panes: list[Pane]) -> Row:
    ours = against = float("inf")
    for _ in range(READ_ROUNDS):
        for _ in range(READS_A_ROUND):
            started = time.perf_counter()
            glances, _ = await tmux.glance()
            ours = min(ours, time.perf_counter() - started)
            assert len(glances) == PANES
        started = time.perf_counter()
        _show_options(tmux, panes)
        against = min(against, time.perf_counter() - started)
    return row("S7", "state of 50 panes ÷ 150 runs of tmux show-options", 500, (ours, against), at_most=False)


def _show_options(tmux: Tmux, panes: list[Pane]) -> None:
    for pane in panes:
        for option in DIMENSIONS:
            _run(tmux, "show-options", "-p", "-v", "-t", pane.pane_id, option)


async def _waiting(tmux: Tmux, states: PaneStates, panes: list[Pane]) -> Row:
    ours = against = float("inf")
    for number in range(WAIT_ROUNDS):
        pane = panes[number % PANES]
        waiting = asyncio.create_task(coordinate_wait(states, "bench", timeout=60))
        await asyncio.sleep(0.05)
        started = time.perf_counter()
        await states.notify(pane.ref, "unchecked")
        waited = await waiting
        ours = min(ours, time.perf_counter() - started)
        assert waited.taken is not None
        await states.notify(pane.ref, "working")
        started = time.perf_counter()
        _run(tmux, "display-message", "-p", "word")
        against = min(against, time.perf_counter() - started)
    return row("S8", "notify → coordinate-wait with capture ÷ one tmux process", 1.2, (ours, against))


async def _typing(tmux: Tmux, place: Path) -> Row:
    """Until the last byte has come out of the pane: pasted text and Enter."""
    pipe = place / "received"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    argv = ("sh", "-c", RECEIVER.format(pipe=pipe))
    pane = await tmux.new_window("main", argv, cwd="/", name="receiver")
    await _received(reading, b"ready")
    ours = against = float("inf")
    for _ in range(TYPE_ROUNDS):
        started = time.perf_counter()
        await tmux.paste(pane.ref, PROMPT)
        await tmux.press(pane.ref, ("Enter",))
        await _received(reading, b"stop.\r")
        ours = min(ours, time.perf_counter() - started)
        started = time.perf_counter()
        _run(tmux, "load-buffer", "-b", "bench", "-", given=PROMPT)
        _run(tmux, "paste-buffer", "-p", "-d", "-b", "bench", "-t", pane.pane_id)
        _run(tmux, "send-keys", "-t", pane.pane_id, "Enter")
        await _received(reading, b"stop.\r")
        against = min(against, time.perf_counter() - started)
    os.close(reading)
    await tmux.kill_pane(pane.ref)
    return row("S9", "paste and Enter reach the pane ÷ three runs of tmux", 8, (ours, against), at_most=False)


async def _received(reading: int, end: bytes) -> None:
    loop, got = asyncio.get_running_loop(), b""
    readable = asyncio.Event()
    loop.add_reader(reading, readable.set)
    try:
        while not got.endswith(end):
            await readable.wait()
            readable.clear()
            with contextlib.suppress(BlockingIOError):
                got += os.read(reading, 65536)
    finally:
        loop.remove_reader(reading)


async def _idle(tmux: Tmux, states: PaneStates) -> Row:
    waiting = asyncio.create_task(coordinate_wait(states, "bench", timeout=IDLE_SECONDS + 10))
    await asyncio.sleep(1)
    before, started = _cpu(tmux), time.perf_counter()
    await asyncio.sleep(IDLE_SECONDS)
    spent, passed = _cpu(tmux) - before, time.perf_counter() - started
    waiting.cancel()
    await asyncio.wait([waiting])
    return row("S10", "idle: CPU % of 50 panes and a waiter", 0.2, (spent * 100 / passed, 1.0))


def _cpu(tmux: Tmux) -> float:
    """Seconds of processor time, of this process and of tmux."""
    assert tmux.server is not None
    fields = Path(f"/proc/{tmux.server.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return time.process_time() + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _run(tmux: Tmux, *words: str, given: str | None = None) -> None:
    command = ["tmux", "-S", tmux.socket, *words]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, input=given, text=True)
