"""git in a project, and in a session's worktree of it as the project's repository has it recorded."""

from __future__ import annotations

import os

from maestro.errors import Conflict, GitFailed, InvalidInput, NotFound
from maestro.ledger.facts import Worktree
from maestro.worktrees.git import Git, Place

_LONGEST_LINK = 10_000


def repository(folder: str) -> Git:
    """git in a project's folder."""
    if not os.path.isdir(folder):
        raise NotFound(f"There is no folder {folder}.")
    git = Git(folder)
    if git.place is not None:
        return git
    try:
        git("rev-parse", "--is-inside-work-tree")
    except GitFailed as error:
        if "dubious ownership" in error.context["words"]:
            raise Conflict(
                f"git does not trust {folder}, which belongs to another user.",
                hint=f"If you do, type: git config --global --add safe.directory {folder}",
            ) from error
    raise InvalidInput(
        f"{folder} is not in a git repository with files, so it can have no worktree.",
        hint="Make it one with `git init` and a commit, or leave out --worktree.",
    )


def inside(worktree: Worktree) -> Git:
    """git in the session's worktree, as the project's repository has it recorded.

    The session can write the `.git` that is in there: it is read by nobody, and nothing is done when it leads elsewhere.
    """
    place = repository(worktree.project).place
    assert place is not None, worktree.project
    recorded = _record_of(place.common, worktree.path)
    if not os.path.isdir(worktree.path):
        raise NotFound(f"There is no folder {worktree.path}.")
    if recorded is None or _leads_to(os.path.join(worktree.path, ".git")) != recorded:
        raise Conflict(
            f"The worktree {worktree.path} no longer belongs to the repository of {worktree.project}: "
            "its .git was replaced, or its record is gone.",
            hint=f"Move what is in its place away, then type: git -C {worktree.project} worktree repair {worktree.path}",
        )
    return Git(worktree.path, place=Place(recorded, place.common, os.path.realpath(worktree.path)))


def stage_all(git: Git) -> None:
    """Stage every file of the worktree that git works at the top of, without a look into repositories inside it.

    `git add` would run git in each that is staged already, and that one's settings would count.
    """
    inner = staged_repositories(git)
    # Of an inner repository only the commit that it is at is staged, which its files tell.
    listed = "\0".join([":/", *(f":(top,exclude,literal){path}" for path in inner)])
    git.raw("add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul", stdin=_encoded(listed))
    if inner:
        git.raw("update-index", "--add", "--remove", "-z", "--stdin", stdin=_encoded("\0".join(inner)))


def staged_repositories(git: Git) -> tuple[str, ...]:
    """Returns the folders of other repositories that are staged as such: submodules, and what somebody put there."""
    entries = (entry.partition("\t") for entry in git.names("ls-files", "--stage", "-z"))
    return tuple(dict.fromkeys(path for mode, _, path in entries if mode.startswith("160000 ")))


def _record_of(common: str, path: str) -> str | None:
    """Returns git's folder for the worktree at this path."""
    records = os.path.join(common, "worktrees")
    wanted = os.path.join(os.path.realpath(path), ".git")
    for name in sorted(os.listdir(records)) if os.path.isdir(records) else ():
        try:
            with open(os.path.join(records, name, "gitdir"), "rb") as file:
                told = os.fsdecode(file.read()).strip("\n")
        except OSError:
            continue
        folder = os.path.join(records, name, os.path.dirname(told))
        if os.path.join(os.path.realpath(folder), os.path.basename(told)) == wanted:
            return os.path.realpath(os.path.join(records, name))
    return None


def _leads_to(link: str) -> str | None:
    """Returns the folder that a worktree's `.git` file names."""
    try:
        descriptor = os.open(link, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            told = os.fsdecode(file.read(_LONGEST_LINK))
    except OSError:
        return None
    folder = told.removeprefix("gitdir: ").strip("\n")
    return os.path.realpath(os.path.join(os.path.dirname(link), folder)) if told != folder else None


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def identity(git: Git) -> dict[str, str]:
    """Variables that name who commits: the user, or Maestro where git knows none."""
    name = git.maybe("config", "user.name") or "Maestro"
    mail = git.maybe("config", "user.email") or "maestro@localhost"
    return {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in (("NAME", name), ("EMAIL", mail))}  # fmt: skip


def common_folder(git: Git) -> str:
    """Returns the git folder that all worktrees of a repository share."""
    assert git.place is not None, git.folder
    return git.place.common
