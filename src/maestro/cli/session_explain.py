"""`maestro session explain`: what a session does, by each source, and why we say so."""

from __future__ import annotations

import os

from maestro.cli import render
from maestro.cli.parser import Parser, wants_json
from maestro.cli.project import path_part
from maestro.server.client import Daemon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any


def describe(parser: Parser) -> None:
    parser.add_argument("session", metavar="ID", help="id or name")


def run(arguments: Namespace) -> None:
    told = Daemon(os.environ).call("GET", f"/api/sessions/{path_part(arguments.session)}/explain")
    if wants_json(arguments):
        render.print_json(told)
        return
    print(f"{told['sessionId']}  {render.status_word(told['status'])}  {render.printable(told['rule'])}")
    render.table(
        ("source", "says", "by", "age", "rule"),
        [
            (
                one["source"],
                one["status"],
                one["says"],
                render.age(one["at"]) if one["at"] else "",
                one["rule"],
            )
            for one in told["evidence"]
        ],
        empty="Nothing tells what it does.",
    )
    for one in told["disagreements"]:
        print(f"disagrees: {render.printable(one['why'])}")
    for one in told["degraded"]:
        print(render.ansi(f"note: {render.printable(one)}", "dim"))
    if told["transcript"]:
        print(render.ansi(f"transcript: {render.printable(told['transcript'])}", "dim"))
    if told["draft"]:
        print(f"draft in its box: {render.printable(told['draft'])}")
    if told["question"]:
        _show_question(told["question"])


def _show_question(question: dict[str, Any]) -> None:
    asked = question["asked"]
    print(f"\n{question['id']} (version {question['version']}, {question['kind']})")
    if asked.get("detail"):
        print(render.printable(asked["detail"], lines=True))
    for part in asked.get("parts") or [asked]:
        print(render.printable(part["text"], lines=True))
        for number, option in enumerate(part["options"], 1):
            words = f": {option['description']}" if option["description"] else ""
            print(f"  {number}. {render.printable(option['label'] + words)}")
    print(
        render.ansi(f"`maestro session prompt {question['sessionId']} --message 'Choose N'` answers.", "dim")
    )
