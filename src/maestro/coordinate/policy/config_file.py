"""Where `coordinate.config.json` is looked for, and how it is read and begun.

The first file that is found counts, whole: the others are not looked into. In this order:

    <state>/coordinate/<coordinator>/coordinate.config.json    of one coordinator
    <state>/coordinate.config.json                             of the project, on this machine
    <project>/coordinate.config.json                           of the project, for everybody who works in it
    <MAESTRO_HOME>/coordinate.config.json                      of the user

A file that is there and cannot be used stops whoever asks: a default in its place might allow what it forbids.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from maestro import confined
from maestro.coordinate import Policy, Preset
from maestro.coordinate.policy.config import DEFAULT, PRESETS, as_json, parse_policy
from maestro.dispatch.places import project_root, state_folder
from maestro.dispatch.tools import FILE as TOOLS
from maestro.dispatch.tools import is_trusted
from maestro.errors import Conflict, InvalidInput, LeadsOut, NoPermission
from maestro.files import write_atomically

FILE: Final = "coordinate.config.json"
_FOLDER: Final = "coordinate"
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_LARGEST: Final = 1_000_000


class Found(NamedTuple):
    policy: Policy
    path: str | None  # none: no file says anything


class Candidate(NamedTuple):
    path: str
    within: str | None  # the folder that it must not lead out of


def candidates(coordinator: str, project: str, env: Mapping[str, str], home: str) -> tuple[Candidate, ...]:
    """Every place, first to last. `coordinator` is an id, or empty; `home` is MAESTRO_HOME."""
    if coordinator and not _NAME.fullmatch(coordinator):
        raise InvalidInput(
            f"“{coordinator}” is no name of a coordinator.",
            hint="Use letters (A to Z), digits, - and _.",
        )
    root = project_root(project)
    state = state_folder(root, env)
    own = (os.path.join(state, _FOLDER, coordinator, FILE),) if coordinator else ()
    inside = (*own, os.path.join(state, FILE), os.path.join(root, FILE))
    # The user's own file may be a link to wherever the user keeps such files.
    return (*(Candidate(path, root) for path in inside), Candidate(os.path.join(home, FILE), None))


def find_policy(coordinator: str, project: str, env: Mapping[str, str], home: str) -> Found:
    """The policy for this coordinator in this project; the default where no file says anything."""
    for path, within in candidates(coordinator, project, env, home):
        if _is_there(path):
            policy = load_policy(path, within)
            if within is not None:
                _require_trust(policy, path, home, within)
            return Found(policy, path)
    return Found(DEFAULT, None)


def _require_trust(policy: Policy, path: str, home: str, root: str) -> None:
    """A project's file may come with a repository that somebody cloned: nothing in it runs a program or sends text
    somewhere unless the user trusts the project."""
    notify, brain = policy.notify, policy.brain
    named = {
        "notify.command": notify.command,
        "notify.webhook": notify.webhook,
        "brain.baseUrl": brain.base_url,
        "brain.apiKeyEnv": brain.api_key_env,
    }
    reaching = [name for name, value in named.items() if value]
    if reaching and not is_trusted(home, root):
        raise InvalidInput(
            f"{path}: {reaching[0]} would run a program or send text somewhere, and this project brings it.",
            hint=f"If you trust the project, add to {os.path.join(home, TOOLS)}: trust = [{root!r}]",
        )


def load_policy(path: str, within: str | None = None) -> Policy:
    """The policy in this file. It is read where it leads to, and not outside of `within`."""
    real = os.path.realpath(path)
    if within is not None and not real.startswith(os.path.realpath(within).rstrip("/") + "/"):
        raise LeadsOut(f"{path} leads out of the project, to {real}.", hint="Put a file there, not a link.")
    return parse_policy(_read(real, path), path)


def write_default(path: str, preset: Preset) -> None:
    """A policy to start from, with every field. Never over one that is there."""
    policy = DEFAULT if preset == "custom" else PRESETS[preset]
    try:
        confined.make_folders(os.path.dirname(path))
        if confined.exists(path):  # also a link to nowhere
            raise Conflict(f"{path} is there already.", hint="Change it, or move it away first.")
    except OSError as error:
        raise NoPermission(
            f"{path} cannot be written: {error.strerror}.", hint="Check its folder, and who owns it."
        ) from error
    write_atomically(path, as_json(policy).encode(), confined=True)


def _is_there(path: str) -> bool:
    """Only what is certainly not there is passed over: a folder that cannot be looked into may hold it."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _unreadable(path, error) from error
    return True


def _unreadable(path: str, error: OSError) -> InvalidInput:
    return InvalidInput(
        f"{path} cannot be read: {error.strerror}.",
        hint="Mend it or move it away; no default is used in its place.",
    )


def _read(real: str, shown: str) -> bytes:
    try:
        data = confined.read(real, _LARGEST + 1)
    except OSError as error:
        raise _unreadable(shown, error) from error
    if len(data) > _LARGEST:
        raise InvalidInput(
            f"{shown} is too large.", hint=f"A policy has at most {_LARGEST:,} bytes. Is it the right file?"
        )
    return data
