"""`maestro project add|list|show|remove`."""

from __future__ import annotations

import os

from maestro.cli import render
from maestro.cli.parser import Parser, add_verb, wants_json
from maestro.server.client import Daemon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any


def describe(parser: Parser) -> None:
    verbs = parser.verbs()
    add = add_verb(verbs, "add", _add, "make a folder a project; adding it twice is harmless")
    add.add_argument("directory", metavar="DIR")
    add.add_argument("--name", help="default: the folder's name")
    add_verb(verbs, "list", _list, "all projects")
    for name, run, purpose in (
        ("show", _show, "one project"),
        ("remove", _remove, "take a project off the list; its files are not touched"),
    ):
        add_verb(verbs, name, run, purpose).add_argument("project", metavar="PROJECT", help="id or name")


def _add(arguments: Namespace) -> None:
    body = {"directory": os.path.abspath(arguments.directory)}
    if arguments.name:
        body["name"] = arguments.name
    project = Daemon(os.environ).call("POST", "/api/projects", body)
    if not wants_json(arguments):
        from maestro.cli.trust import ask_once

        ask_once(project["directory"])
    if wants_json(arguments):
        render.print_json(project)
    else:
        print(
            f"{render.short(project['id'])}  {render.printable(project['name'])}  {render.printable(project['directory'])}"
        )


def _list(arguments: Namespace) -> None:
    projects = Daemon(os.environ).call("GET", "/api/projects")
    if wants_json(arguments):
        render.print_json(projects)
        return
    render.table(
        ("id", "name", "directory"),
        [(render.short(p["id"]), p["name"], p["directory"]) for p in projects],
        empty="No projects yet. `maestro project add .` makes this folder one.",
    )


def _show(arguments: Namespace) -> None:
    daemon = Daemon(os.environ)
    project = daemon.call("GET", f"/api/projects/{path_part(arguments.project)}")
    if wants_json(arguments):
        render.print_json(project)
        return
    tasks: list[dict[str, Any]] = daemon.call("GET", "/api/tasks", query={"projectId": project["id"]})
    done = sum(task["status"] == "completed" for task in tasks)
    render.fields(
        [
            ("id", project["id"]),
            ("name", project["name"]),
            ("directory", project["directory"]),
            ("tasks", f"{done} of {len(tasks)} completed"),
        ]
    )


def _remove(arguments: Namespace) -> None:
    answer = Daemon(os.environ).call("DELETE", f"/api/projects/{path_part(arguments.project)}")
    if wants_json(arguments):
        render.print_json(answer)
    else:
        print(f"Removed {answer['removed']}; the folder itself was not touched.")


def path_part(word: str) -> str:
    """A person's word as one part of a URL's path."""
    from maestro import errors
    from maestro.server.client import quoted

    if not word or "/" in word:
        raise errors.InvalidInput(
            f"“{word}” is not an id.", hint="Give an id, its short form, or a name without “/”."
        )
    return quoted(word)
