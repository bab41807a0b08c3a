"""A batch on a terminal, as it runs."""

from __future__ import annotations

import time
from typing import Self

from rich.live import Live
from rich.table import Table
from rich.text import Text

from maestro.cli import render
from maestro.cli.dispatch import clock_of
from maestro.dispatch.progress import Began, Ended, Event, Held, Started, Unrun

_STYLES = {"success": "green", "running": "cyan", "waiting": "dim", "limit": "yellow", "denied": "yellow"}


class _Row:
    def __init__(self) -> None:
        self.status = "waiting"
        self.note = ""
        self.started: float | None = None
        self.ended: float | None = None


class View:
    """One line per agent, drawn again several times a second while agents run."""

    def __init__(self) -> None:
        self._rows: dict[str, _Row] = {}
        self._notes: list[str] = []
        self._live = Live(get_renderable=self._table, console=render.console(), refresh_per_second=4)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def show(self, event: Event) -> None:
        match event:
            case Began(agents, kept, notes):
                self._rows = {name: _Row() for name in agents}
                self._notes += notes
                for name in kept:
                    self._rows[name].status, self._rows[name].note = "kept", "finished before"
            case Started(name, tool, attempt):
                row = self._rows[name]
                row.status, row.started, row.ended = "running", time.monotonic(), None
                row.note = tool if attempt == 1 else f"{tool}, attempt {attempt}"
            case Ended():
                row = self._rows[event.name]
                row.status, row.ended = event.status, time.monotonic()
                again = f"again at {clock_of(event)}: " if event.again_at is not None else ""
                row.note = again + (event.error.strip().splitlines()[0] if event.error.strip() else "")
            case Held(tool, _):
                self._notes.append(f"{tool} is at a limit; its agents wait until {clock_of(event)}.")
            case Unrun(name, reason):
                self._rows[name].status, self._rows[name].note = "not run", reason

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("agent", no_wrap=True)
        table.add_column("status", no_wrap=True)
        table.add_column("s", justify="right")
        table.add_column("", overflow="ellipsis", no_wrap=True)
        for name, row in self._rows.items():
            seconds = "" if row.started is None else f"{(row.ended or time.monotonic()) - row.started:.0f}"
            status = Text(row.status, style=_STYLES.get(row.status, "" if row.status == "kept" else "red"))
            table.add_row(name, status, seconds, render.printable(row.note))
        for note in self._notes:
            table.add_row("", "", "", Text(note, style="yellow"))
        return table
