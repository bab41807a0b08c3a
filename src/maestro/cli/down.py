"""`maestro down`: end a fleet."""

from __future__ import annotations

import os

from maestro.cli import render
from maestro.cli.fleet import the_fleet
from maestro.cli.parser import Parser, wants_json
from maestro.server.client import Daemon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace


def describe(parser: Parser) -> None:
    parser.add_argument("fleet", metavar="FLEET", nargs="?", help="default: the only one")
    parser.set_defaults(run=_down)


def _down(arguments: Namespace) -> None:
    daemon = Daemon(os.environ)
    fleet = the_fleet(daemon, arguments.fleet, option="maestro down NAME")
    ended = daemon.call("POST", f"/api/fleets/{fleet['name']}/down", timeout=600)
    if wants_json(arguments):
        render.print_json(ended)
    else:
        print(
            f"{fleet['name']}: {len(ended)} session{'' if len(ended) == 1 else 's'} ended, tmux server ended."
        )
