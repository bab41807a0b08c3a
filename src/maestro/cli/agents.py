"""`maestro agents …`: what Maestro knows of each coding-agent CLI."""

from __future__ import annotations

import sys

from maestro import errors
from maestro.cli import render
from maestro.cli.parser import Parser, add_verb, wants_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any


def describe(parser: Parser) -> None:
    verbs = parser.verbs()
    add_verb(verbs, "list", _list, "the agents that Maestro knows, and what it can do with each")
    reading = add_verb(
        verbs, "read-screen", _read_screen, "say what a captured screen shows, and by which line"
    )
    reading.add_argument("agent", metavar="AGENT", help="claude, codex, gemini, …")
    reading.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        default="-",
        help="what `tmux capture-pane -pe` printed; default: -",
    )
    reading.add_argument("--title", metavar="T", default="", help="the pane's title")


def _list(arguments: Namespace) -> None:
    from maestro.agents.launch import Launcher
    from maestro.agents.registry import agent_named, agent_names, hooked_named, terminal_named

    rows: list[dict[str, Any]] = []
    for name in agent_names():
        terminal, hooked = terminal_named(name), hooked_named(name)
        rows.append(
            {
                "name": name,
                "starts": isinstance(agent_named(name), Launcher),
                "screens": list(terminal.recorded_versions) if terminal else [],
                "hooks": [event.name for event in hooked.hook_events] if hooked else [],
                "noSessionHooks": hooked.no_session_hooks if hooked else "It has no hooks.",
            }
        )
    if wants_json(arguments):
        render.print_json(rows)
        return
    render.table(
        ("agent", "started by us", "screens recorded on", "hooks for one session"),
        [
            (
                row["name"],
                "yes" if row["starts"] else "no",
                ", ".join(row["screens"]) or "none",
                row["noSessionHooks"] or "yes",
            )
            for row in rows
        ],
        empty="There are none.",
    )


def _read_screen(arguments: Namespace) -> None:
    import msgspec

    from maestro.agents.registry import terminal_named
    from maestro.agents.screen import captured

    terminal = terminal_named(arguments.agent)
    if terminal is None:
        raise errors.InvalidInput(
            f"Maestro cannot read screens of {arguments.agent}.", hint="`maestro agents list` shows which."
        )
    screen = terminal.read_screen(captured(_content(arguments.file), title=arguments.title))
    if wants_json(arguments):
        render.print_json(msgspec.to_builtins(screen))
        return
    render.fields(
        [
            ("state", screen.state),
            ("rule", screen.rule),
            ("evidence", screen.evidence),
            ("version", screen.version),
            ("draft", screen.draft),
            ("question", screen.question.text if screen.question else None),
            ("options", "; ".join(o.label for o in screen.question.options) if screen.question else None),
        ]
    )


def _content(path: str) -> str:
    if path == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "replace")
    except FileNotFoundError:
        raise errors.NotFound(
            f"There is no file {path}.", hint="Give a captured screen, or - for stdin."
        ) from None
