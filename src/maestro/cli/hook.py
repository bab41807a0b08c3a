"""`maestro hook AGENT EVENT`: what an agent's own hooks run; settings that `maestro install` writes start it faster."""

from __future__ import annotations

from maestro.cli.parser import Parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace


def describe(parser: Parser) -> None:
    parser.add_argument("agent", metavar="AGENT", help="claude, codex, gemini")
    parser.add_argument(
        "event", metavar="EVENT", help="the CLI's own name of the event; its payload is on stdin"
    )
    parser.add_argument("--wait", action="store_true", help="stay until there is an answer to print")
    parser.set_defaults(run=_hook)


def _hook(arguments: Namespace) -> None:
    from maestro import carrier

    carrier.main([arguments.agent, arguments.event, *(["--wait"] if arguments.wait else [])])
