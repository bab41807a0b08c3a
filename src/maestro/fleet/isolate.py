"""The sandbox of an isolated session, pure: the words for bubblewrap.

It sees the system read-only and other processes not at all; it changes its working directory and its agent's own folders.
Of Maestro it sees the daemon's socket, to report. tmux, the session buses and container engines listen in /tmp, /run and
MAESTRO_HOME, and keys lie all over a home: those are empty inside, but for the programs that it needs. The network stays:
its model is there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from posixpath import basename, dirname, join

import msgspec

from maestro.agents.launch import OwnFolders
from maestro.errors import InvalidInput, NotFound

# Names are resolved through these, which systems keep in /run.
_RESOLVERS = ("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager")
_KERNEL_SWITCHES = ("/proc/sys", "/proc/sysrq-trigger")
_EMPTIED = ("/tmp", "/run", "/var/tmp")  # noqa: S108 - these are replaced, not used


class Sandbox(msgspec.Struct, frozen=True, kw_only=True):
    """What one session may see and change. All paths are absolute and without symbolic links."""

    cwd: str
    maestro_home: str
    socket: str  # the daemon's, inside maestro_home
    door: str  # the folder inside maestro_home that holds the link to it
    own: OwnFolders
    homes: tuple[str, ...] = ()  # the person's: empty inside, but for what is readable or writable
    writable: tuple[str, ...] = ()  # its worktree, the repository's .git
    copies: tuple[tuple[str, str], ...] = ()  # inside those, what it gets as a copy: the copy, its place
    protected: tuple[str, ...] = ()  # inside those, what runs commands outside: hooks, configuration
    readable: tuple[
        str, ...
    ] = ()  # inside what is emptied, what it must still read: its settings, its programs
    hidden: tuple[
        str, ...
    ] = ()  # folders that it must not see: the temporary folder wherever it is, other agents' homes
    shares_terminal: bool = (
        False  # True: not alone in a pane, so it must not be able to type into what it shares
    )


def isolated(argv: Iterable[str], sandbox: Sandbox, bwrap: str | None) -> tuple[str, ...]:
    """The command inside its sandbox. `bwrap` is where bubblewrap is, None when it is not installed."""
    if bwrap is None:
        raise NotFound(
            "bubblewrap is not installed, so the session cannot be isolated.",
            hint="Install the package bubblewrap (it has the program bwrap), or leave out --isolate.",
        )
    _check_place(sandbox)
    words = [
        bwrap,
        "--die-with-parent",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--cap-drop", "ALL",
        *(["--new-session"] if sandbox.shares_terminal else []),
        "--ro-bind", "/", "/",
        "--dev", "/dev",
        "--proc", "/proc",
        # Root may write these without any capability.
        *(word for path in _KERNEL_SWITCHES for word in ("--ro-bind-try", path, path)),
    ]  # fmt: skip
    for folder in _unique((*_EMPTIED, *sandbox.homes, sandbox.maestro_home, *sandbox.hidden)):
        words += ["--tmpfs", folder]
    for folder in _RESOLVERS:
        words += ["--ro-bind-try", folder, folder]
    words += ["--ro-bind", sandbox.door, sandbox.door]
    words += ["--symlink", join(sandbox.door, basename(sandbox.socket)), sandbox.socket]
    # Outer folders first, so that what is inside one is not covered by it.
    for path in sorted(_unique(sandbox.readable)):
        words += ["--ro-bind", path, path]
    for path in sorted(_unique((sandbox.cwd, *sandbox.writable))):
        words += ["--bind", path, path]
    for copy, path in sandbox.copies:
        words += ["--bind", copy, path]
    for path in sorted(_unique(sandbox.own.writable)):
        words += ["--bind-try", path, path]
    # What is hidden may lie in what it works in: a project that brings the home of an agent.
    shown = _unique((*sandbox.readable, sandbox.cwd, *sandbox.writable, *sandbox.own.writable))
    for path in sorted(_unique(sandbox.hidden)):
        is_shown = any(_is_below(path, other) for other in shown)
        if is_shown and not any(_is_below(other, path) for other in shown):
            words += ["--tmpfs", path]
    for path in sorted(_unique((*sandbox.protected, *sandbox.own.protected))):
        words += ["--ro-bind-try", path, path]
    return (*words, "--chdir", sandbox.cwd, "--", *_confined(), *argv)


def _confined() -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", join(dirname(__file__), "confine.py"))


def _check_place(sandbox: Sandbox) -> None:
    """What it works in is open to it, so nothing that is closed may lie there."""
    for closed in (*sandbox.homes, sandbox.maestro_home):
        if f"{closed}/".startswith(f"{sandbox.cwd.rstrip('/')}/"):
            raise InvalidInput(
                f"An isolated session cannot work in {sandbox.cwd}: {closed} is in there, which it must not see.",
                hint="Start it in a project's folder, or leave out --isolate.",
            )


def _is_below(path: str, above: str) -> bool:
    return path.startswith(above.rstrip("/") + "/")


def _unique(paths: Iterable[str]) -> dict[str, None]:
    return dict.fromkeys(path for path in paths if path)
