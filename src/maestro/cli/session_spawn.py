"""`maestro session spawn|stop`: sessions in panes."""

from __future__ import annotations

import os

from maestro import errors
from maestro.cli import render
from maestro.cli.parser import Parser, wants_json
from maestro.cli.project import path_part
from maestro.server.client import Daemon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

_MODES = ("default", "plan", "cautious", "edits", "autonomous", "unrestricted")
_SECONDS = 120.0


def describe_spawn(spawn: Parser) -> None:
    spawn.add_argument(
        "--agent", metavar="A", default="claude", help="claude, codex, gemini, … (default claude)"
    )
    spawn.add_argument(
        "--task", metavar="ID", action="append", default=[], help="what it shall do; repeatable"
    )
    spawn.add_argument("--role", choices=("worker", "coordinator"), default="worker")
    spawn.add_argument("--subject", metavar="S", default="", help="in a few words, what it is about")
    spawn.add_argument("--message", metavar="M", default="", help="what to tell it first")
    spawn.add_argument("--name", metavar="N", help="default: its task's title")
    spawn.add_argument("--cwd", metavar="DIR", help="default: this folder")
    spawn.add_argument("--project", metavar="PROJECT", help="default: the project of this folder")
    spawn.add_argument("--model", metavar="M")
    spawn.add_argument("--mode", choices=_MODES, default="default")
    spawn.add_argument("--worktree", action="store_true", help="its own checkout, on a branch of its own")
    spawn.add_argument("--isolate", action="store_true", help="in a bubblewrap sandbox")
    spawn.add_argument(
        "--network", action="store_true", help="open the network to its commands, where its CLI closes it"
    )
    spawn.add_argument("--fleet", metavar="F", default="maestro", help="the tmux server that it lives in")


def spawn(arguments: Namespace) -> int:
    cwd = os.path.abspath(arguments.cwd or os.getcwd())
    body: dict[str, Any] = {
        "agent": arguments.agent,
        "taskIds": arguments.task,
        "role": arguments.role,
        "subject": arguments.subject,
        "message": arguments.message,
        "directory": cwd,
        "cwd": cwd,
        "mode": arguments.mode,
        "worktree": arguments.worktree,
        "isolate": arguments.isolate,
        "network": arguments.network,
        "fleet": arguments.fleet,
        "environment": caller_environment(arguments.agent, arguments.role),
    }
    chosen = {"name": arguments.name, "projectId": arguments.project, "model": arguments.model}
    body |= {name: value for name, value in chosen.items() if value}
    own = os.environ.get("MAESTRO_SESSION_ID")
    if own:
        body["parentSessionId"] = own
    session = Daemon(os.environ).call("POST", "/api/sessions/spawn", body, timeout=_SECONDS)
    if wants_json(arguments):
        render.print_json(session)
    else:
        print(
            f"{session['id']}  {render.status_word(session['status'])}  {render.printable(session['name'])}"
        )
        if session["status"] == "error":
            print(render.printable(session["lastReport"] or "", lines=True))
        else:
            print(
                render.ansi(
                    "`maestro attach` shows it; `maestro session logs -f` follows what it says.", "dim"
                )
            )
    return errors.EXIT_UNEXPECTED if session["status"] == "error" else 0


def describe_stop(stop: Parser) -> None:
    stop.add_argument("session", metavar="ID", help="id or name")
    stop.add_argument("--force", action="store_true", help="kill it without asking first")


def stop(arguments: Namespace) -> None:
    path = f"/api/sessions/{path_part(arguments.session)}/stop"
    session = Daemon(os.environ).call("POST", path, {"force": arguments.force}, timeout=_SECONDS)
    if wants_json(arguments):
        render.print_json(session)
    else:
        print(
            f"{session['id']}  {render.status_word(session['status'])}  {render.printable(session['name'])}"
        )


def caller_environment(agent: str, role: str = "worker") -> dict[str, str]:
    """What of this environment a session of the agent may know, and where other agents keep their things, which an
    isolated one must not see; the daemon has a scrubbed one."""
    from maestro.agents.registry import home_variables, launchers_of
    from maestro.fleet import launch

    homes = {name: os.environ[name] for name in home_variables() if os.environ.get(name)}
    return homes | launch.caller_environment(os.environ, *launchers_of(agent, role))


def describe_session(parser: Parser) -> None:
    parser.add_argument("session", metavar="ID", help="id or name")


def diff(arguments: Namespace) -> None:
    told = Daemon(os.environ).call(
        "GET", f"/api/sessions/{path_part(arguments.session)}/diff", timeout=_SECONDS
    )
    if wants_json(arguments):
        render.print_json(told)
    elif told["diff"]:
        print(render.printable(told["diff"], lines=True), end="")


def describe_merge(parser: Parser) -> None:
    parser.add_argument("session", metavar="ID", help="id or name")
    parser.add_argument("--message", metavar="M", default="", help="of the merge commit")


def merge(arguments: Namespace) -> None:
    path = f"/api/sessions/{path_part(arguments.session)}/merge"
    told = Daemon(os.environ).call("POST", path, {"message": arguments.message}, timeout=_SECONDS)
    if wants_json(arguments):
        render.print_json(told)
    elif told["files"]:
        print(
            f"Merged {told['branch']} into {told['into']}: {len(told['files'])} files, {told['commit'][:10]}."
        )
    else:
        print(f"{told['branch']} has nothing that {told['into']} does not have.")


def describe_discard(parser: Parser) -> None:
    parser.add_argument("session", metavar="ID", help="id or name")
    parser.add_argument(
        "--force", action="store_true", help="also with unmerged work, which stays on its branch"
    )


def discard(arguments: Namespace) -> None:
    path = f"/api/sessions/{path_part(arguments.session)}/worktree"
    query: dict[str, str | int | None] = {"force": "true" if arguments.force else None}
    told = Daemon(os.environ).call("DELETE", path, query=query, timeout=_SECONDS)
    if wants_json(arguments):
        render.print_json(told)
        return
    kept = f"; its work stays on {told['branch']}" if told["branchKept"] else ""
    print(f"The worktree is gone{kept}.")
