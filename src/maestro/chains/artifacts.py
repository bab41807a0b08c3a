"""The files that a step has to leave: as they were before it, and whether they are there now, new, and in their form.

How they were is kept in the chain's folder from before the step's first run until the chain is over: whoever resumes
compares with that, and what an earlier attempt of the step has made counts.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

import msgspec

from maestro import confined
from maestro.chains import PLACEHOLDERS, Command, Context, Project
from maestro.chains.context import work_folder
from maestro.chains.forms import form_fault, form_for
from maestro.chains.template import fill_text
from maestro.errors import InvalidInput, LeadsOut
from maestro.files import write_atomically

BEFORE_FILE: Final = "step-{number}-before.json"
_LARGEST: Final = 4_000_000


class Mark(NamedTuple):
    """What changes when a file is written, also with the same content: then it was made anew."""

    size: int
    mtime_ns: int
    inode: int


class Ground(NamedTuple):
    """Where a step works, how its artifacts were before it, and the forms that they have."""

    root: str
    state_folder: str
    before: Mapping[str, Mark] = {}
    formats: Mapping[str, str] = {}

    @property
    def named_state(self) -> str:
        """The state folder as agents name it."""
        return os.path.relpath(self.state_folder, self.root)


def artifact_patterns(
    command: Command, context: Context, project: Project | None, folder: str
) -> tuple[str, ...]:
    """Where its artifacts may turn out to be, for glob: ids and folders that only its result tells stand open."""
    known = {context.scratch_dir, work_folder(context, project, folder)} - {""}
    kinds = [f"{glob.escape(folder)}/{kind}/*" for kind in ("phases", "scratch", "issues")]
    places = [*kinds, *sorted(map(glob.escape, known))]
    values = dict.fromkeys(PLACEHOLDERS, "*") | {"state": glob.escape(folder)}
    named = (fill_text(path, values | {"work": place}) for path in command.artifacts for place in places)
    return tuple(dict.fromkeys(named))


def marks(root: str, patterns: Iterable[str]) -> dict[str, Mark]:
    """The files that are there now, by their paths from the root."""
    found = {}
    for pattern in patterns:
        for path in glob.glob(pattern, root_dir=root):
            if (mark := _mark(os.path.join(root, path))) is not None:
                found[os.path.normpath(path)] = mark
    return found


def remember(folder: str, number: int, root: str, patterns: Iterable[str]) -> None:
    """Keep how they are, before the step's first run. Later runs of the step find it kept."""
    path = os.path.join(folder, BEFORE_FILE.format(number=number))
    if not confined.exists(path):
        write_atomically(path, msgspec.json.encode(marks(root, patterns)), durable=False, confined=True)


def remembered(folder: str, number: int) -> dict[str, Mark]:
    """Nothing where nothing was kept: then whatever is there counts."""
    path = os.path.join(folder, BEFORE_FILE.format(number=number))
    try:
        return msgspec.json.decode(confined.read(path), type=dict[str, Mark])
    except FileNotFoundError:
        return {}
    except msgspec.MsgspecError as error:
        raise InvalidInput(
            f"{path} cannot be read: {error}.", hint="Move it away; then whatever is there counts."
        ) from error


def complaint_about(
    promised: Mapping[str, bool], claimed: Iterable[str], command: Command, ground: Ground
) -> str:
    """Why a success with these files is none; empty: it is one. `promised` is what the command must leave, and whether it
    may be as it was; `claimed` what the agent says that it wrote."""
    paths = {path: _place(ground.root, path) for path in promised}
    missing = [path for path, place in paths.items() if not confined.is_file(place)]
    missing += [p for p in claimed if p not in paths and not os.path.exists(os.path.join(ground.root, p))]
    if missing:
        return _missing_words(missing)
    unchanged = [
        path
        for path, may_stay in promised.items()
        if not may_stay
        and (before := ground.before.get(os.path.normpath(path))) is not None
        and before == _mark(paths[path])
    ]
    if unchanged:
        return _unchanged_words(unchanged)
    for path, place in paths.items():
        form = form_for(path, command.formats, ground.formats)
        if form is not None and (fault := form_fault(path, _text(place), form)):
            return f"The result says SUCCESS, but {fault}"
    return ""


def _missing_words(missing: Iterable[str]) -> str:
    names = list(missing)
    verb, they = ("is", "it") if len(names) == 1 else ("are", "they")
    return f"The result says SUCCESS, but {', '.join(names[:10])} {verb} not there, and {they} must be."


def _unchanged_words(unchanged: Iterable[str]) -> str:
    names = list(unchanged)
    verb, they = ("is", "it") if len(names) == 1 else ("are", "they")
    return (
        f"The result says SUCCESS, but {', '.join(names[:10])} {verb} as before this step, and {they} must be made or "
        "changed by it."
    )


def _place(root: str, path: str) -> str:
    """Where a file of the project is. One that a path of it leads out of, is none."""
    place = os.path.normpath(os.path.join(root, path))
    if not place.startswith(root.rstrip("/") + "/"):
        raise InvalidInput(f"{path} is not in the project {root}.")
    return place


def _mark(path: str) -> Mark | None:
    try:
        seen = confined.status(os.path.normpath(path))
    except (OSError, LeadsOut):
        return None
    return Mark(seen.st_size, seen.st_mtime_ns, seen.st_ino)


def _text(path: str) -> str:
    try:
        return confined.read(path, _LARGEST).decode(errors="replace")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from error
