"""Where Maestro keeps its own things: MAESTRO_HOME, by default `$XDG_STATE_HOME/maestro`.

Folders are 0700 and files 0600: transcripts' texts and tokens pass through here. Imported by every command,
so it costs nothing but `os`.
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
            if status.st_uid != os.geteuid():
                raise NoPermission(
                    f"{folder} belongs to another user.", hint="Set MAESTRO_HOME to a folder of your own."
                )
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


def check_socket_path(path: str) -> None:
    length = len(os.fsencode(path))
    if length > _SOCKET_PATH_LIMIT:
        raise SocketPathTooLong(
            f"The socket path {path} has {length} bytes; the system's limit is {_SOCKET_PATH_LIMIT}.",
            hint="Set MAESTRO_HOME to a shorter path.",
        )
