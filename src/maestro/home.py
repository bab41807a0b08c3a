"""Where Maestro keeps its own things: MAESTRO_HOME, by default `$XDG_STATE_HOME/maestro`.

Folders are 0700 and files 0600: transcripts' texts and tokens pass through here. A folder that others may only read is
closed to them; one that they may write to is refused: nobody can tell what they have put there. Imported by every
command, so it costs nothing but `os`.
"""

from __future__ import annotations

import os
import stat

from maestro.errors import NoPermission, SocketPathTooLong

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# sockaddr_un.sun_path holds 108 bytes on Linux and 104 on macOS, the closing NUL included.
_SOCKET_PATH_LIMIT = 107 if os.uname().sysname == "Linux" else 103

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Home:
    __slots__ = ("root",)

    def __init__(self, root: str) -> None:
        self.root = root

    def path(self, *names: str) -> str:
        return os.path.join(self.root, *names)

    @property
    def socket(self) -> str:
        return self.path("daemon.sock")

    @property
    def daemon_lock(self) -> str:
        """Held by the daemon as long as it lives: the one proof that there is one."""
        return self.path("daemon.lock")

    @property
    def start_lock(self) -> str:
        """Held by the command that starts the daemon, so that fifty first calls start one."""
        return self.path("start.lock")

    @property
    def daemon_record(self) -> str:
        return self.path("daemon.json")

    @property
    def database(self) -> str:
        return self.path("maestro.db")

    @property
    def host_id(self) -> str:
        return self.path("host-id")

    @property
    def token(self) -> str:
        """The human's token for the daemon's TCP port."""
        return self.path("token")

    @property
    def log(self) -> str:
        return self.path("logs", "daemon.log")

    @property
    def start_log(self) -> str:
        """What the daemon printed before its log was open."""
        return self.path("logs", "daemon.stderr")


def locate(env: Mapping[str, str]) -> Home:
    root = env.get("MAESTRO_HOME")
    if not root:
        state = env.get("XDG_STATE_HOME") or os.path.join(
            env.get("HOME") or os.path.expanduser("~"), ".local", "state"
        )
        root = os.path.join(state, "maestro")
    return Home(os.path.abspath(root))


def prepare(home: Home) -> None:
    """Make the folders, and make sure that they are ours and closed to others."""
    for folder in (home.root, home.path("logs")):
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            status = os.stat(folder)
            _check_ours(folder, status)
            if stat.S_IMODE(status.st_mode) != 0o700:
                os.chmod(folder, 0o700)
        except OSError as error:
            raise NoPermission(
                f"{folder} cannot be used as a folder: {error.strerror}.",
                hint="Set MAESTRO_HOME to a folder that you may write to.",
            ) from error
        if not os.access(folder, os.W_OK | os.X_OK):
            raise NoPermission(
                f"{folder} cannot be written to.",
                hint=f"Type: chmod u+rwx {folder}, or set MAESTRO_HOME to another folder.",
            )


def check(home: Home) -> None:
    """Refuses a home that others could have put something into: a socket of theirs would get what is for the daemon."""
    try:
        status = os.stat(home.root)
    except OSError:
        # There is no home yet, or none that can be used; whoever needs one says so.
        return
    _check_ours(home.root, status)


def _check_ours(folder: str, status: os.stat_result) -> None:
    if status.st_uid != os.geteuid():
        raise NoPermission(
            f"{folder} belongs to another user.", hint="Set MAESTRO_HOME to a folder of your own."
        )
    if status.st_mode & _OTHERS_WRITE:
        who = "everybody" if status.st_mode & stat.S_IWOTH else "its group"
        raise NoPermission(
            f"{folder} can be written to by {who}, so Maestro does not use it as its home.",
            hint=f"See that all in it is yours, then type: chmod go= {folder}, or set MAESTRO_HOME to another folder.",
        )


def open_parent(home: Home) -> str:
    """Returns the nearest folder above the home in which anybody may put another one in its place; "" for none."""
    folder = os.path.dirname(os.path.realpath(home.root))
    while True:
        try:
            mode = os.stat(folder).st_mode
        except OSError:
            mode = 0
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            return folder
        if folder == os.path.dirname(folder):
            return ""
        folder = os.path.dirname(folder)


def check_socket_path(path: str) -> None:
    length = len(os.fsencode(path))
    if length > _SOCKET_PATH_LIMIT:
        raise SocketPathTooLong(
            f"The socket path {path} has {length} bytes; the system's limit is {_SOCKET_PATH_LIMIT}.",
            hint="Set MAESTRO_HOME to a shorter path.",
        )
