"""`maestro coordinate`: the oversight loop on a terminal, with its menu; and views of what was decided."""

from __future__ import annotations

import sys

from maestro import errors
from maestro.cli import render
from maestro.cli.coordinate_view import describe_views
from maestro.cli.parser import Parser, add_verb, wants_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from maestro.cli.coordinate_desk import Oversight
    from maestro.coordinate import Policy

_MODES = ("autonomous", "cautious", "supervised")
_BRAINS = ("rules", "claude", "codex", "gemini", "api", "none")
_MENU = ("Resume monitoring", "Fleet status", "Proceed to Synthesis", "Relay a message")


def describe(parser: Parser) -> None:
    verbs = parser.verbs()
    # `maestro coordinate` alone runs the loop.
    verbs.required = False
    parser.default_verb = "run"
    options = ("mode", "brain", "config", "fleet", "managed", "coordinator")
    parser.set_defaults(run=_coordinate, shadow=False, once=False, **dict.fromkeys(options))
    loop = add_verb(
        verbs, "run", _coordinate, "the oversight loop; this is what `maestro coordinate` alone does"
    )
    loop.add_argument("--mode", choices=_MODES, help="how much it decides by itself; default: the policy's")
    loop.add_argument("--brain", choices=_BRAINS, help="who assesses questions; default: the policy's")
    loop.add_argument("--shadow", action="store_true", help="decide and record, and type nothing")
    loop.add_argument("--once", action="store_true", help="one engagement, or one wait, and end")
    loop.add_argument("--config", metavar="FILE", help="default: the coordinate.config.json that is found")
    loop.add_argument("--fleet", metavar="F", help="default: the only one that runs")
    loop.add_argument("--managed", metavar="PANE,…", help="default: every pane that is no coordinator's")
    loop.add_argument("--as", dest="coordinator", metavar="NAME", help="who coordinates; default: oversight")
    describe_views(verbs)


def _coordinate(arguments: Namespace) -> int:
    from maestro.cli.coordinate_desk import open_oversight

    oversight = open_oversight(arguments, _say if not wants_json(arguments) else _silent)
    with oversight:
        if not wants_json(arguments):
            print(_greeting(oversight.policy, oversight.policy_path, arguments), flush=True)
            if stood := oversight.where_it_stood():
                _say(stood)
        why = _run(oversight, arguments)
        oversight.loop.finish()
        path = None if arguments.once else oversight.write_debrief(why)
    if wants_json(arguments):
        render.print_json({"ended": why, "debrief": path, "log": oversight.log_path})
    elif path:
        print(f"{_ENDS[why]} The debrief is in {path}.")
    return 0


_ENDS = {
    "all done": "All workers are done.",
    "idle": "Nothing happened for too long.",
    "fleet ended": "The fleet has ended.",
    "stopped": "Stopped.",
    "once": "",
}


def _run(oversight: Oversight, arguments: Namespace) -> str:
    """The loop, until it ends by itself or by the menu."""
    from maestro.cli.keyboard import escape_interrupts

    while True:
        try:
            with escape_interrupts():
                reason = oversight.loop.run(once=arguments.once).reason
        except KeyboardInterrupt:
            if not (sys.stdin.isatty() and sys.stdout.isatty()):
                return "stopped"
            if not _menu(oversight):
                return "stopped"
            continue
        if reason == "all done" and not arguments.once and not _wants_synthesis():
            oversight.wait_for_news()
            continue
        return reason


def _wants_synthesis() -> bool:
    """All workers are done: the human says whether that is the end. Without a terminal it is."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return True
    try:
        said = input("All workers are done. Proceed to Synthesis? [Y/n] ")
    except (EOFError, KeyboardInterrupt):
        return True
    return said.strip().casefold() not in {"n", "no"}


def _menu(oversight: Oversight) -> bool:
    """What to do with an interrupted loop; False to end it."""
    while True:
        print("\nOversight interrupted. What would you like to do?")
        for number, words in enumerate(_MENU, 1):
            print(f"  {number}  {words}")
        try:
            said = input("> ").strip()
        except (EOFError, KeyboardInterrupt):
            print()
            return False
        if said in {"", "1"}:
            return True
        if said == "2":
            print(oversight.fleet_status())
            return True
        if said == "3":
            return False
        if said == "4" and _relay(oversight):
            return True


def _relay(oversight: Oversight) -> bool:
    try:
        worker = input("To which worker? ").strip()
        message = input("What? ").strip()
    except (EOFError, KeyboardInterrupt):
        print()
        return False
    if not worker or not message:
        return False
    try:
        print(f"{worker}: {oversight.relay(worker, message)}")
    except errors.MaestroError as error:
        print(f"{render.printable(error.message)} {render.printable(error.hint or '')}")
        return False
    return True


def _greeting(policy: Policy, path: str | None, arguments: Namespace) -> str:
    found = path or "no coordinate.config.json was found: the defaults (`maestro coordinate init` writes one)"
    shadow = ", in shadow: nothing is typed" if arguments.shadow else ""
    menu = "\nEsc or Ctrl-C for the menu." if sys.stdin.isatty() and sys.stdout.isatty() else ""
    return (
        f"Oversight by {policy.brain.kind}, threshold {policy.confidence_threshold:g}{shadow}.\n"
        f"Policy: {render.printable(found)}{menu}"
    )


def _say(line: str) -> None:
    print(render.printable(line), flush=True)


def _silent(line: str) -> None:
    """With --json only the end is told."""
