"""Leaves a request for the daemon in the session's spool, and waits for its answer there.

For commands inside a sandbox that may write but not connect; see `fleet/spools.py` for the other side. Light imports only.
"""

from __future__ import annotations

import errno
import json
import os
import time

from maestro import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VARIABLE = "MAESTRO_SPOOL_DIR"
_LONGEST = 1 << 20
_LONGEST_ANSWER = 8 << 20  # the daemon writes half as much
_PAUSE_SECONDS = 0.01
_RING_EVERY = 0.5
_REPORT_SECONDS = 10.0  # so long is the answer to a report waited for where a daemon listens
_ABSENT_SECONDS = 15.0  # so long is a daemon waited for that does not listen: it may just start again


def closed(error: OSError) -> errors.NoPermission:
    """Returns the error for a session whose sandbox lets it neither connect nor write."""
    return errors.NoPermission(
        f"The sandbox of this session keeps its commands from the daemon ({error.strerror}), so it cannot report.",
        hint="Say it in words; whoever starts the session can give it --mode edits or --network.",
    )


def send(
    folder: str, request: dict[str, Any], *, timeout: float, is_report: bool
) -> tuple[int, dict[str, str], bytes] | None:
    """Returns status, headers and body of the answer; None for a report that waits for the next daemon."""
    content = json.dumps(request | {"is_report": is_report}).encode()
    if len(content) > _LONGEST:
        raise errors.InvalidInput("This is too long to be sent from a sandbox.", hint="Send less than 1 MB.")
    name = f"{time.time_ns():020d}-{os.urandom(8).hex()}"
    path = os.path.join(folder, f"{name}.request")
    try:
        _write(os.path.join(folder, f".{name}"), path, content)
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise errors.DiskFull(
                f"No space left to leave this for the daemon: {folder}.",
                hint="Free some disk space and try again.",
            ) from error
        raise closed(error) from error
    return _answer(folder, name, timeout, is_report=is_report)


def _answer(
    folder: str, name: str, timeout: float, *, is_report: bool
) -> tuple[int, dict[str, str], bytes] | None:
    began, rung_at, is_heard = time.monotonic(), 0.0, False
    while True:
        now = time.monotonic()
        if not is_heard and now - rung_at >= _RING_EVERY:
            is_heard, rung_at = _ring(os.path.join(folder, "bell")), now
            if is_report and not is_heard:
                return None
        answer = _taken(os.path.join(folder, f"{name}.answer"))
        if answer is not None:
            return answer
        limit = _REPORT_SECONDS if is_report else timeout if is_heard else min(timeout, _ABSENT_SECONDS)
        if now - began > limit:
            break
        time.sleep(_PAUSE_SECONDS)
    if is_report:
        return None
    try:
        # One that is not there any more was taken; whether it was done, nobody knows.
        os.unlink(os.path.join(folder, f"{name}.request"))
    except FileNotFoundError:
        pass
    if is_heard:
        raise errors.TimedOut(
            f"The daemon did not answer within {timeout:.0f} s.", hint="See `maestro server logs`."
        )
    raise errors.DaemonError(
        "The daemon is not running, and a sandboxed session cannot start it.",
        hint="A report that names its task or session is left for it; for all else, any command outside starts it.",
    )


def _write(temporary: str, path: str, content: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(descriptor)
    os.rename(temporary, path)


def _ring(bell: str) -> bool:
    """Whether a daemon listens; it is told that something came."""
    try:
        descriptor = os.open(bell, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        os.write(descriptor, b"\n")
    except OSError as error:
        return error.errno == errno.EAGAIN
    finally:
        os.close(descriptor)
    return True


def _taken(path: str) -> tuple[int, dict[str, str], bytes] | None:
    try:
        with open(path, "rb") as file:
            content = file.read(_LONGEST_ANSWER + 1)
    except FileNotFoundError:
        return None
    os.unlink(path)
    try:
        answer = json.loads(content)
        return int(answer["status"]), {}, str(answer["body"]).encode()
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise errors.DaemonError(
            "The answer in this session's spool is none of the daemon's.", hint="Ask again."
        ) from error
