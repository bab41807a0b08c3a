"""Keeps what the person trusts: `MAESTRO_HOME/trust/KEY.json`, one file for each project, never in the project."""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from maestro.errors import NoPermission
from maestro.files import write_atomically
from maestro.home import Home, prepare
from maestro.trust import Brought

_FOLDER: Final = "trust"


class TrustRecord(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    root: str
    files: dict[str, str] = {}  # name → digest
    trusted_at: int = 0  # when the person said that agents may trust the folder; 0: never, or taken back
    asked_at: int = 0  # when the person was asked last, whatever the answer was
    version: int = 1


def read_record(home: str, root: str) -> TrustRecord | None:
    """Returns the record of a project, None where the person was never asked. One that cannot be read is an error."""
    path = _path(home, root)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NoPermission(f"{path} cannot be read: {error.strerror}.", hint="Check its owner.") from error
    try:
        record = msgspec.json.decode(data, type=TrustRecord)
    except msgspec.DecodeError as error:
        raise NoPermission(
            f"{path} is damaged: {error}.", hint="Move it away, then confirm again: maestro trust"
        ) from error
    return record if record.root == os.path.realpath(root) else None


def confirm(home: str, root: str, brought: Iterable[Brought], *, folder: bool) -> None:
    """Records that the person trusts these files as they are; with `folder`, that agents may trust the folder."""
    now = int(time.time() * 1000)
    with _locked(home):
        known = read_record(home, root) or TrustRecord(root=os.path.realpath(root))
        files = known.files | {one.name: one.digest for one in brought}
        trusted_at = now if folder else known.trusted_at
        _write(home, msgspec.structs.replace(known, files=files, trusted_at=trusted_at, asked_at=now))


def decline(home: str, root: str) -> None:
    """Records that the person was asked and did not agree; what was confirmed before stays."""
    with _locked(home):
        known = read_record(home, root) or TrustRecord(root=os.path.realpath(root))
        _write(home, msgspec.structs.replace(known, asked_at=int(time.time() * 1000)))


def revoke(home: str, root: str) -> None:
    """Takes all trust in a project back. The record stays, so that nothing older is taken over again."""
    with _locked(home):
        _write(home, TrustRecord(root=os.path.realpath(root), asked_at=int(time.time() * 1000)))


def project_key(root: str) -> str:
    """Returns the name under which MAESTRO_HOME keeps what belongs to a project."""
    return hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:32]


def _path(home: str, root: str) -> str:
    return os.path.join(home, _FOLDER, f"{project_key(root)}.json")


def _write(home: str, record: TrustRecord) -> None:
    data = msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"
    write_atomically(_path(home, record.root), data)


@contextmanager
def _locked(home: str) -> Iterator[None]:
    prepare(Home(home))
    folder = os.path.join(home, _FOLDER)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        lock = os.open(
            os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
    except OSError as error:
        raise NoPermission(f"{folder} cannot be used: {error.strerror}.", hint="Check its owner.") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
