"""`maestro up`: a fleet.yml made true."""

from __future__ import annotations

import os

from maestro import errors
from maestro.cli import render
from maestro.cli.parser import Parser, wants_json
from maestro.server.client import Daemon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

_SECONDS = 600.0
_STYLES = {"started": "green", "resumed": "green", "alive": "cyan", "gone": "yellow", "failed": "red"}


def describe(parser: Parser) -> None:
    parser.add_argument(
        "file", metavar="FILE", nargs="?", default="fleet.yml", help="default: fleet.yml here"
    )
    parser.add_argument("--resume", action="store_true", help="open again what a crash or a reboot ended")
    parser.set_defaults(run=_up)


def _up(arguments: Namespace) -> int:
    path = os.path.abspath(arguments.file)
    body = {
        "text": _text(path, arguments.file),
        "source": arguments.file,
        "folder": os.path.dirname(path),
        "resume": arguments.resume,
        "environment": _environment(),
    }
    told = Daemon(os.environ).call("POST", "/api/fleets/up", body, timeout=_SECONDS)
    failed = any(pane["outcome"] == "failed" for pane in told["panes"])
    if wants_json(arguments):
        render.print_json(told)
        return errors.EXIT_UNEXPECTED if failed else 0
    width = max(len(pane["label"]) for pane in told["panes"])
    for pane in told["panes"]:
        session = pane["session"]
        what = render.ansi(f"{pane['outcome']:<8}", _STYLES.get(pane["outcome"]))
        print(
            f"{what} {render.printable(pane['label']):<{width}}  {render.short(session['id']) if session else ''}"
        )
        if pane["note"]:
            for line in pane["note"].split("\n"):
                print(f"         {render.printable(line)}")
    for note in told["notes"]:
        print(render.printable(note))
    print(render.ansi(f"`maestro attach {told['fleet']}` shows it.", "dim"))
    return errors.EXIT_UNEXPECTED if failed else 0


def _text(path: str, shown: str) -> str:
    """Returns what the file says. It starts agents, so a person must have trusted it."""
    from maestro.dispatch.delegate import trust_of

    content = trust_of(os.path.dirname(path), os.environ).read(path)
    if content is None:
        raise errors.NotFound(
            f"There is no {shown}.", hint="Write one (see the README), or name one: maestro up FILE"
        )
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise errors.InvalidInput(
            f"{shown} cannot be read: {error}.", hint="It is a UTF-8 text file."
        ) from error


def _environment() -> dict[str, str]:
    """What of this environment any agent of a fleet may know; the daemon gives each only its own part."""
    from maestro.agents.launch import Launcher
    from maestro.agents.registry import agent_named, agent_names
    from maestro.fleet.launch import caller_environment

    known: dict[str, str] = {}
    for name in agent_names():
        agent = agent_named(name)
        if isinstance(agent, Launcher):
            known |= caller_environment(os.environ, agent)
    return known
