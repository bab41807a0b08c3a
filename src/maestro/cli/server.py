"""`maestro server start|stop|restart|status|logs`: the daemon by hand. Commands start it when they need it."""

from __future__ import annotations

import os

from maestro import errors
from maestro.cli import render
from maestro.cli.parser import Parser, add_verb, wants_json
from maestro.server import lifecycle
from maestro.server.client import Daemon

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any


def describe(parser: Parser) -> None:
    verbs = parser.verbs()
    start = add_verb(verbs, "start", _start, "start the daemon; harmless when it runs")
    stop = add_verb(verbs, "stop", _stop, "finish what was accepted, then end")
    stop.add_argument("--force", action="store_true", help="end it now; what was acknowledged is safe")
    restart = add_verb(verbs, "restart", _restart, "stop, then start")
    for verb in (start, restart):
        verb.add_argument(
            "--listen",
            metavar="127.0.0.1:PORT",
            help="also answer HTTP here; the token is in MAESTRO_HOME/token",
        )
    add_verb(verbs, "status", _status, "whether it runs, and where")
    logs = add_verb(verbs, "logs", _logs, "what it logged")
    logs.add_argument("-n", "--lines", type=int, default=50)
    logs.add_argument("-f", "--follow", action="store_true")


def _local_daemon() -> Daemon:
    daemon = Daemon(os.environ)
    if not daemon.local:
        raise errors.InvalidInput(
            f"MAESTRO_SERVER_URL points at {daemon.url}.",
            hint="Unset it to manage the daemon of this machine.",
        )
    return daemon


def _start(arguments: Namespace) -> None:
    daemon = _local_daemon()
    running = lifecycle.is_running(daemon.home)
    if (
        running
        and arguments.listen
        and arguments.listen != (lifecycle.read_record(daemon.home) or {}).get("listen")
    ):
        raise errors.Conflict(
            "The daemon runs and does not listen there.",
            hint=f"Type: maestro server restart --listen {arguments.listen}",
        )
    lifecycle.start(daemon.home, os.environ, arguments.listen)
    _report(arguments, daemon, "already running" if running else "started")


def _stop(arguments: Namespace) -> None:
    daemon = _local_daemon()
    stopped = _end(daemon, force=arguments.force)
    if wants_json(arguments):
        render.print_json({"stopped": stopped})
    else:
        print("Stopped." if stopped else "It was not running.")


def _end(daemon: Daemon, *, force: bool) -> bool:
    """Ask it to stop, as the role that we are; by signal only with force."""
    if not lifecycle.is_running(daemon.home):
        return False
    if not force:
        daemon.call("POST", "/api/server/stop")
    return lifecycle.stop(daemon.home, force=force) or True


def _restart(arguments: Namespace) -> None:
    daemon = _local_daemon()
    listen = arguments.listen or (lifecycle.read_record(daemon.home) or {}).get("listen")
    _end(daemon, force=False)
    lifecycle.start(daemon.home, os.environ, listen)
    _report(arguments, daemon, "restarted")


def _status(arguments: Namespace) -> int:
    daemon = _local_daemon()
    if lifecycle.is_running(daemon.home):
        _report(arguments, daemon, "running")
        return 0
    stale = lifecycle.read_record(daemon.home) is not None or os.path.exists(daemon.home.socket)
    if wants_json(arguments):
        render.print_json({"running": False, "home": daemon.home.root, "diedUnexpectedly": stale})
    else:
        print(
            "not running (the last one died; the next command starts a new one)" if stale else "not running"
        )
    return 1


def _report(arguments: Namespace, daemon: Daemon, what: str) -> None:
    health = daemon.call("GET", "/api/health")
    record: dict[str, Any] = lifecycle.read_record(daemon.home) or {}
    told = {
        "running": True,
        **health,
        "socket": daemon.home.socket,
        "listen": record.get("listen"),
        "since": record.get("since"),
    }
    if wants_json(arguments):
        render.print_json(told)
        return
    render.fields(
        [
            ("daemon", f"{what}, pid {health['pid']}"),
            ("version", health["version"]),
            ("home", health["home"]),
            ("socket", daemon.home.socket),
            ("listen", record.get("listen")),
            ("up", render.age(record.get("since"))),
        ]
    )


def _logs(arguments: Namespace) -> None:
    daemon = _local_daemon()
    try:
        file = open(daemon.home.log, encoding="utf-8", errors="replace")  # noqa: SIM115 - closed below, also while following
    except FileNotFoundError:
        print("Nothing logged yet.")
        return
    with file:
        from collections import deque

        for line in deque(file, maxlen=max(1, arguments.lines)):
            _print_log_line(arguments, line)
        if arguments.follow:
            _follow(arguments, daemon.home.log, file)


def _follow(arguments: Namespace, path: str, file: Any) -> None:
    """New lines as they come, also into the file that a rotation puts in this one's place."""
    import time

    while True:
        line = file.readline()
        if line:
            _print_log_line(arguments, line)
            continue
        try:
            rotated = os.stat(path).st_ino != os.fstat(file.fileno()).st_ino
        except FileNotFoundError:
            rotated = False
        if rotated:
            file.close()
            file = open(path, encoding="utf-8", errors="replace")  # noqa: SIM115 - the loop ends with the command
        else:
            time.sleep(0.3)


def _print_log_line(arguments: Namespace, line: str) -> None:
    import json

    if wants_json(arguments):
        print(line.rstrip("\n"), flush=True)
        return
    try:
        entry = json.loads(line)
    except ValueError:
        print(render.printable(line.rstrip("\n")), flush=True)
        return
    when, level, event = entry.pop("timestamp", ""), entry.pop("level", ""), entry.pop("event", "")
    trace = entry.pop("exception", "")
    rest = " ".join(f"{name}={value}" for name, value in entry.items() if value is not None)
    print(render.printable(f"{when} {level:<7} {event} {rest}"), flush=True)
    if trace:
        print(render.printable(trace, lines=True), flush=True)
