"""Home, ids and processes."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.patience import patience

from maestro import home, ids, processes
from maestro.errors import NoPermission, SocketPathTooLong


@pytest.mark.parametrize(
    ("env", "root"),
    [
        ({"MAESTRO_HOME": "/x/y", "HOME": "/h"}, "/x/y"),
        ({"XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/maestro"),
        ({"HOME": "/h"}, "/h/.local/state/maestro"),
        ({"MAESTRO_HOME": "", "HOME": "/h"}, "/h/.local/state/maestro"),
    ],
)
def test_where_home_is(env: dict[str, str], root: str) -> None:
    assert home.locate(env).root == root


def test_preparing_closes_what_was_open(place: Path) -> None:
    made = home.Home(str(place / "m"))
    os.makedirs(made.root, mode=0o755)
    home.prepare(made)
    assert stat.S_IMODE(os.stat(made.root).st_mode) == 0o700


def test_a_file_in_the_way_is_told(place: Path) -> None:
    (place / "m").write_text("a file")
    with pytest.raises(NoPermission, match="cannot be used as a folder"):
        home.prepare(home.Home(str(place / "m")))


def test_a_long_socket_path_is_told() -> None:
    home.check_socket_path("/" + "x" * 100)
    with pytest.raises(SocketPathTooLong, match="limit is"):
        home.check_socket_path("/" + "é" * 60)


@given(st.integers(0, 2**48 - 1), st.integers(0, 2**48 - 1), st.binary(min_size=10, max_size=10))
def test_ids_sort_by_time(first: int, second: int, randomness: bytes) -> None:
    a, b = ids.ulid(first, randomness), ids.ulid(second, randomness)
    assert (a < b) == (first < second)
    assert len(a) == 26


def test_ids_are_shortened_to_their_random_end() -> None:
    assert ids.ulid(0, bytes(10)) == "0" * 26
    assert ids.short("task_01M7GFV81MDDRZ8CFV1AJ0E3TM") == "task_J0E3TM"


@pytest.mark.parametrize(
    "wrong",
    [
        {"started": 0}, {"started": -1}, {"started": None}, {"started": "7"}, {"started": True}, {"started": 7.0},
        {"boot": ""}, {"boot": None}, {"boot": 7}, {"pid": 1}, {"pid": 0}, {"pid": -1}, {"pid": "7"}, {"pid": None},
    ],
    ids=str,
)  # fmt: skip
def test_a_record_names_a_process_by_all_three_or_not_at_all(wrong: dict[str, object]) -> None:
    whole = {"pid": 7, "started": 7, "boot": "b", "version": "1"}
    assert processes.recorded(whole) == (7, 7, "b")
    assert processes.recorded(whole | wrong) is None
    assert processes.recorded({name: value for name, value in whole.items() if name not in wrong}) is None


def test_a_process_is_known_by_its_start() -> None:
    child = subprocess.Popen(["sleep", "60"])
    process = processes.identify(child.pid)
    assert process is not None
    assert processes.is_same(process)
    for other in (
        process._replace(started=process.started + 1), process._replace(started=0), process._replace(started=-1),
        process._replace(boot="another boot"), process._replace(boot=""), process._replace(pid=os.getpid()),
        process._replace(pid=0), process._replace(pid=-1), process._replace(pid=1),
    ):  # fmt: skip
        assert not processes.is_same(other)
        assert not processes.send_signal(other, signal.SIGKILL)
    assert not processes.send_signal(process, signal.SIGKILL, is_ours=lambda _: False)
    assert process[:2] == processes.ancestry(child.pid)[0]
    assert processes.ancestry(child.pid)[1][0] == os.getpid() == processes.parent(child.pid)
    assert not processes.wait_for_end(child.pid, 0.0)
    assert processes.send_signal(process, signal.SIGTERM)
    assert processes.wait_for_end(child.pid, patience(10))
    assert processes.start_time(child.pid) is None, "a zombie has ended"
    child.wait()
    assert not processes.exists(child.pid)
    assert not processes.send_signal(process, signal.SIGTERM)
