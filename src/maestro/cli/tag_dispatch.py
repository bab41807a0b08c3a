"""`maestro tag dispatch`: approved tags to a tool (`delegate`), or to sessions in panes (`session spawn`).

A run goes on in a process of its own and ends its tag itself, also when this command is gone: waiting is only for whoever
wants to see it. A session ends its tag by the command that it is told; if it ends without, the next dispatch says so.
"""

from __future__ import annotations

import os
import sys

from maestro import errors
from maestro.cli import render
from maestro.cli.parser import Parser, wants_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping
    from typing import Any

    from maestro.coordinate.tags.claims import Record, Standing, Way
    from maestro.coordinate.tags.tag_files import ProjectTags

_SPAWN_SECONDS = 120.0
_SESSION_LEASE = 86_400.0
_OVER = ("completed", "error", "stopped")
_SILENT = "Its session {name} ended without a word on the tag."


def describe(parser: Parser) -> None:
    way = parser.add_mutually_exclusive_group()
    way.add_argument(
        "--to", metavar="TOOL", default="", help="as for `delegate`; default: that of tools.toml"
    )
    way.add_argument("--spawn", metavar="AGENT", default="", help="a session in a pane for each")
    parser.add_argument("ids", metavar="ID", nargs="*", help="default: all that are free")
    parser.add_argument("--kind", metavar="X", default="", help="only of this kind")
    parser.add_argument("--limit", metavar="N", type=int, help="at most so many")
    parser.add_argument(
        "--mode",
        choices=("analysis", "write"),
        help="default: analysis for brainstorm, research and review, write for the others",
    )
    parser.add_argument("--timeout", metavar="SECONDS", type=float, help="of one run; as for `delegate`")
    parser.add_argument("--as", dest="name", metavar="NAME", default="dispatch", help="who claims them")
    parser.add_argument("--again", action="store_true", help="also those whose last run failed")
    parser.add_argument(
        "--async", dest="detached", action="store_true", help="begin the runs, all at once, and do not wait"
    )
    parser.epilog = (
        "Runs go one after the other, each to its end. A run that failed gives its tag back with the reason, and is "
        "not begun again by itself: --again, or `tag approve`. Exit code 1: one of them failed."
    )


def dispatch(arguments: Namespace) -> int:
    from maestro.coordinate.tags.tag_files import ProjectTags

    tags = ProjectTags(os.getcwd(), os.environ)
    told: list[dict[str, Any]] = []
    for seen in _chosen(tags, arguments):
        try:
            outcome = _spawned(tags, seen, arguments) if arguments.spawn else _run(tags, seen, arguments)
        except errors.Conflict as error:
            # Another took it between our look and our claim.
            if arguments.ids:
                raise
            outcome = {"outcome": "passed over", "reason": error.message}
        told.append({"id": seen.tag.id, "text": seen.tag.text} | outcome)
        if not wants_json(arguments):
            _print(told[-1])
    if wants_json(arguments):
        render.print_json(told)
    elif not told:
        print("Nothing is free. `maestro tag list` shows how they stand.")
    return errors.EXIT_UNEXPECTED if any(one["outcome"] == "failed" for one in told) else 0


def _chosen(tags: ProjectTags, arguments: Namespace) -> list[Standing]:
    from maestro.coordinate.tags.claims import is_free
    from maestro.coordinate.tags.tag import COORDINATE

    if arguments.limit is not None and arguments.limit < 1:
        raise errors.InvalidInput("A limit is at least 1.", hint="Leave it out to take all that are free.")
    if arguments.ids:
        return [tags.find(wanted) for wanted in arguments.ids][: arguments.limit]
    way: Way = "session" if arguments.spawn else "run"
    with tags.locked():
        tags.settle()
    if arguments.spawn:
        _settle_sessions(tags)
    # Chapters are a coordinator's own: `vision next`.
    free = [
        seen
        for seen in tags.all()
        if is_free(seen, way, again=arguments.again) and seen.tag.kind != COORDINATE
        if arguments.kind in {"", seen.tag.kind}
    ]
    return free[: arguments.limit]


def _print(told: Mapping[str, Any]) -> None:
    words = f"{told['id']}  {told['outcome']}  {told['text']}"
    reason = f"\n  {told['reason']}" if told.get("reason") else ""
    print(render.printable(f"{words}{reason}", lines=True), flush=True)


# Runs.


def _run(tags: ProjectTags, seen: Standing, arguments: Namespace) -> dict[str, Any]:
    from functools import partial

    from maestro.cli.tag_runner import start
    from maestro.coordinate.tags.runs import begin, order_for

    order = order_for(tags, seen, to=arguments.to, mode=arguments.mode, seconds=arguments.timeout)
    starting = partial(start, prompt_session=arguments.detached)
    begun = begin(tags, seen, order, arguments.name, os.environ, starting)
    told = {"run": begun.record.run}
    if begun.how == "started" and arguments.detached:
        return told | {"outcome": "begun"}
    if begun.how == "started":
        _wait(tags, begun.record)
    elif begun.how == "running":
        return told | {"outcome": "under way", "reason": "Its run was begun before, and goes on."}
    return told | _end_of(tags, begun.record)


def _wait(tags: ProjectTags, begun: Record) -> None:
    """Until the run's process has ended, however it ended: then its lock is free."""
    try:
        with tags.run_lock(begun.id, wait=True):
            pass
    except KeyboardInterrupt:
        print(f"maestro: {begun.run} goes on and ends its tag by itself.", file=sys.stderr)
        print(f"  → To end it: maestro delegate cancel {begun.run}", file=sys.stderr)
        raise


def _end_of(tags: ProjectTags, begun: Record) -> dict[str, Any]:
    record = tags.record(begun.id)
    if record is not None and record.done_at:
        return {"outcome": "done", "reason": record.note}
    if record is not None and record.run == begun.run:
        return {"outcome": "failed", "reason": "The run's process was killed; the next dispatch sees to it."}
    return {"outcome": "failed", "reason": record.failed if record else "Its record is gone."}


# Sessions.


def _spawned(tags: ProjectTags, seen: Standing, arguments: Namespace) -> dict[str, Any]:
    """A session with the run's name; one that is there is not started again."""
    from maestro.server.client import Daemon

    daemon = Daemon(os.environ)
    claimed = tags.claim(
        seen.tag.id,
        arguments.name,
        lease_seconds=_SPAWN_SECONDS + 60,
        process=_this_process(),
        way="session",
        as_seen=seen,
    )
    record = claimed.record
    assert record is not None
    with tags.run_lock(record.id) as lock:
        if lock is None:
            return {"outcome": "under way", "session": record.run}
        session = _session_named(daemon, record.run, tags.files.root)
        if session is None:
            try:
                session = _start_session(daemon, tags, claimed, arguments)
            except errors.MaestroError as error:
                tags.end_run(record, failed=f"It could not begin: {error.message}")
                raise
        if session["status"] in _OVER:
            failed = str(session["lastReport"] or "") or _SILENT.format(name=record.run)
            tags.end_run(record, failed=failed)
            return {"outcome": "failed", "reason": failed}
        tags.give(record, record.run, _SESSION_LEASE)
    return {"outcome": "begun", "session": session["id"], "name": record.run}


def _settle_sessions(tags: ProjectTags) -> None:
    """Tags whose session ended without a word are given back, however long their lease is."""
    from maestro.server.client import Daemon

    daemon = Daemon(os.environ)
    for seen in tags.all():
        record = seen.record
        if record is None or record.way != "session" or seen.tag.state != "claimed":
            continue
        session = _session_named(daemon, record.run, tags.files.root)
        if session is not None and session["status"] in _OVER:
            tags.end_run(record, failed=_SILENT.format(name=record.run))


def _this_process() -> Any:
    from maestro.dispatch.run import this_process

    return this_process()


def _session_named(daemon: Any, name: str, root: str) -> dict[str, Any] | None:
    found: list[dict[str, Any]] = daemon.call("GET", "/api/sessions")
    return next((one for one in found if one["name"] == name and one["cwd"] == root), None)


def _start_session(daemon: Any, tags: ProjectTags, seen: Standing, arguments: Namespace) -> dict[str, Any]:
    import hashlib
    import shlex

    from maestro.cli.session_spawn import caller_environment
    from maestro.coordinate.tags.runs import prompt_of

    assert seen.record is not None
    tag, name, root = seen.tag, seen.record.run, tags.files.root
    command = f"cd {shlex.quote(root)} && maestro tag"
    message = (
        f"{prompt_of(tag, tags.files.text_of(tag.file))}\n"
        f"When it is done, run: {command} done {tag.id} --as {name}\n"
        f"If you cannot do it, run: {command} release {tag.id} --as {name} --reason WHY\n"
    )
    body = {
        "agent": arguments.spawn,
        "name": name,
        "subject": tag.text[:200],
        "message": message,
        "directory": root,
        "cwd": root,
        "environment": caller_environment(arguments.spawn),
    }
    own = os.environ.get("MAESTRO_SESSION_ID")
    if own:
        body["parentSessionId"] = own
    # Of one project's tag, whoever asks for it.
    key = hashlib.sha256(os.fsencode(f"{root}\0{name}")).hexdigest()[:32]
    try:
        session: dict[str, Any] = daemon.call(
            "POST", "/api/sessions/spawn", body, timeout=_SPAWN_SECONDS, key=key
        )
    except errors.KeyReused:
        # Somebody with another environment asked for the same, and died before it was answered.
        found = _session_named(daemon, name, root)
        if found is None:
            raise
        return found
    return session
