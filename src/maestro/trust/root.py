"""Finds where a project begins: the nearest folder upwards that is one, and that nobody else could have made one.

On a shared machine anybody can put a `.git` or a `.maestro` into a folder that all may write to; everything below it
would then be one project, with the settings of a stranger. git's `safe.directory` is the model.
"""

from __future__ import annotations

import os
import stat
from functools import cache
from typing import Final, NamedTuple

STATE_FOLDER: Final = ".maestro"
_LONGEST_POINTER: Final = 4096


class Root(NamedTuple):
    folder: str
    skipped: tuple[str, ...] = ()  # sentences: which folders look like a project, and why they do not count


def find_root(cwd: str) -> Root:
    """Returns the project that a folder belongs to; the folder itself where no other counts.

    The search ends at the person's home, which is no project of everything in it, and at the border of a file system.
    """
    here = os.path.realpath(cwd)
    home = os.path.realpath(os.path.expanduser("~"))
    skipped: list[str] = []
    folder, way = here, ""
    device = _device(here)
    while folder != os.path.dirname(folder) and (folder != home or folder == here):
        if _device(folder) != device:
            break
        way = way or _writable_by_others(folder)
        marks = [name for name in (STATE_FOLDER, ".git") if os.path.lexists(os.path.join(folder, name))]
        faults = [fault for name in marks if (fault := _fault(folder, name))]
        if marks and len(faults) < len(marks) and not way:
            return Root(folder, tuple(skipped))
        if marks and folder != here:
            skipped.append(f"{folder} does not count as the project: {way or faults[0]}.")
        folder = os.path.dirname(folder)
    return Root(here, tuple(skipped))


def _device(folder: str) -> int:
    try:
        return os.stat(folder).st_dev
    except OSError:
        return -1


def _fault(folder: str, mark: str) -> str:
    """Returns why this `.git` or `.maestro` makes no project; empty where it does."""
    path = os.path.join(folder, mark)
    try:
        found = os.lstat(path)
        owners = {os.stat(folder).st_uid, found.st_uid}
    except OSError as error:
        return f"{path} cannot be looked at: {error.strerror}"
    if owners != {os.geteuid()}:
        return f"{folder} or its {mark} belongs to another user"
    if mark == STATE_FOLDER:
        return "" if stat.S_ISDIR(found.st_mode) else f"{path} is no folder"
    is_tree = _is_git_folder(path) if stat.S_ISDIR(found.st_mode) else _leads_to_git_folder(path)
    return "" if is_tree else f"{path} is no git repository"


def _is_git_folder(path: str) -> bool:
    """As git itself tells: a HEAD, objects and refs, here or where a worktree shares them."""
    if not os.path.lexists(os.path.join(path, "HEAD")):
        return False
    if os.path.isfile(os.path.join(path, "commondir")):
        return True
    return all(os.path.isdir(os.path.join(path, name)) for name in ("objects", "refs"))


def _leads_to_git_folder(path: str) -> bool:
    """A worktree or a submodule has a file that says where its git folder is."""
    target = _pointer(path, b"gitdir:")
    return bool(target) and _is_git_folder(target)


def main_checkout(top: str) -> str:
    """Returns the checkout that a worktree of git was made from; empty where `top` is no such worktree."""
    git_folder = _pointer(os.path.join(top, ".git"), b"gitdir:")
    shared = _pointer(os.path.join(git_folder, "commondir"), b"") if git_folder else ""
    place, name = os.path.split(os.path.realpath(shared))
    return place if shared and name == ".git" else ""


def _pointer(path: str, begin: bytes) -> str:
    """Returns the path that one of git's files holds, after these words; empty where it holds none. A pipe in its place
    is not waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            words = os.read(descriptor, _LONGEST_POINTER)
        finally:
            os.close(descriptor)
    except OSError:
        return ""
    target = os.fsdecode(words.removeprefix(begin).strip())
    is_path = words.startswith(begin) and target and "\0" not in target
    return os.path.join(os.path.dirname(path), target) if is_path else ""


def _writable_by_others(folder: str) -> str:
    """Returns why somebody else may put things into the folder; empty where nobody may."""
    try:
        found = os.stat(folder)
    except OSError as error:
        return f"{folder} cannot be looked at: {error.strerror}"
    if found.st_mode & stat.S_IWOTH:
        return f"everybody may write to {folder}"
    if found.st_mode & stat.S_IWGRP and not _is_private_group(found.st_gid):
        return f"a group of users may write to {folder}"
    return ""


@cache
def _is_private_group(gid: int) -> bool:
    """Whether a group is the person's own, with nobody else in it: many systems give everybody one."""
    import grp
    import pwd

    try:
        person, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    return (
        gid == person.pw_gid and group.gr_name == person.pw_name and not set(group.gr_mem) - {person.pw_name}
    )
