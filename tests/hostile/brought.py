"""The facts of a hostile repository: each file that it brings, and what the file tries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# Words in a file's content that stand for places of the test.
CANARY: Final = "@CANARY@"  # a folder outside of the repository: whoever acts leaves a file there
OUTSIDE: Final = "@OUTSIDE@"  # another one, whose content must not change
REPOSITORY: Final = "@REPOSITORY@"
PORT: Final = "@PORT@"  # of a server on the loopback interface that tells the canary who calls
STRANGER: Final = "@STRANGER@"  # the pid of a process that has nothing to do with Maestro
BOOT: Final = "@BOOT@"  # the id of the machine's present boot

EVIL: Final = "evil.sh"
# In texts that only a model reads: a fake CLI that finds it in its prompt tells the canary.
MARK: Final = "MARK-OF-THE-REPOSITORY-"


@dataclass(frozen=True)
class Brought:
    """One file, or a part of it: parts for one path stand one after the other."""

    name: str  # what it leaves in the canary when it acts
    path: str  # in the repository
    tries: str
    content: str = ""
    link: str = ""  # it is a link to this
    mode: int = 0o644
    acts: bool = True  # `maestro trust` must name it


def evil(name: str) -> str:
    """Returns a shell line that leaves evidence."""
    return f"sh {REPOSITORY}/{EVIL} {name}"
