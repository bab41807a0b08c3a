"""`maestro session logs`: what sessions said last, and with -f what they say next."""

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
    from collections.abc import Mapping
    from typing import Any

_WAIT = 25


def describe(logs: Parser) -> None:
    logs.add_argument("sessions", metavar="ID,…", nargs="?", help="ids or names, separated by commas")
    logs.add_argument("--my-workers", action="store_true", help="all workers that this session started")
    logs.add_argument("--last", metavar="N", type=int, default=5, help="texts per session (default 5)")
    logs.add_argument(
        "--since", metavar="TIME", help="only after this: milliseconds since 1970, or 90s, 10m, 2h ago"
    )
    logs.add_argument("--full", action="store_true", help="every text, whole (default: first sentences)")
    logs.add_argument("--max-length", metavar="N", type=int, help="cut texts after so many characters")
    logs.add_argument("-f", "--follow", action="store_true", help="go on until all have ended")


def _ids(arguments: Namespace, daemon: Daemon) -> list[str]:
    """The sessions that are meant, with the words that people know for what is missing."""
    if arguments.my_workers:
        own = os.environ.get("MAESTRO_SESSION_ID")
        if not own:
            raise errors.InvalidInput(
                "MAESTRO_SESSION_ID not set.", hint="--my-workers works inside a session."
            )
        query: dict[str, str | int | None] = {"parentSessionId": own, "active": "true"}
        found = [session["id"] for session in daemon.call("GET", "/api/sessions", query=query)]
        if not found:
            raise errors.NotFound(
                "No active worker sessions found.", hint="`maestro session list --all` shows all."
            )
        return found
    named = [word.strip() for word in (arguments.sessions or "").split(",") if word.strip()]
    if not named:
        raise errors.InvalidInput(
            "provide session IDs or use --my-workers",
            hint="`maestro session list` and `session discover` show ids.",
        )
    return named


def run(arguments: Namespace) -> None:
    daemon = Daemon(os.environ)
    since = _moment(arguments.since) if arguments.since else None
    ids = _ids(arguments, daemon)
    if arguments.follow:
        _follow(arguments, daemon, ids)
        return
    digests = daemon.call(
        "GET",
        "/api/sessions/log-digests",
        query={
            "sessionIds": ",".join(ids),
            "last": arguments.last,
            "since": since,
            "maxLength": arguments.max_length,
            "full": "true" if arguments.full else None,
        },
    )
    if wants_json(arguments):
        # One session alone is one digest, as the seeds' readers expect; several are a list.
        render.print_json(digests[0] if len(ids) == 1 else digests)
        return
    for place, digest in enumerate(digests):
        if place:
            print()
        for line in block(digest):
            print(line)


def block(digest: Mapping[str, Any]) -> list[str]:
    """`[sess_… | Frontend Dev | active]`, then a line per text, then what is wrong."""
    name = render.printable(digest["workerName"] or digest["sessionName"])
    stuck = digest["stuck"]
    head = f"[{render.short(digest['sessionId'])} | {name} | {state(digest)}]"
    lines = [render.ansi(head, "bold") + (render.ansi(" ⚠ STUCK", "yellow") if stuck else "")]
    for entry in digest["entries"]:
        lines += render.wrapped(
            f"  [{render.clock(entry['timestamp'])}] ",
            render.quoted(entry["text"]),
            render.source_style(entry),
        )
    if digest.get("unknownTranscript"):
        lines += render.wrapped("  ", render.printable(digest["unknownTranscript"]), "yellow")
    elif not digest["entries"]:
        lines.append(
            render.ansi(
                "  nothing said yet" if digest["status"] != "unknown" else "  no transcript yet", "dim"
            )
        )
    if stuck:
        lines += render.wrapped("  ⚠ ", render.printable(stuck["warning"]), "yellow")
        lines += render.wrapped("    → ", render.printable(stuck["remedy"]), "dim")
    return lines


def state(digest: Mapping[str, Any]) -> str:
    """The state with how long it has been so: `idle_15s`, `idle_3h`."""
    seconds = digest["metrics"]["idleDurationMs"] // 1000
    if digest["state"] != "idle" or not seconds:
        return str(digest["state"])
    for size, unit in ((86400, "d"), (3600, "h"), (120, "m")):
        if seconds >= size:
            return f"idle_{seconds // min(size, 60 if unit == 'm' else size)}{unit}"
    return f"idle_{seconds}s"


def _follow(arguments: Namespace, daemon: Daemon, ids: list[str]) -> None:
    """Lines of all sessions by time, until all have ended."""
    sessions = [daemon.call("GET", f"/api/sessions/{path_part(word)}") for word in ids]
    names = {session["id"]: session["name"] for session in sessions}
    as_json = wants_json(arguments)
    if not as_json:
        print(
            f"[session:logs] Watching {len(names)} session(s): {', '.join(map(render.short, names))}",
            flush=True,
        )
    body: dict[str, Any] = {
        "sessionIds": list(names),
        "last": arguments.last,
        "wait": _WAIT,
        "full": arguments.full,
    }
    if arguments.max_length:
        body["maxLength"] = arguments.max_length
    warned: dict[str, str] = {}
    width = max((len(name) for name in names.values()), default=0)
    while True:
        news = daemon.call("POST", "/api/sessions/log-follow", body, timeout=_WAIT + 30)
        for line in news["lines"]:
            width = max(width, len(line["worker"]))
            _print_line(line, width, as_json=as_json)
        _print_warnings(news["stuck"], warned, names, width, as_json=as_json)
        body["cursor"] = news["cursor"]
        if not any(daemon.call("GET", f"/api/sessions/{one}")["endedAt"] is None for one in names):
            return


def _print_line(line: Mapping[str, Any], width: int, *, as_json: bool) -> None:
    if as_json:
        render.print_json_line({name: line[name] for name in ("sessionId", "worker", "timestamp", "text")})
        return
    for part in line_parts(line, width):
        print(part, flush=True)


def line_parts(line: Mapping[str, Any], width: int) -> list[str]:
    """One line of a multiplexed log: `[14:32:05] [Frontend Dev | sess_…] "…"`."""
    name = render.printable(line["worker"])
    prefix = f"[{render.clock(line['timestamp'])}] [{name:<{width}} | {render.short(line['sessionId'])}] "
    return render.wrapped(prefix, render.quoted(line["text"]), render.source_style(line))


def _print_warnings(
    stuck: Mapping[str, Any], warned: dict[str, str], names: Mapping[str, str], width: int, *, as_json: bool
) -> None:
    """Each way of being stuck once; again only after it has passed."""
    import time

    for session_id in [one for one in warned if one not in stuck]:
        del warned[session_id]
    for session_id, signal in stuck.items():
        if warned.get(session_id) == signal["kind"]:
            continue
        warned[session_id] = signal["kind"]
        now = int(time.time() * 1000)
        if as_json:
            told = {
                "sessionId": session_id,
                "worker": names[session_id],
                "timestamp": now,
                "text": f"⚠ {signal['warning']}",
            }
            render.print_json_line(told)
            continue
        prefix = f"[{render.clock(now)}] [{render.printable(names[session_id]):<{width}} | {render.short(session_id)}] "
        for part in render.wrapped(prefix, f"⚠ {render.printable(signal['warning'])}", "yellow"):
            print(part, flush=True)


def _moment(text: str) -> int:
    import time

    if text.isdigit():
        return int(text)
    units = {"s": 1, "m": 60, "h": 3600, "d": 86400}
    if text[:-1].isdigit() and text[-1:] in units:
        return int((time.time() - int(text[:-1]) * units[text[-1]]) * 1000)
    raise errors.InvalidInput(
        f"“{text}” is not a time.", hint="Use milliseconds since 1970, or 90s, 10m, 2h, 1d ago."
    )
