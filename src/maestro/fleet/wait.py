"""`coordinate-wait`: one call that blocks until a pane needs a coordinator, and hands it over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from maestro.errors import NotFound
from maestro.fleet import panes
from maestro.fleet.states import PaneStates, Scope, Taken

Outcome = Literal["PANE", "TIMEOUT", "FOCUSED"]


@dataclass(frozen=True)
class Waited:
    outcome: Outcome
    status: panes.Counts
    taken: Taken | None = None

    @property
    def first_line(self) -> str:
        """`pane_id|state|label|location`, or why there is none."""
        if self.taken is None:
            return self.outcome
        pane = self.taken.pane
        return "|".join(
            _one_field(text) for text in (pane.pane_id, self.taken.state.notify, pane.label, pane.location)
        )

    @property
    def capture(self) -> dict[str, Any]:
        """What can be told of the pane without knowing which agent it shows."""
        assert self.taken is not None
        pane = self.taken.pane
        return {
            "paneId": pane.pane_id,
            "paneLabel": pane.label,
            "notifyState": self.taken.state.notify,
            "sessionId": pane.session_id,
            "location": pane.location,
            "dead": pane.dead,
            "content": self.taken.screen,
        }


async def coordinate_wait(
    states: PaneStates,
    coordinator: str,
    *,
    timeout: float,  # noqa: ASYNC109 - the end of this wait is an answer, not a failure
    managed: Sequence[str] | None = None,
    own_pane: str = "",
    handled: bool = False,
    told: bool = True,
    among: Callable[[], Awaitable[Collection[str]]] | None = None,
) -> Waited:
    """Disconnect the previous pane (`handled`: not to be offered again as it is), sweep, wait, sweep again; engage and capture what was found.

    Cancelled, it leaves no pane engaged that it had not returned. Whoever still has to carry the answer to the
    coordinator passes `told=False` and calls `PaneStates.confirm` once it has arrived: if that never happens, the
    coordinator's next wait gets the same pane again. `among`: only panes of these sessions, asked anew when panes come.
    """
    clock = asyncio.get_running_loop().time
    deadline = clock() + timeout
    scope = await _scope(states, managed, own_pane, among)
    if managed is not None and scope.unknown:
        unknown = ", ".join(f"“{word}”" for word in scope.unknown)
        raise NotFound(f"No pane is called {unknown}.", hint="See `maestro fleet list-panes`.")
    await states.hand_back(coordinator, handled=handled)
    while True:
        news = states.news()
        taken, look = await states.take_next(coordinator, scope.managed, told=told)
        if taken is not None:
            return Waited("PANE", panes.count(look.of(scope.managed).values()), taken)
        if scope.all != look.glances.keys():
            # Panes came or went.
            scope = await _scope(states, managed, own_pane, among)
            continue
        remaining = deadline - clock()
        if remaining <= 0 or states.closing:
            seen = look.of(scope.managed).values()
            return Waited("FOCUSED" if panes.all_focused(seen) else "TIMEOUT", panes.count(seen))
        await states.wait(news, remaining)


async def _scope(
    states: PaneStates,
    managed: Sequence[str] | None,
    own_pane: str,
    among: Callable[[], Awaitable[Collection[str]]] | None,
) -> Scope:
    scope = await states.scope(managed, own_pane)
    if among is None:
        return scope
    sessions = await among()
    own = {pane.pane_id for pane in await states.tmux.panes() if pane.session_id in sessions}
    return replace(scope, managed=scope.managed & own)


def _one_field(text: str) -> str:
    """A label cannot pass for another field or line."""
    return "".join(
        " " if character == "|" or not character.isprintable() else character for character in text
    )
