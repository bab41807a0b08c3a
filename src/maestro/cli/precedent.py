"""`maestro precedent list|show|forget`: your answers that count when exactly the same is asked again."""

from __future__ import annotations

import os
import time

from maestro.cli import render
from maestro.cli.parser import Parser, add_verb, wants_json
from maestro.cli.project import path_part
from maestro.server.client import Daemon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping
    from typing import Any

_DAY_MS = 24 * 3600 * 1000


def describe(parser: Parser) -> None:
    verbs = parser.verbs()
    listing = add_verb(verbs, "list", _list, "answers that are remembered")
    listing.add_argument("--all", action="store_true", help="also what is forgotten or has expired")
    for name, run, purpose in (
        ("show", _show, "one of them whole"),
        ("forget", _forget, "ask me the next time"),
    ):
        add_verb(verbs, name, run, purpose).add_argument("precedent", metavar="ID")


def _list(arguments: Namespace) -> None:
    query: dict[str, str | int | None] = {"all": "true" if arguments.all else None}
    found = Daemon(os.environ).call("GET", "/api/precedents", query=query)
    if wants_json(arguments):
        render.print_json(found)
        return
    render.table(
        ("id", "answer", "question", "given", "used", "expires"),
        [
            (
                render.short(one["id"]),
                _cut(one["answer"], 40),
                _cut(one["question"], 60),
                one["answers"],
                one["uses"],
                _expires(one),
            )
            for one in found
        ],
        empty="No answers are remembered yet. `maestro answer` remembers yours.",
    )


def _show(arguments: Namespace) -> None:
    path = f"/api/precedents/{path_part(arguments.precedent)}"
    _show_one(arguments, Daemon(os.environ).call("GET", path))


def _forget(arguments: Namespace) -> None:
    path = f"/api/precedents/{path_part(arguments.precedent)}"
    told = Daemon(os.environ).call("DELETE", path)
    if wants_json(arguments):
        render.print_json(told)
    else:
        print(f"Forgotten {told['id']}: the next time you are asked.")


def _show_one(arguments: Namespace, one: Mapping[str, Any]) -> None:
    if wants_json(arguments):
        render.print_json(one)
        return
    options = "\n".join(f"{number}  {label}" for number, label in enumerate(one["options"], 1))
    render.fields(
        [
            ("id", one["id"]),
            ("question", one["question"]),
            ("options", options),
            ("answer", one["answer"]),
            ("given", f"{one['answers']} times, first {render.age(one['createdAt'])} ago"),
            ("used", f"{one['uses']} times" + (f", {_ago(one['usedAt'])}" if one["usedAt"] else "")),
            ("expires", _expires(one)),
            ("project", one["projectId"]),
            ("decision", one["decisionId"]),
        ]
    )


def _expires(one: Mapping[str, Any]) -> str:
    if one["forgottenAt"] is not None:
        return f"forgotten {_ago(one['forgottenAt'])}"
    left = one["expiresAt"] - time.time() * 1000
    if left <= 0:
        return f"expired {_ago(one['expiresAt'])}"
    return f"in {left / _DAY_MS:.0f} d" if left >= _DAY_MS else "within a day"


def _ago(at: int) -> str:
    return f"{render.age(at)} ago"


def _cut(text: str, most: int) -> str:
    words = " ".join(text.split())
    return words if len(words) <= most else words[: most - 1] + "…"
