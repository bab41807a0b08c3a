"""The live view in a real terminal of 80 columns and 24 lines: `maestro` alone, and nothing else."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.typing.stage import BIN, Stage
from tests.patience import until

from maestro.cli.live.jump import way_to
from maestro.coordinate.overview import PaneView
from maestro.server import lifecycle

ASK: dict[str, Any] = {
    "ask": {
        "question": "Where does it go?",
        "header": "Where",
        "options": [{"label": "Staging", "description": "nobody sees it"}, "Production"],
        "answers": {"*": [{"say": "I was told ${answer}."}]},
    }
}
VIEW = (f"{BIN}/python", "-m", "maestro")


class Terminal:
    """A pane of a tmux server, with the view in it."""

    def __init__(self, stage: Stage, socket: str, *place: str) -> None:
        self._stage = stage
        self._socket = socket
        words = (*place, "-P", "-F", "#{pane_id}", "-c", str(stage.maestro.cwd))
        self.pane = stage.tmux(*words, *VIEW, socket=socket).strip()

    @property
    def screen(self) -> str:
        return self._stage.tmux("capture-pane", "-p", "-t", self.pane, socket=self._socket)

    def press(self, *keys: str) -> None:
        self._stage.tmux("send-keys", "-t", self.pane, *keys, socket=self._socket)

    def sees(self, *texts: str) -> str:
        until(lambda: all(text in self.screen for text in texts), lambda: self.screen)
        return self.screen


def beside_a_worker(stage: Stage) -> Terminal:
    stage.spawn("backend", {"say": "The API is half done."}, ASK)
    return Terminal(stage, stage.own_socket, "new-session", "-d", "-x", "80", "-y", "24")


@pytest.fixture
def terminal(stage: Stage) -> Terminal:
    return beside_a_worker(stage)


def test_the_whole_view_fits_into_eighty_columns(stage: Stage, terminal: Terminal) -> None:
    screen = terminal.sees("▸! backend", " 2 Production")
    lines = screen.splitlines()
    assert lines[0].startswith(" maestro  0 working · 1 needs you")
    assert "backend" in lines[1]
    assert "waiting" in lines[1]
    assert lines[2] == "   Where does it go?"
    assert "   1 Staging  nobody sees it" in screen
    assert lines[-1].rstrip().endswith("q quit")


def test_a_digit_answers_and_q_leaves(stage: Stage, terminal: Terminal) -> None:
    stage.tmux("set-option", "-g", "remain-on-exit", "on")
    terminal.sees(" 2 Production")
    terminal.press("2")
    # So fast that it may ask again.
    until(lambda: "I was told Production." in terminal.screen or "it asked only just now" in terminal.screen)
    terminal.press("y")
    terminal.sees("I was told Production.")
    told = ("display-message", "-p", "-t", terminal.pane, "#{pid} #{pane_dead} #{pane_dead_status}")

    def has_left() -> bool:
        server, *dead = stage.tmux(*told).split()
        if dead[0] == "0":
            # A key that comes while the view answers may be taken for the answer's.
            terminal.press("q")
        elif len(dead) == 1:
            # tmux 3.3a now and then misses that a child has ended; told again, it looks.
            os.kill(int(server), signal.SIGCHLD)
        return dead == ["1", "0"]

    until(has_left, lambda: terminal.screen)


def test_enter_shows_the_pane_and_detaching_comes_back(terminal: Terminal) -> None:
    terminal.sees(" 2 Production")
    terminal.press("Enter")
    terminal.sees("Enter to select", "2. Production")
    terminal.press("C-b", "d")
    terminal.sees("▸! backend", "q quit")


def test_inside_the_same_tmux_enter_moves_the_terminal(stage: Stage) -> None:
    worker = stage.spawn("backend", ASK)
    socket, pane = stage.place_of(worker)
    stage.human(worker)
    terminal = Terminal(stage, socket, "new-window", "-t", "maestro:")
    terminal.sees("▸! backend", " 2 Production")
    shown = ("list-clients", "-F", "#{client_control_mode} #{pane_id}")
    assert f"0 {terminal.pane}" in stage.tmux(*shown, socket=socket).splitlines()
    terminal.press("Enter")
    until(lambda: f"0 {pane}" in stage.tmux(*shown, socket=socket).splitlines(), lambda: terminal.screen)


def test_a_pipe_gets_the_commands(stage: Stage) -> None:
    done = stage.maestro()
    assert done.returncode == 0
    assert "usage: maestro COMMAND" in done.stdout


def test_it_does_not_start_a_daemon_that_was_stopped(lone_stage: Stage) -> None:
    terminal = beside_a_worker(lone_stage)
    terminal.sees(" 2 Production")
    lone_stage.maestro("server", "stop")
    terminal.sees("What you see is old; r starts it.")
    assert json.loads(lone_stage.maestro("server", "status", "--json").stdout)["running"] is False
    terminal.press("r")
    until(lambda: lifecycle.is_running(lone_stage.maestro.home))
    until(lambda: "What you see is old" not in terminal.screen, lambda: terminal.screen)


@pytest.mark.parametrize(
    ("tmux", "is_inside"),
    [
        ("", False),
        ("{socket},12,0", True),
        ("{link},12,0", True),
        ("{other},12,0", False),
        ("nonsense", False),
    ],
)
def test_which_way_leads_to_a_pane(place: Path, tmux: str, *, is_inside: bool) -> None:
    socket, other, link = place / "a,b", place / "other", place / "link"
    for path in (socket, other):
        path.touch()
    link.symlink_to(socket)
    env = {"TMUX": tmux.format(socket=socket, other=other, link=link), "TMUX_PANE": "%1", "TERM": "xterm"}
    way = way_to(PaneView("f", str(socket), "%3", "shop", "shop:1.0", False, False), env)
    assert way.needs_terminal is not is_inside
    assert ("TMUX" in way.env) is is_inside
    assert "%3" in way.argv
    assert way.env["TERM"] == "xterm"
