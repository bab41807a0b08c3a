"""`maestro task create|list|show|children|tree|update|report`."""

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
    from typing import Any

    Task = dict[str, Any]

_STATUSES = ("pending", "in_progress", "completed", "blocked", "error", "cancelled")
_PRIORITIES = ("low", "normal", "high", "urgent")
_KINDS = ("progress", "complete", "blocked", "error")


def describe(parser: Parser) -> None:
    verbs = parser.verbs()
    create = add_verb(verbs, "create", _create, "add a task to the project of this folder")
    create.add_argument("title", metavar="TITLE")
    create.add_argument("--parent", metavar="ID", help="the task that this one is a part of")
    create.add_argument(
        "--depends-on", metavar="ID", action="append", default=[], help="must be completed first; repeatable"
    )
    create.add_argument("--assignee", metavar="WHO")
    create.add_argument("--description", metavar="TEXT", default="")
    create.add_argument("--priority", choices=_PRIORITIES, default="normal")
    create.add_argument(
        "--project", metavar="PROJECT", help="id or name; default: the project of this folder"
    )

    listing = add_verb(verbs, "list", _list, "tasks of the project of this folder")
    tree = add_verb(verbs, "tree", _tree, "the tasks as a tree, with progress")
    tree.add_argument("task", metavar="ID", nargs="?", help="only this task and what is below it")
    for verb in (listing, tree):
        verb.add_argument("--project", metavar="PROJECT", help="id or name")
        verb.add_argument("--all", action="store_true", help="of all projects")
    listing.add_argument("--status", metavar="STATUS,…", help="only these: " + ", ".join(_STATUSES))

    add_verb(verbs, "show", _show, "one task").add_argument("task", metavar="ID")
    children = add_verb(verbs, "children", _children, "a task's subtasks")
    children.add_argument("task", metavar="ID")
    children.add_argument("--recursive", action="store_true", help="all below it")
    _describe_update(add_verb(verbs, "update", _update, "change a task"))
    report = add_verb(verbs, "report", _report, "say how a task goes; in a session, its own task needs no id")
    report.add_argument("kind", choices=_KINDS, metavar="|".join(_KINDS))
    report.add_argument("words", metavar="[ID] [MESSAGE]", nargs="*")


def _describe_update(update: Parser) -> None:
    update.add_argument("task", metavar="ID")
    update.add_argument("--title")
    update.add_argument("--description", metavar="TEXT")
    update.add_argument("--parent", metavar="ID", help="'' for none")
    update.add_argument("--assignee", metavar="WHO", help="'' for nobody")
    update.add_argument("--priority", choices=_PRIORITIES)
    update.add_argument("--status", choices=_STATUSES)
    update.add_argument("--reason", metavar="TEXT", help="why it is blocked")
    update.add_argument("--depends-on", metavar="ID", action="append", default=[])
    update.add_argument("--no-longer-depends-on", metavar="ID", action="append", default=[])


def _create(arguments: Namespace) -> None:
    body: dict[str, Any] = {
        "title": arguments.title,
        "description": arguments.description,
        "dependsOn": arguments.depends_on,
        "priority": arguments.priority,
        "directory": os.getcwd(),
    }
    chosen = {"parentId": arguments.parent, "assignee": arguments.assignee, "projectId": arguments.project}
    body |= {name: value for name, value in chosen.items() if value}
    _show_one(arguments, Daemon(os.environ).call("POST", "/api/tasks", body))


def _where(arguments: Namespace) -> dict[str, str | int | None]:
    if arguments.all:
        return {}
    return {"projectId": arguments.project} if arguments.project else {"directory": os.getcwd()}


def _list(arguments: Namespace) -> None:
    if arguments.status and (wrong := set(arguments.status.split(",")) - set(_STATUSES)):
        raise errors.InvalidInput(
            f"There is no status “{min(wrong)}”.", hint="Choose from " + ", ".join(_STATUSES) + "."
        )
    tasks = Daemon(os.environ).call(
        "GET", "/api/tasks", query=_where(arguments) | {"status": arguments.status}
    )
    _show_many(arguments, tasks)


def _children(arguments: Namespace) -> None:
    query: dict[str, str | int | None] = {"recursive": "true" if arguments.recursive else None}
    path = f"/api/tasks/{path_part(arguments.task)}/children"
    _show_many(arguments, Daemon(os.environ).call("GET", path, query=query))


def _tree(arguments: Namespace) -> None:
    daemon = Daemon(os.environ)
    tasks: list[Task]
    if arguments.task:
        root = daemon.call("GET", f"/api/tasks/{path_part(arguments.task)}")
        path = f"/api/tasks/{root['id']}/children"
        tasks = [root, *daemon.call("GET", path, query={"recursive": "true"})]
    else:
        tasks = daemon.call("GET", "/api/tasks", query=_where(arguments))
    if wants_json(arguments):
        render.print_json(tasks)
        return
    for line in tree_lines(tasks):
        print(line)
    if not tasks:
        print("No tasks yet. `maestro task create TITLE` adds one.")


def tree_lines(tasks: list[Task]) -> list[str]:
    ids = {task["id"] for task in tasks}
    below: dict[str | None, list[Task]] = {}
    for task in tasks:
        below.setdefault(task["parentId"] if task["parentId"] in ids else None, []).append(task)
    lines: list[str] = []
    stack: list[tuple[Task, str, str]] = [(task, "", "") for task in reversed(below.get(None, []))]
    while stack:
        task, prefix, branch = stack.pop()
        children = below.get(task["id"], [])
        lines.append(f"{prefix}{branch}{_tree_line(task, has_children=bool(children))}")
        inner = prefix + ("" if not branch else "   " if branch.startswith("└") else "│  ")
        for place, child in enumerate(reversed(children)):
            stack.append((child, inner, "└─ " if place == 0 else "├─ "))
    return lines


def _tree_line(task: Task, *, has_children: bool) -> str:
    parts = [f"{render.status_word(task['status'])}  {render.printable(task['title'])}"]
    if has_children:
        parts.append(f"({task['progress']['completed']}/{task['progress']['total']})")
    if task["assignee"]:
        parts.append(f"@{render.printable(task['assignee'])}")
    if task["status"] == "blocked" and task["blockedReason"]:
        parts.append(f"— {render.printable(task['blockedReason'])}")
    parts.append(render.ansi(render.short(task["id"]), "dim"))
    return "  ".join(parts)


def _show(arguments: Namespace) -> None:
    _show_one(arguments, Daemon(os.environ).call("GET", f"/api/tasks/{path_part(arguments.task)}"))


def _update(arguments: Namespace) -> None:
    given = {
        "title": arguments.title,
        "description": arguments.description,
        "parentId": arguments.parent,
        "assignee": arguments.assignee,
        "priority": arguments.priority,
        "status": arguments.status,
        "blockedReason": arguments.reason,
        "addDependsOn": arguments.depends_on or None,
        "removeDependsOn": arguments.no_longer_depends_on or None,
    }
    body = {name: value for name, value in given.items() if value is not None}
    if not body:
        raise errors.InvalidInput(
            "Nothing to change was named.", hint="`maestro task update --help` shows what can be."
        )
    _show_one(arguments, Daemon(os.environ).call("PATCH", f"/api/tasks/{path_part(arguments.task)}", body))


def _report(arguments: Namespace) -> None:
    daemon = Daemon(os.environ)
    words = list(arguments.words)
    if len(words) > 2:
        raise errors.InvalidInput("Too many words.", hint="Put the message in quotes.")
    names_task = len(words) == 2 or (len(words) == 1 and words[0].startswith("task_"))
    task = words.pop(0) if names_task else _own_task(daemon)
    body = {"kind": arguments.kind, "message": words[0] if words else ""}
    told = daemon.call("POST", f"/api/tasks/{path_part(task)}/report", body, is_report=True)
    if told is None:
        render.left_for_daemon(as_json=wants_json(arguments))
    else:
        _show_one(arguments, told)


def _own_task(daemon: Daemon) -> str:
    session_id = os.environ.get("MAESTRO_SESSION_ID")
    if not session_id:
        raise errors.InvalidInput("Which task?", hint="Give its id: maestro task report KIND ID [MESSAGE]")
    tasks = daemon.call("GET", f"/api/sessions/{path_part(session_id)}")["taskIds"]
    if len(tasks) != 1:
        raise errors.InvalidInput(
            f"This session has {len(tasks)} tasks.", hint="Give the id: maestro task report KIND ID [MESSAGE]"
        )
    return str(tasks[0])


def _show_many(arguments: Namespace, tasks: list[Task]) -> None:
    if wants_json(arguments):
        render.print_json(tasks)
        return
    render.table(
        ("id", "status", "title", "assignee", "last report"),
        [
            (
                render.short(t["id"]),
                t["status"],
                t["title"],
                t["assignee"],
                t["blockedReason"] or t["lastReport"],
            )
            for t in tasks
        ],
        empty="No tasks. `maestro task create TITLE` adds one.",
    )


def _show_one(arguments: Namespace, task: Task) -> None:
    if wants_json(arguments):
        render.print_json(task)
        return
    progress = task["progress"]
    render.fields(
        [
            ("id", task["id"]),
            ("title", task["title"]),
            ("status", task["status"]),
            ("reason", task["blockedReason"]),
            ("progress", f"{progress['completed']} of {progress['total']}" if progress["total"] > 1 else ""),
            ("last report", task["lastReport"] if task["lastReport"] != task["blockedReason"] else ""),
            ("assignee", task["assignee"]),
            ("priority", task["priority"] if task["priority"] != "normal" else ""),
            ("parent", task["parentId"]),
            ("depends on", ", ".join(task["dependsOn"])),
            ("sessions", ", ".join(task["sessionIds"])),
            ("description", task["description"]),
        ]
    )
