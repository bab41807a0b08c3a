"""A network for one Maestro in which there is nothing but loopback.

`python namespace.py FD` is the process inside. It proves that nothing else can be reached, opens the socket that the
stub API listens on (a socket stays in the network where it was made, whoever holds it) and starts programs for the
tests. It ends with the tests that started it.
"""

from __future__ import annotations

import array
import contextlib
import errno
import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

# The first that works here is taken: as root, as anybody, by a program that may where others may not.
WAYS = (
    ("unshare", "--net"),
    ("unshare", "--map-root-user", "--net"),
    ("bwrap", "--dev-bind", "/", "/", "--unshare-net"),
)
_LONGEST_MESSAGE = 200_000
_OPEN_SECONDS = 20
_GET_FLAGS, _SET_FLAGS, _IS_UP = 0x8913, 0x8914, 0x1
_NOWHERE = ("192.0.2.1", 9)  # an address that documents use, and nobody has


class NoNamespace(Exception):
    """This machine does not let us make one; the message says why."""


def _patience(seconds: float) -> float:
    # The program inside is this file alone, and waits for as long as it is told.
    from tests.patience import patience

    return patience(seconds)


class Namespace:
    def __init__(self, way: Sequence[str]) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        argv = [*way, sys.executable, "-I", __file__, str(theirs.fileno())]
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process that writes to it
        self._inside = subprocess.Popen(
            argv, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=self._said, stderr=self._said,
            # A signal for the tests is none for it: it has to end what they started.
            start_new_session=True,
        )  # fmt: skip
        theirs.close()
        self._line = ours
        self._line.settimeout(_patience(_OPEN_SECONDS))
        try:
            told, self.listener = self._greeting()
        except (NoNamespace, TimeoutError):
            self._end()
            raise
        self._network: str = told["network"]
        self._keepers = {self._inside.pid, told["pid"]}

    def _greeting(self) -> tuple[dict[str, Any], socket.socket]:
        message, descriptors, _, _ = socket.recv_fds(self._line, _LONGEST_MESSAGE, 1)
        if not descriptors:
            self._said.seek(0)
            words = self._said.read().decode(errors="replace").strip().splitlines()
            raise NoNamespace(words[-1] if words else "it ended")
        return json.loads(message), socket.socket(fileno=descriptors[0])

    def run(
        self, argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, timeout: float = 60
    ) -> subprocess.CompletedProcess[str]:
        """Run a program inside, with this environment and no other."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            ended, end = os.pipe()
            with open(ended, "rb") as result:
                seconds = _patience(timeout)
                request = json.dumps({"argv": [*argv], "env": dict(env), "cwd": str(cwd), "timeout": seconds})
                try:
                    socket.send_fds(self._line, [request.encode()], [out.fileno(), err.fileno(), end])
                finally:
                    os.close(end)
                code = int(result.read() or b"-1")
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(
                argv, code, out.read().decode(errors="replace"), err.read().decode(errors="replace")
            )

    def members(self) -> dict[int, str]:
        """Every process inside, by its command line, but those that keep it open."""
        return {pid: words for pid, words in _members(self._network).items() if pid not in self._keepers}

    def close(self) -> None:
        """End it and everything inside: all of that was started by us."""
        self.listener.close()
        self._end()

    def _end(self) -> None:
        self._line.close()
        try:
            self._inside.wait(_patience(_OPEN_SECONDS))
        except subprocess.TimeoutExpired:
            self._inside.kill()
            self._inside.wait()
        self._said.close()


def _members(network: str) -> dict[int, str]:
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            if os.readlink(folder / "ns" / "net") == network:
                words = (folder / "cmdline").read_bytes().split(b"\0")
                if words[:1] != [b""]:
                    found[int(folder.name)] = b" ".join(words).decode(errors="replace").strip()
    return found


@contextlib.contextmanager
def opened() -> Iterator[Namespace]:
    refusals = []
    for way in WAYS:
        if shutil.which(way[0]) is None:
            refusals.append(f"there is no {way[0]}")
            continue
        try:
            made = Namespace(way)
        except (NoNamespace, TimeoutError) as refusal:
            refusals.append(f"{' '.join(way[:3])}: {refusal}")
            continue
        try:
            yield made
        finally:
            made.close()
        return
    raise NoNamespace("no network namespace: " + "; ".join(refusals))


# Inside.


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = array.array("B", struct.pack("16sh14x", b"lo", 0))
        fcntl.ioctl(any_socket, _GET_FLAGS, request, True)
        _, flags = struct.unpack("16sh14x", request.tobytes())
        if not flags & _IS_UP:
            fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh14x", b"lo", flags | _IS_UP))


def _prove_nothing_else() -> None:
    others = [name for _, name in socket.if_nameindex() if name != "lo"]
    if others:
        raise NoNamespace(f"there are other networks: {', '.join(others)}")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        code = any_socket.connect_ex(_NOWHERE)
    if code != errno.ENETUNREACH:
        raise NoNamespace(f"a way out is open: {os.strerror(code)}")


def _carry_out(request: dict[str, Any], out: int, err: int, end: int) -> None:
    try:
        done = subprocess.run(
            request["argv"], env=request["env"], cwd=request["cwd"], timeout=request["timeout"],
            stdin=subprocess.DEVNULL, stdout=out, stderr=err, check=False,
        )  # fmt: skip
        code = done.returncode
    except subprocess.TimeoutExpired:
        os.write(err, f"It took longer than {request['timeout']:g} s.".encode())
        code = 124
    except OSError as error:
        os.write(err, str(error).encode())
        code = 127
    os.write(end, str(code).encode())
    for descriptor in (out, err, end):
        os.close(descriptor)


def keep(descriptor: int) -> None:
    line = socket.socket(fileno=descriptor)
    _loopback_up()
    _prove_nothing_else()
    listener = socket.create_server(("127.0.0.1", 0))
    told: dict[str, Any] = {"network": os.readlink("/proc/self/ns/net"), "pid": os.getpid()}
    socket.send_fds(line, [json.dumps(told).encode()], [listener.fileno()])
    listener.close()
    while True:
        message, descriptors, _, _ = socket.recv_fds(line, _LONGEST_MESSAGE, 3)
        if not message:
            break
        threading.Thread(target=_carry_out, args=(json.loads(message), *descriptors), daemon=True).start()
    # The tests are over, or were killed: nothing that they started may outlive them.
    while others := _members(told["network"]).keys() - {os.getpid(), os.getppid()}:
        for pid in others:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    keep(int(sys.argv[1]))
