"""A program is run to its end, whatever it does, and nothing of it is left."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests import skips
from tests.dispatch.support import processes_of, ready_run
from tests.patience import end_of
from tests.support import SOAK

from maestro import cgroup
from maestro.dispatch.process import Ended, Program, end_run, marked, run_program
from maestro.dispatch.run import carry_out, mark_of
from maestro.errors import NotFound
from maestro.processes import identify, send_signal, start_time, wait_for_end

# Tests run beside each other, and each ends everything that bears its id.
RUN = f"test-{os.getpid()}"
OTHER = f"other-{os.getpid()}"
# TMPDIR is how the run of the tests knows what it has started.
ENVIRONMENT = {name: os.environ[name] for name in ("PATH", "TMPDIR")}


def program(place: Path, *argv: str, stdin: str = "/dev/null") -> Program:
    env = marked(ENVIRONMENT, RUN)
    return Program(argv, env, str(place), stdin, str(place / "out"), str(place / "err"), RUN)


def play(made: Program, seconds: float = 60.0, grace: float = 3.0) -> Ended:
    return asyncio.run(run_program(made, seconds=seconds, cancel=asyncio.Event(), grace=grace))


def test_output_and_exit_code(place: Path) -> None:
    ended = play(program(place, "sh", "-c", "pwd; echo oops >&2; exit 7"))
    assert ended == Ended("exited", 7, None)
    assert (place / "out").read_text() == f"{place.resolve()}\n"
    assert (place / "err").read_text() == "oops\n"


def test_an_exit_code_of_124_is_no_timeout(place: Path) -> None:
    assert play(program(place, "sh", "-c", "exit 124")) == Ended("exited", 124, None)


def test_a_signal(place: Path) -> None:
    assert play(program(place, "sh", "-c", "kill -9 $$")) == Ended("exited", None, 9)


def test_stdin_is_a_file_with_an_end(place: Path) -> None:
    (place / "prompt").write_bytes(b"x" * 1_000_000)
    assert play(program(place, "wc", "-c", stdin=str(place / "prompt"))).exit_code == 0
    assert (place / "out").read_text().strip() == "1000000"


def test_it_has_a_session_of_its_own(place: Path) -> None:
    play(program(place, sys.executable, "-c", "import os; print(os.getsid(0) == os.getpid())"))
    assert (place / "out").read_text() == "True\n"


def test_much_output_does_not_block_it(place: Path) -> None:
    assert play(program(place, "head", "-c", "30000000", "/dev/zero")).exit_code == 0
    assert (place / "out").stat().st_size == 30_000_000


def test_a_program_that_is_not_there(place: Path) -> None:
    with pytest.raises(NotFound):
        play(program(place, "no-such-program-anywhere"))


def test_a_timeout_asks_first(place: Path) -> None:
    words = "trap 'echo asked; exit 3' TERM; echo ready; while :; do sleep 0.05; done"
    ended = play(program(place, "bash", "-c", words), seconds=0.7)
    assert (ended.how, ended.exit_code) == ("timeout", 3)
    assert (place / "out").read_text() == "ready\nasked\n"


def test_a_timeout_kills_what_does_not_listen(place: Path) -> None:
    words = "trap '' TERM INT HUP; (trap '' TERM; sleep 77) & setsid sleep 77 & exec sleep 77"
    ended = play(program(place, "bash", "-c", words), seconds=2, grace=0.3)
    assert (ended.how, ended.signal, ended.survivors) == ("timeout", 9, ())
    assert processes_of(RUN) == []


def test_what_a_program_leaves_behind_is_ended(place: Path) -> None:
    ended = play(
        program(
            place,
            "bash",
            "-c",
            "setsid sleep 77 & sleep 77 & (setsid bash -c 'sleep 77 & sleep 77' &); exit 0",
        )
    )
    assert ended == Ended("exited", 0, None)
    assert processes_of(RUN) == []


def test_two_runs_do_not_end_each_other(place: Path) -> None:
    """One ends with children left behind while the other still works."""

    async def both() -> tuple[Ended, Ended]:
        never = asyncio.Event()
        one = program(place, "bash", "-c", "setsid sleep 77 & exit 0")
        env = marked(ENVIRONMENT, OTHER)
        other = one._replace(
            argv=("bash", "-c", "setsid sleep 1 & sleep 1; exit 5"),
            env=env,
            mark=OTHER,
            stdout=str(place / "o2"),
        )
        return await asyncio.gather(
            run_program(other, seconds=60, cancel=never), run_program(one, seconds=60, cancel=never)
        )

    other, one = asyncio.run(both())
    assert (other.exit_code, one.exit_code) == (5, 0)
    assert processes_of(RUN) == processes_of(OTHER) == []


# Forks and executes without a pause, each time in a session of its own, and lets its parent end. The last one stays, so
# that a survivor is there to be found, however late one looks.
RESTLESS = """
left=$1; shift
[ "$left" -gt 0 ] || exec sleep 600
setsid sh "$0" $((left - 1)) &
exit 0
"""


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_a_program_that_forks_and_executes_without_a_pause_ends_with_its_run(place: Path) -> None:
    count = 2000 if SOAK else 10
    chance = random.Random(14)
    (place / "restless").write_text(RESTLESS)
    ends = {"exited": 0, "timeout": 0}

    async def one(number: int) -> None:
        mark = f"{RUN}-restless-{number}"
        words = f"setsid sh {place}/restless 400 & sleep {chance.uniform(0, 0.05):.3f}; exit 3"
        made = program(place, "sh", "-c", words)._replace(
            env=marked(ENVIRONMENT, mark),
            mark=mark,
            stdout=str(place / f"out{number % 4}"),
            stderr=str(place / f"err{number % 4}"),
        )
        seconds = chance.choice([60, 60, 0.03])
        ended = await run_program(made, seconds=seconds, cancel=asyncio.Event(), grace=0.01)
        assert ended.survivors == ()
        assert processes_of(mark) == []
        ends[ended.how] += 1

    async def many() -> None:
        for start in range(0, count, 4):
            await asyncio.gather(*(one(number) for number in range(start, min(start + 4, count))))

    asyncio.run(many())
    assert [pid for number in range(count) for pid in processes_of(f"{RUN}-restless-{number}")] == []
    print(f"{count} runs ({ends}), 0 survivors")  # noqa: T201 - what a soak run reports


def test_a_program_without_a_mark_ends_with_its_run_where_groups_can_be_made(place: Path) -> None:
    group = cgroup.make(RUN)
    if group is None:
        skips.skip_for(skips.GROUPS)
    group.remove()
    words = (
        "until grep -q maestro-run- /proc/self/cgroup; do sleep 0.01; done; "
        "env -i setsid sh -c 'echo $$; exec sleep 600' & until [ -s out ]; do sleep 0.01; done; exit 0"
    )
    assert play(program(place, "sh", "-c", words)) == Ended("exited", 0, None)
    assert start_time(int((place / "out").read_text())) is None
    assert not os.path.exists(group.folder)


def test_a_process_that_left_its_group_outlives_the_run(place: Path) -> None:
    words = (
        "import os, subprocess, sys\n"
        "from maestro import cgroup\n"
        "kept = subprocess.Popen(['sleep', '600'], env={'PATH': os.environ['PATH']}, start_new_session=True)\n"
        "cgroup.leave(kept.pid)\n"
        "print(kept.pid)\n"
        "kept.returncode = 0\n"
    )
    assert play(program(place, sys.executable, "-c", words)).exit_code == 0
    kept = int((place / "out").read_text())
    assert start_time(kept) is not None
    os.kill(kept, signal.SIGKILL)
    wait_for_end(kept, 10)


def test_what_was_adopted_is_reaped_and_nothing_else(place: Path) -> None:
    own = subprocess.Popen(["sh", "-c", "exit 4"])
    # Orphans that end by themselves before the run does.
    words = "for n in 1 2 3 4 5; do (setsid sh -c : &); done; sleep 0.2; exit 0"
    assert play(program(place, "sh", "-c", words)).exit_code == 0
    assert [pid for pid in unreaped() if pid != own.pid] == []
    assert own.wait() == 4


def unreaped() -> list[int]:
    """Children of this process that have ended."""
    found = []
    for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))):
        with contextlib.suppress(OSError):
            state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[:2]
            if state == "Z" and int(parent) == os.getpid():
                found.append(pid)
    return found


def test_a_run_in_a_run_ends_with_it(place: Path) -> None:
    inner = marked(marked(ENVIRONMENT, RUN), "inner")
    assert inner["MAESTRO_RUN_ID"] == f"{RUN}/inner"
    left = subprocess.Popen(["sleep", "77"], env=inner, start_new_session=True)
    assert end_run(RUN) == 1
    assert end_of(left) == -signal.SIGKILL


def test_cancelled_in_the_middle(place: Path) -> None:
    async def main() -> Ended:
        cancel = asyncio.Event()
        asyncio.get_running_loop().call_later(0.5, cancel.set)
        return await run_program(program(place, "sleep", "77"), seconds=60, cancel=cancel)

    assert asyncio.run(main()) == Ended("cancelled", None, signal.SIGTERM)
    assert processes_of(RUN) == []


def test_a_cancelled_task_leaves_nothing(place: Path) -> None:
    async def main() -> None:
        made = program(place, "bash", "-c", "trap '' TERM; setsid sleep 77 & sleep 77")
        task = asyncio.ensure_future(run_program(made, seconds=60, cancel=asyncio.Event(), grace=0.2))
        while len(processes_of(RUN)) < 3:  # noqa: ASYNC110 - processes send no event
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert processes_of(RUN) == []


def test_no_other_process_is_signalled() -> None:
    """A pid that has been given to another process since."""
    stranger = subprocess.Popen(["sleep", "77"])
    try:
        known = identify(stranger.pid)
        assert known is not None
        assert not send_signal(known._replace(started=known.started - 1), signal.SIGKILL)
        assert not send_signal(known._replace(boot="another-boot"), signal.SIGKILL)
        assert stranger.poll() is None
        assert send_signal(known, signal.SIGKILL)
        assert end_of(stranger) == -signal.SIGKILL
        assert not send_signal(known, signal.SIGKILL)
    finally:
        stranger.kill()


@pytest.mark.soak
def test_timeouts_leave_no_survivor(place: Path) -> None:
    """R7: children in sessions of their own, deaf to every signal that can be ignored."""
    count = 200 if SOAK else 4
    seeded = random.Random(7)

    async def one(number: int) -> None:
        steps: list[dict[str, Any]] = [{"ignore": ["TERM", "INT", "HUP"]}] if seeded.random() < 0.7 else []
        steps += [seeded.choice([{"leave": 99}, {"leave_apart": 99}]) for _ in range(seeded.randrange(1, 4))]
        made = ready_run(place / f"r7-{number}", *steps, {"sleep": 99}, seconds=seeded.uniform(0.4, 1.5))
        result = await carry_out(made, asyncio.Event(), grace=1.0)
        assert result.status == "timeout"
        assert processes_of(mark_of(made.folder)) == []

    async def many() -> None:
        for start in range(0, count, 8):
            await asyncio.gather(*(one(number) for number in range(start, min(start + 8, count))))

    asyncio.run(many())
    assert unreaped() == []
    print(f"{count} timeouts, 0 survivors")  # noqa: T201 - what a soak run reports
