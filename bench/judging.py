"""S16: what a long text costs the gate, whatever it is made of."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from bench.measure import Row, interleaved, row
from maestro.agents.questions import Option, Question
from maestro.coordinate.gate.judge import gate
from maestro.coordinate.policy.config import DEFAULT

LENGTH = 40_000  # bytes, what the gate looks at
ROUNDS = 9
BAR = 5.0
_ENGLISH = "The parser reads each line and keeps what it needs for the next step. "
_CHINESE = "解析器逐行读取，并保留下一步所需的内容。我们应该使用哪个数据库？"  # noqa: RUF001 - its own punctuation
_COMMANDS = {
    "a chain of pipes": "cat a | ",
    "a list of commands": "ls -la src && ",
    "options of one command": "-I zstd ",
    "substitutions": "$(ls ",
}


def rows(wanted: set[str]) -> Iterator[Row]:
    if wanted and "S16" not in wanted:
        return
    plain = partial(gate, Question("free_text", _of(_ENGLISH)), DEFAULT)
    asked = {"Chinese prose": Question("free_text", _of(_CHINESE))}
    for what, piece in _COMMANDS.items():
        command = f"tar {_of(piece)}ls" if piece.startswith("-") else f"{_of(piece)}ls"
        asked[what] = Question("permission", "Proceed?", (Option("Yes"),), tool="Bash", detail=command)
    for what, question in asked.items():
        times = interleaved(partial(gate, question, DEFAULT), plain, ROUNDS)
        yield row("S16", f"judging 40 KB: {what} / English prose", BAR, times)


def _of(piece: str) -> str:
    """Returns a text of so many bytes, made of this piece."""
    whole = piece.encode() * (LENGTH // len(piece.encode()) + 1)
    return whole[: LENGTH - 100].decode(errors="ignore")
