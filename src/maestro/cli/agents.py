"""`maestro agents …`: what Maestro knows of each coding-agent CLI."""

from __future__ import annotations

import os
import sys

from maestro import errors
from maestro.cli import render
from maestro.cli.parser import Parser, add_verb, wants_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from maestro.agents.survey import Surveyed
    from maestro.agents.versions import Outlook

_FAULTS = {
    "missing": "It is not on PATH",
    "slow": "It is slow:",
    "fails": "It does not run:",
    "unclear": "It does not tell its version:",
}


def describe(parser: Parser) -> None:
    verbs = parser.verbs()
    add_verb(verbs, "list", _list, "every agent and version that Maestro knows, and what works with each")
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
    from maestro.agents.survey import survey

    seen = {one.name: one for one in survey(agent_names(), os.environ, os.getcwd())}
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
                **_versions(seen.get(name)),
            }
        )
    if wants_json(arguments):
        render.print_json(rows)
    else:
        _print(rows)


def _versions(one: Surveyed | None) -> dict[str, Any]:
    """What is installed, and how far it and every recorded version work."""
    if one is None:
        return {"installed": None, "works": None, "recorded": []}
    from msgspec import to_builtins

    from maestro.agents.versions import outlook

    tried = [outlook(one.recorded, version.version) for version in one.recorded]
    return {
        "installed": to_builtins(one.installed),
        "works": _works(one.outlook),
        "recorded": [_works(version) for version in tried],
    }


def _works(seen: Outlook | None) -> dict[str, Any] | None:
    from msgspec import to_builtins

    if seen is None:
        return None
    return {
        "version": seen.version,
        "isRecorded": seen.is_recorded,
        "nearest": seen.nearest,
        "parts": to_builtins(seen.parts),
    }


def _print(rows: list[dict[str, Any]]) -> None:
    """A line for every version that was tried, and for the installed one; below it, what falls short."""
    from maestro.agents.versions import PARTS

    lines: list[tuple[str, ...]] = []
    notes: list[str] = []
    for row in rows:
        name, installed = row["name"], row["installed"]
        here = installed["version"] if installed else ""
        seen = row["recorded"]
        if row["works"] and not row["works"]["isRecorded"]:
            seen = [*seen, row["works"]]
            notes.append(f"{name} {here} is not recorded; nearest is {row['works']['nearest']}: degraded.")
        if not seen:
            lines.append((name, "-", "", "yes" if row["starts"] else "no", *["-"] * (len(PARTS) - 1)))
        for one in seen:
            mark = "installed" if one["version"] == here else ""
            states = [one["parts"][part]["state"] for part in PARTS]
            lines.append((name, one["version"], mark, *states))
            if one["isRecorded"]:
                notes += [
                    f"{name} {one['version']}, {part} {works['state']}: {works['reason']}"
                    for part, works in one["parts"].items()
                    if works["reason"]
                ]
        if installed and installed["fault"]:
            notes.append(f"{name}: {_FAULTS[installed['fault']]} {installed['words']}".strip() + ".")
        if row["noSessionHooks"] and row["hooks"]:
            notes.append(f"{name}: {row['noSessionHooks']}")
    render.table(("agent", "version", "here", *PARTS), lines, empty="There are none.")
    for note in notes:
        print(render.printable(note))


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
