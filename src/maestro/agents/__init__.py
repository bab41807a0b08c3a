"""What every coding-agent CLI has in common: the facts and the port, on one page.

A transcript is the log file that an agent writes by itself, one JSON record a line. An adapter knows where
one CLI keeps its transcripts and what a line means; everything else works on `Moment`, the one thing that
all transcripts are made of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Literal, Protocol

import msgspec

Environment = Mapping[str, str]
Buffer = bytes | bytearray

Kind = Literal[
    "text",  # the agent said something
    "prompt",  # a person, or another agent, asked something
    "tool_call",
    "tool_result",
    "question",  # the agent waits for an answer that only a person gives
    "thinking",
    "background",  # the turn is over, but agents that it started still run
    "turn_started",
    "turn_ended",
    "interrupted",
    "api_error",
]


class Moment(msgspec.Struct, frozen=True, gc=False):
    """One thing that happened in a session, as its transcript tells it."""

    kind: Kind
    at: int | None  # milliseconds since 1970
    text: str = ""
    message: str = ""  # id of the model's message that this is a part of
    record: str = ""  # where a CLI writes a record again, the last one of this id counts
    restated: bool = False  # part of a rewritten history, not written when it happened


class Usage(msgspec.Struct, frozen=True):
    """Tokens of one message, or a session's running total where the CLI only writes totals."""

    model: str
    id: str  # the same message may be written several times
    fresh: int = 0  # input that was not cached
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    running_total: bool = False


class Transcript(msgspec.Struct, frozen=True):
    """Where one session's log lies. `cwd` is empty when only the file's content can tell."""

    agent: str
    path: Path
    session_id: str
    modified: int  # milliseconds since 1970
    size: int
    cwd: str = ""


# How much of a line is wanted. Plain numbers: they are compared for every line.
EVERYTHING: Final = 0
NO_RESULT: Final = 1  # something newer is known, so a tool's result tells nothing
ENTRIES: Final = 2  # what a digest shows: words of any length, and where a turn begins
Wanted = Literal[0, 1, 2]


class Agent(Protocol):
    """One kind of coding-agent CLI."""

    name: str
    home_variables: tuple[str, ...]  # besides HOME, what says where it keeps its things
    noise: re.Pattern[bytes]  # a line that it matches holds no moment; tried before anything else
    noise_letter: int  # the third byte of every line that `noise` matches

    def locate(self, session_id: str, cwd: str, env: Environment) -> Path | None:
        """The transcript of a session whose id is known; `cwd` may be empty."""

    def transcripts(self, env: Environment, cwd: str = "") -> Iterator[Transcript]:
        """Every transcript on this machine, or only those of one project, in no order."""

    def project(self, head: bytes) -> str:
        """The working directory that a transcript's first bytes name, or nothing."""

    def read(self, buffer: Buffer, start: int, end: int, wanted: Wanted = EVERYTHING) -> tuple[Moment, ...]:
        """What the line `buffer[start:end]` says, oldest first. It ends where the buffer or the line does.

        Never raises: a line that is no record says nothing. A line that holds nothing which is wanted may say
        nothing, too.
        """

    def read_plain(self, line: bytes) -> tuple[Moment, ...]:
        """The same by ordinary JSON parsing: what `read` must equal on every input."""

    def usage(self, line: bytes) -> Usage | None:
        """The tokens that a line reports."""

    def companions(self, path: Path) -> list[Path]:
        """Transcripts of the subagents of a session."""
