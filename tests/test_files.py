"""The one way to write a file, with every system call failing in turn."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from maestro import files
from maestro.errors import DiskFull, NoPermission


def test_a_file_is_replaced_whole_and_private(place: Path) -> None:
    path = place / "f"
    files.write_atomically(str(path), b"old")
    files.write_atomically(str(path), b"new" * 100_000)
    assert path.read_bytes() == b"new" * 100_000
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [p.name for p in place.iterdir()] == ["f"]


@pytest.mark.parametrize("call", ["open", "write", "fsync", "rename"])
@pytest.mark.parametrize(
    ("number", "error"), [(errno.ENOSPC, DiskFull), (errno.EIO, OSError), (errno.EACCES, NoPermission)]
)
def test_a_failing_call_leaves_the_old_file(
    place: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int, error: type[Exception]
) -> None:
    path = place / "f"
    path.write_bytes(b"old")
    with monkeypatch.context() as patch:
        patch.setattr(os, call, lambda *_, **__: (_ for _ in ()).throw(OSError(number, os.strerror(number))))
        with pytest.raises(error):
            files.write_atomically(str(path), b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in place.iterdir()] == ["f"]


def test_short_writes_are_continued(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write

    def a_few_bytes(descriptor: int, data: Any) -> int:
        return real(descriptor, bytes(data)[:7])

    monkeypatch.setattr(os, "write", a_few_bytes)
    files.write_atomically(str(place / "f"), bytes(range(256)))
    assert (place / "f").read_bytes() == bytes(range(256))


def test_a_new_file_is_whole_and_alone(place: Path) -> None:
    files.write_new(str(place / "result"), b"all of it")
    assert (place / "result").read_bytes() == b"all of it"
    assert [path.name for path in place.iterdir()] == ["result"]
    assert (place / "result").stat().st_mode & 0o777 == 0o600
