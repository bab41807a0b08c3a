"""Files that more than one live session has changed, pure."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Touched(msgspec.Struct, frozen=True):
    """The files that a session has changed in one repository, relative to its top."""

    repository: str
    files: tuple[str, ...]


class Overlap(msgspec.Struct, frozen=True):
    repository: str
    file: str
    sessions: tuple[str, ...]


def overlaps(touched: Mapping[str, Touched]) -> tuple[Overlap, ...]:
    """By session id: what two or more of them have changed, in the order of repositories and files."""
    by_file: dict[tuple[str, str], list[str]] = {}
    for session, one in touched.items():
        for file in dict.fromkeys(one.files):
            by_file.setdefault((one.repository, file), []).append(session)
    return tuple(
        Overlap(repository, file, tuple(sorted(sessions)))
        for (repository, file), sessions in sorted(by_file.items())
        if len(sessions) > 1
    )
