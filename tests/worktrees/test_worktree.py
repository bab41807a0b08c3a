"""Branches and worktrees of sessions, on real repositories."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.errors import Conflict, InvalidInput, LeadsOut, NotFound
from maestro.ledger.facts import Worktree
from maestro.worktrees import worktree as worktrees
from maestro.worktrees.overlaps import Overlap, Touched, overlaps

SESSION = "sess_01JABCDEFGHJKMNPQRS7X2K9Q"
IDENTITY = ("-c", "user.name=Tester", "-c", "user.email=t@example.org")


def git(folder: Path | str, *words: str) -> str:
    done = subprocess.run(["git", *IDENTITY, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def commit(folder: Path | str, files: dict[str, str], message: str = "change") -> None:
    for name, content in files.items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", message)


@pytest.fixture
def repository(place: Path) -> Path:
    folder = place / "the prøject"
    folder.mkdir()
    (place / ".gitconfig").write_text(
        "[user]\nname = T\nemail = t@example.org\n[init]\ndefaultBranch = main\n"
    )
    git(folder, "init", "-q")
    commit(folder, {"a.txt": "one\n", "sub dir/b.txt": "two\n", ".gitignore": "ignored/\n"})
    return folder


def made(
    repository: Path, place: Path, session: str = SESSION, title: str = "Fix the Löwe: now!"
) -> Worktree:
    return worktrees.create(str(repository), str(place / "work trees" / session), session, title)


def state(folder: Path) -> tuple[str, ...]:
    """All that must not change: refs, files, index."""
    return (
        git(folder, "for-each-ref"),
        git(folder, "rev-parse", "HEAD"),
        git(folder, "status", "--porcelain=v2", "--branch", "--untracked-files=all"),
        git(folder, "worktree", "list", "--porcelain"),
    )


def test_a_session_gets_a_branch_and_a_folder_of_its_own(repository: Path, place: Path) -> None:
    tree = made(repository, place)
    assert tree.branch == "maestro/7x2k9q-fix-the-lowe-now"
    assert tree.cwd == tree.path == str(place / "work trees" / SESSION)
    assert (Path(tree.path) / "sub dir/b.txt").read_text() == "two\n"
    assert git(tree.path, "branch", "--show-current") == tree.branch
    assert git(repository, "branch", "--show-current") == "main"


def test_the_same_call_again_finds_what_is_there(repository: Path, place: Path) -> None:
    first = made(repository, place)
    (Path(first.path) / "a.txt").write_text("mine")
    assert made(repository, place) == first
    assert worktrees.find(str(repository), first.path) == first
    assert (Path(first.path) / "a.txt").read_text() == "mine"


def test_a_project_that_is_a_subfolder(repository: Path, place: Path) -> None:
    tree = worktrees.create(str(repository / "sub dir"), str(place / "w"), SESSION)
    assert tree.cwd == str(place / "w/sub dir")
    (Path(tree.cwd) / "new.txt").write_text("x")
    assert worktrees.touched_files(tree).files == ("sub dir/new.txt",)
    commit(tree.path, {})
    assert worktrees.merge(tree).files == ("sub dir/new.txt",)
    assert (repository / "sub dir/new.txt").exists()


def test_a_subfolder_that_git_does_not_hold_is_made(repository: Path, place: Path) -> None:
    (repository / "ignored").mkdir()
    assert os.path.isdir(worktrees.create(str(repository / "ignored"), str(place / "w"), SESSION).cwd)


def test_a_subfolder_that_the_commit_holds_as_a_link_is_refused(repository: Path, place: Path) -> None:
    outside = place / "outside"
    outside.mkdir()
    (repository / "link").symlink_to(outside)
    (repository / "deep").symlink_to(outside)
    commit(repository, {})
    for name in ("link", "deep"):
        (repository / name).unlink()  # a folder of the person's own, in place of the committed link
    (repository / "link").mkdir()
    (repository / "deep/er").mkdir(parents=True)
    for project in ("link", "deep/er"):
        path = str(place / project.replace("/", "-"))
        for _ in range(2):  # the second call finds the worktree of the first
            with pytest.raises(LeadsOut, match="is a link"):
                worktrees.create(str(repository / project), path, SESSION)
    assert os.listdir(outside) == []


def test_a_working_folder_that_became_a_link_is_refused(repository: Path, place: Path) -> None:
    tree = worktrees.create(str(repository / "sub dir"), str(place / "w"), SESSION)
    worktrees.require_no_link(tree)
    os.rename(tree.cwd, f"{tree.cwd} away")
    worktrees.require_no_link(tree)  # whoever starts a program there tells that it is gone
    os.symlink(place, tree.cwd)
    with pytest.raises(LeadsOut, match="is a link"):
        worktrees.require_no_link(tree)


def test_a_worktree_of_a_worktree(repository: Path, place: Path) -> None:
    outer = made(repository, place)
    inner = worktrees.create(outer.path, str(place / "inner"), "sess_000000", "t")
    commit(inner.path, {"i.txt": "1"})
    assert worktrees.merge(inner).into == outer.branch


def test_where_there_can_be_none(place: Path) -> None:
    empty = place / "empty"
    empty.mkdir()
    with pytest.raises(InvalidInput, match="not in a git repository"):
        worktrees.create(str(empty), str(place / "w"), SESSION)
    git(empty, "init", "-q")
    with pytest.raises(Conflict, match="without a commit"):
        worktrees.create(str(empty), str(place / "w"), SESSION)
    git(place, "init", "-q", "--bare", "bare")
    with pytest.raises(InvalidInput, match="not in a git repository with files"):
        worktrees.create(str(place / "bare"), str(place / "w"), SESSION)
    with pytest.raises(NotFound, match="no folder"):
        worktrees.create(str(place / "nowhere"), str(place / "w"), SESSION)
    assert not (place / "w").exists()


def test_leftovers_are_cleared(repository: Path, place: Path) -> None:
    tree = made(repository, place)
    subprocess.run(["rm", "-rf", tree.path], check=True)
    again = made(repository, place)
    assert again == tree

    # As `git worktree add` leaves it when it is killed during the checkout.
    folder = Path(git(again.path, "rev-parse", "--absolute-git-dir"))
    (folder / "locked").write_text("initializing")
    (Path(again.path) / "a.txt").unlink()
    assert worktrees.find(str(repository), again.path) is None
    assert (Path(made(repository, place).path) / "a.txt").exists()


def test_a_branch_with_work_is_never_taken_over(repository: Path, place: Path) -> None:
    first = made(repository, place)
    commit(first.path, {"w.txt": "work"})
    worktrees.remove(first, force=True)
    second = made(repository, place)
    assert second.branch == f"{first.branch}-2"
    assert git(repository, "show", f"{first.branch}:w.txt") == "work"


def test_a_folder_in_the_way_is_left_alone(repository: Path, place: Path) -> None:
    (place / "w").mkdir()
    (place / "w/precious").write_text("x")
    with pytest.raises(Conflict, match="in the way"):
        worktrees.create(str(repository), str(place / "w"), SESSION)
    assert (place / "w/precious").exists()


def test_the_diff_has_everything_and_changes_nothing(repository: Path, place: Path) -> None:
    tree = made(repository, place)
    commit(tree.path, {"committed.txt": "c\n"})
    (Path(tree.path) / "a.txt").write_text("staged\n")
    git(tree.path, "add", "a.txt")
    (Path(tree.path) / "sub dir/b.txt").write_text("unstaged\n")
    (Path(tree.path) / "nëw file\n.txt").write_text("untracked\n")
    (Path(tree.path) / "ignored").mkdir()
    (Path(tree.path) / "ignored/x").write_text("no")
    commit(repository, {"other.txt": "of the project\n"})
    before, objects = state(Path(tree.path)), git(repository, "count-objects", "-v")
    patch = worktrees.diff(tree)
    for word in ("+c", "+staged", "+unstaged", "+untracked", "-one"):
        assert f"\n{word}\n" in patch
    assert "of the project" not in patch
    assert "ignored/x" not in patch
    files = worktrees.touched_files(tree).files
    assert files == ("a.txt", "committed.txt", "nëw file\n.txt", "sub dir/b.txt")
    assert (state(Path(tree.path)), git(repository, "count-objects", "-v")) == (before, objects)


def test_the_diff_is_a_patch_that_applies(repository: Path, place: Path) -> None:
    tree = made(repository, place)
    (Path(tree.path) / "bin").write_bytes(bytes(range(256)))
    (Path(tree.path) / "a.txt").unlink()
    (place / "p.diff").write_text(worktrees.diff(tree))
    git(repository, "apply", "--index", str(place / "p.diff"))
    assert (repository / "bin").read_bytes() == bytes(range(256))
    assert not (repository / "a.txt").exists()


def test_merge(repository: Path, place: Path) -> None:
    tree = made(repository, place)
    assert worktrees.merge(tree).files == ()
    commit(tree.path, {"n.txt": "new\n"})
    commit(repository, {"p.txt": "project\n"})
    (repository / "untracked").write_text("stays")
    done = worktrees.merge(tree, "Merge the fix")
    assert (done.into, done.files) == ("main", ("n.txt",))
    assert git(repository, "log", "-1", "--format=%s") == "Merge the fix"
    assert (repository / "n.txt").read_text() == "new\n"
    assert worktrees.merge(tree).files == ()


@pytest.mark.parametrize(
    "fault", ["conflict", "dirty project", "dirty worktree", "in the way", "detached", "hook"]
)
def test_a_merge_that_cannot_be_leaves_everything_as_it_was(
    repository: Path, place: Path, fault: str
) -> None:
    tree = made(repository, place)
    commit(tree.path, {"a.txt": "theirs\n", "n.txt": "n"})
    if fault == "conflict":
        commit(repository, {"a.txt": "ours\n"})
    elif fault == "dirty project":
        (repository / "sub dir/b.txt").write_text("dirty")
    elif fault == "dirty worktree":
        (Path(tree.path) / "forgotten").write_text("dirty")
    elif fault == "in the way":
        (repository / "n.txt").write_text("precious")
    elif fault == "detached":
        git(repository, "checkout", "-q", "--detach")
    else:
        hook = repository / ".git/hooks/pre-merge-commit"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\nexit 1\n")
        hook.chmod(0o755)
    before = state(repository), state(Path(tree.path))
    with pytest.raises(Conflict) as caught:
        worktrees.merge(tree)
    assert (state(repository), state(Path(tree.path))) == before
    assert not (repository / ".git/MERGE_HEAD").exists()
    if fault == "conflict":
        assert "both changed a.txt" in caught.value.message
    if fault == "in the way":
        assert (repository / "n.txt").read_text() == "precious"


def test_removing_what_is_merged_leaves_nothing(repository: Path, place: Path) -> None:
    tree = made(repository, place)
    commit(tree.path, {"n.txt": "new\n"})
    worktrees.merge(tree)
    removed = worktrees.remove(tree)
    assert (removed.is_branch_kept, removed.was_work_saved) == (False, False)
    assert not os.path.exists(tree.path)
    assert "maestro/" not in git(repository, "branch", "--all")
    assert git(repository, "worktree", "list").count("\n") == 0
    assert worktrees.remove(tree).is_branch_kept is False


def test_work_is_not_removed_without_force_and_not_lost_with_it(repository: Path, place: Path) -> None:
    tree = made(repository, place)
    (Path(tree.path) / "new").write_text("uncommitted")
    with pytest.raises(Conflict, match="not committed: new"):
        worktrees.remove(tree)
    commit(tree.path, {})
    with pytest.raises(Conflict, match="not merged"):
        worktrees.remove(tree)
    (Path(tree.path) / "more").write_text("more work")
    removed = worktrees.remove(tree, force=True)
    assert (removed.is_branch_kept, removed.was_work_saved) == (True, True)
    assert not os.path.exists(tree.path)
    assert git(repository, "show", f"{tree.branch}:new") == "uncommitted"
    assert git(repository, "show", f"{tree.branch}:more") == "more work"


def test_commits_on_no_branch_are_kept_too(repository: Path, place: Path) -> None:
    tree = made(repository, place)
    git(tree.path, "checkout", "-q", "--detach")
    commit(tree.path, {"new": "detached work"})
    with pytest.raises(Conflict):
        worktrees.remove(tree)
    removed = worktrees.remove(tree, force=True)
    assert git(repository, "show", f"{removed.branch}:new") == "detached work"


def test_a_creation_that_was_killed_is_finished_by_the_next(repository: Path, place: Path) -> None:
    for number in range(300):
        (repository / f"file{number}").write_text("x" * 1000)
    commit(repository, {})
    program = (
        "import sys; from maestro.worktrees import worktree;"
        "print('go', flush=True); worktree.create(*sys.argv[1:])"
    )
    arguments = (str(repository), str(place / "w"), SESSION, "t")
    for trial in range(5):
        child = subprocess.Popen(
            [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, process_group=0
        )
        assert child.stdout
        child.stdout.readline()
        try:
            child.wait(timeout=0.004 * (trial + 1))
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()
        for lock in (repository / ".git").rglob("*.lock"):
            lock.unlink()  # git's own advice after a crash
        tree = worktrees.create(*arguments)
        assert git(tree.path, "status", "--porcelain") == ""
        assert len(os.listdir(tree.path)) > 300
        worktrees.remove(tree)
        assert git(repository, "branch", "--list", "maestro/*") == ""


@given(st.text(max_size=30), st.text(max_size=80))
def test_any_title_makes_a_valid_branch(session: str, title: str) -> None:
    name = worktrees.branch_name(f"sess_{session}7X2K9Q", title)
    assert name.startswith("maestro/")
    assert not set(name) - set("abcdefghijklmnopqrstuvwxyz0123456789-/")
    assert not name.endswith(("-", "/"))


def test_files_of_two_sessions() -> None:
    touched = {
        "sess_b": Touched("/r", ("a", "b", "a")),
        "sess_a": Touched("/r", ("b", "c")),
        "sess_c": Touched("/other", ("a", "b")),
        "sess_d": Touched("/r", ()),
    }
    assert overlaps(touched) == (Overlap("/r", "b", ("sess_a", "sess_b")),)
    assert overlaps({}) == ()
