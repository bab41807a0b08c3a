"""A branch and a worktree for each session that wants one, by git.

Nothing that a session has written is ever lost here: what is not committed or not merged is refused to be removed, and
with force it is kept as a branch.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import unicodedata

import msgspec

from maestro import confined
from maestro.errors import Conflict, GitFailed
from maestro.ledger.facts import Worktree
from maestro.redact import clean
from maestro.worktrees.git import Git
from maestro.worktrees.overlaps import Touched
from maestro.worktrees.repository import (
    common_folder,
    identity,
    inside,
    repository,
    stage_all,
    staged_repositories,
)

PREFIX = "maestro/"
_LONGEST_SLUG = 40
_SHOWN = 5
_MERGE_CHECKS = frozenset(
    {"commit-msg", "pre-merge-commit", "prepare-commit-msg"}
)  # hooks that can stop a merge
# git looks for both commits of a submodule in its repository, and would fetch a missing one as that one's settings say.
_FETCHES_NOTHING = {"GIT_ALLOW_PROTOCOL": "none"}
_INITIALISING = "initializing"  # git's own word for a worktree whose checkout has not finished


class Merged(msgspec.Struct, frozen=True):
    branch: str
    into: str
    commit: str
    files: tuple[str, ...]  # nothing, when everything was merged before


class Removed(msgspec.Struct, frozen=True):
    branch: str
    is_branch_kept: bool
    was_work_saved: bool  # uncommitted changes became a commit on the branch that is kept


def branch_name(session_id: str, title: str) -> str:
    """`maestro/7x2k9q-fix-the-login`: readable, and a valid ref whatever the title is. Pure."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST_SLUG].strip("-")
    short = re.sub(r"[^a-z0-9]+", "", session_id.lower())[-6:]
    return f"{PREFIX}{short}-{slug}" if slug else f"{PREFIX}{short}"


def create(project: str, path: str, session_id: str, title: str = "") -> Worktree:
    """Make the session's branch and worktree at `path`. After a crash, the same call finishes what it began."""
    git = require_commit(project)
    known = find(project, path)
    if known is None:
        _clear_leftovers(git, path)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        _add(git, path, branch_name(session_id, title))
        known = find(project, path)
        assert known is not None, path
    # The project's folder may be one that git does not hold, or one that the commit holds as a link.
    confined.make_folders(known.cwd, 0o755)
    return known


def require_no_link(worktree: Worktree) -> None:
    """Refuse a worktree whose working folder has become a link: its session had all of it in its hands.

    A folder that is not there is for whoever starts a program in it to tell."""
    with contextlib.suppress(OSError):
        confined.folder(worktree.cwd).close()


def require_commit(project: str) -> Git:
    """git in a folder that worktrees can be made of."""
    git = repository(project)
    if git.maybe("rev-parse", "--verify", "--quiet", "HEAD^{commit}") is None:
        raise Conflict(
            f"{project} is in a repository without a commit, which no worktree can be made of.",
            hint='Make the first one: git commit --allow-empty -m "Begin"',
        )
    return git


def find(project: str, path: str) -> Worktree | None:
    """The worktree at this path, if there is a whole one of this project's repository."""
    git = repository(project)
    real = os.path.realpath(path)
    for entry in _worktrees(git):
        if entry["worktree"] == real and _INITIALISING not in entry.get("locked", "") and os.path.isdir(real):
            branch = entry.get("branch", "").removeprefix("refs/heads/")
            prefix = git("rev-parse", "--show-prefix")
            return Worktree(
                project=project, path=real, cwd=os.path.join(real, prefix).rstrip("/"), branch=branch
            )
    return None


def diff(worktree: Worktree) -> str:
    """The patch, to be read."""
    return patch(worktree).decode("utf-8", "replace")


def patch(worktree: Worktree) -> bytes:
    """Everything that the session has changed since it left the project's branch, committed or not."""
    git = inside(worktree)
    with tempfile.TemporaryDirectory(prefix="maestro-diff") as scratch:
        tree = _snapshot(git, scratch, keep=False)
        return git.with_env(_scratch_objects(git, scratch)).raw(
            "diff", "--no-color", "--binary", _base(worktree, git), tree
        )


def touched_files(worktree: Worktree) -> Touched:
    """The files that the session has changed, relative to the repository's top."""
    git = inside(worktree).with_env({"GIT_OPTIONAL_LOCKS": "0"})
    changed = git.names("diff", "--name-only", "--no-renames", "-z", _base(worktree, git))
    new = git.names("ls-files", "--others", "--exclude-standard", "-z")
    return Touched(common_folder(git), tuple(sorted({*changed, *new})))


def merge(worktree: Worktree, message: str = "") -> Merged:
    """Merge the session's branch into the branch that the project is on. On any fault everything stays as it was."""
    git = repository(worktree.project)
    into = git.maybe("symbolic-ref", "--quiet", "--short", "HEAD")
    if into is None:
        raise Conflict(f"{worktree.project} is on no branch.", hint="Check one out: git switch BRANCH")
    branch = _require_branch(worktree)
    _require_clean(
        inside(worktree), f"{branch} has changes that are not committed", "Commit them there first."
    )
    _require_clean(
        git,
        f"{worktree.project} has changes that are not committed",
        "Commit or stash them first.",
        untracked=False,
    )
    if staged_repositories(git):
        git = git.with_env(_FETCHES_NOTHING)
    before = git("rev-parse", "HEAD")
    if git.says_yes("merge-base", "--is-ancestor", branch, "HEAD"):
        return Merged(branch, into, before, ())
    _require_hooks(git, branch)
    _require_no_conflict(git, branch, into)
    try:
        git("merge", "--no-ff", "--no-edit", "-m", message or f"Merge {branch} into {into}", branch)
    except GitFailed as error:
        if git.maybe("rev-parse", "--verify", "--quiet", "MERGE_HEAD") is not None:
            git.maybe("merge", "--abort")
        raise Conflict(
            f"{branch} cannot be merged into {into}: {error.context['words']}", hint="Nothing was changed."
        ) from error
    files = git.names("diff", "--name-only", "--no-renames", "-z", before, "HEAD")
    return Merged(branch, into, git("rev-parse", "HEAD"), files)


def remove(worktree: Worktree, *, force: bool = False) -> Removed:
    """Remove the worktree, and its branch if all of it is merged.

    Refused while there is work that is not committed or not merged. With force, such work stays on the branch.
    """
    git = repository(worktree.project)
    if not os.path.isdir(worktree.path):
        git("worktree", "prune")
        return Removed(worktree.branch, _keep_unless_merged(git, worktree.branch), was_work_saved=False)
    own = inside(worktree)
    dirty = _changes(own)
    if not force:
        if dirty:
            raise Conflict(
                f"The worktree {worktree.path} has changes that are not committed: {_listed(dirty)}.",
                hint="Commit them there, or use --force: they are then kept as a commit on its branch.",
            )
        if entered := _checked_out_submodules(own):
            raise Conflict(
                f"The worktree {worktree.path} holds other repositories, which Maestro does not look into: "
                f"{_listed(entered)}.",
                hint="Save what was done in them elsewhere, then use --force.",
            )
        if not _is_merged(git, own("rev-parse", "HEAD")):
            raise Conflict(
                f"{worktree.branch} has commits that are not merged.",
                hint="Merge them with `maestro session merge`, or use --force: the branch is then kept.",
            )
    branch = own.maybe("symbolic-ref", "--quiet", "--short", "HEAD") or _branch_for_detached(own, worktree)
    if dirty:
        _save_uncommitted(own, branch)
    git("worktree", "remove", "--force", worktree.path)
    return Removed(branch, _keep_unless_merged(git, branch), was_work_saved=bool(dirty))


def _worktrees(git: Git) -> list[dict[str, str]]:
    """git's list of worktrees, each with its attributes."""
    found: list[dict[str, str]] = []
    for line in (
        git.raw("worktree", "list", "--porcelain", "-z").decode("utf-8", "surrogateescape").split("\0")
    ):
        name, _, value = line.partition(" ")
        if name == "worktree":
            found.append({name: value})
        elif name:
            found[-1][name] = value
    return found


def _clear_leftovers(git: Git, path: str) -> None:
    """Take away what a killed `git worktree add` left; never a folder that a session may have worked in."""
    real = os.path.realpath(path)
    for entry in _worktrees(git):
        if entry["worktree"] == real and _INITIALISING in entry.get("locked", ""):
            git("worktree", "remove", "--force", "--force", real)
    git("worktree", "prune")
    if os.path.lexists(path) and (not os.path.isdir(path) or os.listdir(path)):
        raise Conflict(f"{path} is in the way of a new worktree.", hint="Move it elsewhere.")


def _add(git: Git, path: str, wanted: str) -> None:
    """Add the worktree under the wanted name, or the next free one. An unused branch of that name is taken over."""
    for number in range(1, 100):
        branch = wanted if number == 1 else f"{wanted}-{number}"
        at = git.maybe("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}")
        if at is None:
            git("worktree", "add", "--quiet", "-b", branch, path, "HEAD")
            return
        is_in_use = any(entry.get("branch") == f"refs/heads/{branch}" for entry in _worktrees(git))
        if not is_in_use and git("rev-parse", "HEAD") == at:
            git("worktree", "add", "--quiet", path, branch)
            return
    raise Conflict(f"There are a hundred branches called {wanted}.", hint="Remove some with git branch -d.")


def _base(worktree: Worktree, git: Git) -> str:
    """The commit where the session's work left the project's."""
    project = repository(worktree.project)
    base = git.maybe("merge-base", project("rev-parse", "HEAD"), "HEAD")
    return base or git("hash-object", "-t", "tree", "/dev/null")


def _scratch_objects(git: Git, scratch: str) -> dict[str, str]:
    """Variables that let git write objects into a scratch folder while it reads the repository's."""
    objects = os.path.join(scratch, "objects")
    os.makedirs(objects, exist_ok=True)
    return {
        "GIT_OBJECT_DIRECTORY": objects,
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(os.path.join(common_folder(git), "objects")),
    }


def _quoted(path: str) -> str:
    """A path in a list that is separated by colons, in git's way of quoting."""
    if ":" not in path and not path.startswith('"'):
        return path
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _snapshot(git: Git, scratch: str, *, keep: bool) -> str:
    """The files as they lie there, untracked ones too, as a tree. The index and the branch stay as they are."""
    index = os.path.join(scratch, "index")
    current = os.path.join(git("rev-parse", "--absolute-git-dir"), "index")
    if os.path.exists(current):
        shutil.copyfile(current, index)
    env = {"GIT_INDEX_FILE": index} | ({} if keep else _scratch_objects(git, scratch))
    apart = git.with_env(env)
    stage_all(apart)
    return apart("write-tree")


def _save_uncommitted(git: Git, branch: str) -> None:
    """Put what lies there uncommitted onto the branch, as a commit of its own."""
    with tempfile.TemporaryDirectory(prefix="maestro-save") as scratch:
        tree = _snapshot(git, scratch, keep=True)
    head = git("rev-parse", "HEAD")
    words = "Uncommitted work, kept when the worktree was removed"
    commit = git.with_env(identity(git))("commit-tree", tree, "-p", head, "-m", words)
    git("update-ref", "-m", "maestro: kept uncommitted work", f"refs/heads/{branch}", commit, head)


def _branch_for_detached(git: Git, worktree: Worktree) -> str:
    """A session that left its branch has its commits on none: give them one."""
    head = git("rev-parse", "HEAD")
    branch = f"{worktree.branch or PREFIX + 'detached'}-{head[:8]}"
    git("update-ref", f"refs/heads/{branch}", head)
    return branch


def _require_branch(worktree: Worktree) -> str:
    branch = inside(worktree).maybe("symbolic-ref", "--quiet", "--short", "HEAD")
    if branch is None:
        raise Conflict(
            f"The worktree {worktree.path} is on no branch.",
            hint=f"Type there: git switch -C {worktree.branch or PREFIX + 'work'}",
        )
    return branch


def _changes(git: Git, *, untracked: bool = True) -> tuple[str, ...]:
    """Paths that differ from the last commit."""
    found = git.names(
        "status", "--porcelain", "-z", "--no-renames", f"--untracked-files={'all' if untracked else 'no'}"
    )
    return tuple(entry[3:] for entry in found)


def _require_clean(git: Git, sentence: str, hint: str, *, untracked: bool = True) -> None:
    changed = _changes(git, untracked=untracked)
    if changed:
        raise Conflict(f"{sentence}: {_listed(changed)}.", hint=hint, files=list(changed[:100]))


def _checked_out_submodules(git: Git) -> tuple[str, ...]:
    return tuple(
        path for path in staged_repositories(git) if os.path.lexists(os.path.join(git.folder, path, ".git"))
    )


def _require_hooks(git: Git, branch: str) -> None:
    """A check of the repository's own that may not run is no check that has passed."""
    if skipped := sorted(_MERGE_CHECKS.intersection(git.unconfirmed_hooks())):
        raise Conflict(
            f"{branch} was not merged: the repository has hooks that check a merge ({', '.join(skipped)}), and nobody "
            "has confirmed that they are yours.",
            hint="Look at them; then confirm them with `maestro trust`, or remove them.",
        )


def _require_no_conflict(git: Git, branch: str, into: str) -> None:
    """Try the merge in memory. Older versions of git cannot; then the merge itself tells, and is taken back."""
    answer = git.answer("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", "HEAD", branch)
    if answer.returncode == 1:
        names = answer.stdout.decode("utf-8", "surrogateescape").split("\0")[1:]
        files = tuple(dict.fromkeys(name for name in names if name))
        raise Conflict(
            f"{branch} and {into} have both changed {_listed(files)}. Nothing was merged.",
            hint=f"Bring {into} into the session's branch first, there: git merge {into}",
            files=list(files[:100]),
        )


def _is_merged(git: Git, commit: str) -> bool:
    return git.says_yes("merge-base", "--is-ancestor", commit, "HEAD")


def _keep_unless_merged(git: Git, branch: str) -> bool:
    """Delete a branch whose commits are all in the project's; True when it stays."""
    at = git.maybe("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}") if branch else None
    if at is None:
        return False
    if not branch.startswith(PREFIX) or not _is_merged(git, at):
        return True
    git("update-ref", "-d", f"refs/heads/{branch}", at)
    return False


def _listed(files: tuple[str, ...]) -> str:
    more = len(files) - _SHOWN
    shown = ", ".join(
        clean(name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")) for name in files[:_SHOWN]
    )
    return f"{shown} and {more} more" if more > 0 else shown
