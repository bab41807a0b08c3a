"""What a person sees. With colours on a terminal, plain aligned text in a pipe, JSON on request.

Texts come from agents and may hold anything: no control character of theirs reaches the terminal.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_STYLES = {
    "pending": "dim",
    "spawning": "dim",
    "in_progress": "cyan",
    "working": "cyan",
    "completed": "green",
    "blocked": "yellow",
    "needs_input": "yellow",
    "idle": "blue",
    "error": "red",
    "cancelled": "dim strike",
    "stopped": "dim",
    "retrying": "yellow",
    "limited": "yellow",
    "running": "cyan",
    "success": "green",
    "failed": "red",
    "timeout": "red",
    "interrupted": "red",
    "denied": "yellow",
    "limit": "yellow",
    "refused": "yellow",
    "ok": "green",
    "warn": "yellow",
    "fail": "red",
}
MARKS = {
    "pending": "○",
    "in_progress": "◐",
    "completed": "●",
    "blocked": "■",
    "error": "✗",
    "cancelled": "⊘",
    "spawning": "○",
    "working": "◐",
    "idle": "◌",
    "needs_input": "■",
    "retrying": "◐",
    "failed": "✗",
    "limited": "✗",
    "stopped": "◇",
}


def print_json(value: Any) -> None:
    import json

    print(json.dumps(value, ensure_ascii=False, indent=2))


def print_json_line(value: Any) -> None:
    import json

    print(json.dumps(value, ensure_ascii=False), flush=True)


def left_for_daemon(*, as_json: bool) -> None:
    """Says of a report that it waits: a sandboxed session can leave it, but not start a daemon."""
    if as_json:
        print_json({"left": True})
    else:
        print("Left for the daemon, which does not run now: it takes the report when it starts.")


def printable(text: object, *, lines: bool = False) -> str:
    """The text without control characters, bidirectional overrides or lone surrogates."""
    whole = str(text)
    if whole.isprintable():
        return whole
    return "".join(c if c.isprintable() or (lines and c == "\n") else " " for c in whole)


def on_terminal() -> bool:
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def console() -> Any:
    """rich's console: only on a terminal, for it costs more than the whole command."""
    from rich.console import Console

    return Console(highlight=False)


def table(headers: Sequence[str], rows: Sequence[Sequence[object]], *, empty: str) -> None:
    if not rows:
        print(empty)
        return
    cells = [[printable("" if cell is None else cell) for cell in row] for row in rows]
    if on_terminal():
        _rich_table(headers, cells)
        return
    widths = [max(len(row[i]) for row in [list(headers), *cells]) for i in range(len(headers))]
    for row in [[h.upper() for h in headers], *cells]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _rich_table(headers: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, pad_edge=False, header_style="bold")
    for header in headers:
        shown.add_column(
            header, overflow="ellipsis", no_wrap=header not in {"title", "found", "remedy", "last report"}
        )
    for row in cells:
        shown.add_row(*(Text(cell, style=_STYLES.get(cell, "")) for cell in row))
    console().print(shown)


def fields(pairs: Sequence[tuple[str, object]]) -> None:
    """One thing, a line per field; empty ones left out."""
    given = [(name, printable(value, lines=True)) for name, value in pairs if value not in (None, "", [], ())]
    width = max((len(name) for name, _ in given), default=0)
    for name, value in given:
        first, *rest = value.split("\n")
        label, shown = f"{name:<{width}}", first
        if on_terminal():
            style = _STYLES.get(first)
            line = f"\x1b[2m{label}\x1b[0m  {ansi(shown, style)}"
        else:
            line = f"{label}  {shown}"
        print(line)
        for more in rest:
            print(f"{'':<{width}}  {more}")


_ANSI = {
    "bold": "1",
    "dim": "2",
    "cyan": "36",
    "green": "32",
    "yellow": "33",
    "red": "31",
    "blue": "34",
    "dim strike": "2;9",
}


def ansi(text: str, style: str | None) -> str:
    return f"\x1b[{_ANSI[style]}m{text}\x1b[0m" if style and on_terminal() else text


def status_word(status: str, word: str = "") -> str:
    """A status with its mark and colour; `word` when it goes by another name here."""
    return ansi(f"{MARKS.get(status, '·')} {word or status}", _STYLES.get(status))


def short(identifier: str | None) -> str:
    """Ids as a person types them on a terminal; whole in a pipe, where a program may read them."""
    if not identifier:
        return ""
    if not on_terminal():
        return identifier
    from maestro.ids import short as shortened

    return shortened(identifier)


def age(milliseconds: int | None) -> str:
    if milliseconds is None:
        return ""
    seconds = max(0, int(time.time() - milliseconds / 1000))
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def clock(milliseconds: int | None) -> str:
    if milliseconds is None:
        return "--:--:--"
    return time.strftime("%H:%M:%S", time.localtime(milliseconds / 1000))


def quoted(text: str) -> str:
    """What somebody said."""
    return f'"{printable(text, lines=True)}"'


def source_style(entry: Mapping[str, Any]) -> str | None:
    """Prompts and errors stand out from what an agent says by itself."""
    return {"user": "cyan", "system": "red"}.get(entry["source"])


def wrapped(prefix: str, text: str, style: str | None) -> list[str]:
    """On a terminal long texts go on below their beginning; in a pipe a text is one line."""
    if not on_terminal():
        return [
            f"{prefix}{part}" if not place else f"{' ' * len(prefix)}{part}"
            for place, part in enumerate(text.split("\n"))
        ]
    import shutil
    import textwrap

    width = max(40, shutil.get_terminal_size().columns)
    indent = len(prefix) if len(prefix) < width // 2 else 4
    lines: list[str] = []
    for part in text.split("\n"):
        first = prefix if not lines else " " * indent
        room = width - 1
        parts = textwrap.wrap(
            part, room, initial_indent=" " * len(first), subsequent_indent=" " * indent
        ) or [""]
        parts[0] = parts[0][len(first) :]
        lines.append(ansi(first, "dim") + ansi(parts[0], style))
        lines += [" " * indent + ansi(more.strip(), style) for more in parts[1:]]
    return lines
