"""Every error that Maestro raises on purpose.

    MaestroError                 exit  HTTP  meaning
    ├── InvalidInput                2   400  the request itself is wrong: an option, a value, a JSON body
    │   └── TooLarge                    413  the request has more bytes than anybody reads
    ├── NotFound                    3   404  no such project, task, session, command
    ├── Conflict                    4   409  right request, wrong moment
    │   ├── IllegalTransition                a status cannot become that one
    │   ├── DependencyCycle                  tasks would wait for each other for ever
    │   ├── KeyReused                        an idempotency key came back with another request
    │   └── GitFailed                        git ended with an error
    ├── Refused                     5   403  the caller's role may not, or it is not safe
    │   ├── LeadsOut                         a link leads out of the project
    │   └── Unauthenticated         5   401  no token, or one that is unknown or revoked
    ├── DaemonError                 6   503  the daemon cannot be reached or started
    │   ├── SocketPathTooLong                the socket's path is over the system's limit
    │   └── NoPermission                     a folder or file of MAESTRO_HOME cannot be used
    ├── LedgerError                 7   503  the database cannot be used; nothing was changed
    │   ├── LedgerUnreadable                 not a database, damaged, or not ours
    │   ├── LedgerNewer                      written by a newer Maestro
    │   └── DiskFull                    507  no space left; nothing was written
    ├── Untrusted                   9   403  a project's file would act, and nobody has trusted it
    ├── Uncertain                   8   409  it was typed, and nothing proves that it arrived
    └── TimedOut                  124   504  it did not happen in time

Exit codes are stable. 0 is success, 1 an error that Maestro did not expect, 130 Ctrl-C.
An error carries one sentence and, where there is one, what to do next; both travel over the wire with its
`code`, so the command line ends the same way whether the daemon or the command itself found the fault.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    # Every command imports this file, and `typing` is a fifth of what a command costs.
    from typing import Any, ClassVar

EXIT_UNEXPECTED = 1
EXIT_INTERRUPTED = 130


class MaestroError(Exception):
    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = EXIT_UNEXPECTED
    http_status: ClassVar[int] = 500

    def __init__(self, message: str, *, hint: str = "", **context: Any) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.context = context

    def to_wire(self) -> dict[str, Any]:
        body: dict[str, Any] = {"error": self.message, "code": self.code}
        if self.hint:
            body["hint"] = self.hint
        if self.context:
            body["context"] = self.context
        return body


class InvalidInput(MaestroError):
    code = "invalid_input"
    exit_code = 2
    http_status = 400


class TooLarge(InvalidInput):
    code = "too_large"
    http_status = 413


class NotFound(MaestroError):
    code = "not_found"
    exit_code = 3
    http_status = 404


class Conflict(MaestroError):
    code = "conflict"
    exit_code = 4
    http_status = 409


class IllegalTransition(Conflict):
    code = "illegal_transition"


class DependencyCycle(Conflict):
    code = "dependency_cycle"


class KeyReused(Conflict):
    code = "key_reused"


class GitFailed(Conflict):
    """git ended with an error; `context["words"]` is what it said."""

    code = "git_failed"


class Refused(MaestroError):
    code = "refused"
    exit_code = 5
    http_status = 403


class LeadsOut(Refused):
    """A link would lead what is read or written out of the project."""

    code = "leads_out"


class Unauthenticated(Refused):
    code = "unauthenticated"
    http_status = 401


class DaemonError(MaestroError):
    code = "daemon"
    exit_code = 6
    http_status = 503


class SocketPathTooLong(DaemonError):
    code = "socket_path_too_long"


class NoPermission(DaemonError):
    code = "no_permission"


class LedgerError(MaestroError):
    code = "ledger"
    exit_code = 7
    http_status = 503


class LedgerUnreadable(LedgerError):
    code = "ledger_unreadable"


class LedgerNewer(LedgerError):
    code = "ledger_newer"


class DiskFull(LedgerError):
    code = "disk_full"
    http_status = 507


class Uncertain(MaestroError):
    code = "uncertain"
    exit_code = 8
    http_status = 409


class Untrusted(MaestroError):
    """What a project brings would act. `context` has the project's `root` and the file's `name`."""

    code = "untrusted"
    exit_code = 9
    http_status = 403


class TimedOut(MaestroError):
    code = "timed_out"
    exit_code = 124
    http_status = 504


def _tree(root: type[MaestroError]) -> dict[str, type[MaestroError]]:
    found = {root.code: root}
    for child in root.__subclasses__():
        found.update(_tree(child))
    return found


def from_wire(status: int, body: Any) -> MaestroError:
    """The error that a daemon sent; of any version, so unknown codes fall back to the HTTP status."""
    if not isinstance(body, dict) or not isinstance(body.get("error"), str):
        return DaemonError(
            f"The daemon answered with HTTP {status} and no explanation.", hint="See `maestro server logs`."
        )
    known = _tree(MaestroError)
    kind = known.get(str(body.get("code")))
    if kind is None:
        kind = next((k for k in known.values() if k.http_status == status), MaestroError)
    context = body.get("context")
    return kind(
        body["error"], hint=str(body.get("hint", "")), **(context if isinstance(context, dict) else {})
    )
