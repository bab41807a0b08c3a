"""Where the headless half keeps its files: in the project, in a folder of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from maestro.errors import InvalidInput, NoPermission
from maestro.trust.remarks import remark
from maestro.trust.root import STATE_FOLDER, find_root

VARIABLE: Final = "MAESTRO_STATE_DIR"
_IGNORED: Final = "# What Maestro keeps here is of this machine alone.\n*\n"


def project_root(cwd: str) -> str:
    """Returns the root of the project that a folder belongs to. Folders that only look like one are remarked on."""
    found = find_root(cwd)
    for sentence in found.skipped:
        remark(sentence)
    return found.folder


def state_folder(root: str, env: Mapping[str, str]) -> str:
    """The folder in the project for everything that we keep there. It never leads out of the project."""
    named = env.get(VARIABLE) or STATE_FOLDER
    folder = os.path.normpath(os.path.join(root, named))
    inside = os.path.realpath(folder).startswith(os.path.realpath(root).rstrip("/") + "/")
    if os.path.isabs(named) or not inside or ".git" in folder.removeprefix(root).split("/"):
        raise InvalidInput(
            f"{VARIABLE} is “{named}”, which is no folder inside the project.",
            hint="Give a relative path such as .maestro or .gemini.",
        )
    return folder


def runs_folder(cwd: str, env: Mapping[str, str]) -> str:
    return os.path.join(state_folder(project_root(cwd), env), "runs")


def prepare(cwd: str, env: Mapping[str, str]) -> str:
    """The folder of this project's runs, made where it is not there; git does not see what is in it."""
    state = state_folder(project_root(cwd), env)
    runs = os.path.join(state, "runs")
    try:
        os.makedirs(runs, mode=0o700, exist_ok=True)
        with open(os.path.join(runs, ".gitignore"), "x", encoding="utf-8") as file:
            file.write(_IGNORED)
    except FileExistsError:
        pass
    except OSError as error:
        raise NoPermission(
            f"{runs} cannot be used: {error.strerror}.", hint="Runs are kept in the project's folder."
        ) from error
    return runs
