"""Where the headless half keeps its files: in the project, in a folder of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from maestro import confined
from maestro.errors import InvalidInput, NoPermission
from maestro.files import replace_in
from maestro.trust.remarks import remark
from maestro.trust.root import STATE_FOLDER, find_root

VARIABLE: Final = "MAESTRO_STATE_DIR"
_IGNORE_FILE: Final = ".gitignore"
_IGNORED: Final = "# What Maestro keeps here is of this machine alone.\n*\n"


def project_root(cwd: str) -> str:
    """Returns the root of the project that a folder belongs to. Folders that only look like one are remarked on."""
    found = find_root(cwd)
    for sentence in found.skipped:
        remark(sentence)
    return found.folder


def state_folder(root: str, env: Mapping[str, str]) -> str:
    """The folder in the project for everything that we keep there. It is opened by confined.py alone, so that no link
    leads out of it."""
    named = env.get(VARIABLE) or STATE_FOLDER
    folder = os.path.normpath(os.path.join(root, named))
    inside = folder.startswith(root.rstrip("/") + "/")
    if os.path.isabs(named) or not inside or has_git_part(os.path.relpath(folder, root)):
        raise InvalidInput(
            f"{VARIABLE} is “{named}”, which is no folder inside the project.",
            hint="Give a relative path such as .maestro or .gemini.",
        )
    _require_own(folder)
    return folder


def _require_own(folder: str) -> None:
    """Refuses a state folder that another user has put where everybody may write."""
    try:
        owner = os.lstat(folder).st_uid
    except OSError:
        return  # there is none yet; whoever makes it owns it
    if owner != os.geteuid():
        raise NoPermission(f"{folder} belongs to another user.", hint="Work in a folder of your own.")


def runs_folder(cwd: str, env: Mapping[str, str]) -> str:
    return os.path.join(state_folder(project_root(cwd), env), "runs")


def prepare(cwd: str, env: Mapping[str, str]) -> str:
    """The folder of this project's runs, made where it is not there; git does not see what is in it."""
    runs = runs_folder(cwd, env)
    prepare_ignored(runs, "Runs are kept in the project's folder.")
    return runs


def prepare_ignored(folder: str, hint: str) -> None:
    """Make a folder of ours in a project, where it is not there; git does not see what is in it."""
    try:
        with confined.folder(folder, make=True) as opened:
            if not opened.has(_IGNORE_FILE):
                replace_in(opened, _IGNORE_FILE, _IGNORED.encode(), durable=False)
    except OSError as error:
        raise NoPermission(f"{folder} cannot be used: {error.strerror}.", hint=hint) from error


def has_git_part(path: str) -> bool:
    """Whether a path goes through git's own folder, as a file system that ignores case understands it, too."""
    return any(part.casefold() == ".git" for part in path.split("/"))
