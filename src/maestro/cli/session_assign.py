"""`maestro session assign`: the next task of a session; and how its reports are shown."""

from __future__ import annotations

import os

from maestro.cli import render, session_prompt
from maestro.cli.parser import Parser, wants_json
from maestro.cli.project import path_part
from maestro.server.client import Daemon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping
    from typing import Any

_TIMEOUT = 15.0


def describe(parser: Parser) -> None:
    parser.add_argument("session", metavar="ID", help="id or name")
    parser.add_argument("task", metavar="TASK", help="id or title")
    parser.add_argument("--message", metavar="M", default="", help="what to say with it")
    parser.add_argument(
        "--no-wait", action="store_true", help="return when it is queued, not when it has arrived"
    )
    parser.add_argument(
        "--timeout", metavar="S", type=float, default=_TIMEOUT, help="how long to wait (default 15 seconds)"
    )
    parser.epilog = (
        "Another live session that has the task loses it, and is told so. Ends as `session prompt` does."
    )


def assign(arguments: Namespace) -> int:
    waits = not arguments.no_wait
    body = {
        "taskId": arguments.task,
        "message": arguments.message,
        "wait": waits,
        "timeout": arguments.timeout,
    }
    path = f"/api/sessions/{path_part(arguments.session)}/assign"
    told = Daemon(os.environ).call("POST", path, body, timeout=arguments.timeout + 30.0)
    if wants_json(arguments):
        render.print_json(told)
        return session_prompt.exit_code(told["prompt"], waited=waits)
    task = told["task"]
    print(f"{task['id']}  {render.status_word(task['status'])}  {render.printable(task['title'])}")
    if told["takenFrom"]:
        print(f"taken from {', '.join(told['takenFrom'])}")
    return session_prompt.say(told["prompt"], waited=waits)


def report_fields(session: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What it last said of its work, what speaks against it, and what it was refused."""
    fields: list[tuple[str, str]] = []
    report = session.get("report")
    if report:
        fields.append(("says", f"{report['kind']}, {render.age(report['at'])} ago"))
        points = (report["evidence"] or {}).get("points", ())
        against = [point["says"] for point in points if point["stand"] == "disagrees"]
        fields += [("against it", "\n".join(against))] if against else []
        for_it = [point["says"] for point in points if point["stand"] == "agrees"]
        fields += [("for it", "\n".join(for_it))] if for_it else []
    refused = [f"{one['message']} ({one['method']} {one['path']})" for one in session.get("refusals", ())]
    return [*fields, *([("refused", "\n".join(refused))] if refused else [])]
