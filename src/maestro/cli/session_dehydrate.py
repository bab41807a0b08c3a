"""`maestro session dehydrate|rehydrate`: what a session must not forget, kept before its context is emptied."""

from __future__ import annotations

import os
import sys

from maestro import errors
from maestro.cli import render
from maestro.cli.parser import Parser, wants_json
from maestro.cli.project import path_part
from maestro.server.client import Daemon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

_FIELDS = (
    "Fields, all of which may be left out: summary, lastAction, nextSteps, requiredFiles (at most 8, in the project), "
    "pendingEscalations, recentDecisions, config, vision, chapter, panes. What is left out, Maestro fills in as far as "
    """it knows it. For example: echo '{"summary": "…", "nextSteps": ["…"]}' | maestro session dehydrate"""
)


def describe_dehydrate(parser: Parser) -> None:
    parser.epilog = _FIELDS
    _describe(parser)


def describe_rehydrate(parser: Parser) -> None:
    _describe(parser)


def _describe(parser: Parser) -> None:
    parser.add_argument("session", metavar="ID", nargs="?", help="default: MAESTRO_SESSION_ID")


def dehydrate(arguments: Namespace) -> None:
    session = _wanted(arguments)
    if sys.stdin.isatty():
        raise errors.InvalidInput(
            "Nothing is said on standard input.",
            hint="Pipe the JSON into it; `maestro session dehydrate --help` shows its fields.",
        )
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    told = Daemon(os.environ).call(
        "POST", f"/api/sessions/{path_part(session)}/dehydrate", {"text": text}, timeout=30
    )
    if wants_json(arguments):
        render.print_json(told)
        return
    state = told["state"]
    kept = [
        ("next steps", state["nextSteps"]),
        ("files", state["requiredFiles"]),
        ("decisions", state["recentDecisions"]),
        ("escalations that wait", state["pendingEscalations"]),
        ("panes", state["panes"]),
    ]
    counted = ", ".join(f"{len(listed)} {name}" for name, listed in kept if listed)
    print(f"Kept{': ' + counted if counted else ''}. `maestro session rehydrate` shows it.")


def rehydrate(arguments: Namespace) -> None:
    told = Daemon(os.environ).call("GET", f"/api/sessions/{path_part(_wanted(arguments))}/rehydrate")
    if wants_json(arguments):
        render.print_json(told)
    else:
        print(render.printable(told["block"], lines=True))


def _wanted(arguments: Namespace) -> str:
    wanted: str | None = arguments.session or os.environ.get("MAESTRO_SESSION_ID")
    if not wanted:
        raise errors.InvalidInput(
            "MAESTRO_SESSION_ID not set.", hint="Run this inside a session, or name one."
        )
    return wanted
