"""Chooses what an isolated session gets of the repository that it works in."""

from __future__ import annotations

import os
import shutil

import msgspec

from maestro.errors import InvalidInput
from maestro.worktrees.repository import common_folder, repository


class GitFolders(msgspec.Struct, frozen=True):
    """What an isolated session needs of a repository besides its files.

    What decides which programs git runs is protected: Maestro and the person run git there too, outside. What is mounted
    cannot be replaced by another one.
    """

    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    copied: tuple[str, ...] = ()  # it gets copies of these: git outside writes there through any link


def git_folders(folder: str) -> GitFolders:
    """What an isolated session that works in this folder gets of git; nothing when the folder is in no repository.

    In a worktree it commits: objects, refs and the worktree's own folder are open to it. Its logs of refs are its own: a
    link among them would let git outside write a branch's name, which it chooses, to the end of any file. In the
    project's own checkout it does not: there, git makes its files beside those that say which programs it runs, and
    which are missing cannot be protected."""
    try:
        git = repository(folder)
    except InvalidInput:
        return GitFolders()
    common = common_folder(git)
    own = os.path.realpath(git("rev-parse", "--absolute-git-dir"))
    top = os.path.realpath(git("rev-parse", "--show-toplevel"))
    if own == common:
        return GitFolders(protected=(common,))
    # Only a file that is there can be protected; git takes an empty one for none.
    _touch(os.path.join(own, "config.worktree"))
    logs = (os.path.join(common, "logs"), os.path.join(own, "logs"))
    for folder_of_logs in logs:
        os.makedirs(folder_of_logs, exist_ok=True)
    open_to_it = [os.path.join(common, name) for name in ("objects", "refs", "reftable")]
    names = ("commondir", "gitdir", "config.worktree")
    return GitFolders(
        readable=(common,),
        writable=(*filter(os.path.isdir, open_to_it), own),
        protected=(os.path.join(top, ".git"), *(os.path.join(own, name) for name in names)),
        copied=logs,
    )


def copies(folders: GitFolders, place: str) -> tuple[tuple[str, str], ...]:
    """Make the copies below `place` that are not there yet. Returns each with the folder that it stands for."""
    found = []
    for number, original in enumerate(folders.copied):
        copy = os.path.join(place, f"git-{number}")
        if not os.path.lexists(copy):
            shutil.copytree(original, copy, symlinks=True)
        found.append((copy, original))
    return tuple(found)


def _touch(path: str) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644))
