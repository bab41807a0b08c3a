"""Tells which fleet is meant where none is named. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


def meant(
    names: Sequence[str], running: Collection[str], guests: Collection[str], *, dead_too: bool
) -> list[str]:
    """Returns the fleets that may be meant; one of them alone is the answer.

    Where the user's own tmux servers are looked into for adopted panes (`guests`), the one fleet of ours is meant; a guest
    that no longer runs is none. `dead_too`: a fleet of ours that does not run may be meant as well.
    """
    candidates = [name for name in names if name in running or (dead_too and name not in guests)]
    own = [name for name in candidates if name not in guests]
    return own if len(own) == 1 else candidates
