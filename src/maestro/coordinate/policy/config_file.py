"""Where `coordinate.config.json` is looked for, and how it is read and begun.

The first file that is found counts, whole: the others are not looked into. In this order:

    <state>/coordinate/<coordinator>/coordinate.config.json    of one coordinator
    <state>/coordinate.config.json                             of the project, on this machine
    <project>/coordinate.config.json                           of the project, for everybody who works in it
    <MAESTRO_HOME>/coordinate.config.json                      of the user

A file that is there and cannot be used stops whoever asks: a default in its place might allow what it forbids. A file
of the project that nobody has trusted can only make things stricter than they are without it. A rule for a script that
has changed since the person confirmed the rule is left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from maestro import confined
from maestro.coordinate import AnswerRule, Policy
from maestro.coordinate.policy.config import DEFAULT, as_json, parse_policy
from maestro.coordinate.policy.project_files import as_confirmed
from maestro.coordinate.policy.tightened import tightened
from maestro.dispatch.places import project_root, state_folder
from maestro.errors import Conflict, InvalidInput, LeadsOut, NoPermission, NotFound
from maestro.files import write_atomically
from maestro.trust.project import ProjectTrust

FILE: Final = "coordinate.config.json"
_FOLDER: Final = "coordinate"
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_LARGEST: Final = 1_000_000


class Found(NamedTuple):
    policy: Policy
    path: str | None  # none: no file says anything
    untrusted: tuple[str, ...] = ()  # files of the project that only made it stricter
    changed: tuple[AnswerRule, ...] = ()  # rules that are left out, as their scripts have changed


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
    """Returns the policy for this coordinator in this project; the default where no file says anything."""
    root = project_root(project)
    trust = ProjectTrust(home, root, env)
    brought: list[tuple[str, Policy]] = []
    base = Found(DEFAULT, None)
    for path, within in candidates(coordinator, project, env, home):
        if not _is_there(path):
            continue
        content = _content(path, within)
        policy = parse_policy(content, path)
        name = trust.name_of(path) if within is not None else None
        if name is None or trust.confirms(name, content):
            base = Found(policy, path)
            break
        brought.append((path, policy))
    policy = base.policy
    for _, each in brought:
        policy = tightened(policy, each)
    untrusted = tuple(path for path, _ in brought)
    policy, changed = as_confirmed(policy, root)
    return Found(policy, base.path or next(iter(untrusted), None), untrusted, changed)


def named_policy(path: str, trust: ProjectTrust) -> Found:
    """Returns the policy of the file that a person names. One that lies in the project must be trusted all the same."""
    content = _content(path, None)
    name = trust.name_of(path)
    if name is not None and not trust.confirms(name, content):
        raise trust.untrusted(name)
    policy, changed = as_confirmed(parse_policy(content, path), trust.root)
    return Found(policy, os.path.abspath(path), changed=changed)


def trusted_policy(path: str, trust: ProjectTrust) -> Policy:
    """Returns a policy as it is written, with rules whose scripts have changed. Raises Untrusted, or NotFound."""
    if not _is_there(path):
        raise NotFound(f"There is no {path}.", hint="`maestro coordinate init` writes one.")
    content = _content(path, trust.root)
    name = trust.name_of(path)
    if name is not None and not trust.confirms(name, content):
        raise trust.untrusted(name)
    return parse_policy(content, path)


def untrusted_words(found: Found, root: str) -> str:
    """Returns the sentence for a person whose project brings a policy that does not count; empty where none does."""
    if not found.untrusted:
        return ""
    return (
        f"{found.untrusted[0]} comes with this project: until you trust it, it only makes things stricter. "
        f"See what it wants and decide: maestro trust {root}"
    )


def load_policy(path: str, within: str | None = None) -> Policy:
    """Returns the policy in this file. It is read where it leads to, and not outside of `within`."""
    return parse_policy(_content(path, within), path)


def _content(path: str, within: str | None) -> bytes:
    real = os.path.realpath(path)
    if within is not None and not real.startswith(os.path.realpath(within).rstrip("/") + "/"):
        raise LeadsOut(f"{path} leads out of the project, to {real}.", hint="Put a file there, not a link.")
    return _read(real, path)


def require_new(path: str) -> None:
    """Makes the folder of a policy that is to be written. Raises Conflict where there is one already."""
    try:
        confined.make_folders(os.path.dirname(path))
        if confined.exists(path):  # also a link to nowhere
            raise Conflict(
                f"{path} is there already.",
                hint="Change it, or move it away first. `maestro coordinate init --again` adds rules to it.",
            )
    except OSError as error:
        raise NoPermission(
            f"{path} cannot be written: {error.strerror}.", hint="Check its folder, and who owns it."
        ) from error


def write_new(path: str, policy: Policy) -> bytes:
    """Writes a policy as `write_policy` does, and never over one that is there."""
    require_new(path)
    return write_policy(path, policy)


def write_policy(path: str, policy: Policy) -> bytes:
    """Writes a policy with every field, and returns what is written: this, and nothing else, is what the person means."""
    content = as_json(policy).encode()
    write_atomically(path, content, confined=True)
    return content


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
