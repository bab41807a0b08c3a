"""Everything that a session started ends, and nothing else does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.patience import run
from tests.support import SOAK

from maestro.fleet.processtree import end_tree, members
from maestro.processes import identify, start_time

# Not the same in two runs on one machine: each ends everything that bears it.
SESSION = f"sess_01TESTTREE{os.getpid()}"

# Writes its own pid and those of all that it starts, one a line, then waits for ever.
STUBBORN = """
import os, signal, sys
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
def child(env, *, setsid=False, orphan=False):
    if orphan and os.fork():
        os.wait(); return
    pid = os.fork()
    if pid == 0:
        if setsid: os.setsid()
        os.execve(sys.executable, [sys.executable, '-I', '-S', '-c',
            "import os, signal; [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)];"
            "os.write(1, b'%d\\\\n' % os.getpid()); signal.pause()"], env)
    if orphan: os._exit(0)
marked, bare = dict(os.environ), {}
child(marked); child(marked, setsid=True); child(marked, setsid=True, orphan=True); child(bare, orphan=True)
child(bare); child(bare, setsid=True)
os.write(1, b'%d\\n' % os.getpid())
while True: signal.pause()
"""


class Started:
    def __init__(self, *argv: str, lines: int, session: str = SESSION) -> None:
        self.process = subprocess.Popen(
            argv,
            stdout=subprocess.PIPE,
            # TMPDIR is how the run of the tests knows what it has started.
            env={"MAESTRO_SESSION_ID": session} | {name: os.environ[name] for name in ("PATH", "TMPDIR")},
            start_new_session=True,
        )
        assert self.process.stdout
        self.pids = [int(self.process.stdout.readline()) for _ in range(lines)]
        root = identify(self.process.pid)
        assert root is not None
        self.root = root

    def close(self) -> None:
        for pid in self.pids:
            if start_time(pid) is not None:
                os.kill(pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        assert self.process.stdout
        self.process.stdout.close()


def stubborn(session: str = SESSION) -> Started:
    return Started(sys.executable, "-c", STUBBORN, lines=7, session=session)


@pytest.fixture
def bystander() -> Iterator[Started]:
    one = Started("sh", "-c", "echo $$; exec sleep 600", lines=1, session="sess_another")
    yield one
    assert start_time(one.root.pid) == one.root.started
    one.close()


@pytest.mark.soak
def test_nothing_survives(bystander: Started) -> None:
    for _ in range(200 if SOAK else 3):
        tree = stubborn()
        try:
            assert {p.pid for p in members(tree.root, SESSION)} == set(tree.pids)
            ended = end_tree(tree.root, SESSION, grace=0.05)
            assert {p.pid for p in ended} >= set(tree.pids)
            assert [pid for pid in tree.pids if start_time(pid) is not None] == []
        finally:
            tree.close()


POLITE = """
import os, signal, sys
signal.signal(signal.SIGTERM, lambda *_: os._exit(7))
os.fork()
os.write(1, b'%d\\n' % os.getpid())
while True: signal.pause()
"""


def test_who_ends_when_asked_is_not_killed(bystander: Started) -> None:
    tree = Started(sys.executable, "-c", POLITE, lines=2)
    try:
        end_tree(tree.root, SESSION, grace=60)
        assert tree.process.wait() == 7
        assert [pid for pid in tree.pids if start_time(pid) is not None] == []
    finally:
        tree.close()


def test_what_a_dead_root_left_is_found_by_its_mark(bystander: Started) -> None:
    tree = Started("sh", "-c", "setsid sh -c 'echo $$; exec sleep 600' & wait", lines=1)
    try:
        os.kill(tree.root.pid, signal.SIGKILL)
        tree.process.wait()
        assert {p.pid for p in members(None, SESSION)} == set(tree.pids)
        end_tree(tree.root, SESSION)
        assert start_time(tree.pids[0]) is None
        assert end_tree(tree.root, SESSION) == set()
    finally:
        tree.close()


def test_a_reused_pid_is_nobody_we_know(bystander: Started) -> None:
    stranger = bystander.root._replace(started=bystander.root.started - 1)
    assert members(stranger, SESSION) == set()
    assert end_tree(stranger, SESSION) == set()


def test_another_session_below_this_one_is_spared() -> None:
    tree = Started(
        "sh", "-c", f"echo $$; MAESTRO_SESSION_ID={SESSION}child sh -c 'echo $$; sleep 600 & echo $!; wait' & wait", lines=3
    )  # fmt: skip
    try:
        inner = [p for p in tree.pids if p != tree.root.pid]
        end_tree(tree.root, SESSION, grace=0)
        assert start_time(tree.root.pid) is None
        assert all(start_time(pid) is not None for pid in inner)
        assert {p.pid for p in end_tree(None, f"{SESSION}child")} == set(inner)
    finally:
        tree.close()


def test_who_asks_does_not_end_itself_or_what_is_spared() -> None:
    program = f"""
import os, subprocess, sys
from maestro.fleet.processtree import end_tree, members
spared = subprocess.Popen(['sleep', '600'])
killed = subprocess.Popen(['sleep', '600'])
end_tree(None, {SESSION!r}, spared=frozenset({{spared.pid}}))
assert killed.poll() == -9, killed.poll()
assert spared.poll() is None
spared.kill(); spared.wait()
"""
    done = run(
        [sys.executable, "-c", program],
        env=dict(os.environ) | {"MAESTRO_SESSION_ID": SESSION},
        text=True,
    )
    assert done.returncode == 0, done.stderr


# Forks without a pause, each time in a session of its own; the last one stays, to be found if it survived.
FORKER = """
import os, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.write(1, b"%d\\n" % os.getpid())
for _ in range(1000):
    if os.fork():
        os._exit(0)
    os.setsid()
signal.pause()
"""
# The same, and becomes another program each time.
EXECUTER = """
import os, signal, sys
left = int(sys.argv[2]) if len(sys.argv) > 2 else 300
if left == 300:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.write(1, b"%d\\n" % os.getpid())
if not left:
    signal.pause()
if os.fork():
    os._exit(0)
os.setsid()
os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", sys.argv[1], sys.argv[1], str(left - 1)])
"""


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("program", [FORKER, EXECUTER], ids=["forks", "executes"])
def test_one_that_starts_others_as_fast_as_it_can(program: str) -> None:
    for number in range(1000 if SOAK else 5):
        session = f"{SESSION}restless{number}"
        words = [sys.executable, "-I", "-S", "-c", program, program]
        tree = Started("sh", "-c", '"$@"; exec sleep 600', "sh", *words, lines=1, session=session)
        try:
            end_tree(tree.root, session, grace=0.01)
            assert members(tree.root, session) == set()
        finally:
            tree.close()
