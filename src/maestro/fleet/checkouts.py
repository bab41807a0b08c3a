"""What sessions did in their own worktrees: see it, merge it, give the worktree back."""

from __future__ import annotations

import asyncio

import structlog

from maestro.errors import Conflict, MaestroError
from maestro.fleet.crew import Crew
from maestro.ledger import sessions
from maestro.ledger.facts import Session
from maestro.ledger.roles import Actor, require
from maestro.ledger.sight import is_child
from maestro.worktrees import worktree as worktrees
from maestro.worktrees.overlaps import Overlap, Touched, overlaps

_log = structlog.get_logger("checkouts")


class Checkouts:
    def __init__(self, crew: Crew) -> None:
        self.crew = crew

    async def diff(self, actor: Actor, wanted: str) -> str:
        session = await self._with_worktree(actor, wanted)
        assert session.worktree is not None
        return await asyncio.to_thread(worktrees.diff, session.worktree)

    async def merge(self, actor: Actor, wanted: str, message: str = "") -> worktrees.Merged:
        """Merge the session's branch into the branch that its project is on; on any fault all stays as it was."""
        session = await self._with_worktree(actor, wanted)
        assert session.worktree is not None
        return await asyncio.to_thread(worktrees.merge, session.worktree, message)

    async def remove_worktree(self, actor: Actor, wanted: str, *, force: bool) -> worktrees.Removed:
        session = await self._with_worktree(actor, wanted)
        assert session.worktree is not None
        if session.status not in sessions.ENDED:
            raise Conflict(f"“{session.name}” still works in it.", hint="`maestro session stop` first.")
        removed = await asyncio.to_thread(worktrees.remove, session.worktree, force=force)
        await asyncio.to_thread(
            self.crew.journal.write, actor, lambda c: sessions.give_worktree(c, session.id, None)
        )
        return removed

    async def overlaps(self) -> tuple[Overlap, ...]:
        """Files that two live sessions have changed, each in its own worktree."""
        live = await asyncio.to_thread(
            self.crew.journal.read, lambda c: sessions.list_sessions(c, active=True)
        )

        def touched() -> dict[str, Touched]:
            found = {}
            for session in live:
                if session.worktree is not None:
                    try:
                        found[session.id] = worktrees.touched_files(session.worktree)
                    except (MaestroError, OSError) as error:
                        _log.warning("touched files", session=session.id, error=str(error))
            return found

        return overlaps(await asyncio.to_thread(touched))

    async def _with_worktree(self, actor: Actor, wanted: str) -> Session:
        session = await self.crew.session(wanted)
        require(actor, "session.change", own=is_child(session, actor))
        if session.worktree is None:
            raise Conflict(
                f"“{session.name}” has no worktree.",
                hint="`maestro session spawn --worktree` gives one to a session.",
            )
        return session
