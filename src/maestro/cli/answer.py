"""`maestro answer ID`: what you say to what waits for you, with a receipt."""

from __future__ import annotations

import os

from maestro import errors
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
    parser.add_argument("escalation", metavar="ID", help="its id, the question's id, or the session")
    parser.add_argument(
        "words", metavar="ANSWER", nargs="*", help="2, `Choose 2`, `Choose 2: why`, `1,3`, or words"
    )
    parser.add_argument("--option", metavar="N", help="this option; with --text, for this reason")
    parser.add_argument("--text", metavar="T", help="these words")
    parser.add_argument(
        "--dismiss",
        metavar="REASON",
        nargs="?",
        const="",
        help="answer nothing, and do not be asked this again",
    )
    parser.add_argument(
        "--no-remember", action="store_true", help="do not answer the same question so the next time"
    )
    parser.add_argument(
        "--no-wait", action="store_true", help="return when it is queued, not when it has arrived"
    )
    parser.add_argument(
        "--timeout", metavar="S", type=float, default=_TIMEOUT, help="how long to wait (default 15 seconds)"
    )
    parser.epilog = (
        "Ends with 0 when the session has it, 8 when it was typed and nothing proves that it arrived, "
        "4 when it could not be typed or the question is over, 124 when it still waits to be typed."
    )
    parser.set_defaults(run=_answer)


def _answer(arguments: Namespace) -> int:
    path = f"/api/inbox/{path_part(arguments.escalation)}"
    daemon = Daemon(os.environ)
    message = _message(arguments, daemon, path)
    if message is None:
        view = daemon.call("POST", f"{path}/dismiss", {"reason": arguments.dismiss})
        if wants_json(arguments):
            render.print_json(view)
        else:
            print(f"{view['id']}  {render.printable(view['closedBy'])}")
        return 0
    body = {
        "message": message,
        "remember": not arguments.no_remember,
        "wait": not arguments.no_wait,
        "timeout": arguments.timeout,
    }
    told = daemon.call("POST", f"{path}/answer", body, timeout=arguments.timeout + 30.0)
    waited = not arguments.no_wait
    if wants_json(arguments):
        render.print_json(told)
        return session_prompt.exit_code(told["prompt"], waited=waited)
    try:
        return session_prompt.say(told["prompt"], waited=waited)
    finally:
        if told["offer"] and not arguments.no_remember:
            _offer(told["offer"])


def _message(arguments: Namespace, daemon: Daemon, path: str) -> str | None:
    """What is said; nothing, when it is dismissed."""
    words = " ".join(arguments.words).strip()
    given = [bool(words), arguments.option is not None or arguments.text is not None]
    given.append(arguments.dismiss is not None)
    if sum(given) != 1:
        raise errors.InvalidInput(
            "There is no answer." if not any(given) else "There is more than one answer.",
            hint="Give an option's number, words, --option N, --text TEXT, or --dismiss.",
        )
    if arguments.dismiss is not None:
        return None
    if words:
        numbers = _numbers(words)
        return f"Choose {numbers}" if numbers and _has_options(daemon.call("GET", path)) else words
    if arguments.option is None:
        return str(arguments.text)
    numbers = _numbers(arguments.option)
    if not numbers:
        raise errors.InvalidInput(
            f"“{arguments.option}” is no option.", hint="Give its number; several as 1,3."
        )
    return f"Choose {numbers}" + (f": {arguments.text}" if arguments.text else "")


def _has_options(view: Mapping[str, Any]) -> bool:
    """A number is an option's where there are any; to “Which port?” it is the answer itself."""
    asked = (view["question"] or {}).get("asked") or {}
    choices = [option for option in asked.get("options") or () if not option.get("isFreeText")]
    return bool(choices or asked.get("parts"))


def _numbers(text: str) -> str:
    """`1,3` and `1 3` as `1, 3`; nothing, where anything else is in it."""
    parts = text.replace(",", " ").split()
    return ", ".join(parts) if all(part.isascii() and part.isdigit() for part in parts) else ""


def _offer(offer: Mapping[str, Any]) -> None:
    """The rule that would spare the next question, ready to be put into the policy."""
    import json

    rule = {name: offer[name] for name in ("name", "pattern", "answer", "kinds", "tool") if offer.get(name)}
    print(
        f"\nYou have given this answer {offer['times']} times. As a rule it is given without asking you; "
        f"{_where()}\n"
    )
    print(f"  {render.printable(json.dumps(rule, ensure_ascii=False))}")


def _where() -> str:
    """Where the rule goes, by the policy that is in force in this folder."""
    from maestro import home
    from maestro.coordinate.policy.config_file import FILE, find_policy

    try:
        path = find_policy("", os.getcwd(), os.environ, home.locate(os.environ).root).path
    except errors.MaestroError:
        path = None
    if path is None:
        return f"add it to `rules` in {FILE} (`maestro coordinate init` writes one):"
    return f"add it to `rules` in {render.printable(path)}:"
