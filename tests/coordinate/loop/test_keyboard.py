"""Esc and Ctrl-C on a real terminal: the menu, what it does, and that the terminal is left as it was."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import subprocess
import termios
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.coordinate.loop.overseen import Overseen, asks, waits_for
from tests.fleet.typing.stage import BIN, Stage
from tests.patience import end_of, told_by, until

ESCAPE, CTRL_C, UP, RIGHT = "\x1b", "\x03", "\x1b[A", "\x1bOC"
MENU = "Oversight interrupted. What would you like to do?"
RULE = {"pattern": "which (colour|size).*", "answer": "Choose 2"}
LOCAL_MODES = 3


class Terminal:
    """A command in front of a terminal of its own, and somebody who types."""

    def __init__(self, stage: Stage, words: list[str]) -> None:
        self._master, self._slave = pty.openpty()
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, b"\x32\x00\xc8\x00\x00\x00\x00\x00")
        self.before = self.modes()
        self.shown = ""
        self.process = subprocess.Popen(
            [BIN / "maestro", *words],
            stdin=self._slave, stdout=self._slave, stderr=self._slave,
            env=stage.maestro.env, cwd=stage.maestro.cwd, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - a terminal of its own
        )  # fmt: skip
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def see(self, text: str, times: int = 1) -> None:
        until(lambda: self.shown.count(text) >= times, lambda: self.shown)

    def modes(self) -> list[Any]:
        return termios.tcgetattr(self._slave)

    def until_it_watches(self) -> None:
        """Until keys are taken one by one."""
        until(lambda: not self.modes()[LOCAL_MODES] & termios.ICANON, lambda: self.shown)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        os.close(self._slave)
        self._reading.join()
        os.close(self._master)

    def _read(self) -> None:
        try:
            while part := os.read(self._master, 65536):
                self.shown += part.decode(errors="replace")
        except OSError:
            pass


@pytest.fixture
def open_terminals(stage: Stage) -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for terminal in opened:
        terminal.close()


def overseeing(stage: Stage, overseen: Overseen, opened: list[Terminal], name: str) -> Terminal:
    words = overseen.command(of=name, rules=[RULE], timeouts={"waitTimeout": 300})
    terminal = Terminal(stage, words)
    opened.append(terminal)
    terminal.see("Esc or Ctrl-C for the menu.")
    terminal.until_it_watches()
    return terminal


def test_the_menu(stage: Stage, overseen: Overseen, open_terminals: list[Terminal]) -> None:
    asked = stage.place / "ask"
    steps = (waits_for(asked), asks("Which colour?", "Red", "Blue"))
    session = stage.spawn("menued", *steps, on_prompt=[{"say": "I heard: ${prompt}"}])
    terminal = overseeing(stage, overseen, open_terminals, "menued")

    # Resume: the loop goes on, and answers.
    terminal.press(ESCAPE)
    terminal.see(MENU)
    for number, words in enumerate(
        ("Resume monitoring", "Fleet status", "Proceed to Synthesis", "Relay a message"), 1
    ):
        terminal.see(f"{number}  {words}")
    assert terminal.modes() == terminal.before, "in the menu one types as always"
    terminal.press("1\n")
    terminal.until_it_watches()
    asked.touch()
    terminal.see("answered “Which colour?” → Choose 2")
    stage.until_said(session, "It is Blue.")

    # Fleet status, by Ctrl-C.
    terminal.press(CTRL_C)
    terminal.see(MENU, 2)
    terminal.press("2\n")
    terminal.see("Nothing waits for you.")
    assert "menued" in terminal.shown.rsplit(MENU, 1)[1]
    terminal.until_it_watches()

    # A message.
    terminal.press(ESCAPE)
    terminal.see(MENU, 3)
    terminal.press("4\n")
    terminal.see("To which worker?")
    terminal.press("menued\n")
    terminal.see("What?")
    terminal.press("Hurry up.\n")
    terminal.see("menued: submitted")
    stage.until_heard(session, "Hurry up.")
    [*_, sent] = stage.prompts(session)
    assert (sent["text"], sent["state"]) == ("Hurry up.", "submitted")
    terminal.until_it_watches()

    # The end.
    terminal.press(ESCAPE)
    terminal.see(MENU, 4)
    terminal.press("3\n")
    terminal.see("The debrief is in")
    assert end_of(terminal.process) == 0
    assert terminal.modes() == terminal.before
    text = (overseen.folder("menued") / "DEBRIEF.md").read_text()
    assert "stopped." in text
    assert "menued: answer by rules: Choose 2" in text


def test_a_wrong_worker_is_said_and_the_menu_stays(
    stage: Stage, overseen: Overseen, open_terminals: list[Terminal]
) -> None:
    stage.spawn("right", {"work": 600})
    terminal = overseeing(stage, overseen, open_terminals, "right")
    terminal.press(ESCAPE)
    terminal.see(MENU)
    terminal.press("4\n")
    terminal.see("To which worker?")
    terminal.press("nobody\n")
    terminal.see("What?")
    terminal.press("Hello.\n")
    terminal.see(MENU, 2)
    assert "nobody" in terminal.shown.rsplit("What?", 1)[1]
    terminal.press(CTRL_C)
    terminal.see("The debrief is in")
    assert end_of(terminal.process) == 0
    assert terminal.modes() == terminal.before


def test_arrow_keys_open_nothing(stage: Stage, overseen: Overseen, open_terminals: list[Terminal]) -> None:
    ready = [stage.place / f"arrow{number}" for number in (1, 2)]
    steps = (
        waits_for(ready[0]), asks("Which colour?", "Red", "Blue"),
        waits_for(ready[1]), asks("Which size?", "S", "L"),
    )  # fmt: skip
    session = stage.spawn("arrows", *steps)
    terminal = overseeing(stage, overseen, open_terminals, "arrows")
    terminal.press(UP)
    ready[0].touch()
    terminal.see("answered “Which colour?”")
    terminal.press(RIGHT)
    ready[1].touch()
    terminal.see("answered “Which size?”")
    stage.until_said(session, "It is Blue.", "It is L.")
    assert MENU not in terminal.shown
    terminal.press(ESCAPE)
    terminal.see(MENU)
    terminal.press("3\n")
    terminal.see("The debrief is in")
    assert end_of(terminal.process) == 0


def test_when_all_are_done_synthesis_is_offered(
    stage: Stage, overseen: Overseen, open_terminals: list[Terminal]
) -> None:
    end = {"run": ["maestro", "session", "report", "complete", "All of it"]}
    session = stage.spawn("through", asks("Which colour?", "Red", "Blue"), end, {"say": "I am through."})
    until(lambda: stage.explain(session)["question"])
    terminal = overseeing(stage, overseen, open_terminals, "through")
    terminal.see("All workers are done. Proceed to Synthesis? [Y/n]")
    assert not (overseen.folder("through") / "DEBRIEF.md").exists()
    terminal.press("\n")
    terminal.see("The debrief is in")
    assert end_of(terminal.process) == 0
    assert terminal.modes() == terminal.before


def test_without_a_terminal_ctrl_c_ends_it_with_a_debrief(stage: Stage, overseen: Overseen) -> None:
    stage.spawn("piped", asks("Which colour?", "Red", "Blue"))
    running = stage.maestro.start(*overseen.command(of="piped", rules=[RULE], timeouts={"waitTimeout": 300}))
    assert running.stdout is not None
    assert any("answered “Which colour?”" in line for line in running.stdout), "it is in its loop"
    running.send_signal(signal.SIGINT)
    out, err = told_by(running)
    assert running.returncode == 0, err
    assert "Stopped. The debrief is in" in out
