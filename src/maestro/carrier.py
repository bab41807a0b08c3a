"""Carries what an agent's own hook says to the daemon, and prints the daemon's answer: `maestro hook AGENT EVENT`.

It never fails and never delays the agent: exit 0, nothing on stderr, a second for an answer. Only with `--wait` it
stays until the daemon answers or is gone: its output is then the answer to a question on the agent's screen. Without
a daemon the payload is kept in the spool, without secrets, and a daemon is started; both are bounded.

Agents run this at every turn, so while there is a daemon it imports nothing but what is built into Python.
"""

import _signal  # type: ignore[import-not-found]  # typeshed has no stubs for it; `signal` itself brings enum: 3 ms
import _socket
import posix
import sys
import time

_LONGEST = 1 << 20
_SECONDS = 1.0  # for stdin; and again for the daemon's answer
_LOOK_SECONDS = 5.0  # while it waits, whether its agent still lives
_SPOOL_FILES = 500
_SPOOL_BYTES = 16 << 20
_START_EVERY = 10  # seconds
_OTHERS_WRITE = 0o022  # the modes of a folder that its group or everybody may write to
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_START = """\
import os, sys
os.chdir("/")
sys.path.insert(0, sys.argv[1])
from maestro import home
from maestro.server import lifecycle
lifecycle.start(home.Home(sys.argv[2]), os.environ)
"""


class _Late(Exception):
    """The time is up."""


def main(words: list[str]) -> None:
    try:
        _carry(words)
    except BaseException:  # noqa: BLE001, S110 - whatever is wrong here, the agent must go on; nobody reads a complaint
        pass


def _carry(words: list[str]) -> None:
    waits = words[2:] == ["--wait"]
    if len(words) != 2 + waits or not all(word and _NAME.issuperset(word) for word in words[:2]):
        return
    agent, event = words[:2]
    _signal.signal(_signal.SIGALRM, _late)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [_signal.SIGALRM])
    payload = _stdin()
    if not payload:
        return
    home = _home(posix.environ)
    if not _is_ours(home):
        return
    session = posix.environ.get(b"MAESTRO_SESSION_ID", b"")
    now = time.time_ns()
    delivery = f"{now:020d}-{posix.getpid()}-{posix.urandom(6).hex()}"
    head = (
        f"POST /api/hooks/{agent}/{event}{'?waits=true' if waits else ''} HTTP/1.1\r\nHost: localhost\r\n"
        f"Connection: close\r\nContent-Type: application/json\r\nContent-Length: {len(payload)}\r\n"
        f"Maestro-Delivery: {delivery}\r\n"
    ).encode()
    if session:
        head += b"Maestro-Session: " + session + b"\r\n"
    if token := posix.environ.get(b"MAESTRO_SESSION_TOKEN"):
        head += b"Authorization: Bearer " + token + b"\r\n"
    answer = _ask(home + b"/daemon.sock", head + b"\r\n" + payload, waits=waits)
    if answer is not None:
        while answer:
            answer = answer[posix.write(1, answer) :]
    elif not _is_link(home + b"/daemon.sock"):
        # A link: this is a sandbox, which sees the daemon's door but has no place that outlives it.
        payload = _without_secrets(payload)
        if payload and len(payload) <= _LONGEST:
            kept = f"maestro-hook 1 {now // 1_000_000} {agent} {event} {len(payload)} ".encode() + session
            _keep(home + b"/spool", delivery.encode(), kept + b"\n" + payload)
            _start(home, now // 1_000_000_000 // _START_EVERY)


def _stdin() -> bytes:
    """All of it, to the end, so that the agent can write it all; nothing when it is longer than anybody reads. From
    somebody who never closes his end, what came in time."""
    parts = []
    size = 0
    try:
        _alarm(_SECONDS)
        while part := posix.read(0, 1 << 16):
            size += len(part)
            if size <= _LONGEST:
                parts.append(part)
        _alarm(0)
    except (_Late, OSError):
        _alarm(0)
    return b"".join(parts) if size <= _LONGEST else b""


def _ask(path: bytes, request: bytes, *, waits: bool) -> bytes | None:
    """What to print, maybe nothing; None when nobody has taken the request."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    whole = b""
    try:
        _alarm(_SECONDS)
        connection.connect(path)
        connection.sendall(request)
        if waits:
            _alarm(0)
            if not _wait(connection):
                return b""
            _alarm(_SECONDS)
        while not (is_whole := _is_whole(whole)) and (part := connection.recv(1 << 16)):
            whole += part
            if len(whole) > _LONGEST:
                break
        _alarm(0)
    except (_Late, OSError, ValueError):
        _alarm(0)
        return None
    return _said(whole) if is_whole else None


def _wait(connection: _socket.socket) -> bool:
    """Until there is something to read. False when the agent is gone: it ends its hooks when it ends, but not when it
    is killed."""
    parent = posix.getppid()
    connection.settimeout(_LOOK_SECONDS)
    while posix.getppid() == parent:
        try:
            connection.recv(1, _socket.MSG_PEEK)
        except TimeoutError:
            continue
        connection.settimeout(None)
        return True
    return False


def _is_whole(answer: bytes) -> bool:
    """Not by the end of the connection: the daemon may have more to do before it comes to that."""
    head, found, body = answer.partition(b"\r\n\r\n")
    length = head.lower().partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0]
    return bool(found) and len(body) >= int(length or 0)


def _said(answer: bytes) -> bytes | None:
    """What a whole answer has for the agent; None when it is none of a daemon of ours: no agent may read that."""
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.lower()
    length = lines.partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0]
    version = lines.partition(b"\r\nmaestro-version:")[2].strip()
    if not (head.startswith(b"HTTP/1.1 ") and head[9:12].isdigit() and version[:1].isdigit()):
        return None
    if len(body) != int(length or 0):
        return None
    return body if head[9:12] == b"200" else b""


def _without_secrets(payload: bytes) -> bytes:
    """The payload as it may lie on the disk. This imports what the way to a daemon need not wait for."""
    sys.path.append(_package())
    from maestro.hook_payload import without_secrets

    return without_secrets(payload)


def _package() -> str:
    return __file__.rpartition("/")[0].rpartition("/")[0]


def _keep(folder: bytes, name: bytes, content: bytes) -> None:
    """Into the spool, whole or not at all. The oldest make room: what is new says more of a session."""
    try:
        # Not the home itself: where it is gone, so is Maestro, and an agent that outlives it must not bring it back.
        posix.mkdir(folder, 0o700)
    except FileExistsError:
        pass
    names = sorted(posix.listdir(folder))
    room = _SPOOL_BYTES - len(content)
    for place, old in enumerate(reversed([name for name in names if not name.startswith(b".start")])):
        room -= posix.lstat(folder + b"/" + old).st_size
        if room < 0 or place >= _SPOOL_FILES - 1:
            _remove(folder + b"/" + old)
    temporary = folder + b"/." + name
    descriptor = posix.open(temporary, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, 0o600)
    try:
        view = memoryview(content)
        while view:
            view = view[posix.write(descriptor, view) :]
        posix.fsync(descriptor)
        posix.rename(temporary, folder + b"/" + name)
    except BaseException:
        _remove(temporary)
        raise


def _start(home: bytes, period: int) -> None:
    """Start a daemon, detached. Of all hooks in one period the one that can make the mark does it."""
    folder = home + b"/spool/"
    mark = b".start-%d" % period
    try:
        posix.close(
            posix.open(folder + mark, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, 0o600)
        )
    except FileExistsError:
        return
    for name in posix.listdir(folder):
        if name.startswith(b".start-") and name != mark:
            _remove(folder + name)
    posix.posix_spawn(
        sys.executable,
        # -I: neither the agent's folder nor its PYTHONPATH says what `maestro` is.
        (sys.executable, "-I", "-c", _START, _package(), home),
        posix.environ,
        # The agent reads our output to its end: whoever outlives us must not hold it.
        file_actions=[
            (posix.POSIX_SPAWN_OPEN, 0, "/dev/null", posix.O_RDWR, 0),
            (posix.POSIX_SPAWN_DUP2, 0, 1),
            (posix.POSIX_SPAWN_DUP2, 0, 2),
        ],
        setsid=True,
    )


def _home(env: dict[bytes, bytes]) -> bytes:
    """As `home.locate`."""
    root = env.get(b"MAESTRO_HOME")
    if not root:
        state = env.get(b"XDG_STATE_HOME")
        if not state:
            person = env.get(b"HOME")
            if not person:
                import pwd

                person = pwd.getpwuid(posix.getuid()).pw_dir.encode("utf-8", "surrogateescape")
            state = person + b"/.local/state"
        root = state + b"/maestro"
    return root if root.startswith(b"/") else posix.getcwdb() + b"/" + root


def _is_ours(home: bytes) -> bool:
    """As `home.check`: into a folder that others may write to, nothing is carried and nothing is left."""
    status = posix.stat(home)
    return status.st_uid == posix.geteuid() and not status.st_mode & _OTHERS_WRITE


def _is_link(path: bytes) -> bool:
    try:
        posix.readlink(path)
    except OSError:
        return False
    return True


def _remove(path: bytes) -> None:
    try:
        posix.unlink(path)
    except OSError:
        pass


def _alarm(seconds: float) -> None:
    _signal.setitimer(_signal.ITIMER_REAL, seconds)


def _late(_number: int, _frame: object) -> None:
    raise _Late
