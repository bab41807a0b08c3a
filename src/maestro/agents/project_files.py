"""What a project brings that makes a CLI act by itself: the port. Pure."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class ActsOnProject(Protocol):
    """A CLI of which it is known which files of a project make it run programs, reach out or ask less."""

    name: str
    # Patterns below a folder that it works in, or below one above that. One that ends with a slash is a whole folder.
    project_files: tuple[str, ...]
    # Without a terminal it works in no folder that nobody trusts, and asks nobody.
    needs_trust: bool
    # Variables that it gives to the programs that it runs, and by which they are known to be an agent's.
    inner_variables: tuple[str, ...]
