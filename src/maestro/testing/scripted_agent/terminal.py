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

from maestro.testing.scripted_agent.dialog import Answer, Choice, Consent, Dialog, press
from maestro.testing.scripted_agent.effects import Block, Prompt
from maestro.testing.scripted_agent.keys import Draft, Key, decode_keys
from maestro.testing.scripted_agent.process import Child, Ended, Wakeups
from maestro.testing.scripted_agent.screen import VERBS, Frame, ScreenState, Spinner, duration, render

ESCAPE_DELAY = 0.05
SPINNER_INTERVAL = 0.25
SECOND_CTRL_C = 3.0
MOST_BLOCKS = 500
HUNG_UP = 129
QUIT_COMMANDS = frozenset({"/exit", "/quit"})

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
            out.append(f"\x1b[{row + 1};{column + 1}H\x1b[?25h")
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
        self._enqueued = enqueued
        self._now = now
        self._chance = chance
        self._undecoded = b""
        self._keys: deque[Key] = deque()
        self._verb, self._past_verb = VERBS[0]
        self._turn_began = 0.0
        self._quit_by_ctrl_c_until = 0.0

    def show(self, block: Block) -> None:
        self._change(blocks=(*self._state.blocks, block)[-MOST_BLOCKS:])

    def begin_turn(self) -> None:
        self._verb, self._past_verb = self._chance.choice(VERBS)
        self._turn_began = time.monotonic()

    def end_turn(self, seconds: float) -> None:
        clock = self._now().astimezone().strftime("%I:%M %p").lstrip("0")
        self._change(spinner=None)
        self.show(Block("done", f"{self._past_verb} for {duration(seconds)} · done {clock}"))

    def put_back(self, text: str) -> None:
        draft = Draft((text, *self._state.draft.pieces))
        self._change(spinner=None, draft=draft, blocks=self._state.blocks[:-1])

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
            if key.name == "esc":
                return True
            text = self._edit(key)
            if text is not None:
                self._enqueued(text)
                self._change(queued=(*self._state.queued, text))

    def ask(self, asked: Choice | Consent) -> Answer:
        self._change(dialog=Dialog(asked))
        while True:
            key = self._next_key(None)
            dialog = self._state.dialog
            if key is None or dialog is None:
                continue
            after = press(dialog, key)
            if isinstance(after, Answer):
                self._change(dialog=None)
                return after
            self._change(dialog=after)

    def await_prompt(self) -> Prompt:
        if self._state.queued:
            first, *rest = self._state.queued
            self._change(queued=tuple(rest))
            return Prompt(first, was_queued=True)
        self._change(spinner=None)
        while True:
            key = self._next_key(None)
            text = self._edit(key) if key is not None else None
            if text is not None:
                return Prompt(text)

    def _edit(self, key: Key) -> str | None:
        """Puts the key into the draft; the text, when the key submits it."""
        draft = self._state.draft
        if key.name != "enter":
            self._change(draft=draft.press(key))
            return None
        text = draft.text.strip()
        if not text:
            return None
        self._change(draft=Draft())
        if text in QUIT_COMMANDS:
            raise Ended(0)
        return text

    def _next_key(self, seconds: float | None) -> Key | None:
        """The next key, if one comes in time; a signal or the passing of a notice returns too."""
        if not self._keys:
            self._receive(seconds)
        if not self._keys:
            return None
        key = self._keys.popleft()
        if key.name != "ctrl-c":
            return key
        if time.monotonic() < self._quit_by_ctrl_c_until:
            raise Ended(0)
        self._quit_by_ctrl_c_until = time.monotonic() + SECOND_CTRL_C
        self._change(draft=Draft(), notice="Press Ctrl-C again to exit")
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
            self._keys.extend(keys)

    def _change(self, **changes: object) -> None:
        self._state = replace(self._state, **changes)  # type: ignore[arg-type]  # names checked by replace
        if not self._keys:
            self._screen.paint(self._state)
