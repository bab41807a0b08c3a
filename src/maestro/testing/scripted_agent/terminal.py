"""The scripted agent on a terminal: raw keys in, a painted screen out."""

from __future__ import annotations

import contextlib
import os
import random
import termios
import time
import tty
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import Self

from maestro.testing.scripted_agent.beside import Beside
from maestro.testing.scripted_agent.box import RULES, Box, Sent, Tempo, in_tempo
from maestro.testing.scripted_agent.dialog import Answer, Asked
from maestro.testing.scripted_agent.effects import Block, Prompt
from maestro.testing.scripted_agent.keys import Draft, Key, clean, decode_keys
from maestro.testing.scripted_agent.process import Child, Ended, Wakeups
from maestro.testing.scripted_agent.render import LOOKS, render
from maestro.testing.scripted_agent.screen import VERBS, Frame, ScreenState, Spinner, duration

ESCAPE_DELAY = 0.05
SPINNER_INTERVAL = 0.25
SECOND_CTRL_C = 3.0
MOST_BLOCKS = 500
HUNG_UP = 129

SHOW_CURSOR = "\x1b[?25h"
_OPEN = b"\x1b[?1049h\x1b[?2004h\x1b[2J"
_CLOSE = b"\x1b[?2004l\x1b[?25h\x1b[0m\x1b[?1049l"


class Screen:
    """The terminal in raw mode; paints only the lines that changed; gives the terminal back as it was."""

    def __init__(self, keys: int, output: int) -> None:
        self._keys = keys
        self._output = output
        self._painted: Frame | None = None
        self._size = (0, 0)

    def __enter__(self) -> Self:
        self._saved = termios.tcgetattr(self._keys)
        tty.setraw(self._keys, termios.TCSADRAIN)
        self._write(_OPEN)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(Ended):
            self._write(_CLOSE)
        with contextlib.suppress(termios.error):
            termios.tcsetattr(self._keys, termios.TCSADRAIN, self._saved)

    def read(self) -> bytes:
        try:
            received = os.read(self._keys, 65536)
        except OSError as fault:
            raise Ended(HUNG_UP) from fault
        if not received:
            raise Ended(HUNG_UP)
        return received

    def paint(self, state: ScreenState) -> None:
        size = self._measure()
        out: list[str] = []
        if size != self._size:
            self._size = size
            self._painted = None
            out.append("\x1b[2J")
        width, height = size
        frame = render(state, width, height)
        if frame == self._painted:
            return
        before = self._painted.lines if self._painted else ()
        out.append("\x1b[?25l")
        for row in range(max(len(frame.lines), len(before))):
            line = frame.lines[row] if row < len(frame.lines) else ""
            if row >= len(before) or line != before[row]:
                out.append(f"\x1b[{row + 1};1H\x1b[0m{line}\x1b[0m\x1b[K")
        if frame.cursor is not None:
            row, column = frame.cursor
            out.append(f"\x1b[{row + 1};{column + 1}H{SHOW_CURSOR if frame.is_cursor_shown else ''}")
        if self._painted is None or frame.title != self._painted.title:
            out.append(f"\x1b]2;{clean(frame.title)}\x07")
        self._painted = frame
        self._write("".join(out).encode("utf-8", "replace"))

    def _measure(self) -> tuple[int, int]:
        try:
            size = os.get_terminal_size(self._output)
        except OSError:
            return 80, 24
        return size.columns or 80, size.lines or 24

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._output, left) :]
        except OSError as fault:
            raise Ended(HUNG_UP) from fault


class TerminalFace:
    """How the agent looks and listens on a terminal."""

    def __init__(
        self,
        screen: Screen,
        wakeups: Wakeups,
        state: ScreenState,
        *,
        enqueued: Callable[[str], None],
        now: Callable[[], datetime],
        chance: random.Random,
    ) -> None:
        self._screen = screen
        self._wakeups = wakeups
        self._state = state
        self._look = LOOKS[state.imitate]
        self._rules = RULES[state.imitate]
        self._enqueued = enqueued
        self._now = now
        self._chance = chance
        self._undecoded = b""
        self._tempo = Tempo()
        self._box_sent = state.box  # as it was before the last key
        self._keys: deque[Key] = deque()
        self._queued: deque[Prompt] = deque()
        self._verb, self._past_verb = VERBS[0]
        self._turn_began = 0.0
        self._quit_by_ctrl_c_until = 0.0

    def show(self, block: Block) -> None:
        self._change(blocks=(*self._state.blocks, block)[-MOST_BLOCKS:])

    def begin_turn(self) -> None:
        self._verb, self._past_verb = self._chance.choice(VERBS)
        self._turn_began = time.monotonic()

    def end_turn(self, seconds: float, *, failed: bool) -> None:
        self._change(spinner=None)
        here = self._now().astimezone()
        match self._state.imitate:
            case "claude":
                clock = here.strftime("%I:%M %p").lstrip("0")
                self.show(Block("done", f"{self._past_verb} for {duration(seconds)} · done {clock}"))
            case "codex" if not failed:
                took = duration(seconds) if seconds >= 1 else "<1s"
                self.show(Block("done", f"Worked for {took} • {here:%H:%M}"))
            case _:
                pass  # Gemini CLI says nothing when it is done

    def put_back(self, text: str) -> None:
        draft = Draft((text, *self._state.box.draft.pieces))
        self._change(spinner=None, box=Box(draft), blocks=self._state.blocks[:-1])

    def busy(self, deadline: float | None, child: Child | None, note: str) -> bool:
        frame = 0
        while True:
            seconds = time.monotonic() - self._turn_began
            self._change(spinner=Spinner(frame, self._verb, int(seconds), note))
            if child is not None and child.ended():
                return False
            left = SPINNER_INTERVAL if deadline is None else deadline - time.monotonic()
            if left <= 0:
                return False
            key = self._next_key(min(left, SPINNER_INTERVAL))
            frame = int(seconds / SPINNER_INTERVAL)
            if key is None:
                continue
            if key.name == "esc" and not self._state.box.is_shell:
                return True
            self._queue(self._edit(key))

    def settle(self, child: Child, deadline: float) -> None:
        """Waits for a hook; keys that come wait, too."""
        while not child.ended() and (left := deadline - time.monotonic()) > 0:
            self._receive(left)

    def rest(self, deadline: float) -> None:
        while (left := deadline - time.monotonic()) > 0:
            key = self._next_key(left)
            if key is not None:
                self._queue(self._edit(key))

    def ask(self, asked: Asked, beside: Beside) -> Answer:
        self._change(dialog=self._look.open(asked), spinner=None)
        try:
            while True:
                answer = beside.look()
                if answer is not None:
                    return answer
                key = self._next_key(beside.seconds_left())
                dialog = self._state.dialog
                if key is None or dialog is None:
                    continue
                after = self._look.press(dialog, key)
                if isinstance(after, Answer):
                    return after
                self._change(dialog=after)
        finally:
            self._state = replace(self._state, dialog=None)

    def await_prompt(self, beside: Beside) -> Prompt:
        if self._queued:
            first = self._queued.popleft()
            self._change(queued=self._state.queued[1:])
            return first
        self._change(spinner=None)
        while True:
            beside.look()
            key = self._next_key(beside.seconds_left())
            sent = self._edit(key) if key is not None else None
            if sent is not None:
                return Prompt(sent.text, is_shell=sent.kind == "shell")

    def _queue(self, sent: Sent | None) -> None:
        if sent is not None:
            is_shell = sent.kind == "shell"
            if not is_shell:
                self._enqueued(sent.text)
            self._queued.append(Prompt(sent.text, was_queued=not is_shell, is_shell=is_shell))
            self._change(queued=(*self._state.queued, sent.text))

    def _edit(self, key: Key) -> Sent | None:
        """Puts the key into the box; what it sent, if that is something to take."""
        before = self._box_sent if key.name == "enter-again" else self._state.box
        box, sent = before.press(Key("enter") if key.name == "enter-again" else key, self._rules)
        self._box_sent = before
        self._change(box=box)
        if sent is None:
            return None
        if sent.kind == "quit":
            raise Ended(0)
        if sent.kind == "command":
            if self._state.imitate == "codex":
                word = sent.text.split()[0]
                self.show(Block("text", f"Unrecognized command '{word}'. Type \"/\" for a list of them."))
            return None
        return sent

    def _next_key(self, seconds: float | None) -> Key | None:
        """The next key, if one comes in time; a signal or the passing of a notice returns too."""
        if not self._keys:
            self._receive(seconds)
        if not self._keys:
            return None
        key = self._keys.popleft()
        if key.name != "ctrl-c":
            return key
        is_final = self._rules.is_ctrl_c_final and self._state.box.is_empty and self._state.spinner is None
        if is_final or time.monotonic() < self._quit_by_ctrl_c_until:
            raise Ended(0)
        if self._rules.is_ctrl_c_final:
            self._change(box=Box())
            return None
        self._quit_by_ctrl_c_until = time.monotonic() + SECOND_CTRL_C
        self._change(box=Box(), notice="Press Ctrl-C again to exit")
        return None

    def _receive(self, seconds: float | None) -> None:
        if self._state.notice:
            until_lapse = self._quit_by_ctrl_c_until - time.monotonic()
            if until_lapse <= 0:
                self._change(notice="")
            seconds = until_lapse if seconds is None else min(seconds, until_lapse)
        if self._undecoded:
            seconds = ESCAPE_DELAY if seconds is None else min(seconds, ESCAPE_DELAY)
        self._screen.paint(self._state)
        is_more = self._wakeups.wait(None if seconds is None else max(0.0, seconds))
        received = self._screen.read() if is_more else b""
        if received or self._undecoded:
            keys, self._undecoded = decode_keys(self._undecoded + received, is_all=not is_more)
            at = time.monotonic()
            before = ""
            for key in keys:
                taken, self._tempo = in_tempo(self._rules, self._tempo, key, at)
                is_again = self._rules.sends_again and taken.name == before == "enter"
                self._keys.append(Key("enter-again") if is_again else taken)
                before = taken.name

    def _change(self, **changes: object) -> None:
        self._state = replace(self._state, **changes)  # type: ignore[arg-type]  # names checked by replace
        if not self._keys:
            self._screen.paint(self._state)
