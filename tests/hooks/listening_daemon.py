"""The real daemon with an ear that writes down what it hears: a program, run with the daemon's own options.

A payload says what the ear does: `answer` is given back, `forever` waits until the hook is gone, `slow` takes its seconds.
"""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import replace
from typing import Any

from fastapi import FastAPI

from maestro.home import Home
from maestro.server import app, daemon, spool
from maestro.server.gate import Gate
from maestro.server.routes import hooks

_build = app.build


class WritesDown:
    def __init__(self, path: str) -> None:
        self.path = path

    def write(self, **told: Any) -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(told) + "\n")

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
        await asyncio.sleep(payload.get("slow", 0))
        told = {"agent": agent, "event": event, "payload": payload, "session": session_id, "at": at}
        self.write(**told, waits=waits, listens=listens, is_redacted=is_redacted)
        if payload.get("broken"):
            raise RuntimeError("as it was told")
        if payload.get("forever") and waits:
            try:
                await asyncio.Event().wait()
            finally:
                self.write(left=event)
        answer = payload.get("answer")
        return answer.encode() if isinstance(answer, str) else None


def build(journal: Any, wakeups: Any, token: str, home: Home, stop: Any, restart: Any) -> app.Application:
    made = _build(journal, wakeups, token, home, stop, restart)
    ear = WritesDown(os.path.join(home.root, "heard.jsonl"))
    kept = spool.Spool(home.path(spool.FOLDER), ear)
    assert isinstance(made.asgi, Gate)
    routes = made.asgi.app
    assert isinstance(routes, FastAPI)
    routes.state.desk = replace(routes.state.desk, hearing=ear, spool=kept)
    return made._replace(spool=kept)


if __name__ == "__main__":
    app.build = build  # type: ignore[assignment] # a daemon of the test's own
    hooks._answered_events = lambda _agent: frozenset({"SessionStart"})  # type: ignore[assignment] # likewise
    daemon.main()
