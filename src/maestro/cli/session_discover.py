"""`maestro session discover|adopt`: sessions that agents run without Maestro."""

from __future__ import annotations

import os

from maestro import errors
from maestro.cli import render
from maestro.cli.parser import Parser, wants_json
from maestro.server.client import Daemon, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping
    from typing import Any


def describe_discover(discover: Parser) -> None:
    discover.add_argument("--most", metavar="N", type=int, default=20, help="at most so many (default 20)")
    discover.add_argument("--here", action="store_true", help="only those that work in this folder")


def describe_adopt(adopt: Parser) -> None:
    adopt.add_argument(
        "transcript", metavar="TRANSCRIPT_ID|PATH", nargs="?", help="the beginning of an id will do"
    )
    adopt.add_argument(
        "--pane", metavar="%%N", help="a pane of your own tmux instead; nothing else there is changed"
    )
    adopt.add_argument("--agent", metavar="A", help="with --pane: which agent runs there")
    adopt.add_argument(
        "--tmux-socket", metavar="PATH", help="with --pane: default: the tmux that this runs in"
    )
    adopt.add_argument("--name")
    adopt.add_argument(
        "--project", metavar="PROJECT", help="default: the project of its folder, made if need be"
    )


def discover(arguments: Namespace) -> None:
    query = "".join(f"&env={quoted(f'{name}={value}')}" for name, value in _agents_environment().items())
    here = f"&directory={quoted(os.getcwd())}" if arguments.here else ""
    found = Daemon(os.environ).call(
        "GET", f"/api/sessions/discover?most={arguments.most}{query}{here}", timeout=120
    )
    if wants_json(arguments):
        render.print_json(found)
        return
    if not found:
        print("No agent has left a transcript here. Start one, then look again.")
        return
    for place, one in enumerate(found):
        if place:
            print()
        _print_sighting(one)
    print(
        render.ansi(
            "\n`maestro session adopt ID` makes one a session; then `maestro session logs ID -f` follows it.",
            "dim",
        )
    )


def _print_sighting(one: Mapping[str, Any]) -> None:
    digest = one["digest"]
    status = render.status_word(_DISCOVERED.get(digest["status"], "idle"), digest["status"])
    project = render.printable(one["project"]) or "(no folder named)"
    print(
        f"{render.ansi(one['transcriptId'], 'bold')}  {one['agent']}  {status}  {render.age(one['modified'])} ago"
    )
    print(f"  {render.ansi(_home_as_tilde(project), 'dim')}")
    for entry in digest["entries"][-1:]:
        for line in render.wrapped("  ", render.quoted(entry["text"]), render.source_style(entry)):
            print(line)
    if digest["stuck"]:
        for line in render.wrapped("  ⚠ ", render.printable(digest["stuck"]["warning"]), "yellow"):
            print(line)


# What an agent does, told with the marks and colours that sessions have.
_DISCOVERED = {
    "working": "working",
    "thinking": "working",
    "background": "working",
    "retrying": "working",
    "asking": "needs_input",
    "failed": "error",
    "finished": "completed",
    "interrupted": "stopped",
    "unknown": "spawning",
}


def _adopt_pane(arguments: Namespace) -> Any:
    socket = arguments.tmux_socket or os.environ.get("TMUX", "").partition(",")[0]
    if not socket:
        raise errors.InvalidInput(
            "In which tmux?", hint="Run this inside it, or give its socket: --tmux-socket PATH"
        )
    body: dict[str, Any] = {"socket": os.path.abspath(socket), "paneId": arguments.pane}
    chosen = {"agent": arguments.agent, "name": arguments.name, "projectId": arguments.project}
    body |= {name: value for name, value in chosen.items() if value}
    return Daemon(os.environ).call("POST", "/api/sessions/adopt-pane", body, timeout=120)


def adopt(arguments: Namespace) -> None:
    if bool(arguments.transcript) == bool(arguments.pane):
        raise errors.InvalidInput(
            "What shall be adopted?", hint="Name a transcript (id or path), or a pane: --pane %N"
        )
    if arguments.pane:
        _show_adopted(arguments, _adopt_pane(arguments))
        return
    body: dict[str, Any] = {"wanted": arguments.transcript, "environment": _agents_environment()}
    if "/" in arguments.transcript or os.path.exists(arguments.transcript):
        body["wanted"] = os.path.abspath(arguments.transcript)
    if arguments.name:
        body["name"] = arguments.name
    if arguments.project:
        body["projectId"] = arguments.project
    _show_adopted(arguments, Daemon(os.environ).call("POST", "/api/sessions/adopt", body, timeout=120))


def _show_adopted(arguments: Namespace, session: Mapping[str, Any]) -> None:
    if wants_json(arguments):
        render.print_json(session)
        return
    print(f"{session['id']}  {session['agent']}  {render.printable(session['name'])}")
    print(render.ansi(f"`maestro session logs {render.short(session['id'])}` shows what it says.", "dim"))


def _agents_environment() -> dict[str, str]:
    """Where this caller's agents keep their things: the daemon may have been started by somebody with others."""
    from maestro.agents.registry import home_variables

    return {name: os.environ[name] for name in home_variables() if os.environ.get(name)}


def _home_as_tilde(path: str) -> str:
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if path == home or path.startswith(home + "/") else path
