"""The folders of a project's chains: `<state>/chains/<id>/state.json`, read, written whole, and held by one process."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from maestro import confined
from maestro.chains.state import SESSION_ID, ChainState, as_json, parse_state
from maestro.dispatch.places import prepare_ignored
from maestro.errors import Conflict, InvalidInput, MaestroError, NoPermission, NotFound
from maestro.files import write_atomically
from maestro.trust import Brought
from maestro.trust.approvals import Approvals
from maestro.trust.brought import brought_by
from maestro.trust.project import ProjectTrust

FOLDER: Final = "chains"
STATE_FILE: Final = "state.json"
LOCK_FILE: Final = "lock"
_LARGEST: Final = 16_000_000
_MOST_SHOWN: Final = 10


class Found(NamedTuple):
    """A chain's folder; without a state it cannot be read, for this reason."""

    id: str
    folder: str
    state: ChainState | None
    fault: str = ""


def make_folder(state_folder: str, now: float) -> tuple[str, str]:
    """A new id and its folder; two that begin in the same second get two."""
    chains = os.path.join(state_folder, FOLDER)
    stamp = time.strftime("coord-%Y%m%d%H%M%S", time.gmtime(now))
    try:
        prepare_ignored(chains, "Chains are kept in the project's folder.")
        for count in range(1, 10_000):
            session_id = stamp if count == 1 else f"{stamp}-{count}"
            folder = os.path.join(chains, session_id)
            try:
                confined.make_new_folder(folder)
            except FileExistsError:
                continue
            return session_id, folder
    except OSError as error:
        raise NoPermission(
            f"{chains} cannot be used: {error.strerror}.", hint="Chains are kept in the project's folder."
        ) from error
    raise Conflict(f"There are too many chains of {stamp}.", hint="Try it again.")


def require_own(trust: ProjectTrust, folder: str) -> None:
    """Raises Untrusted for a chain that came with the project: what it does next is not this person's word."""
    name = _own_name(folder)
    approvals = Approvals(trust.home, trust.root)
    if not approvals.given_at(name):
        trust.read(os.path.join(folder, STATE_FILE), _LARGEST)
        approvals.give(name)


def record_own(trust: ProjectTrust, folder: str) -> None:
    """Records that this person began the chain."""
    Approvals(trust.home, trust.root).give(_own_name(folder))


def brought_chains(trust: ProjectTrust) -> list[Brought]:
    """Returns the chains that came with the project, as files that can act: to go on with one is its author's word."""
    approvals = Approvals(trust.home, trust.root)
    pattern = f"{trust.state}/{FOLDER}/*/{STATE_FILE}"
    found = brought_by(trust.root, [trust.root], [pattern])
    return [one for one in found if not approvals.given_at(_own_name(os.path.dirname(one.name)))]


def _own_name(folder: str) -> str:
    return f"chain/{os.path.basename(folder)}"


def write_state(folder: str, state: ChainState) -> None:
    write_atomically(os.path.join(folder, STATE_FILE), as_json(state), confined=True)


def read_state(folder: str) -> ChainState:
    """Raises NotFound or InvalidInput; a file that cannot be read is kept as it is."""
    path = os.path.join(folder, STATE_FILE)
    try:
        data = confined.read(path, _LARGEST + 1)
    except FileNotFoundError as error:
        raise NotFound(f"There is no {path}.", hint="`maestro chain status` shows the chains.") from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from error
    if len(data) > _LARGEST:
        raise InvalidInput(f"{path} has over {_LARGEST} bytes.", hint="Check what has written it.")
    try:
        state = parse_state(data, os.path.basename(folder))
    except InvalidInput as error:
        raise InvalidInput(
            f"{path}: {error.message}", hint="It is kept as it is. Mend it, or begin the chain anew."
        ) from error
    return state


def list_chains(state_folder: str) -> list[Found]:
    """The newest first."""
    chains = os.path.join(state_folder, FOLDER)
    try:
        names = [name for name in confined.names(chains) if SESSION_ID.fullmatch(name)]
    except OSError:
        return []
    found = []
    for name in sorted(names, key=_by_age, reverse=True):
        folder = os.path.join(chains, name)
        try:
            # A folder without a state is of a chain that died before it began, or that begins just now.
            if not confined.exists(os.path.join(folder, STATE_FILE)):
                continue
            found.append(Found(name, folder, read_state(folder)))
        except MaestroError as error:
            found.append(Found(name, folder, None, error.message))
    return found


def _by_age(name: str) -> tuple[str, int]:
    _, stamp, *count = name.split("-")
    return stamp, int(count[0]) if count else 1


def find_chain(state_folder: str, wanted: str, *, unfinished: bool) -> Found:
    """By its id or a part of it that only one has; without, the latest (`unfinished`: that can go on)."""
    known = list_chains(state_folder)
    if not wanted:
        open_ones = [one for one in known if not unfinished or one.state is None or can_go_on(one.state)]
        if not open_ones:
            raise NotFound(
                f"E004: There is no chain here{' to go on with' if unfinished and known else ''}.",
                hint=_available(known) or 'Begin one: maestro chain run "INTENT"',
            )
        return _readable(open_ones[0])
    fitting = [one for one in known if one.id == wanted] or [one for one in known if wanted in one.id]
    if len(fitting) > 1:
        raise InvalidInput(
            f"“{wanted}” fits {len(fitting)} chains.", hint=f"For example {fitting[0].id}; give more of it."
        )
    if not fitting:
        raise NotFound(
            f"E004: There is no chain “{wanted}” here.", hint=_available(known) or "There are none yet."
        )
    return _readable(fitting[0])


def can_go_on(state: ChainState) -> bool:
    """A failed chain can, unless a person let it go on without what failed, and nothing else is left."""
    return state.status in ("running", "stopped", "paused") or (
        state.status == "failed" and state.current_step < len(state.steps)
    )


def _readable(found: Found) -> Found:
    if found.state is None:
        raise InvalidInput(
            found.fault,
            hint="It is kept as it is. Mend it, or name another chain: `maestro chain status --all` shows them.",
        )
    return found


def _available(known: list[Found]) -> str:
    lines = [
        f"{one.id} ({one.state.chain_name}, {one.state.status})" if one.state else f"{one.id} (unreadable)"
        for one in known[:_MOST_SHOWN]
    ]
    more = f", and {len(known) - _MOST_SHOWN} more" if len(known) > _MOST_SHOWN else ""
    return f"There are: {', '.join(lines)}{more}." if lines else ""


@contextmanager
def held(folder: str) -> Iterator[None]:
    """One process at a time runs a chain. The kernel lets go of the lock when its holder ends, however it ends."""
    path = os.path.join(folder, LOCK_FILE)
    try:
        lock = confined.lock(path, wait=False)
    except BlockingIOError as error:
        name = os.path.basename(folder)
        raise Conflict(
            f"{name} is being run by another process.",
            hint=f"See how far it is: maestro chain status {name}",
        ) from error
    except OSError as error:
        raise NoPermission(f"{path} cannot be written: {error.strerror}.") from error
    with lock:
        yield
