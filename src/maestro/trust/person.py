"""Makes sure that a person gives trust, and no agent: neither one that runs in a session nor one that runs without a
terminal, nor a program that one of them started."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from maestro import processes
from maestro.agents.registry import acting_agents
from maestro.errors import Refused

_MARKS: Final = ("MAESTRO_SESSION_ID", "MAESTRO_RUN_ID")


def require_person(to_do: str) -> None:
    """Raises Refused where an agent, or a program of one, asks for what only a person may do.

    An agent may clear its own variables; the processes above it still have ours.
    """
    led_here = [pid for pid, _ in processes.ancestry(os.getpid())]
    above = (mark for pid in led_here for mark in _MARKS if processes.variable(pid, mark))
    mark = mark_of_agent(os.environ) or next(above, "")
    if mark:
        raise Refused(
            f"An agent may not {to_do}.",
            hint=f"A human may, in a terminal of their own. This one is an agent's, by its variable {mark}.",
        )


def mark_of_agent(env: Mapping[str, str]) -> str:
    """Returns the variable that shows an agent's program; empty where a person's has this environment.

    What a CLI gives to the programs that it runs also marks an agent that Maestro did not start.
    """
    given = (name for agent in acting_agents() for name in agent.inner_variables)
    return next((mark for mark in (*_MARKS, *given) if env.get(mark)), "")
