"""What this machine has and lacks. Every finding that is not fine names its remedy."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import sqlite3
import stat
import sys
from collections.abc import Mapping
from typing import Literal, NamedTuple

from maestro import errors
from maestro import home as homes
from maestro.agents.installed import SECONDS, Installed, ask
from maestro.agents.survey import Surveyed, survey
from maestro.agents.versions import Outlook, Part, numbers
from maestro.server import lifecycle
from maestro.server.client import Daemon

State = Literal["ok", "warn", "fail"]

_AGENTS = {
    "claude": "npm install -g @anthropic-ai/claude-code",
    "codex": "npm install -g @openai/codex",
    "gemini": "npm install -g @google/gemini-cli",
}
_OLDEST_TMUX = (3, 2)
_SAFE_SQLITE = (3, 51, 3)
_HEALTH_SECONDS = 10.0
# Variables by which a command speaks to another daemon than this home's, or in the name of a session.
_ELSEWHERE = {
    "MAESTRO_SERVER_URL",
    "MAESTRO_SESSION_TOKEN",
    "MAESTRO_SERVER_TOKEN",
    "MAESTRO_SERVER_TOKEN_FILE",
}


class Finding(NamedTuple):
    check: str
    state: State
    found: str
    remedy: str = ""


def examine(env: Mapping[str, str], *, seconds: float = SECONDS) -> list[Finding]:
    """Looks at everything; a program gets so many seconds to say its version."""
    home = homes.locate(env)
    return [
        _python(),
        _bytecode(),
        _sqlite(),
        _tmux(env, seconds),
        *_agents(env, seconds),
        *_home(home),
        _space(home),
        _daemon(home, env),
    ]


def _python() -> Finding:
    return Finding("python", "ok", f"{platform.python_version()} at {sys.executable}")


def _bytecode() -> Finding:
    """Without bytecode the daemon's first start takes several times longer."""
    module = importlib.util.find_spec("sqlalchemy")
    if module is None or module.origin is None:
        return Finding(
            "bytecode", "fail", "sqlalchemy is not installed", "Reinstall: uv tool install --force ."
        )
    if os.path.exists(importlib.util.cache_from_source(module.origin)):
        return Finding("bytecode", "ok", "compiled")
    return Finding(
        "bytecode",
        "warn",
        "not compiled: every start is slow",
        f"{sys.executable} -m compileall -q {os.path.dirname(os.path.dirname(module.origin))}",
    )


def _sqlite() -> Finding:
    version = sqlite3.sqlite_version
    if tuple(map(int, version.split("."))) < _SAFE_SQLITE:
        return Finding("sqlite", "ok", f"{version}; one process writes, so its WAL-reset bug cannot bite")
    return Finding("sqlite", "ok", version)


def _tmux(env: Mapping[str, str], seconds: float) -> Finding:
    found = ask("tmux", lifecycle.scrubbed(env), "/", flag="-V", seconds=seconds)
    if found.fault == "missing":
        return Finding("tmux", "fail", "not found", "Install tmux 3.2 or newer with your package manager.")
    if found.fault in {"slow", "fails"}:
        return _unanswered("tmux", found, "tmux -V")
    if found.version and numbers(found.version)[:2] < _OLDEST_TMUX:
        return Finding("tmux", "fail", found.words, "Install tmux 3.2 or newer.")
    return Finding("tmux", "ok", found.words)


def _agents(env: Mapping[str, str], seconds: float) -> list[Finding]:
    return [_agent(one) for one in survey(_AGENTS, lifecycle.scrubbed(env), os.getcwd(), seconds=seconds)]


def _agent(one: Surveyed) -> Finding:
    found = one.installed
    if found.fault == "missing":
        return Finding(one.name, "warn", "not found", f"To use it: {_AGENTS[one.name]}")
    if found.fault in {"slow", "fails"}:
        return _unanswered(one.name, found, f"{one.name} --version")
    if one.outlook is None:
        said = f"says “{found.words}” and no version" if found.words else "says no version"
        return Finding(
            one.name,
            "warn",
            f"{found.path} {said}: what works with it is not known",
            f"See which program that is, or install it: {_AGENTS[one.name]}",
        )
    words = f"{found.words} at {found.path}: {_verdict(one.outlook)}"
    if one.outlook.is_recorded and all(works.state == "yes" for works in one.outlook.parts.values()):
        return Finding(one.name, "ok", words)
    if one.outlook.is_recorded:
        return Finding(one.name, "warn", words, "`maestro agents list` says why.")
    return Finding(
        one.name,
        "warn",
        words,
        f"Compare what `maestro agents read-screen {one.name}` says with what you see, and report a difference.",
    )


def _verdict(seen: Outlook) -> str:
    """Says whether it can be launched, read and typed at, and what else falls short."""
    parts: tuple[tuple[Part, str], ...] = (("launch", "launched"), ("read", "read"), ("type", "typed at"))
    able = ", ".join(f"{word}: {seen.parts[part].state}" for part, word in parts)
    less = [
        f"{part} {works.state}"
        for part, works in seen.parts.items()
        if works.state != "yes" and part not in {"launch", "read", "type"}
    ]
    return "; ".join(filter(None, (seen.words, able, ", ".join(less) if seen.is_recorded else "")))


def _unanswered(check: str, found: Installed, command: str) -> Finding:
    """A program that takes its time may work; one that fails does not."""
    if found.fault == "slow":
        return Finding(
            check, "warn", f"slow: {found.words} at {found.path}", f"See how long it takes: time {command}"
        )
    return Finding(check, "fail", f"{found.path} does not run: {found.words}", f"See what it says: {command}")


def _home(home: homes.Home) -> list[Finding]:
    findings: list[Finding] = []
    try:
        homes.check_socket_path(home.socket)
    except errors.SocketPathTooLong as error:
        findings.append(Finding("socket", "fail", error.message, error.hint))
    if not os.path.isdir(home.root):
        return [*findings, Finding("home", "ok", f"{home.root} (made at the first command)")]
    wrong = [
        path for path, mode in _private_paths(home) if stat.S_IMODE(os.lstat(path).st_mode) & 0o077 & ~mode
    ]
    if wrong:
        remedy = f"chmod -R go= {home.root}"
        findings.append(
            Finding("permissions", "fail", f"{len(wrong)} paths open to others: {wrong[0]}", remedy)
        )
    else:
        findings.append(Finding("permissions", "ok", "closed to others"))
    return [*findings, _home_itself(home)]


def _home_itself(home: homes.Home) -> Finding:
    try:
        homes.check(home)
    except errors.NoPermission as error:
        return Finding("home", "fail", error.message, error.hint)
    if not os.access(home.root, os.W_OK | os.X_OK):
        return Finding("home", "fail", f"{home.root} cannot be written to", f"chmod u+rwx {home.root}")
    if parent := homes.open_parent(home):
        return Finding(
            "home",
            "warn",
            f"{home.root} stands below {parent}, where everybody may put another folder in its place",
            f"chmod o-w {parent}, or set MAESTRO_HOME to another folder",
        )
    return Finding("home", "ok", home.root)


def _private_paths(home: homes.Home) -> list[tuple[str, int]]:
    paths = [home.root]
    for folder, folders, files in os.walk(home.root):
        paths += [os.path.join(folder, name) for name in (*folders, *files)]
    return [(path, 0) for path in paths if not os.path.islink(path)]


def _space(home: homes.Home) -> Finding:
    place = home.root
    while not os.path.isdir(place):
        place = os.path.dirname(place)
    free = shutil.disk_usage(place).free // 1_000_000
    if free < 100:
        return Finding("disk", "warn", f"{free} MB free at {place}", "Free some space.")
    return Finding("disk", "ok", f"{free // 1000} GB free" if free >= 1000 else f"{free} MB free")


def _daemon(home: homes.Home, env: Mapping[str, str]) -> Finding:
    if lifecycle.is_running(home):
        return _running_daemon(home, env)
    if lifecycle.read_record(home) or os.path.exists(home.socket):
        return Finding(
            "daemon", "ok", "the last one died; the next command starts a new one, nothing is lost"
        )
    return Finding("daemon", "ok", "not running; starts at the first command")


def _running_daemon(home: homes.Home, env: Mapping[str, str]) -> Finding:
    """It holds its lock; whether it also answers, only asking tells."""
    record = lifecycle.read_record(home)
    pid = record["pid"] if record else "?"
    local = Daemon({name: value for name, value in env.items() if name not in _ELSEWHERE})
    try:
        lifecycle.check_not_stopped(home)
        local.call("GET", "/api/health", start=False, renew=False, timeout=_HEALTH_SECONDS)
    except errors.MaestroError as error:
        return Finding("daemon", "fail", f"pid {pid} does not answer: {error.message}", error.hint)
    return Finding("daemon", "ok", f"running, pid {pid}")
