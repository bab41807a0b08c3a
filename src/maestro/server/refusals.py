"""What callers were refused, in the one log: who, what, on whom. The same again within a minute is said once."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

import structlog

from maestro.ages import has_passed
from maestro.errors import MaestroError, Refused
from maestro.ledger.journal import Journal
from maestro.ledger.reports import record_refusal
from maestro.ledger.roles import Actor

if TYPE_CHECKING:
    from fastapi import Request

_log = structlog.get_logger("refusals")

_AGAIN_MS: Final = 60_000
# Of one session, within a minute: one that tries everything must not fill the log.
_MOST: Final = 60
_LONGEST: Final = 300


class Refusals:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._kept: dict[tuple[str, str, str], int] = {}
        self._turn = threading.Lock()

    def keep(self, request: Request, error: Refused) -> None:
        actor: Actor | None = getattr(request.state, "actor", None)
        if actor is None or actor.session_id is None:
            return  # a human may do everything; who has no role is told so by the gate
        path = request.url.path[:_LONGEST]
        on = ", ".join(str(value) for value in request.path_params.values())[:_LONGEST]
        if not self._is_news((actor.session_id, f"{request.method} {path}", on)):
            return
        try:
            self._journal.write(
                actor,
                lambda change: record_refusal(
                    change, method=request.method, path=path, on=on, message=error.message
                ),
            )
        except MaestroError as failure:
            # Refused it is in any case.
            _log.error("refusal not kept", session=actor.session_id, error=failure.message)

    def _is_news(self, what: tuple[str, str, str]) -> bool:
        now = self._journal.clock()
        with self._turn:
            self._kept = {one: at for one, at in self._kept.items() if not has_passed(_AGAIN_MS, at, now)}
            if what in self._kept or sum(one[0] == what[0] for one in self._kept) >= _MOST:
                return False
            self._kept[what] = now
            return True
