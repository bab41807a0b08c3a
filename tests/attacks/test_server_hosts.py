"""Names by which a web page could call the daemon, and origins it could come from: on the socket and on the port."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from tests.attacks.raw_http import exchange
from tests.server.test_daemon import free_port
from tests.support import Maestro

from maestro.errors import InvalidInput, Refused
from maestro.server.hosts import check_names, single_headers

GOOD_HOSTS = [
    "localhost", "LOCALHOST", "LocalHost:80", "localhost:8765", "127.0.0.1", "127.0.0.1:65535", "[::1]", "[::1]:1",
]  # fmt: skip
BAD_HOSTS = [
    "", "evil.com", "evil.com:80", "localhost:evil", "localhost:80@evil.com", "localhost@evil.com", "user@localhost",
    "localhost.", "localhost.:80", "localhost.evil.com", "evil.localhost", "localhost:", "localhost:0", "localhost:65536",
    "localhost:999999", "localhost:080", "localhost:-1", "localhost:+80", "localhost:8 0", "localhost:\uff18\uff10", "localhost:80:80",
    "localhost, evil.com", "localhost/", "localhost/../evil", "http://localhost", "127.0.0.1.", "127.0.0.1.nip.io",
    "127.1", "0127.0.0.1", "2130706433", "0x7f.0.0.1", "0.0.0.0", "127.0.0.2", "::1", "[::1", "[::1]x", "[::1%25lo]", "[::1%lo]",
    "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::]", "l\u043ecalhost", "localhost\t80", "localhost\x00", "localhost#", "localhost?",
    "\uff4cocalhost", "xn--lcalhost-8ij",
]  # fmt: skip
GOOD_ORIGINS = ["http://HOST", "HTTP://HOST"]
BAD_ORIGINS = [
    "", "null", "HOST", "https://HOST", "http://evil.com", "http://HOST.evil.com", "http://HOST@evil.com", "http://evil.com@HOST",
    "http://HOST/", "http://HOST http://evil.com", "http://HOST, http://HOST", "http://HOST:evil", "http://HOST:1", "http://",
    "file://", "chrome-extension://abc", "ws://HOST", "http:HOST", "http://localhost.", "http://127.0.0.2",
]  # fmt: skip


def headers(*pairs: tuple[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode("utf-8")) for name, value in pairs]


def is_let_in(*pairs: tuple[str, str]) -> bool:
    try:
        check_names(single_headers(headers(*pairs)))
    except (InvalidInput, Refused):
        return False
    return True


@pytest.mark.parametrize("host", GOOD_HOSTS)
def test_this_machines_own_names(host: str) -> None:
    assert is_let_in(("host", host))
    assert all(is_let_in(("host", host), ("origin", origin.replace("HOST", host))) for origin in GOOD_ORIGINS)


def test_the_port_that_http_has_need_not_be_named() -> None:
    assert is_let_in(("host", "localhost:80"), ("origin", "http://localhost"))
    assert is_let_in(("host", "localhost"), ("origin", "http://localhost:80"))
    assert not is_let_in(("host", "localhost:8765"), ("origin", "http://localhost"))
    assert not is_let_in(("host", "localhost:8765"), ("origin", "http://127.0.0.1:8765"))


@pytest.mark.parametrize("host", BAD_HOSTS)
def test_no_other_name(host: str) -> None:
    assert not is_let_in(("host", host))
    assert not is_let_in(("host", host), ("origin", f"http://{host}"))


@pytest.mark.parametrize("origin", BAD_ORIGINS)
def test_no_other_origin(origin: str) -> None:
    assert not is_let_in(("host", "localhost"), ("origin", origin.replace("HOST", "localhost")))


@pytest.mark.parametrize("name", ["host", "origin", "authorization", "content-length", "idempotency-key"])
@pytest.mark.parametrize("second", ["localhost", "http://localhost", "evil.com"])
def test_what_counts_is_said_once(name: str, second: str) -> None:
    first = "localhost" if name == "host" else "http://localhost"
    assert not is_let_in(("host", "localhost"), *([(name, first)] * (name != "host")), (name, second))
    assert not is_let_in(("Host", "localhost"), (name, first), (name.upper(), second))


class Door(NamedTuple):
    """Where the real daemon listens, and which tokens are known to it."""

    maestro: Maestro
    port: int
    tokens: dict[str, str]


@pytest.fixture(scope="module")
def door(shared_maestro: Maestro) -> Door:
    port = free_port()
    assert shared_maestro("server", "start", "--listen", f"127.0.0.1:{port}").returncode == 0
    with open(shared_maestro.home.token, encoding="ascii") as file:
        human = file.read().strip()
    project = shared_maestro.json("project", "add", ".")["id"]
    call = shared_maestro.daemon.call
    worker = call("POST", "/api/sessions", {"agent": "claude", "projectId": project})
    ended = call("POST", "/api/sessions", {"agent": "claude", "projectId": project})
    call("POST", f"/api/sessions/{ended['session']['id']}/report", {"kind": "complete"})
    tokens = {
        "human": human,
        "worker": worker["token"],
        "revoked": ended["token"],
        "random": "mst_" + "x" * 43,
        "none": "",
    }
    return Door(shared_maestro, port, tokens)


def status(
    door: Door, way: str, token: str, lines: list[str], target: str = "/api/health", version: str = "1.1"
) -> int:
    words = [f"GET {target} HTTP/{version}", *lines, "Connection: close"]
    if door.tokens[token]:
        words.append(f"Authorization: Bearer {door.tokens[token]}")
    raw = "\r\n".join([*words, "", ""]).encode()
    return exchange(door.maestro.home.socket if way == "socket" else door.port, raw).status


@pytest.mark.parametrize("way", ["socket", "port"])
def test_the_real_daemon_by_every_name(door: Door, way: str) -> None:
    """Whoever calls: a bad name or origin is refused in front of every handler, also with the human's own token."""
    hosts = [host for host in BAD_HOSTS if host.isprintable()]
    forms = [[f"Host: {host}"] for host in hosts]
    forms += [["Host: localhost", f"Origin: {origin.replace('HOST', 'localhost')}"] for origin in BAD_ORIGINS]
    forms += [[], ["Host: localhost", "Host: localhost"], ["Host: localhost", "Host: evil.com"]]
    forms += [["Host: localhost", "Origin: http://localhost", "Origin: http://evil.com"]]
    let_in = [
        (token, form, found)
        for form in forms
        for token in door.tokens
        if (found := status(door, way, token, form)) not in {400, 401, 403}
    ]
    assert let_in == []


@pytest.mark.parametrize(
    ("way", "token", "expected"),
    [
        ("port", "human", 200), ("port", "worker", 200), ("port", "none", 401), ("port", "random", 401), ("port", "revoked", 401),
        ("socket", "human", 200), ("socket", "worker", 200), ("socket", "none", 200), ("socket", "random", 401),
        ("socket", "revoked", 401),
    ],
)  # fmt: skip
def test_the_real_daemon_by_its_own_names(door: Door, way: str, token: str, expected: int) -> None:
    for host in GOOD_HOSTS:
        assert status(door, way, token, [f"Host: {host}"]) == expected, host
        assert status(door, way, token, [f"Host: {host}", f"Origin: http://{host}"]) == expected, host


@pytest.mark.parametrize("way", ["socket", "port"])
@pytest.mark.parametrize(
    "target", ["http://evil.com/api/health", "http://localhost/api/health", "evil.com:80", "*", "//evil@x/"]
)
def test_a_target_that_names_a_host_itself(door: Door, way: str, target: str) -> None:
    found = status(door, way, "human", ["Host: localhost"], target)
    assert found == (404 if target.startswith("//") else 400)


@pytest.mark.parametrize("way", ["socket", "port"])
def test_an_old_request_without_a_host(door: Door, way: str) -> None:
    assert status(door, way, "human", [], version="1.0") == 403
    assert status(door, way, "human", ["Host: localhost"], version="1.0") == 200
