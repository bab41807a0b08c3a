"""`maestro inbox`: what waits for you, why, and how to answer it."""

from __future__ import annotations

import os

from maestro import errors
from maestro.cli import render
from maestro.cli.parser import Parser, add_verb, wants_json
from maestro.cli.project import path_part
from maestro.server.client import Daemon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Mapping
    from typing import Any

    View = Mapping[str, Any]  # an escalation with its session and its question, as the daemon tells it

_EMPTY = "Nothing waits for you."
_NEWS = {"open": "waits", "opened": "new", "changed": "changed", "closed": "over"}


def describe(parser: Parser) -> None:
    verbs = parser.verbs()
    # `maestro inbox` alone lists.
    verbs.required = False
    parser.default_verb = "list"
    parser.set_defaults(run=_list, all=False, watch=False)
    listing = add_verb(verbs, "list", _list, "what waits for you; this is what `maestro inbox` does")
    listing.add_argument("--all", action="store_true", help="also what waits no longer")
    listing.add_argument(
        "--watch", action="store_true", help="tell what comes, changes and goes, until Ctrl-C"
    )
    show = add_verb(verbs, "show", _show, "one of them whole, and how to answer it")
    show.add_argument("escalation", metavar="ID", help="its id, the question's id, or the session")


def _list(arguments: Namespace) -> None:
    daemon = Daemon(os.environ)
    if arguments.watch:
        _watch(daemon, as_json=wants_json(arguments))
        return
    query: dict[str, str | int | None] = {"all": "true" if arguments.all else None}
    found: list[View] = daemon.call("GET", "/api/inbox", query=query)
    if wants_json(arguments):
        render.print_json(found)
        return
    waiting = [view for view in found if view["closedAt"] is None]
    over = sorted((view for view in found if view["closedAt"] is not None), key=lambda v: -v["closedAt"])
    for view in [*waiting, *over]:
        for line in block(view):
            print(line)
    if not found:
        print(_EMPTY)
    elif waiting:
        print(
            render.ansi("\n`maestro inbox show ID` shows one whole, `maestro answer ID` answers it.", "dim")
        )


def block(view: View) -> list[str]:
    """`■ esca_…  4m  Backend  “…”`, then why, then what would have been answered."""
    mark = "■" if view["closedAt"] is None else "◇"
    head = f"{mark} {render.short(view['id'])}  {render.age(view['openedAt'])}  {_name(view)}"
    said = in_one_line(view) or view["kind"]
    lines = [
        *render.wrapped(f"{head}  ", said, "bold" if view["closedAt"] is None else "dim"),
        *render.wrapped("    why  ", why(view), None),
    ]
    if view["proposed"]:
        lines += render.wrapped("    would answer  ", proposed(view), None)
    if view["closedAt"] is not None:
        lines += render.wrapped("    over  ", render.printable(view["closedBy"]), "dim")
    return lines


def in_one_line(view: View) -> str:
    """What is asked, and of a permission what for."""
    asked = (view["question"] or {}).get("asked") or {}
    detail = asked.get("detail", "") if asked.get("kind") == "permission" else ""
    words = " ".join(f"{view['text']} {detail}".split())
    return render.printable(words if len(words) <= 200 else words[:199] + "…")


def why(view: View) -> str:
    named = ", ".join(view["categories"])
    words = " ".join(str(view["reason"]).split())
    return render.printable(f"{named}: {words}" if named and words else named or words or view["kind"])


def proposed(view: View) -> str:
    sure = f" (confidence {view['confidence']:.2f})" if view["confidence"] else ""
    return render.printable(" ".join(str(view["proposed"]).split())) + sure


def _show(arguments: Namespace) -> None:
    view: View = Daemon(os.environ).call("GET", f"/api/inbox/{path_part(arguments.escalation)}")
    if wants_json(arguments):
        render.print_json(view)
        return
    for line in sheet(view):
        print(line)


def sheet(view: View) -> list[str]:
    """Everything that a person needs to decide."""
    where = f"  in {render.printable(view['location'])}" if view["location"] else ""
    agent = f" ({render.printable(view['agent'])})" if view["agent"] else ""
    head = f"{view['id']}  {_name(view)}{agent}{where}  {render.age(view['openedAt'])} ago"
    asked = (view["question"] or {}).get("asked") or {}
    lines = [render.ansi(head, "bold")]
    if asked.get("preamble"):
        lines += ["", *text_lines(asked["preamble"], "dim")]
    lines += ["", *question_lines(asked or {"text": view["text"]})]
    lines += ["", *render.wrapped("why           ", why(view), None)]
    lines += [line for finding in view["findings"] for line in finding_lines(finding)]
    if view["proposed"]:
        lines += render.wrapped("would answer  ", proposed(view), None)
    if view["closedAt"] is not None:
        lines += render.wrapped("over          ", render.printable(view["closedBy"]), None)
        return lines
    ways = [f"  {command}" for command in how_to_answer(view)]
    return [*lines, "", render.ansi("Answer it with", "dim"), *ways]


def question_lines(asked: Mapping[str, Any], indent: str = "") -> list[str]:
    """The question with its options, numbered as `Choose N` counts them; where there are several, each of them."""
    parts = asked.get("parts") or ()
    if parts:
        return [
            line
            for number, part in enumerate(parts, 1)
            for line in (f"{indent}Question {number} of {len(parts)}", *question_lines(part, indent + "  "))
        ]
    lines = [indent + line for line in text_lines(asked["text"] or "(it was not on the screen yet)", "bold")]
    if asked.get("detail"):
        lines += [f"{indent}  {line}" for line in text_lines(asked["detail"], None)]
    for number, option in enumerate(asked.get("options") or (), 1):
        lasts = "  (lasts: it changes what is asked later)" if option.get("isLasting") else ""
        words = "  (takes words)" if option.get("isFreeText") else ""
        about = f" — {' '.join(option['description'].split())}" if option.get("description") else ""
        said = render.printable(f"{' '.join(option['label'].split())}{about}") + lasts + words
        lines += render.wrapped(f"{indent}  {number}  ", said, None)
    return lines


def text_lines(text: str, style: str | None) -> list[str]:
    return [
        line
        for part in render.printable(text, lines=True).split("\n")
        for line in render.wrapped("", part, style)
    ]


def finding_lines(finding: Mapping[str, Any]) -> list[str]:
    said = f"{finding['category']}, in the {finding['where']}: “{finding['evidence']}”. {finding['why']}"
    return render.wrapped("found         ", render.printable(said), "yellow")


def how_to_answer(view: View) -> list[str]:
    """The exact commands."""
    command = f"maestro answer {render.short(view['id'])}"
    asked = (view["question"] or {}).get("asked") or {}
    options = asked.get("options") or ()
    takes_words = any(option.get("isFreeText") for option in options)
    ways = []
    if asked.get("kind") == "several" and len(asked.get("parts") or ()) > 1:
        ways.append(f"{command} 'Choose 1; …'   one answer for each question, in their order")
    elif options:
        several = asked.get("kind") == "multi_choice"
        ways.append(f"{command} N" + ("   or 1,3 for several" if several else ""))
    if takes_words:
        ways.append(f"{command} --text 'your own words'")
    if not ways:
        ways.append(f"{command} 'your words'")
    return [*ways, f"{command} --dismiss   leaves it as it is"]


def _watch(daemon: Daemon, *, as_json: bool) -> None:
    """The cursor comes first: what happens while the list is read is then among the events."""
    cursor = daemon.call("GET", "/api/events", query={"since": "now"})["cursor"]
    known: dict[str, int] = {}
    for view in daemon.call("GET", "/api/inbox"):
        known[view["id"]] = view["news"]
        _tell("open", view["openedAt"], view, as_json=as_json)
    if not as_json:
        print(_EMPTY if not known else f"{len(known)} wait for you.", "Watching; Ctrl-C ends it.", flush=True)
    for what, at, view in _news(daemon, cursor, known):
        _tell(what, at, view, as_json=as_json)


def _news(daemon: Daemon, cursor: str, known: dict[str, int]) -> Iterator[tuple[str, int, View]]:
    """Each escalation that comes, changes or goes, once."""
    for event in daemon.events(cursor, ""):
        noun, _, what = event["kind"].partition(".")
        if noun != "escalation":
            continue
        identifier = event["data"]["escalation"]["id"]
        try:
            view: View = daemon.call("GET", f"/api/inbox/{path_part(identifier)}")
        except errors.NotFound:
            continue
        if what == "closed":
            known.pop(identifier, None)
        elif view["closedAt"] is not None or known.get(identifier, -1) >= view["news"]:
            # It was told already, or is over by now: then that it is over comes next.
            continue
        else:
            known[identifier] = view["news"]
        yield what, event["at"], view


def _tell(what: str, at: int, view: View, *, as_json: bool) -> None:
    if as_json:
        render.print_json_line({"event": what, "at": at, "escalation": view})
        return
    head = f"[{render.clock(at)}] {_NEWS.get(what, what):<7}  {render.short(view['id'])}  {_name(view)}  "
    if what == "closed":
        lines = render.wrapped(head, render.printable(view["closedBy"]), "dim")
    else:
        lines = [
            *render.wrapped(head, in_one_line(view) or view["kind"], "bold"),
            *render.wrapped(" " * 11 + "why      ", why(view), None),
            *render.wrapped(" " * 11 + "answer   ", how_to_answer(view)[0], "dim"),
        ]
    for line in lines:
        print(line, flush=True)


def _name(view: View) -> str:
    return render.printable(view["sessionName"] or view["sessionId"])
