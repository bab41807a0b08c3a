"""The scripted agent without a terminal: prompts are lines of its input, its screen is plain lines."""

from __future__ import annotations

import contextlib
import os
import time

from maestro.testing.scripted_agent.beside import Beside
from maestro.testing.scripted_agent.dialog import Answer, Asked, answer_from_line
from maestro.testing.scripted_agent.effects import Block, Prompt
from maestro.testing.scripted_agent.keys import clean
from maestro.testing.scripted_agent.process import Child, Ended, Wakeups
from maestro.testing.scripted_agent.render import LOOKS
from maestro.testing.scripted_agent.screen import VERBS, block_lines, dialog_text, duration
from maestro.testing.scripted_agent.steps import Imitated

STDIN, STDOUT = 0, 1
READER_GONE = 141


class LinesFace:
    """How the agent looks and listens on pipes and files."""

    def __init__(self, wakeups: Wakeups, imitate: Imitated) -> None:
        self._wakeups = wakeups
        self._marks = LOOKS[imitate].marks
        self._received = b""
        self._is_at_end = False

    def show(self, block: Block) -> None:
        self._print(block_lines(block, self._marks))

    def begin_turn(self) -> None:
        """Plain lines show a turn by what is said in it."""

    def end_turn(self, seconds: float, *, failed: bool) -> None:  # noqa: ARG002 - only screens tell
        self.show(Block("done", f"{VERBS[0][1]} for {duration(seconds)}"))

    def put_back(self, text: str) -> None:
        """Nobody can interrupt here, so no prompt ever comes back."""

    def busy(self, deadline: float | None, child: Child | None, note: str) -> bool:
        if note:
            self._print([note])
        while child is None or not child.ended():
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                break
            self._wakeups.wait(left)
        return False

    def settle(self, child: Child, deadline: float) -> None:
        while not child.ended() and (left := deadline - time.monotonic()) > 0:
            self._wakeups.wait(left)

    def rest(self, deadline: float) -> None:
        self.busy(deadline, None, "")

    def ask(self, asked: Asked, beside: Beside) -> Answer:
        self._print(dialog_text(asked))
        while b"\n" not in self._received and not self._is_at_end:
            answer = beside.look()
            if answer is not None:
                return answer
            self._read_more(beside.seconds_left())
        return answer_from_line(asked, self._line())

    def await_prompt(self, beside: Beside) -> Prompt | None:  # noqa: ARG002 - only a screen's idling is told
        while (line := self._line()) is not None:
            if text := line.strip():
                return Prompt(text)
        return None

    def _line(self) -> str | None:
        """The next line of the input; none at its end."""
        while b"\n" not in self._received and not self._is_at_end:
            self._read_more(None)
        if not self._received:
            return None
        line, _, self._received = self._received.partition(b"\n")
        return clean(line.decode("utf-8", "replace"))

    def _read_more(self, seconds: float | None) -> None:
        """What comes next; nothing when a signal or the time is first."""
        chunk = b""
        with contextlib.suppress(OSError):  # a closed input is an input at its end
            self._wakeups.watch(STDIN)
            try:
                if not self._wakeups.wait(seconds):
                    return
                chunk = os.read(STDIN, 65536)
            finally:
                self._wakeups.unwatch(STDIN)
        self._received += chunk
        self._is_at_end = not chunk

    def _print(self, lines: list[str]) -> None:
        data = memoryview("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
        try:
            while data:
                data = data[os.write(STDOUT, data) :]
        except OSError as fault:
            raise Ended(READER_GONE) from fault
