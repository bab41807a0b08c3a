"""Makes sure that a person gives trust, and no agent: neither one that runs in a session nor one that runs without a
terminal, nor a program that one of them started."""

from __future__ import annotations

import os
from typing import Final

from maestro import processes
from maestro.errors import Refused

_MARKS: Final = ("MAESTRO_SESSION_ID", "MAESTRO_RUN_ID")


def require_person(to_do: str) -> None:
    """Raises Refused where an agent, or a program of one, asks for what only a person may do.

    An agent may clear its own variables; the processes above it still have theirs.
    """
    led_here = [pid for pid, _ in processes.ancestry(os.getpid())]
    own = any(os.environ.get(mark) for mark in _MARKS)
    if own or any(processes.variable(pid, mark) for pid in led_here for mark in _MARKS):
        raise Refused(f"An agent may not {to_do}.", hint="A human may, in a terminal of their own.")
