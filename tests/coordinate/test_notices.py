"""Notices on a real desktop program, a real command and a real web server."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.patience import patience

from maestro import processes
from maestro.coordinate import NotifySettings
from maestro.coordinate.notices import Notices, desktop_command, notice_of

SECRET = "sk-ant-api03-" + "a1B2" * 10


def escalation(**fields: Any) -> dict[str, Any]:
    return {
        "id": "esca_1",
        "news": 0,
        "kind": "question",
        "sessionName": "Backend",
        "text": "May I push?",
        "reason": "git operations",
        "categories": ("git operations",),
        "confidence": 0.4,
        "question": None,
    } | fields


def script(place: Path, name: str, body: str) -> str:
    path = place / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def environment(place: Path, **more: str) -> dict[str, str]:
    return {"PATH": f"{place}:/usr/bin:/bin", "HOME": str(place), **more}


def tell(notices: Notices, *escalations: dict[str, Any]) -> list[list[str]]:
    async def all_of_them() -> list[list[str]]:
        return [await notices.tell(one) for one in escalations]

    return asyncio.run(all_of_them())


# What is told.


def test_a_notice_is_short_and_holds_no_secret() -> None:
    told = notice_of(
        escalation(
            sessionName="B\x1b[31mack\nend " + "x" * 200,
            text=f"Use {SECRET}?\x07 " + "y" * 500,
            question={"asked": {"options": [{"label": f"token={SECRET}"}]}},
        )
    )
    assert len(told.title) <= 80
    assert len(told.text) <= 241
    assert told.title.startswith("Maestro: Back end x")
    assert told.title.endswith("… asks")
    whole = json.dumps(told.record) + told.title + told.text
    assert "sk-ant" not in whole
    assert "\\u001b" not in whole
    assert told.record["id"] == "esca_1"
    assert told.record["message"] == told.text


@pytest.mark.parametrize(
    ("kind", "title"),
    [
        ("question", "Maestro: Backend asks"),
        ("stuck", "Maestro: Backend is stuck"),
        ("limit", "Maestro: Backend is at a limit"),
        ("something new", "Maestro: Backend needs you"),
    ],
)
def test_titles(kind: str, title: str) -> None:
    assert notice_of(escalation(kind=kind)).title == title
    assert notice_of(escalation(kind=kind)).text == "May I push?\ngit operations"


# The desktop.


def test_the_desktop_program_gets_title_and_text(place: Path) -> None:
    out = place / "shown"
    script(place, "notify-send", f'for word; do echo "$word"; done >> {out}')
    env = environment(place, DBUS_SESSION_BUS_ADDRESS="unix:path=/nowhere")
    notices = Notices(NotifySettings(), env, platform="linux")
    assert tell(notices, escalation(text="Is a < b & c?", reason="")) == [[]]
    assert out.read_text().splitlines() == [
        "--app-name=Maestro", "--", "Maestro: Backend asks", "Is a &lt; b &amp; c?",
    ]  # fmt: skip


def test_the_desktop_is_left_alone_where_there_is_none(place: Path) -> None:
    out = place / "shown"
    script(place, "notify-send", f"touch {out}")
    bus = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"}
    assert tell(Notices(NotifySettings(), environment(place), platform="linux"), escalation()) == [[]]
    off = Notices(NotifySettings(desktop=False), environment(place, **bus), platform="linux")
    assert tell(off, escalation()) == [[]]
    without = Notices(NotifySettings(), {"PATH": str(place / "empty"), **bus}, platform="linux")
    assert tell(without, escalation()) == [[]]
    assert not out.exists()


def test_a_session_bus_is_known_by_its_socket_too(place: Path) -> None:
    script(place, "notify-send", "exit 0")
    env = environment(place, XDG_RUNTIME_DIR=str(place / "run"))
    assert desktop_command(notice_of(escalation()), env, "linux") == ()
    (place / "run").mkdir()
    (place / "run" / "bus").touch()
    assert desktop_command(notice_of(escalation()), env, "linux")[0] == "notify-send"


def test_on_a_mac_the_words_are_arguments_and_never_a_script(place: Path) -> None:
    script(place, "osascript", "exit 0")
    told = notice_of(escalation(text='" & do shell script "rm -rf ~'))
    argv = desktop_command(told, environment(place), "darwin")
    assert argv[0] == "osascript"
    assert argv[-2:] == (told.title, told.text)
    assert "do shell script" not in " ".join(argv[:-2])


# A command.


def test_a_command_gets_the_escalation_as_json(place: Path) -> None:
    out = place / "got.json"
    command = (
        script(place, "mine", f'cat > {out}; echo "$1" >> {place}/word; echo noise; echo noise >&2'),
        "a b",
    )
    assert tell(Notices(NotifySettings(command=command), environment(place)), escalation()) == [[]]
    got = json.loads(out.read_text())
    assert (got["id"], got["text"], got["title"]) == ("esca_1", "May I push?", "Maestro: Backend asks")
    assert (place / "word").read_text() == "a b\n"


def test_a_command_need_not_read_what_it_is_given(place: Path) -> None:
    command = (script(place, "mine", "exit 0"),)
    huge = escalation(question={"asked": {"detail": ["x" * 4000] * 100}})
    assert tell(Notices(NotifySettings(command=command), environment(place)), huge) == [[]]


def test_each_news_is_told_once(place: Path) -> None:
    out = place / "times"
    command = (script(place, "mine", f"echo x >> {out}"),)
    notices = Notices(NotifySettings(command=command), environment(place))
    tell(notices, escalation(), escalation(), escalation(news=1), escalation(news=1), escalation(id="esca_2"))
    assert out.read_text() == "x\n" * 3


@pytest.mark.parametrize(
    ("body", "failure"),
    [
        ("exit 3", "The command of notify.command ended with code 3."),
        ("kill -9 $$", "The command of notify.command was ended by signal 9."),
    ],
)
def test_a_failure_is_told_once_until_it_works_again(place: Path, body: str, failure: str) -> None:
    command = (script(place, "mine", body),)
    notices = Notices(NotifySettings(command=command), environment(place))
    assert tell(notices, escalation(), escalation(news=1)) == [[failure], []]
    script(place, "mine", "exit 0")
    assert tell(notices, escalation(news=2)) == [[]]
    script(place, "mine", body)
    assert tell(notices, escalation(news=3)) == [[failure]]


def test_a_command_that_is_not_there(place: Path) -> None:
    notices = Notices(NotifySettings(command=("no-such-program",)), environment(place))
    [[failure]] = tell(notices, escalation())
    assert failure.startswith("The command of notify.command failed: no-such-program cannot be started")


def test_a_command_that_hangs_is_killed_with_all_that_it_started(place: Path) -> None:
    pids = place / "pids"
    command = (script(place, "mine", f"sleep 1000 & echo $! >> {pids}; echo $$ >> {pids}; wait"),)
    notices = Notices(NotifySettings(command=command), environment(place), seconds=1.0)
    assert tell(notices, escalation()) == [
        ["The command of notify.command did not end within 1 s and was killed."]
    ]
    for pid in map(int, pids.read_text().split()):
        assert processes.wait_for_end(pid, patience(10))


def test_what_a_command_leaves_behind_is_ended(place: Path) -> None:
    pid_file = place / "pid"
    command = (script(place, "mine", f"sleep 1000 & echo $! > {pid_file}"),)
    assert tell(Notices(NotifySettings(command=command), environment(place)), escalation()) == [[]]
    assert processes.wait_for_end(int(pid_file.read_text()), 10)


# A webhook.


class Hook:
    """A web server that keeps what was posted."""

    def __init__(self) -> None:
        self.posted: list[tuple[str, dict[str, Any]]] = []
        self.status = 200
        self.location = ""
        self.silent = threading.Event()
        self.over = threading.Event()
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                hook.posted.append((self.headers["Content-Type"], json.loads(body)))
                if hook.silent.is_set():
                    hook.over.wait()
                self.send_response(hook.status)
                if hook.location:
                    self.send_header("Location", hook.location)
                self.end_headers()

            def do_GET(self) -> None:
                hook.posted.append(("redirected", {}))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        self.thread.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/secret-path"

    def close(self) -> None:
        self.over.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def hook() -> Iterator[Hook]:
    made = Hook()
    yield made
    made.close()


def test_a_webhook_gets_the_escalation(hook: Hook) -> None:
    assert tell(Notices(NotifySettings(webhook=hook.address), {}), escalation(text=f"use {SECRET}?")) == [[]]
    [(kind, got)] = hook.posted
    assert kind == "application/json"
    assert (got["id"], got["categories"]) == ("esca_1", ["git operations"])
    assert "sk-ant" not in json.dumps(got)


def test_a_webhook_that_refuses_is_told_without_its_address(hook: Hook) -> None:
    hook.status = 500
    [[failure]] = tell(Notices(NotifySettings(webhook=hook.address), {}), escalation())
    assert failure == "The webhook at 127.0.0.1 answered with HTTP 500."


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/x", "", "http://127.0.0.1:1/"])
@pytest.mark.parametrize("status", [302, 307])
def test_a_redirect_is_not_followed(hook: Hook, target: str, status: int) -> None:
    hook.status, hook.location = status, target or hook.address
    [[failure]] = tell(Notices(NotifySettings(webhook=hook.address), {}), escalation())
    assert failure == f"The webhook at 127.0.0.1 answered with HTTP {status}."
    assert len(hook.posted) == 1


@pytest.mark.parametrize(
    "address", ["file:///etc/passwd", "ftp://host/x", "no address", "http://", "http://[::1"]
)
def test_only_web_addresses(address: str) -> None:
    [[failure]] = tell(Notices(NotifySettings(webhook=address), {}), escalation())
    assert "notify.webhook" in failure


def test_nobody_there(hook: Hook) -> None:
    address = hook.address
    hook.close()
    [[failure]] = tell(Notices(NotifySettings(webhook=address), {}), escalation())
    assert failure.startswith("The webhook at 127.0.0.1 cannot be reached")


def test_a_webhook_that_does_not_answer_holds_up_nothing(hook: Hook) -> None:
    hook.silent.set()
    notices = Notices(NotifySettings(webhook=hook.address), {}, seconds=0.5)
    [[failure]] = tell(notices, escalation())
    assert failure.startswith("The webhook")
    assert "did not answer within" in failure


def test_every_way_is_tried_when_one_fails(place: Path, hook: Hook) -> None:
    out = place / "ran"
    command = (script(place, "mine", f"touch {out}"),)
    hook.status = 404
    settings = NotifySettings(command=command, webhook=hook.address)
    [failures] = tell(Notices(settings, environment(place)), escalation())
    assert (len(failures), out.exists(), len(hook.posted)) == (1, True, 1)


def test_nothing_of_a_notice_stays_on_the_disk(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = place / "tmp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    command = (script(place, "mine", f"ls {folder} > {place}/seen"),)
    assert tell(Notices(NotifySettings(command=command), environment(place)), escalation()) == [[]]
    assert (place / "seen").read_text().startswith("maestro-notice-")
    assert os.listdir(folder) == []
