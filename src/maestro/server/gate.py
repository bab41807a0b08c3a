"""Who is calling: pure ASGI, in front of every route. Host and origin, then token and process, then a role, then the body.

On the Unix socket the kernel has named the caller's process (see `connections`); on TCP only a token counts; a file in a
sandboxed session's spool speaks for that session alone.
"""

from __future__ import annotations

import asyncio
import hmac
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import structlog

from maestro import __version__, processes
from maestro.errors import MaestroError, Unauthenticated
from maestro.ledger import sessions
from maestro.ledger.journal import Journal
from maestro.ledger.roles import HUMAN, Actor, stricter
from maestro.server import bodies
from maestro.server.answers import error_response
from maestro.server.hosts import check_names, single_headers

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_log = structlog.get_logger("gate")


class _Callers(NamedTuple):
    """The live sessions, by what their callers bring."""

    by_token: dict[str, Actor]
    by_process: dict[tuple[int, int], Actor]


class Gate:
    def __init__(self, app: ASGIApp, journal: Journal, human_token: str) -> None:
        self.app = app
        self.journal = journal
        self.human_token = human_token
        self._callers: _Callers | None = None
        self._looking = threading.Lock()
        journal.after_commit(self._look_again)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()
        seen: dict[str, Any] = {}

        async def stamped(message: Message) -> None:
            if message["type"] == "http.response.start":
                seen["status"] = message["status"]
                message["headers"] = [*message.get("headers", ()), (b"maestro-version", __version__.encode())]
            await send(message)

        actor = None
        try:
            headers = single_headers(scope["headers"])
            check_names(headers)
            state = scope.get("state", {})
            if "spool_of" in state:
                actor = await self._spools_owner(state["spool_of"], headers)
            else:
                actor = await self._actor(state.get("peer_pid"), headers)
            body = await bodies.read(scope["path"], headers, receive)
        except bodies.Gone:
            return
        except MaestroError as error:
            await bodies.discard(receive)
            response = error_response(error)
            # The rest of a large body may be on the way still, and nobody will read that.
            response.headers["connection"] = "close"
            await response(scope, receive, stamped)
        else:
            scope.setdefault("state", {})["actor"] = actor
            await self.app(scope, body.receive, stamped)
        if scope.get("method") not in {"GET", None} or seen.get("status", 0) >= 400:
            _log.info(
                "request",
                method=scope.get("method"),
                path=scope["path"],
                status=seen.get("status"),
                role=actor.role if actor else None,
                session=actor.session_id if actor else None,
                ms=round((time.perf_counter() - began) * 1000, 1),
            )

    async def _actor(self, peer_pid: int | None, headers: dict[str, str]) -> Actor:
        token = _token(headers)
        if peer_pid is None:
            if not token:
                raise Unauthenticated(
                    "This port needs a token.",
                    hint="Send `Authorization: Bearer …`; it is in the daemon's `token` file.",
                )
            if hmac.compare_digest(token.encode(), self.human_token.encode()):
                return HUMAN
        by_token = None
        if token and not hmac.compare_digest(token.encode(), self.human_token.encode()):
            by_token = await self._by_token(token)
            if by_token is None:
                raise Unauthenticated(
                    "The session token is unknown, or its session has ended.",
                    hint="Unset MAESTRO_SESSION_TOKEN, or start a new session.",
                )
        by_ancestry = await self._by_ancestry(peer_pid) if peer_pid else None
        return stricter(by_token, by_ancestry)

    async def _spools_owner(self, session_id: str, headers: dict[str, str]) -> Actor:
        """A file in a session's spool speaks for that session, by its token, and for nobody else: it may hold another's
        token, or the human's, which its sandbox lets it read."""
        actor = await self._by_token(_token(headers))
        if actor is None or actor.session_id != session_id:
            raise Unauthenticated(
                "The token is not that of the session whose spool this is.",
                hint="A session reports by its own MAESTRO_SESSION_TOKEN alone.",
            )
        return actor

    async def _by_token(self, token: str) -> Actor | None:
        known = (await self._live()).by_token.get(sessions.hash_token(token))
        if known is not None:
            return known
        return await asyncio.to_thread(
            self.journal.read, lambda connection: sessions.actor_of_token(connection, token)
        )

    async def _by_ancestry(self, peer_pid: int) -> Actor | None:
        live = (await self._live()).by_process
        return sessions.nearest_session(processes.ancestry(peer_pid), live) if live else None

    async def _live(self) -> _Callers:
        known = self._callers
        return known if known is not None else await asyncio.to_thread(self._look)

    def _look(self) -> _Callers:
        def work(connection: Connection) -> _Callers:
            return _Callers(
                sessions.live_tokens(connection, self.journal.host),
                sessions.live_processes(connection, self.journal.host),
            )

        # One after another: what was seen before a commit must not replace what was seen after it.
        with self._looking:
            callers = self.journal.read(work)
            self._callers = callers
            return callers

    def _look_again(self) -> None:
        """In the writing thread, before anybody is told of its change: a request, above all an agent's hook, must not
        wait for a thread to find out who sends it."""
        self._callers = None
        try:
            self._look()
        except MaestroError as error:
            _log.warning("callers unknown", error=error.message)


def _token(headers: dict[str, str]) -> str:
    return headers.get("authorization", "").removeprefix("Bearer ").strip()
