"""The command that an agent's settings run for a hook, and how it is known again. Pure."""

from __future__ import annotations

import shlex
import sys
from posixpath import basename, dirname, join

_LAUNCHER = join(dirname(dirname(__file__)), "hook.py")


def hook_command(agent: str, event: str, waits: bool = False) -> str:  # noqa: FBT001, FBT002 - a HookEvent's field
    """For a shell. When Maestro is gone and its entries were left behind, it is a command that does nothing:
    Python's own exit code for a missing file would mean to an agent that it must not go on."""
    python, launcher = shlex.quote(sys.executable), shlex.quote(_LAUNCHER)
    flag = " --wait" if waits else ""
    return f"[ ! -x {python} ] || [ ! -f {launcher} ] || exec {python} -I -S {launcher} {agent} {event}{flag}"


def is_hook_command(command: str, agent: str) -> bool:
    """Whether this runs our hook for this agent, from whatever place it was installed."""
    if "hook" not in command:
        return False
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    for place in range(2, len(words)):
        before, launcher = words[place - 2 : place]
        if words[place] != agent:
            continue
        if (before == "-S" and launcher.endswith("/maestro/hook.py")) or (
            basename(before) == "maestro" and launcher == "hook"
        ):
            return True
    return False
