"""`maestro session prompt|prompts`: text into a session's terminal, with a receipt."""

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
    from typing import Any

_TIMEOUT = 15.0


def describe_prompt(parser: Parser) -> None:
    parser.add_argument("session", metavar="ID", help="id or name")
    parser.add_argument(
        "words", metavar="-", nargs="?", choices=("-",), help="read the message from standard input"
    )
    parser.add_argument(
        "--message",
        metavar="M",
        help="what to tell it; while it asks something: `Choose 2`, `Choose 2: why`, words",
    )
    parser.add_argument("--file", metavar="F", help="a file that holds the message")
    parser.add_argument(
        "--no-wait", action="store_true", help="return when it is queued, not when it has arrived"
    )
    parser.add_argument(
        "--timeout", metavar="S", type=float, default=_TIMEOUT, help="how long to wait (default 15 seconds)"
    )
    parser.add_argument(
        "--question", metavar="Q", help="only as the answer to this question, while it is still open"
    )
    parser.epilog = (
        "Ends with 0 when the session has it, 8 when it was typed and nothing proves that it arrived, "
        "4 when it could not be typed, 124 when it still waits to be typed."
    )


def prompt(arguments: Namespace) -> int:
    body: dict[str, Any] = {
        "message": _message(arguments),
        "wait": not arguments.no_wait,
        "timeout": arguments.timeout,
    }
    if arguments.question:
        body["questionId"] = arguments.question
    path = f"/api/sessions/{path_part(arguments.session)}/prompt"
    told = Daemon(os.environ).call("POST", path, body, timeout=arguments.timeout + 30.0)
    if wants_json(arguments):
        render.print_json(told)
        return exit_code(told, waited=not arguments.no_wait)
    return say(told, waited=not arguments.no_wait)


def _message(arguments: Namespace) -> str:
    given = [arguments.message is not None, arguments.file is not None, arguments.words is not None]
    if sum(given) != 1:
        raise errors.InvalidInput(
            "There is no message." if not any(given) else "There is more than one message.",
            hint="Give one of --message TEXT, --file FILE, or - for standard input.",
        )
    if arguments.message is not None:
        return str(arguments.message)
    if arguments.words is not None:
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        with open(arguments.file, "rb") as file:
            return file.read().decode("utf-8", "replace")
    except FileNotFoundError:
        raise errors.NotFound(f"There is no file {arguments.file}.", hint="Check --file.") from None


def exit_code(told: dict[str, Any], *, waited: bool) -> int:
    state = told["state"]
    if state == "submitted" or (not waited and state in {"queued", "typing", "pasted"}):
        return 0
    if state == "uncertain":
        return errors.Uncertain.exit_code
    return errors.Conflict.exit_code if state in {"failed", "withdrawn"} else errors.TimedOut.exit_code


def say(told: dict[str, Any], *, waited: bool) -> int:
    """One line for a person; what went wrong as an error, so that it ends with its code."""
    state, reason = told["state"], told["reason"]
    if state == "uncertain":
        raise errors.Uncertain(
            f"It was typed, and nothing proves that it arrived. {reason}",
            hint=f"Look at it: `maestro fleet capture-pane {told['sessionId']}`. It is never typed again by itself.",
        )
    if state in {"failed", "withdrawn"}:
        raise errors.Conflict(f"It was not typed. {reason}", hint="`maestro session explain ID` shows why.")
    if waited and state != "submitted":
        raise errors.TimedOut(
            f"It is still {state}. {reason}".strip(),
            hint=f"It is typed when that ends; `maestro session prompts {told['sessionId']} --withdraw {told['id']}` "
            "takes it back.",
        )
    proof = "; ".join(told["evidence"]) or reason
    print(f"{told['id']}  {render.status_word(state)}  {render.printable(proof)}".rstrip())
    return 0


def describe_prompts(parser: Parser) -> None:
    parser.add_argument("session", metavar="ID", help="id or name")
    parser.add_argument("--withdraw", metavar="PROMPT", help="take back one that is still queued")


def prompts(arguments: Namespace) -> None:
    path = f"/api/sessions/{path_part(arguments.session)}/prompts"
    if arguments.withdraw:
        told = Daemon(os.environ).call("DELETE", f"{path}/{path_part(arguments.withdraw)}")
        if wants_json(arguments):
            render.print_json(told)
        else:
            print(f"{told['id']}  {told['state']}")
        return
    found = Daemon(os.environ).call("GET", path)
    if wants_json(arguments):
        render.print_json(found)
        return
    render.table(
        ("id", "state", "kind", "age", "text", "receipt"),
        [
            (
                one["id"],
                one["state"],
                one["kind"],
                render.age(one["createdAt"]),
                " ".join(one["text"].split())[:60],
                "; ".join(one["evidence"]) or one["reason"],
            )
            for one in found
        ],
        empty="Nothing was sent to it yet.",
    )
