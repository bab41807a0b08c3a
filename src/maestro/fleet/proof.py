"""Proof that a prompt arrived: what the agent itself wrote or told after it was typed; and that one never did."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from maestro.agents import Agent
from maestro.agents.questions import Question, is_same, squashed
from maestro.agents.shown import folded
from maestro.agents.shown import is_same as is_same_text
from maestro.agents.terminal import TellsCalls, TellsQueue, Terminal
from maestro.fleet.asking import fit
from maestro.ledger.facts import Prompt
from maestro.ledger.prompts import shown
from maestro.redact import MARK, redact

_CLOCKS: Final = 2_000  # milliseconds that an agent's clock and ours may differ by
_TAIL: Final = 1024 * 1024  # a call stands so far in front of its result, at most
_MOST: Final = 16 * 1024 * 1024  # more than any agent writes in the seconds that proof is waited for

# What its screen shows of a prompt that the CLI holds until it has time.
QUEUED: Final = "its screen shows one more queued prompt, and its box is empty"
AMONG_QUEUED: Final = "its screen shows it among the queued prompts"
# What was seen of a CLI whose hook tells of a prompt already when it goes into its queue.
AT_WORK: Final = "it was at work, and holds a prompt until it has time"
_HELD: Final = frozenset({QUEUED, AMONG_QUEUED, AT_WORK})
LOST: Final = "It stood in the CLI's own queue when the CLI ended, and never reached the model."
_MOST_LOST: Final = 100


def same_prompt(told: str, *typed: str) -> bool:
    """Whether the agent means the text that was typed; it may trim and wrap it, and drop what nobody sees."""
    return any(is_same_text(told, text) for text in _as_told(told, typed))


def mentions(told: str, *typed: str) -> bool:
    """Whether the agent means a text that the typed one is a part of: it may have been taken with something else."""
    return any(folded(text) in folded(told) for text in _as_told(told, typed))


def _as_told(told: str, typed: tuple[str, ...]) -> tuple[str, ...]:
    """A hook's words that lay on the disk while no daemon ran are without secrets; so is what was typed, then."""
    return (*typed, *map(redact, typed)) if MARK in told else typed


def size_of(path: os.PathLike[str] | None) -> int:
    try:
        return os.stat(path).st_size if path is not None else 0
    except OSError:
        return 0


def lines_since(path: os.PathLike[str], size: int) -> Iterator[bytes]:
    """Whole lines that a transcript got since it was this long."""
    try:
        with open(path, "rb") as file:
            file.seek(size if size <= os.fstat(file.fileno()).st_size else 0)
            written = file.read(_MOST)
    except OSError:
        return
    *lines, _torn = written.split(b"\n")
    yield from lines


def is_later(agent: Agent, line: bytes, since: int) -> bool:
    """Whether a transcript's line was not written before this time, as far as it tells."""
    times = [moment.at for moment in agent.read_plain(line) if moment.at is not None]
    return not times or max(times) >= since - _CLOCKS


def taken_since(terminal: Terminal, lines: Iterable[bytes], *typed: str) -> bool:
    """Whether one of these lines says that the agent has the prompt."""
    for line in lines:
        taken = terminal.taken(line)
        if taken is not None and same_prompt(taken, *typed):
            return True
    return False


def is_held(evidence: Sequence[str]) -> bool:
    """Whether a prompt counts as submitted since the CLI's own queue had it."""
    return bool(evidence) and evidence[-1] in _HELD


def left_in_queue(
    terminal: Terminal, path: os.PathLike[str] | None, prompts: Sequence[Prompt]
) -> list[Prompt]:
    """Returns those of an ended session's prompts, oldest first, that were still in the CLI's own queue when it ended.

    A queue is first in, first out: before one that the model got, none is left.
    """
    sent = [one for one in prompts if one.kind == "prompt" and one.state == "submitted"]
    lost: list[Prompt] = []
    for prompt in reversed(sent[-_MOST_LOST:]):
        if not _is_left(terminal, path, prompt):
            break
        lost.append(prompt)
    return lost[::-1]


def _is_left(terminal: Terminal, path: os.PathLike[str] | None, prompt: Prompt) -> bool:
    """Of a prompt that is over, the ledger has the words that may be shown: those are compared."""
    words = (prompt.text, shown(terminal.as_text(prompt.text)))
    lines = _whole_lines(path, prompt.transcript_size or 0) if path is not None else iter(())
    if not isinstance(terminal, TellsQueue):
        if not is_held(prompt.evidence):
            return False
        taken = filter(None, map(terminal.taken, lines))
        return not any(mentions(shown(one), *words) for one in taken)
    # A CLI that is killed may not have written down any more what it took into its queue.
    waits = is_held(prompt.evidence)
    for line in lines:
        if (put := terminal.enqueued(line)) is not None:
            waits = waits or same_prompt(shown(put), *words)
        elif waits and (got := terminal.given(line)) is not None and mentions(shown(got), *words):
            return False
    return waits


def _whole_lines(path: os.PathLike[str], size: int) -> Iterator[bytes]:
    """All that a transcript got since it was this long, however much that is, line by line."""
    try:
        with open(path, "rb") as file:
            file.seek(size if size <= os.fstat(file.fileno()).st_size else 0)
            yield from file
    except OSError:
        return


def results_since(terminal: Terminal, path: os.PathLike[str], size: int, asked: Question) -> Iterator[str]:
    """The calls that asked this and whose results the transcript got since it was this long, by their ids.

    Calls run beside each other: the result of one that asked something else, or that had its result before, is none.
    """
    if not isinstance(terminal, TellsCalls):
        return
    asking: dict[str, Question] = {}
    told: set[str] = set()
    for line in _lines_between(path, max(0, size - _TAIL), size):
        for call in terminal.calls(line):
            told |= {call.id} if call.is_over else set()
            asking |= {call.id: call.question} if call.question is not None else {}
    for line in lines_since(path, size):
        for call in terminal.calls(line):
            asking |= {call.id: call.question} if call.question is not None else {}
            if call.is_over and call.id not in told:
                told.add(call.id)
                if call.id in asking and _asks(asking[call.id], asked):
                    yield call.id


def _lines_between(path: os.PathLike[str], begin: int, end: int) -> list[bytes]:
    try:
        with open(path, "rb") as file:
            file.seek(begin)
            return file.read(end - begin).split(b"\n")
    except OSError:
        return []


def _asks(call: Question, asked: Question) -> bool:
    """Whether a call asks what a dialog asks. Where the dialog words it otherwise, the tool tells."""
    call = fit(call)
    if call.kind != "permission" or call.detail:
        is_its_end = call.kind == asked.kind == "permission" and bool(asked.detail)
        return is_same(call, asked) or (is_its_end and squashed(call.detail).endswith(squashed(asked.detail)))
    return asked.kind == "permission" and call.tool == asked.tool
