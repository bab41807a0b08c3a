"""`maestro session stats`: tokens and cost."""

from __future__ import annotations

import os

from maestro import errors
from maestro.cli import render
from maestro.cli.parser import Parser, wants_json
from maestro.server.client import Daemon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any


def describe(stats: Parser) -> None:
    stats.add_argument(
        "sessions", metavar="ID,…", nargs="?", help="default: live ones of this folder's project"
    )
    stats.add_argument("--project", metavar="PROJECT")


def run(arguments: Namespace) -> None:
    daemon = Daemon(os.environ)
    query: dict[str, str | int | None] = {"sessionIds": arguments.sessions, "projectId": arguments.project}
    if not (arguments.sessions or arguments.project):
        live = daemon.call("GET", "/api/sessions", query={"directory": os.getcwd(), "active": "true"})
        query["sessionIds"] = ",".join(session["id"] for session in live)
        if not live:
            raise errors.NotFound(
                "No live sessions in this project.", hint="Name sessions: maestro session stats ID,…"
            )
    found = daemon.call("GET", "/api/sessions/stats", query=query, timeout=300)
    if wants_json(arguments):
        render.print_json(found)
        return
    rows = []
    for session in found:
        for model in session["models"]:
            cost = "?" if model["costUsd"] is None else f"${model['costUsd']:.4f}"
            numbers = (f"{model[name]:,}" for name in ("input", "cacheRead", "cacheWrite", "output"))
            rows.append((render.short(session["sessionId"]), model["model"], *numbers, cost))
    headers = ("session", "model", "input", "cache read", "cache write", "output", "cost")
    render.table(headers, rows, empty="No tokens were counted yet.")
    for session in found:
        if session["unknownTranscript"]:
            print(f"{render.short(session['sessionId'])}: {render.printable(session['unknownTranscript'])}")
        saving = session["saving"]
        if saving and saving["digestTokens"]:
            print(
                f"{render.short(session['sessionId'])}: its digest takes about {saving['digestTokens']} tokens"
                f" instead of {saving['rawTokens']:,}: 1/{saving['rawTokens'] // saving['digestTokens']}."
            )
        if context := session["context"]:
            print(_context_line(render.short(session["sessionId"]), context))
    if found:
        print(
            render.ansi(
                f"Prices as of {found[0]['pricesAsOf']}; MAESTRO_PRICES names a table of your own.", "dim"
            )
        )


def _context_line(name: str, context: dict[str, Any]) -> str:
    """What Maestro itself put before the model."""
    parts = []
    if context["turns"]:
        parts.append(
            f"its context on {context['turns']:,} turns took about {context['tokens']:,} tokens,"
            f" {context['perTurn']:,} a turn"
        )
    if context["rehydrations"]:
        parts.append(
            f"{context['rehydrations']:,} times it was told what it had forgotten:"
            f" about {context['rehydratedTokens']:,} tokens"
        )
    return f"{name}: {'; '.join(parts)}."
