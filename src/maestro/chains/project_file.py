"""project.json on the disk: read, and written whole. One that cannot be read stops whoever asks, and is kept."""

from __future__ import annotations

import errno
import os
from typing import Final

from maestro import confined
from maestro.chains import Project
from maestro.chains.project import as_json, parse_project
from maestro.errors import Conflict, InvalidInput
from maestro.files import write_atomically

FILE: Final = "project.json"
_LARGEST: Final = 4_000_000


def project_path(state: str) -> str:
    return os.path.join(state, FILE)


def read_project(state: str) -> Project | None:
    """None where there is none: the project is not initialised."""
    return _read(project_path(state))


def write_project(state: str, project: Project, *, earlier: Project | None) -> None:
    """Replace `earlier`. What somebody else has written in between is not lost: then this raises Conflict."""
    path = project_path(state)

    def check() -> None:
        if _read(path) != earlier:
            raise Conflict(
                f"{path} was changed by somebody else.",
                hint="Look at it, then run the command again; nothing was overwritten.",
            )

    confined.make_folders(state)
    write_atomically(path, as_json(project), 0o644, check=check, confined=True)


def _read(path: str) -> Project | None:
    try:
        data = confined.read(path, _LARGEST + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        what = "is a folder" if error.errno == errno.EISDIR else f"cannot be read: {error.strerror}"
        raise InvalidInput(f"{path} {what}.", hint="Check it; nothing was changed.") from error
    if len(data) > _LARGEST:
        raise InvalidInput(f"{path} has over {_LARGEST} bytes.", hint="Check what has written it.")
    try:
        return parse_project(data)
    except InvalidInput as error:
        raise InvalidInput(
            f"{path}: {error.message}", hint="Mend it, or move it away to begin anew; it is kept as it is."
        ) from error
