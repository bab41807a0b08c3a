"""Who may do what, pure. Human, coordinator, worker: the caller's role is what the daemon knows of its token
and of its process, never what the request says. A human may do everything; the others:

                          coordinator                               worker
sessions: read            itself, and all below it                  itself
          prompt, assign, its own children                          -
            stop, change
          start           as its own children                       -
          report          itself                                    itself
tasks:    read            its project's, those it made,             its own, and those below them
                            those of the sessions that it reads
          create          yes                                       -
          update          its own, its children's, those it made    -
          report          its own, its children's, those it made    its own
panes:    read            of the sessions that it reads             its own
          coordinate      of its own children                       -
inbox, decisions: read    of the sessions that it reads             -
          answer          -                                         -
precedents: read          of its project                            -
runs:     report          its own                                   its own
events, questions,        what is about the sessions and tasks that it reads
  overview, status
projects: read            yes                                       yes

Adopting and discovering sessions, fleets up and down, projects, and the daemon itself are the human's alone. A list has
what the caller may read; one thing that it may not read is refused. Every refusal is in the log (`access.refused`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from maestro.errors import Refused

Role = Literal["human", "coordinator", "worker"]
Action = Literal[
    "project.write",
    "task.create",
    "task.read",
    "task.update",
    "task.report",
    "session.create",
    "session.change",
    "session.report",
    "session.adopt",
    "session.read",
    "session.prompt",
    "fleet.control",
    "fleet.coordinate",
    "run.report",
    "inbox.read",
    "inbox.answer",
    "server.control",
]


class Actor(NamedTuple):
    role: Role
    session_id: str | None


HUMAN = Actor("human", None)

_STRICTNESS: Mapping[Role, int] = {"human": 0, "coordinator": 1, "worker": 2}

# For each action: the roles that may always, and those that may on what is their own.
_MAY: Mapping[Action, tuple[frozenset[Role], frozenset[Role], str]] = {
    "project.write": (frozenset({"human"}), frozenset(), "add or remove projects"),
    "task.create": (frozenset({"human", "coordinator"}), frozenset(), "create tasks"),
    "task.read": (frozenset({"human"}), frozenset({"coordinator", "worker"}), "read this task"),
    "task.update": (frozenset({"human"}), frozenset({"coordinator"}), "change this task"),
    "task.report": (frozenset({"human"}), frozenset({"coordinator", "worker"}), "report on this task"),
    "session.create": (frozenset({"human"}), frozenset({"coordinator"}), "start this session"),
    "session.change": (frozenset({"human"}), frozenset({"coordinator"}), "change this session"),
    "session.report": (frozenset({"human"}), frozenset({"coordinator", "worker"}), "report for this session"),
    "session.adopt": (frozenset({"human"}), frozenset(), "adopt or discover sessions"),
    "session.read": (
        frozenset({"human"}),
        frozenset({"coordinator", "worker"}),
        "read what this session says",
    ),
    "session.prompt": (frozenset({"human"}), frozenset({"coordinator"}), "prompt this session"),
    "fleet.coordinate": (frozenset({"human"}), frozenset({"coordinator"}), "coordinate this pane"),
    "fleet.control": (frozenset({"human"}), frozenset(), "take fleets up or down"),
    # Whoever could run it may say that it is over; nothing else changes by it.
    "run.report": (frozenset({"human", "coordinator", "worker"}), frozenset(), "report runs"),
    "inbox.read": (
        frozenset({"human"}),
        frozenset({"coordinator"}),
        "read what waits for the human, or was decided",
    ),
    "inbox.answer": (frozenset({"human"}), frozenset(), "answer for the human"),
    "server.control": (frozenset({"human"}), frozenset(), "stop or restart the daemon"),
}


def stricter(by_token: Actor | None, by_ancestry: Actor | None) -> Actor:
    """Of two findings the one that may do less; at a tie the process, which is harder to borrow than a token."""
    found = [actor for actor in (by_ancestry, by_token) if actor is not None]
    return max(found, key=lambda actor: _STRICTNESS[actor.role], default=HUMAN)


def require(actor: Actor, action: Action, *, own: bool = False) -> None:
    """Raise unless the actor may. `own`: it is the actor's own task, session or child."""
    always, when_own, words = _MAY[action]
    if actor.role in always or (own and actor.role in when_own):
        return
    if actor.role in when_own:
        owners = " or a ".join(role for role in _STRICTNESS if role in when_own)
        raise Refused(
            f"A {actor.role} may not {words}: it is not its own.",
            hint=f"A human may, or a {owners} on what is its own.",
            role=actor.role,
        )
    may = " or a ".join(role for role in _STRICTNESS if role in always or role in when_own)
    raise Refused(f"A {actor.role} may not {words}.", hint=f"A {may} may.", role=actor.role)
