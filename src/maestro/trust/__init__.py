"""Decides what of a project may act: what it brings is data until the person trusts it.

A repository that somebody cloned may hold settings that choose programs, fleets that start agents, policies that answer
questions, and files by which a CLI runs programs of its own accord. None of it acts until `maestro trust` has recorded
its digest in MAESTRO_HOME; a file that changes has to be confirmed again. Whoever wants to act on such a file reads it
by `ProjectTrust` and by nothing else.
"""

from __future__ import annotations

from typing import NamedTuple


class Brought(NamedTuple):
    """One file, or one folder, of a project that can act."""

    name: str  # its path below the project's root, or its whole path where it is outside; a folder ends with a slash
    digest: str
    wants: tuple[str, ...] = ()  # what it would do, in words for a person
