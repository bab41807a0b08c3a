"""Requests that are too long, too slow or not whole, on the daemon's socket and on its port."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat

import pytest
from tests.attacks.raw_http import Answer, answer_on, connected, exchange, most_memory, sent
from tests.server.test_daemon import free_port
from tests.support import SOAK, Maestro

from maestro.errors import NotFound, TooLarge
from maestro.server import lifecycle
from maestro.server.bodies import LONGEST
from maestro.server.connections import LONGEST_HEAD, MOST_RAW_BYTES

MEGABYTE = b" " * (1 << 20)
# As many megabytes as were read into memory once.
MANY = 1400 if SOAK else 200


@pytest.fixture(scope="module")
def port(shared_maestro: Maestro) -> int:
    found = free_port()
    assert shared_maestro("server", "start", "--listen", f"127.0.0.1:{found}").returncode == 0
    return found


@pytest.fixture(params=["socket", "port"])
def where(request: pytest.FixtureRequest, shared_maestro: Maestro, port: int) -> str | int:
    return shared_maestro.home.socket if request.param == "socket" else port


@pytest.fixture
def head(shared_maestro: Maestro, port: int) -> bytes:
    """The first lines of a request that the daemon would serve."""
    with open(shared_maestro.home.token, encoding="ascii") as file:
        token = file.read().strip()
    return (
        "POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {token}\r\n"
    ).encode()


def daemon_pid(maestro: Maestro) -> int:
    record = lifecycle.read_record(maestro.home)
    assert record
    return int(record["pid"])


def assert_too_large(answer: Answer, limit: int = LONGEST) -> None:
    assert answer.status == 413
    assert answer.told["code"] == "too_large"
    assert f"{limit:,} bytes" in answer.told["error"]
    assert b"connection: close" in answer.head.lower()


def test_a_body_that_says_how_long_it_is_is_refused_unread(where: str | int, head: bytes) -> None:
    with connected(where) as connection:
        sent(connection, [head + b"Content-Length: 1500000000\r\n\r\n"])
        assert_too_large(answer_on(connection))


def test_a_body_without_end_is_not_kept(shared_maestro: Maestro, where: str | int, head: bytes) -> None:
    pid = daemon_pid(shared_maestro)
    exchange(where, head + b"Connection: close\r\nContent-Length: 2\r\n\r\n{}")
    before = most_memory(pid)
    chunk = b"100000\r\n" + MEGABYTE + b"\r\n"
    with connected(where) as connection:
        taken = sent(connection, [head + b"Transfer-Encoding: chunked\r\n\r\n", *repeat(chunk, MANY)])
        assert_too_large(answer_on(connection))
    assert taken < 3 * LONGEST
    assert most_memory(pid) - before < 6 * LONGEST


@pytest.mark.parametrize("how", [b"", b"Authorization: Bearer wrong\r\n"])
def test_nobody_who_is_refused_has_his_body_read(shared_maestro: Maestro, port: int, how: bytes) -> None:
    before = most_memory(daemon_pid(shared_maestro))
    begin = b"POST /api/tasks HTTP/1.1\r\nHost: localhost\r\n" + how + b"Content-Length: 8000000\r\n\r\n"
    with connected(port) as connection:
        sent(connection, [begin, *repeat(MEGABYTE, 7)])
        assert answer_on(connection).status == 401
    assert most_memory(daemon_pid(shared_maestro)) - before < LONGEST


def test_whoever_is_refused_can_send_a_small_body_and_read_why(where: str | int) -> None:
    """HTTP libraries send head and body one after the other, and read the answer then."""
    body = b'{"title": "small"}'
    head = b"POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong\r\n"
    with connected(where) as connection:
        connection.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body))
        is_answered, _, _ = select.select([connection], [], [], 0.5)
        assert not is_answered
        connection.sendall(body)
        assert answer_on(connection).status == 401


def test_what_a_hook_says_has_a_limit_of_its_own(shared_maestro: Maestro, head: bytes) -> None:
    begin = head.replace(b"/api/tasks", b"/api/hooks/claude/Stop") + b"Content-Length: 1048577\r\n\r\n"
    with connected(shared_maestro.home.socket) as connection:
        sent(connection, [begin, MEGABYTE])
        assert_too_large(answer_on(connection), 1 << 20)


def test_the_longest_message_still_passes(shared_maestro: Maestro, port: int) -> None:
    """It is refused for what it asks, not for its length: half a million characters, four bytes each."""
    with pytest.raises(NotFound):
        shared_maestro.daemon.call("POST", "/api/sessions/Nobody/prompt", {"message": "😀" * 500_000})


def test_a_command_gets_the_sentence_while_it_still_sends(shared_maestro: Maestro, port: int) -> None:
    with pytest.raises(TooLarge, match=f"more than {LONGEST:,} bytes"):
        shared_maestro.daemon.call("POST", "/api/tasks", {"title": "x" * (2 * LONGEST)})


def endless_headers() -> Iterator[bytes]:
    yield b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n"
    for number in range(10_000):
        yield f"X-{number}: {'y' * 1000}\r\n".encode()


@pytest.mark.parametrize(
    "parts",
    [
        endless_headers,
        lambda: [b"GET /", *repeat(b"a" * 1000, 10_000)],
        lambda: [b"GET / HTTP/1.1\r\nHost: ", *repeat(b"a" * 1000, 10_000)],
    ],
)
def test_headers_without_end(shared_maestro: Maestro, where: str | int, parts: object) -> None:
    assert callable(parts)
    before = most_memory(daemon_pid(shared_maestro))
    with connected(where) as connection:
        taken = sent(connection, parts())
        assert answer_on(connection).status in {0, 413}
    assert taken < 5_000_000
    assert most_memory(daemon_pid(shared_maestro)) - before < 64 * LONGEST_HEAD


def test_headers_behind_the_body_are_no_headers(shared_maestro: Maestro, head: bytes) -> None:
    """A token that comes after the gate has looked opens nothing, and an endless row of them is cut off."""
    begin = head + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\n{}\r\n0\r\n"
    answer = exchange(shared_maestro.home.socket, begin, b"Idempotency-Key: late\r\n\r\n")
    assert answer.status == 400
    endless = (f"X-{number}: {'y' * 10_000}\r\n".encode() for number in range(10_000))
    with connected(shared_maestro.home.socket) as connection:
        assert sent(connection, [begin, *endless]) < 90_000_000
        answer = answer_on(connection)
    assert_too_large(answer, MOST_RAW_BYTES)
    assert "before the body" not in answer.told["error"]


@pytest.mark.parametrize(
    "framing",
    [
        b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        b"Content-Length: -1\r\n\r\n{}",
        b"Content-Length: 2a\r\n\r\n{}",
        b"Content-Length: 99999999999999999999999999\r\n\r\n{}",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        b"Transfer-Encoding: gzip\r\n\r\n{}",
    ],
)
def test_a_body_of_two_lengths_or_none(where: str | int, head: bytes, framing: bytes) -> None:
    answer = exchange(where, head + framing)
    assert answer.status in {400, 413}
    assert answer.told["hint"]


def test_a_deep_body_is_a_wrong_body(where: str | int, head: bytes) -> None:
    body = b"[" * 1_000_000
    answer = exchange(where, head + b"Connection: close\r\nContent-Length: 1000000\r\n\r\n" + body)
    assert answer.status == 400


@pytest.mark.more
def test_slow_callers_hold_nobody_up(shared_maestro: Maestro, port: int, head: bytes) -> None:
    """Whoever sends half a request is served no longer than ten seconds, half a body thirty; all others at once."""
    halves = [b"", b"G", head, head + b"Content-Length: 5\r\n\r\n{", b"GET / HTTP/1.1\r\n"]
    waiting = [connected(place) for place in (shared_maestro.home.socket, port) for _ in range(20)]
    try:
        for number, connection in enumerate(waiting):
            sent(connection, [halves[number % len(halves)]])
        assert shared_maestro("project", "list").returncode == 0
        with ThreadPoolExecutor(len(waiting)) as pool:
            ends = list(pool.map(answer_on, waiting))
    finally:
        for connection in waiting:
            connection.close()
    assert {end.status for end in ends} == {504}
    open_sockets = [
        target
        for name in os.listdir(f"/proc/{daemon_pid(shared_maestro)}/fd")
        if (target := _target(f"/proc/{daemon_pid(shared_maestro)}/fd/{name}")).startswith("socket:")
    ]
    assert len(open_sockets) < 20


def _target(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""
