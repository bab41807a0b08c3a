"""`maestro fleet status`: fleets, their panes and what those do."""

from __future__ import annotations

import os

from maestro import errors
from maestro.cli import render
from maestro.cli.parser import Parser, add_verb, wants_json
from maestro.fleet.meant import meant
from maestro.server.client import Daemon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

_STATES = ("working", "unchecked", "error", "done", "checked")


def describe(parser: Parser) -> None:
    verbs = parser.verbs()
    add_verb(verbs, "status", _status, "fleets, and the sessions in their panes")
    listing = add_verb(verbs, "list-panes", _list_panes, "panes with their three dimensions of state")
    notify = add_verb(verbs, "notify", _notify, "say what happened in a pane; in a session, its own")
    notify.add_argument("state", choices=_STATES, metavar="|".join(_STATES))
    notify.add_argument("--pane", metavar="PANE", help="pane id, label or session; default: this session's")
    capture = add_verb(verbs, "capture-pane", _capture, "a pane's screen, as JSON")
    wait = add_verb(
        verbs, "coordinate-wait", _wait, "block until a managed pane needs attention; engage and capture it"
    )
    wait.add_argument("--timeout", metavar="S", type=float, default=300.0, help="default 300 s")
    wait.add_argument(
        "--managed", metavar="PANE,…", help="default: what this session's pane manages, else all"
    )
    connect = add_verb(verbs, "coordinator-connect", _connect, "engage a pane: it turns purple")
    disconnect = add_verb(verbs, "coordinator-disconnect", _disconnect, "let go of a pane")
    for verb in (capture, connect, disconnect):
        verb.add_argument("pane", metavar="PANE", help="pane id, label or session")
    for verb in (listing, notify, capture, wait, connect, disconnect):
        verb.add_argument("--fleet", metavar="F", help="default: the one that it is in")
    for verb in (wait, connect, disconnect):
        verb.add_argument(
            "--as", dest="coordinator", metavar="NAME", help="who coordinates; default: this session, or you"
        )


def the_fleet(
    daemon: Daemon, wanted: str | None, *, running: bool = False, option: str = "--fleet NAME"
) -> dict[str, Any]:
    """The fleet that is meant: the named one, or the only one. `option`: how this command takes the name of one."""
    fleets: dict[str, dict[str, Any]] = {one["name"]: one for one in daemon.call("GET", "/api/fleets")}
    alive = [name for name, one in fleets.items() if one["running"]]
    if wanted:
        chosen = [wanted] if wanted in (alive if running else fleets) else []
    else:
        guests = [name for name, one in fleets.items() if one["isGuest"]]
        chosen = meant(list(fleets), alive, guests, dead_too=not running)
    if len(chosen) == 1:
        return fleets[chosen[0]]
    if not chosen:
        names = ", ".join(fleets) or "none"
        raise errors.NotFound(
            f"There is no {'running ' if running else ''}fleet{f' “{wanted}”' if wanted else ''}.",
            hint=f"Fleets: {names}. `maestro up` and `maestro session spawn` start one.",
        )
    raise errors.InvalidInput(f"Which fleet? There are {', '.join(chosen)}.", hint=f"Name one: {option}")


def _status(arguments: Namespace) -> None:
    fleets = Daemon(os.environ).call("GET", "/api/fleets")
    if wants_json(arguments):
        render.print_json(fleets)
        return
    if not fleets:
        print(
            "No fleets. `maestro up` makes one from a fleet.yml; `maestro session spawn` starts one session."
        )
    for fleet in fleets:
        print(
            f"{fleet['name']}  {'running' if fleet['running'] else 'not running'}  {render.ansi(fleet['socket'], 'dim')}"
        )
        for session in fleet["sessions"]:
            if session["endedAt"] and not fleet["running"]:
                continue
            place = session["place"]
            print(
                f"  {place['paneId']:<4} {render.status_word(session['status'])}  {render.printable(place['label'])}"
                f"  {render.ansi(render.short(session['id']), 'dim')}"
            )


def _list_panes(arguments: Namespace) -> None:
    panes = Daemon(os.environ).call("GET", "/api/fleets/panes", query={"fleet": arguments.fleet})
    if wants_json(arguments):
        render.print_json(panes)
        return
    render.table(
        ("pane", "label", "notify", "coordinator", "focused", "location", "session"),
        [
            (
                pane["paneId"],
                pane["label"],
                "dead" if pane["dead"] else pane["notify"],
                "engaged" if pane["coordinatorActive"] else "",
                "you" if pane["userFocused"] else "",
                pane["location"],
                render.short(pane["sessionId"]),
            )
            for pane in panes
        ],
        empty="No panes. `maestro up` or `maestro session spawn` opens some.",
    )


def _notify(arguments: Namespace) -> None:
    pane = arguments.pane or os.environ.get("MAESTRO_SESSION_ID") or os.environ.get("TMUX_PANE")
    if not pane:
        raise errors.InvalidInput("Which pane?", hint="Name one with --pane, or run this inside a session.")
    told = _post("notify", {"pane": pane, "state": arguments.state}, arguments)
    if wants_json(arguments):
        render.print_json(told)
    else:
        print(f"{told['paneId']}  {told['notify']}")


def _capture(arguments: Namespace) -> None:
    query: dict[str, str | int | None] = {"pane": arguments.pane, "fleet": arguments.fleet}
    render.print_json(Daemon(os.environ).call("GET", "/api/fleets/capture", query=query))


def _wait(arguments: Namespace) -> None:
    body: dict[str, Any] = {"coordinator": _coordinator(arguments), "timeout": arguments.timeout}
    if arguments.managed:
        body["managed"] = [word.strip() for word in arguments.managed.split(",") if word.strip()]
    own = os.environ.get("MAESTRO_SESSION_ID")
    if own:
        body["ownPane"] = own
    told = _post("coordinate-wait", body, arguments, timeout=arguments.timeout + 30)
    if wants_json(arguments):
        render.print_json(told)
        return
    print(render.printable(told["firstLine"]))
    if told["capture"] is None:
        print(told["status"])
    else:
        render.print_json(told["capture"])


def _connect(arguments: Namespace) -> None:
    told = _post(
        "coordinator-connect", {"pane": arguments.pane, "coordinator": _coordinator(arguments)}, arguments
    )
    render.print_json(told) if wants_json(arguments) else print(f"{told['paneId']}  engaged")


def _disconnect(arguments: Namespace) -> None:
    told = _post(
        "coordinator-disconnect", {"pane": arguments.pane, "coordinator": _coordinator(arguments)}, arguments
    )
    render.print_json(told) if wants_json(arguments) else print(f"{told['paneId']}  free")


def _coordinator(arguments: Namespace) -> str:
    return str(arguments.coordinator or os.environ.get("MAESTRO_SESSION_ID") or f"user-{os.getuid()}")


def _post(what: str, body: dict[str, Any], arguments: Namespace, timeout: float = 30.0) -> Any:
    if arguments.fleet:
        body["fleet"] = arguments.fleet
    return Daemon(os.environ).call("POST", f"/api/fleets/{what}", body, timeout=timeout)
