"""What a session starts with, pure: its environment, and the file that its pane's first program reads.

The environment is built anew from a list of names. A command that an agent's hook or shell runs carries that agent's
own variables, a pane carries tmux's, the daemon its own: none of them may reach another session. Keys of another CLI
do not, either.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from posixpath import dirname, join
from typing import Any, Final

import msgspec

from maestro.agents.hook_command import hook_command
from maestro.agents.hooks import Hooked
from maestro.agents.launch import Launcher, LaunchPlan
from maestro.errors import InvalidInput

_PASSED_ON: Final = frozenset(
    {
        "HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER",
        # Without these, nothing behind a proxy or a company's own certificates reaches its model.
        "ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "all_proxy", "http_proxy", "https_proxy", "no_proxy",
        "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE",
    }
)  # fmt: skip
_PASSED_ON_PREFIXES: Final = ("LC_", "XDG_")
# Names that an agent cannot be given by an adapter's list or by a caller: they are the session's own.
_SESSION_ID: Final = "MAESTRO_SESSION_ID"
_SESSION_TOKEN: Final = "MAESTRO_SESSION_TOKEN"  # noqa: S105 - the name of a variable
_HOME: Final = "MAESTRO_HOME"
# Where a session's commands leave requests that they cannot send.
SPOOL_VARIABLE: Final = "MAESTRO_SPOOL_DIR"

LAUNCH_FILE: Final = "launch.json"


def caller_environment(caller: Mapping[str, str], *launchers: Launcher) -> dict[str, str]:
    """What of the caller's environment sessions of these agents may know."""
    every = {name for launcher in launchers for name in launcher.launch_variables}
    named = {name for name in every if not name.endswith("*")}
    prefixes = tuple(name[:-1] for name in every if name.endswith("*"))
    return {
        name: value
        for name, value in caller.items()
        if name in _PASSED_ON or name in named or name.startswith(_PASSED_ON_PREFIXES + prefixes)
    }


def session_environment(
    caller: Mapping[str, str], launcher: Launcher, *, session_id: str, token: str, maestro_home: str
) -> dict[str, str]:
    """All variables of a session but those of its terminal (TERM, COLORTERM), which its pane knows best."""
    own = {_SESSION_ID: session_id, _SESSION_TOKEN: token, _HOME: maestro_home}
    return caller_environment(caller, launcher) | own


def launch_file(plan: LaunchPlan, env: Mapping[str, str], cwd: str) -> bytes:
    """The content of the file that `enter.py` reads, removes and acts on. It holds the token: mode 0600."""
    words = [*plan.argv, cwd, *env, *env.values(), *plan.env.values()]
    if any("\0" in word for word in words) or any("=" in name for name in env):
        raise InvalidInput("A session cannot be started with a NUL character or an odd variable name.")
    told: dict[str, Any] = {"argv": plan.argv, "cwd": cwd, "env": dict(env) | dict(plan.env)}
    if plan.terminal_modes:
        told["modes"] = plan.terminal_modes
    return msgspec.json.encode(told)


def entry_argv(path: str) -> tuple[str, ...]:
    """What a pane runs: a program that becomes the agent. -I -S: it needs nothing that would slow its start."""
    return (sys.executable, "-I", "-S", join(dirname(__file__), "enter.py"), path)


def session_hooks(hooked: Hooked | None) -> Mapping[str, object]:
    """Settings of one session alone that make its CLI tell us what happens; nothing where it takes none."""
    if hooked is None or hooked.no_session_hooks:
        return {}
    return hooked.hook_settings(
        {event.name: hook_command(hooked.name, event.name, event.waits) for event in hooked.hook_events}
    )
