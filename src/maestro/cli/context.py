"""`maestro context`: the board and the workers' activity, for a coordinator's prompt."""

from __future__ import annotations

import os
import sys

from maestro import errors
from maestro.cli import render
from maestro.cli.parser import Parser, wants_json
from maestro.server.client import Daemon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace


def describe(parser: Parser) -> None:
    parser.add_argument("--session", metavar="ID", help="the coordinator; default: MAESTRO_SESSION_ID")
    parser.set_defaults(run=_context)


def _context(arguments: Namespace) -> None:
    """For a prompt hook: nothing, and no complaint, when there is nothing to say or nobody to ask."""
    daemon = Daemon(os.environ)
    own = arguments.session or os.environ.get("MAESTRO_SESSION_ID")
    query: dict[str, str | int | None] = {"sessionId": own} if own else {"directory": os.getcwd()}
    try:
        told = daemon.call("GET", "/api/context", query=query, start=False)["context"]
    except (errors.DaemonError, errors.NotFound, errors.TimedOut):
        return
    if wants_json(arguments):
        render.print_json({"context": told})
    elif told:
        sys.stdout.write(told + "\n")
