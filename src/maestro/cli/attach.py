"""`maestro attach`: look at a fleet in its tmux."""

from __future__ import annotations

import os

from maestro.cli.fleet import the_fleet
from maestro.cli.parser import Parser
from maestro.server.client import Daemon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace


def describe(parser: Parser) -> None:
    parser.add_argument("fleet", metavar="FLEET", nargs="?", help="default: the only one")
    parser.set_defaults(run=_attach)


def _attach(arguments: Namespace) -> None:
    fleet = the_fleet(Daemon(os.environ), arguments.fleet, running=True, option="maestro attach NAME")
    from maestro.fleet.tmux import attach_argv

    argv = attach_argv(fleet["socket"], fleet["name"])
    # tmux refuses to start inside tmux unless told that it is meant.
    env = {name: value for name, value in os.environ.items() if name not in {"TMUX", "TMUX_PANE"}}
    os.execvpe(argv[0], argv, env)  # noqa: S606 - becomes tmux
