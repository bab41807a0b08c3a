"""`maestro session …`: list, show, report and watch here; the other verbs in the files beside this one."""

from __future__ import annotations

import os

from maestro import errors
from maestro.cli import (
    render,
    session_assign,
    session_dehydrate,
    session_discover,
    session_explain,
    session_logs,
    session_prompt,
    session_spawn,
    session_stats,
)
from maestro.cli.parser import Parser, add_verb, wants_json
from maestro.cli.project import path_part
from maestro.server.client import Daemon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping
    from typing import Any

# Steps on the way, of interest when something went wrong: `--json` has them.
_DETAILS = ("prompt.typing", "prompt.pasted", "question.changed")
_KINDS = ("progress", "complete", "blocked", "error")


def describe(parser: Parser) -> None:
    verbs = parser.verbs()
    listing = add_verb(verbs, "list", _list, "sessions that are live")
    listing.add_argument("--all", action="store_true", help="also those that have ended")
    listing.add_argument("--project", metavar="PROJECT", help="id or name; default: all projects")
    listing.add_argument("--my-workers", action="store_true", help="only those that this session started")
    add_verb(verbs, "show", _show, "one session").add_argument("session", metavar="ID", help="id or name")
    report = add_verb(verbs, "report", _report, "say how this session goes")
    report.add_argument("kind", choices=_KINDS, metavar="|".join(_KINDS))
    report.add_argument("message", metavar="MESSAGE", nargs="?", default="")
    report.add_argument("--session", metavar="ID", help="default: MAESTRO_SESSION_ID")
    watch = add_verb(verbs, "watch", _watch, "events of sessions as they happen, until all have ended")
    watch.add_argument("sessions", metavar="ID,…", nargs="?", help="default: all that are live")
    started = "start an agent in a pane, on a task if you name one"
    session_spawn.describe_spawn(add_verb(verbs, "spawn", session_spawn.spawn, started))
    session_spawn.describe_stop(
        add_verb(verbs, "stop", session_spawn.stop, "end a session and all it started")
    )
    changed = "what a session changed in its worktree, as a patch"
    session_spawn.describe_session(add_verb(verbs, "diff", session_spawn.diff, changed))
    merged = "merge a session's branch into the branch of its project"
    session_spawn.describe_merge(add_verb(verbs, "merge", session_spawn.merge, merged))
    discarded = "remove a session's worktree; unmerged work only with --force, and it stays on its branch"
    session_spawn.describe_discard(add_verb(verbs, "discard", session_spawn.discard, discarded))
    typed = "type a prompt into a session, or the answer to what it asks; with a receipt"
    session_prompt.describe_prompt(add_verb(verbs, "prompt", session_prompt.prompt, typed))
    sent = "what was typed into a session, or waits to be, with receipts"
    session_prompt.describe_prompts(add_verb(verbs, "prompts", session_prompt.prompts, sent))
    given = "give a session its next task, or one that another has; with a receipt"
    session_assign.describe(add_verb(verbs, "assign", session_assign.assign, given))
    explained = "what a session does, by each source, with the evidence"
    session_explain.describe(add_verb(verbs, "explain", session_explain.run, explained))
    said = "what sessions said last; -f goes on as they say more"
    session_logs.describe(add_verb(verbs, "logs", session_logs.run, said))
    kept = "keep what a session must not forget: JSON on standard input"
    session_dehydrate.describe_dehydrate(add_verb(verbs, "dehydrate", session_dehydrate.dehydrate, kept))
    again = "what a session goes on with when its context was emptied"
    session_dehydrate.describe_rehydrate(add_verb(verbs, "rehydrate", session_dehydrate.rehydrate, again))
    found = "every agent's sessions on this machine, newest first"
    session_discover.describe_discover(add_verb(verbs, "discover", session_discover.discover, found))
    adopted = "make a session of what an agent wrote without Maestro"
    session_discover.describe_adopt(add_verb(verbs, "adopt", session_discover.adopt, adopted))
    session_stats.describe(
        add_verb(verbs, "stats", session_stats.run, "tokens and cost, by session and model")
    )


def _own_id() -> str:
    session_id = os.environ.get("MAESTRO_SESSION_ID")
    if not session_id:
        raise errors.InvalidInput(
            "MAESTRO_SESSION_ID not set.", hint="Run this inside a session, or name one."
        )
    return session_id


def _list(arguments: Namespace) -> None:
    sessions = Daemon(os.environ).call(
        "GET",
        "/api/sessions",
        query={
            "projectId": arguments.project,
            "active": None if arguments.all else "true",
            "parentSessionId": _own_id() if arguments.my_workers else None,
        },
    )
    if wants_json(arguments):
        render.print_json(sessions)
        return
    render.table(
        ("id", "status", "agent", "name", "age", "last report"),
        [
            (
                render.short(s["id"]),
                s["status"],
                s["agent"],
                s["name"],
                render.age(s["createdAt"]),
                s["lastReport"],
            )
            for s in sessions
        ],
        empty="No live sessions." if not arguments.all else "No sessions yet.",
    )


def _show(arguments: Namespace) -> None:
    _show_one(arguments, Daemon(os.environ).call("GET", f"/api/sessions/{path_part(arguments.session)}"))


def _report(arguments: Namespace) -> None:
    session_id = arguments.session or _own_id()
    body = {"kind": arguments.kind, "message": arguments.message}
    path = f"/api/sessions/{path_part(session_id)}/report"
    told = Daemon(os.environ).call("POST", path, body, is_report=True)
    if told is None:
        render.left_for_daemon(as_json=wants_json(arguments))
    else:
        _show_one(arguments, told)


def _show_one(arguments: Namespace, session: dict[str, Any]) -> None:
    if wants_json(arguments):
        render.print_json(session)
        return
    render.fields(
        [
            ("id", session["id"]),
            ("name", session["name"]),
            ("status", session["status"]),
            ("agent", session["agent"]),
            ("role", session["role"]),
            ("last report", session["lastReport"]),
            *session_assign.report_fields(session),
            ("parent", session["parentSessionId"]),
            ("tasks", ", ".join(session["taskIds"])),
            ("cwd", session["cwd"]),
            ("model", session["model"]),
            ("network", "opened to its commands" if session["network"] else ""),
            ("pid", session["pid"]),
            ("transcript", session["transcriptPath"] or session["transcriptId"]),
            ("started", f"{render.age(session['createdAt'])} ago"),
            ("ended", f"{render.age(session['endedAt'])} ago" if session["endedAt"] else ""),
        ]
    )


def _watch(arguments: Namespace) -> None:
    daemon = Daemon(os.environ)
    # The cursor comes first: what happens while the sessions are read is then among the events.
    cursor = daemon.call("GET", "/api/events", query={"since": "now"})["cursor"]
    if arguments.sessions:
        wanted = [word.strip() for word in arguments.sessions.split(",") if word.strip()]
        sessions = [daemon.call("GET", f"/api/sessions/{path_part(word)}") for word in wanted]
    else:
        sessions = daemon.call("GET", "/api/sessions", query={"active": "true"})
    names = {session["id"]: session["name"] for session in sessions}
    live = {session["id"] for session in sessions if session["endedAt"] is None}
    as_json = wants_json(arguments)
    if not as_json:
        print(
            f"Watching {len(live)} live of {len(names)} sessions." if names else "No live sessions.",
            flush=True,
        )
    if not live:
        return
    for event in daemon.events(cursor, ",".join(sorted(names))):
        if as_json:
            render.print_json_line(event)
        elif tells_something(event):
            print(event_line(event, names), flush=True)
        if event["subjectId"] in live and event["data"].get("changes", {}).get("endedAt"):
            live.discard(event["subjectId"])
            if not live:
                return


def tells_something(event: Mapping[str, Any]) -> bool:
    """Whether a person wants to read it: not that a pid or a name was noted."""
    data = event["data"]
    if event["kind"] in _DETAILS or event["kind"].startswith("agent."):
        return False
    return event["kind"] != "session.changed" or "status" in data.get("changes", {})


def event_line(event: dict[str, Any], names: dict[str, str]) -> str:
    """`[14:32:05] [Frontend Dev | sess_…] reported progress: “…”`"""
    subject = event["subjectId"]
    who = subject if subject in names else event["sessionId"]
    data = event["data"]
    what = event["kind"].replace(".", " ")
    if data.get("report"):
        what = f"{event['kind'].partition('.')[0]} {data['report']}"
    status = data.get("changes", {}).get("status")
    parts = [
        f"[{render.clock(event['at'])}]",
        f"[{render.printable(names.get(who, '?'))} | {render.short(who)}]",
        what,
    ]
    if status:
        parts.append(f"→ {render.status_word(status)}")
    if data.get("message"):
        parts.append(f"“{render.printable(data['message'])}”")
    parts += _exchanged(data)
    return " ".join(parts)


def _exchanged(data: Mapping[str, Any]) -> list[str]:
    """What was asked, or what became of what was typed."""
    question, prompt = data.get("question"), data.get("prompt")
    if question:
        words = question["text"] + (
            f" {question['asked']['detail']}" if question.get("asked", {}).get("detail") else ""
        )
        return [
            f"“{render.printable(words)}”",
            *([f"({question['closedBy']})"] if question.get("closedBy") else []),
        ]
    if prompt:
        said = prompt.get("text") or "; ".join(prompt.get("evidence") or ()) or prompt.get("reason") or ""
        return [render.printable(said)] if said else []
    return []
