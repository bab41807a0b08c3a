"""Tells the human that something waits: on the desktop, by a command of theirs, by a webhook.

A notice that cannot be given is no reason to stop: what failed is said, once until it works again.
"""

from __future__ import annotations

import asyncio
import html
import json
import os
import shutil
import sys
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections import OrderedDict
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any, Final, NamedTuple

from maestro.coordinate import NotifySettings
from maestro.dispatch.process import Program, marked, run_program
from maestro.errors import MaestroError
from maestro.ids import new_id
from maestro.redact import clean, fold, redact

SECONDS: Final = 10.0
_MOST_TITLE: Final = 80
_MOST_TEXT: Final = 240
_MOST_OF_FIELD: Final = 4000
_REMEMBERED: Final = 4096  # escalations; older ones are closed long since
_WHAT: Final = {
    "question": "asks",
    "stuck": "is stuck",
    "limit": "is at a limit",
    "error": "has an error",
    "blocked": "is blocked",
    "budget": "has used up its budget",
    "idle": "has nothing to do",
}
_MAC_SCRIPT: Final = (
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
)


class Notice(NamedTuple):
    title: str
    text: str
    record: dict[str, Any]  # the escalation, for programs


class Notices:
    def __init__(
        self,
        settings: NotifySettings,
        env: Mapping[str, str],
        *,
        platform: str = sys.platform,
        seconds: float = SECONDS,
    ) -> None:
        self._settings = settings
        self._env = dict(env)
        self._platform = platform
        self._seconds = seconds
        self._told: OrderedDict[str, int] = OrderedDict()
        self._failing: dict[str, str] = {}  # what the last failure of each way was
        self._posting: threading.Thread | None = None

    async def tell(self, escalation: Mapping[str, Any]) -> list[str]:
        """Tell of it by every way that is set, once for each of its news; what failed, in a sentence each."""
        identifier, news = str(escalation["id"]), int(escalation.get("news", 0))
        if self._told.get(identifier, -1) >= news:
            return []
        self._told[identifier] = news
        self._told.move_to_end(identifier)
        if len(self._told) > _REMEMBERED:
            self._told.popitem(last=False)
        notice = notice_of(escalation)
        failures = await asyncio.gather(self._desktop(notice), self._command(notice), self._webhook(notice))
        return [new for way, why in enumerate(failures) if (new := self._first_time(str(way), why))]

    def _first_time(self, way: str, failure: str) -> str:
        if not failure:
            self._failing.pop(way, None)
            return ""
        known = self._failing.get(way)
        self._failing[way] = failure
        return "" if known == failure else failure

    async def _desktop(self, notice: Notice) -> str:
        argv = desktop_command(notice, self._env, self._platform) if self._settings.desktop else ()
        return await self._run(argv, b"", "The desktop notification") if argv else ""

    async def _command(self, notice: Notice) -> str:
        if not self._settings.command:
            return ""
        record = json.dumps(notice.record, ensure_ascii=False).encode()
        return await self._run(self._settings.command, record, "The command of notify.command")

    async def _run(self, argv: tuple[str, ...], stdin: bytes, what: str) -> str:
        """Run it to its end; whatever it started is ended with it. Its output is nobody's."""
        mark = new_id("noti")
        try:
            with tempfile.NamedTemporaryFile(prefix="maestro-notice-") as file:
                file.write(stdin)
                file.flush()
                program = self._program(argv, file.name, mark)
                ended = await run_program(program, seconds=self._seconds, cancel=asyncio.Event(), grace=0.0)
        except MaestroError as error:
            return f"{what} failed: {error.message}"
        except OSError as error:
            return f"{what} failed: {error.strerror}."
        if ended.how == "timeout":
            return f"{what} did not end within {self._seconds:.0f} s and was killed."
        if ended.signal is not None:
            return f"{what} was ended by signal {ended.signal}."
        return f"{what} ended with code {ended.exit_code}." if ended.exit_code else ""

    def _program(self, argv: tuple[str, ...], stdin: str, mark: str) -> Program:
        # The folder for temporary files may be reached by a link.
        stdin = os.path.realpath(stdin)
        return Program(argv, marked(self._env, mark), os.getcwd(), stdin, os.devnull, os.devnull, mark)

    async def _webhook(self, notice: Notice) -> str:
        if not self._settings.webhook:
            return ""
        if self._posting is not None and self._posting.is_alive():
            return "The webhook has not answered the last notice yet; this one was not posted."
        loop = asyncio.get_running_loop()
        done: asyncio.Future[str] = loop.create_future()

        def settle(failure: str) -> None:
            if not done.done():
                done.set_result(failure)

        def work() -> None:
            failure = post(self._settings.webhook, notice, self._seconds)
            try:
                loop.call_soon_threadsafe(settle, failure)
            except RuntimeError:
                pass  # the loop has ended; nobody waits for this any more

        # A daemon thread: a server that drips its answer for hours must not hold up the end of the process.
        self._posting = threading.Thread(target=work, name="webhook", daemon=True)
        self._posting.start()
        try:
            return await asyncio.wait_for(done, self._seconds)
        except TimeoutError:
            return f"The webhook did not answer within {self._seconds:.0f} s."


def notice_of(escalation: Mapping[str, Any]) -> Notice:
    """What is told of an escalation: no secrets, no control characters, short. Pure."""
    name = _short(escalation.get("sessionName") or "A session", _MOST_TITLE - 30)
    title = f"Maestro: {name} {_WHAT.get(str(escalation.get('kind')), 'needs you')}"
    said = _short(escalation.get("text", ""), _MOST_TEXT)
    why = _short(escalation.get("reason", ""), _MOST_TEXT - len(said)) if len(said) < _MOST_TEXT - 20 else ""
    text = f"{said}\n{why}" if said and why else said or why
    safe: dict[str, Any] = _safe(dict(escalation))
    return Notice(title, text, safe | {"title": title, "message": text})


def desktop_command(notice: Notice, env: Mapping[str, str], platform: str) -> tuple[str, ...]:
    """The program that shows it on this desktop; nothing where there is none to show it on."""
    if platform == "darwin":
        words = (part for line in _MAC_SCRIPT for part in ("-e", line))
        return ("osascript", *words, notice.title, notice.text) if _has(env, "osascript") else ()
    bus = os.path.join(env.get("XDG_RUNTIME_DIR", ""), "bus")
    reachable = env.get("DBUS_SESSION_BUS_ADDRESS") or (env.get("XDG_RUNTIME_DIR") and os.path.exists(bus))
    if not reachable or not _has(env, "notify-send"):
        return ()
    # The text is markup to the desktop, the title is not.
    shown = html.escape(notice.text, quote=False)
    return ("notify-send", "--app-name=Maestro", "--", notice.title, shown)


def post(address: str, notice: Notice, seconds: float) -> str:
    """Post it; what failed, without the address: its path and its query are often secrets."""
    try:
        parts = urllib.parse.urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            return "The webhook's address is no http:// or https:// address; check notify.webhook."
        where = f"The webhook at {parts.hostname}"
        request = urllib.request.Request(  # noqa: S310 - the scheme was looked at
            address,
            data=json.dumps(notice.record, ensure_ascii=False).encode(),
            headers={"Content-Type": "application/json", "User-Agent": "maestro"},
            method="POST",
        )
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=seconds):
            return ""
    except urllib.error.HTTPError as error:
        with error:
            return f"{where} answered with HTTP {error.code}."
    except TimeoutError:
        return f"{where} did not answer within {seconds:.0f} s."
    except urllib.error.URLError as error:
        return f"{where} cannot be reached: {_short(error.reason, 120)}."
    except (OSError, HTTPException) as error:
        return f"{where} broke off: {type(error).__name__}."
    except ValueError:
        return "The webhook's address cannot be read; check notify.webhook."


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A notice goes where the human said, and nowhere else: a redirect is an error to them."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _has(env: Mapping[str, str], program: str) -> bool:
    return shutil.which(program, path=env.get("PATH", "")) is not None


def _short(text: object, most: int) -> str:
    whole = fold(redact(clean(str(text))))
    return whole if len(whole) <= most else whole[: most - 1] + "…"


def _safe(value: Any) -> Any:
    if isinstance(value, str):
        whole = redact(clean(value))
        return whole if len(whole) <= _MOST_OF_FIELD else whole[: _MOST_OF_FIELD - 1] + "…"
    if isinstance(value, Mapping):
        return {str(name): _safe(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_safe(inner) for inner in value]
    return value if isinstance(value, int | float | bool | type(None)) else str(value)
