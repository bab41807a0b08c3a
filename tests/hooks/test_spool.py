"""The daemon's side of the spool: in order, each once, and nothing in it can keep a daemon from starting."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hooks.stage import Stage

from maestro.errors import NotFound
from maestro.server.spool import Spool, unpacked


class Hears:
    def __init__(self) -> None:
        self.told: list[Any] = []

    async def heard(
        self,
        agent: str,
        event: str,
        payload: dict[str, Any],
        *,
        session_id: str | None,
        at: int,
        waits: bool,
        listens: bool,
        is_redacted: bool,
    ) -> bytes | None:
        assert not listens, "nobody is there any more"
        assert is_redacted, "it lay on the disk"
        self.told.append((agent, event, payload, session_id, at, waits))
        if event == "Ours":
            raise NotFound("as it was told")
        if event == "Theirs":
            raise ZeroDivisionError
        return b"for nobody"


def content(payload: bytes, event: str = "Stop", session: str = "") -> bytes:
    return f"maestro-hook 1 1700000000000 claude {event} {len(payload)} {session}\n".encode() + payload


def read(folder: Path, *taken: str) -> list[Any]:
    ear = Hears()
    spool = Spool(str(folder), ear)
    for delivery in taken:
        assert spool.take(delivery)
    assert asyncio.run(spool.read()) <= len(ear.told)
    return ear.told


def test_in_the_order_of_their_time_and_each_once(place: Path) -> None:
    (place / "00000000000000000002-7-b").write_bytes(content(b'{"n": 2}', session="sess_a"))
    (place / "00000000000000000001-9-a").write_bytes(content(b'{"n": 1}'))
    (place / "00000000000000000003-1-c").write_bytes(content(b'{"n": 3}'))
    assert read(place, "00000000000000000003-1-c") == [
        ("claude", "Stop", {"n": 1}, None, 1_700_000_000_000, False),
        ("claude", "Stop", {"n": 2}, "sess_a", 1_700_000_000_000, False),
    ]
    assert os.listdir(place) == []
    assert read(place) == []


def test_no_folder_is_an_empty_one(place: Path) -> None:
    assert read(place / "none") == []


@pytest.mark.parametrize(
    "torn",
    [
        b"",
        b"maestro-hook 1",
        content(b'{"n": 1}')[:-1],
        content(b'{"n": 1}') + b"x",
        content(b"[1]"),
        content(b"{"),
        content(b'{"n": 1}').replace(b" 1 17", b" 2 17"),
        content(b'{"n": 1}').replace(b"1700000000000", b"-"),
        b"\xff\xfe\x00" * 100,
        b"x" * (2 << 20),
    ],
)
def test_what_is_torn_is_skipped(place: Path, torn: bytes) -> None:
    (place / "1").write_bytes(torn)
    (place / "2").write_bytes(content(b'{"n": 2}'))
    assert [told[2] for told in read(place)] == [{"n": 2}]
    assert os.listdir(place) == []


def test_one_that_fails_does_not_stop_the_next(place: Path) -> None:
    for number, event in enumerate(("Ours", "Theirs", "Stop")):
        (place / str(number)).write_bytes(content(b"{}", event))
    assert [told[1] for told in read(place)] == ["Ours", "Theirs", "Stop"]
    assert os.listdir(place) == []


def test_strange_things_are_not_read(place: Path) -> None:
    secret = place.with_name(place.name + "secret")
    secret.write_bytes(content(b'{"n": 1}'))
    spool = place / "spool"
    spool.mkdir()
    (spool / "1").symlink_to(secret)
    (spool / "2").mkdir()
    os.mkfifo(spool / "3")
    (spool / "4").write_bytes(content(b'{"n": 4}'))
    assert [told[2] for told in read(spool)] == [{"n": 4}]
    assert os.listdir(spool) == ["2"]
    secret.unlink()


def test_what_a_killed_hook_left_goes_when_it_is_old(place: Path) -> None:
    for name in (".1-old", ".2-new", ".start-17"):
        (place / name).write_bytes(b"half")
    os.utime(place / ".1-old", (1, 1))
    os.utime(place / ".start-17", (1, 1))
    assert read(place) == []
    assert sorted(os.listdir(place)) == [".2-new", ".start-17"]


@given(st.binary() | st.binary().map(content))
def test_any_bytes(found: bytes) -> None:
    said = unpacked(found)
    assert said is None or isinstance(said.payload, dict)


def test_a_torn_file_is_said_in_the_log(stage: Stage) -> None:
    stage.forbid_start()
    (stage.spool / "1").write_bytes(b"torn")
    stage.run({"n": 1})
    stage.listen()
    assert [told["payload"] for told in stage.heard] == [{"n": 1}]
    assert '"unreadable"' in Path(stage.home.log).read_text()
    assert stage.kept == []
