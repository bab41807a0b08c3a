"""`maestro status`: everything at a glance."""

from __future__ import annotations

import os

from maestro.cli import render
from maestro.cli.parser import Parser, wants_json
from maestro.server.client import Daemon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any


def describe(parser: Parser) -> None:
    parser.set_defaults(run=_status)


def _status(arguments: Namespace) -> None:
    summary = Daemon(os.environ).call("GET", "/api/status")
    if wants_json(arguments):
        render.print_json(summary)
        return
    if not summary["projects"]:
        print("No projects yet. `maestro project add .` makes this folder one.")
    for line in lines(summary):
        print(line)
    if any(session["worktree"] for part in summary["projects"] for session in part["activeSessions"]):
        for overlap in Daemon(os.environ).call("GET", "/api/sessions-overlaps"):
            who = ", ".join(map(render.short, overlap["sessions"]))
            print(render.ansi(f"  ⚠ {render.printable(overlap['file'])} was changed by {who}", "yellow"))


def lines(summary: dict[str, Any]) -> list[str]:
    shown: list[str] = []
    for part in summary["projects"]:
        project = part["project"]
        shown.append(
            f"{render.printable(project['name'])}  {render.ansi(render.printable(project['directory']), 'dim')}"
        )
        counts = [f"{number} {status}" for status, number in sorted(part["tasks"].items())]
        shown.append(f"  tasks     {' · '.join(counts) if counts else 'none'}")
        sessions = part["activeSessions"]
        if not sessions:
            shown.append("  sessions  none live")
        for session in sessions:
            report = f"  “{render.printable(session['lastReport'])}”" if session["lastReport"] else ""
            shown.append(
                f"  {render.status_word(session['status'])}  {render.printable(session['name'])}"
                f"  {render.ansi(render.short(session['id']), 'dim')}{report}"
            )
    return shown
