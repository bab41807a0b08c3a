"""One control-mode connection: commands go out in order, answers come back in order, nothing is left unread."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from maestro.errors import DaemonError
from maestro.fleet.words import decoded, encoded


class Block(NamedTuple):
    """What one command answered."""

    ok: bool
    lines: list[str]


@dataclass
class _Asked:
    """A line of commands under way.

    Its answer may hold any text that a pane shows, so also a line that looks like the end of an answer. A word that
    nobody can guess is asked for right after it; only what stands before that word's own answer is the end.
    """

    commands: int
    word: bytes
    answer: asyncio.Future[list[Block]]
    lines: list[bytes] = field(default_factory=list)


class Control(asyncio.SubprocessProtocol):
    def __init__(self, on_notice: Callable[[bytes], None], on_lost: Callable[[], None]) -> None:
        self._on_notice = on_notice
        self._on_lost = on_lost
        self._asked: deque[_Asked] = deque()
        self._outgoing = bytearray()
        self._rest = b""
        self._within = False
        self._foreign = b""
        self._input: asyncio.WriteTransport | None = None
        self._transport: asyncio.SubprocessTransport | None = None
        self._complaint = b""
        self._failed = False
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def alive(self) -> bool:
        return self._input is not None and not self._failed

    @property
    def pid(self) -> int | None:
        return self._transport.get_pid() if self._transport else None

    def ask(self, line: str, commands: int) -> asyncio.Future[list[Block]]:
        """Send a line of so many commands. Only the last of them may answer with text that is not ours."""
        if not self.alive:
            raise self.lost()
        word = secrets.token_hex(8).encode()
        asked = _Asked(commands, word, asyncio.get_running_loop().create_future())
        if not self._outgoing:
            # What is asked in the same breath goes out in one write: each of them wakes tmux up.
            asyncio.get_running_loop().call_soon(self._flush)
        self._outgoing += encoded(line) + b"\ndisplay-message -p " + word + b"\n"
        self._asked.append(asked)
        return asked.answer

    def lost(self) -> DaemonError:
        said = decoded(self._complaint).strip()
        return DaemonError(
            f"The connection to tmux is gone{f': {said}' if said else ''}.",
            hint="`maestro up` starts what is missing.",
        )

    def close(self) -> None:
        """Leave; the server and its panes stay."""
        if self._input is not None:
            self._input.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport
        pipe = transport.get_pipe_transport(0)
        assert isinstance(pipe, asyncio.WriteTransport)
        self._input = pipe

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd != 1:
            self._complaint = (self._complaint + data)[-1000:]
            return
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._take(line)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        if fd == 1:
            self._fail()

    def process_exited(self) -> None:
        self._fail()
        if self._transport is not None:
            self._transport.close()
        if not self.ended.done():
            self.ended.set_result(None)

    def _flush(self) -> None:
        if self._input is not None and not self._failed:
            self._input.write(bytes(self._outgoing))
        self._outgoing.clear()

    def _take(self, line: bytes) -> None:
        if self._within:
            self._take_within(line)
        elif self._foreign:
            if line in {b"%end " + self._foreign, b"%error " + self._foreign}:
                self._foreign = b""
            elif not self.ready.done():
                self._complaint = line
        elif line.startswith(b"%begin "):
            numbers = line[7:]
            # The last number tells a command of ours from one that a hook ran in our name.
            if numbers.endswith(b" 1") and self._asked:
                self._asked[0].lines.append(line)
                self._within = True
            else:
                self._foreign = numbers
        elif line.startswith(b"%"):
            if line.startswith(b"%exit "):
                self._complaint = line[6:]
            elif line.startswith(b"%session-changed ") and not self.ready.done():
                self.ready.set_result(None)
            self._on_notice(line)

    def _take_within(self, line: bytes) -> None:
        asked = self._asked[0]
        if line != asked.word:
            asked.lines.append(line)
            return
        self._asked.popleft()
        # The word's own answer began with the line before it, and ends with the next.
        self._foreign, self._within = asked.lines.pop()[7:], False
        blocks, notices = _blocks(asked.lines, asked.commands)
        if not asked.answer.done():
            asked.answer.set_result(blocks)
        for notice in notices:
            self._on_notice(notice)

    def _fail(self) -> None:
        if self._failed:
            return
        self._failed = True
        self.close()
        for asked in self._asked:
            if not asked.answer.done():
                asked.answer.set_exception(self.lost())
        self._asked.clear()
        if not self.ready.done():
            self.ready.set_exception(self.lost())
        self._on_lost()


def _blocks(lines: list[bytes], commands: int) -> tuple[list[Block], list[bytes]]:
    """The answers of our commands, and what tmux told of its own accord in between."""
    blocks: list[Block] = []
    notices: list[bytes] = []
    start = 0
    while start < len(lines):
        if not lines[start].startswith(b"%begin "):
            notices.append(lines[start])
            start += 1
            continue
        numbers = lines[start][7:]
        ours = numbers.endswith(b" 1")
        ends = (b"%end " + numbers, b"%error " + numbers)
        places = range(start + 1, len(lines))
        is_last = ours and len(blocks) == commands - 1
        end = next(i for i in (reversed(places) if is_last else places) if lines[i] in ends)
        if ours:
            blocks.append(Block(lines[end] == ends[0], [decoded(line) for line in lines[start + 1 : end]]))
        start = end + 1
    return blocks, notices
