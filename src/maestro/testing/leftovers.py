"""One temporary folder for all that the demo, the tests or the speed rows do, and the end of all that it knows.

A process belongs to such a run if the path of the run's folder stands in its environment (TMPDIR, HOME, MAESTRO_HOME),
in its command line or is where it works, or if a process that belongs to the run is its parent. So nothing that a run
starts needs to be noted down, and a daemon or a tmux server that has left its parent is found all the same.

A guard, a small process of its own session, waits for the end of the run's own process. However that ends, by SIGKILL,
too, the guard ends what is left and removes the folder.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Final, NamedTuple

from maestro import processes

# Long enough for PostgreSQL and a daemon to end as they like to.
_GRACE_SECONDS: Final = 3.0
_END_SECONDS: Final = 30.0
_PAUSE_SECONDS: Final = 0.05
# A process that is just becoming another program has no environment for a moment.
_AGREEING_LOOKS: Final = 2
_DAY_SECONDS: Final = 86_400.0


class Leftovers(NamedTuple):
    processes: list[str]
    files: list[str]

    def __str__(self) -> str:
        return f"Left behind: {len(self.processes)} processes, {len(self.files)} temporary files and folders."


class RunFolder:
    """The run's one temporary folder, and its guard."""

    def __init__(self, prefix: str) -> None:
        # Its path without links: the system tells where a process works without them.
        self.path = os.path.realpath(tempfile.mkdtemp(prefix=prefix))
        self._guard = subprocess.Popen(
            [sys.executable, "-P", "-m", "maestro.testing.leftovers", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
        assert self._guard.stdin is not None
        # Not in the command line: the guard is none of the run's processes.
        self._guard.stdin.write(os.fsencode(self.path))
        self._guard.stdin.close()

    def use(self) -> None:
        """Let every temporary file of this process, and of what it starts, be in the folder."""
        os.environ["TMPDIR"] = tempfile.tempdir = self.path

    def leftovers(self, patience: float = 0.0, *, expected: tuple[str, ...] = ()) -> Leftovers:
        """Counts what is left; what ends within `patience` seconds is not. `expected`: how names of files begin that
        the run keeps until its end."""
        deadline = time.monotonic() + patience
        while (found := processes_of(self.path)) and time.monotonic() < deadline:
            time.sleep(_PAUSE_SECONDS)
        files = [name for name in sorted(os.listdir(self.path)) if not name.startswith(expected)]
        return Leftovers(list(found.values()), files)

    def close(self) -> None:
        """End every process of the run, remove the folder, and let the guard go."""
        end_processes_of(self.path)
        remove(self.path)
        self._guard.kill()
        self._guard.wait()


@contextlib.contextmanager
def run_folder(prefix: str) -> Iterator[RunFolder]:
    """A folder for what is done in this block, of which nothing is left."""
    made = RunFolder(prefix)
    try:
        yield made
    finally:
        made.close()


def processes_of(folder: str) -> dict[int, str]:
    """Returns the command line of every live process that belongs to the folder, but for this one."""
    mark = os.fsencode(folder)
    found: dict[int, str] = {}
    parents: dict[int, int] = {}
    own = os.getpid()
    for name in _listed():
        pid = int(name)
        parent = processes.parent(pid)
        if parent is None or pid == own:
            continue
        parents[pid] = parent
        if _knows(pid, mark):
            found[pid] = ""
    pending = list(found)
    while pending:
        above = pending.pop()
        below = [pid for pid, parent in parents.items() if parent == above and pid not in found]
        found |= dict.fromkeys(below, "")
        pending += below
    return {pid: words for pid in found if (words := _command_line(pid))}


def end_processes_of(folder: str) -> list[str]:
    """Ends every process that belongs to the folder, to the last one; returns their command lines.

    Each is asked to end, and killed when the time for that is over. Each may start another meanwhile.
    """
    ended: dict[int, str] = {}
    began = time.monotonic()
    quiet = 0
    while quiet < _AGREEING_LOOKS and time.monotonic() - began < _END_SECONDS:
        found = processes_of(folder)
        quiet = 0 if found else quiet + 1
        is_patient = time.monotonic() - began < _GRACE_SECONDS
        for pid in found:
            if not is_patient or pid not in ended:
                _signal(pid, signal.SIGTERM if is_patient else signal.SIGKILL)
        ended |= found
        time.sleep(_PAUSE_SECONDS)
    return list(ended.values())


def remove(folder: str) -> None:
    """Removes the folder with everything in it, also what was closed to its owner."""
    shutil.rmtree(folder, ignore_errors=True)
    for place, folders, _ in os.walk(folder):
        for name in folders:
            path = os.path.join(place, name)
            if not os.path.islink(path):
                os.chmod(path, 0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _knows(pid: int, mark: bytes) -> bool:
    """Whether the process knows of the folder, by what the system tells of it."""
    for name in ("environ", "cmdline"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/{name}", "rb") as file:
            if mark in file.read():
                return True
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{pid}/cwd".encode()).startswith(mark)
    return False


def _listed() -> list[str]:
    try:
        return [name for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        # Only Linux tells of other processes' environments.
        return []


def _command_line(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode("utf-8", "replace").strip() or f"process {pid}"
    except OSError:
        return ""


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(PermissionError):
        if (process := processes.identify(pid)) is not None:
            processes.send_signal(process, number)


def _guard(owner: int, folder: str) -> None:
    """Wait for the end of the owner, and clear up behind it."""
    while os.getppid() == owner and not processes.wait_for_end(owner, _DAY_SECONDS):
        continue
    end_processes_of(folder)
    remove(folder)


if __name__ == "__main__":
    for _number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(_number, signal.SIG_IGN)
    _guard(int(sys.argv[1]), os.fsdecode(sys.stdin.buffer.read()))
