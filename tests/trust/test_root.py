"""Where a project begins: only in a real one, of this user, that nobody else could have put there."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests import skips
from tests.support import Maestro

from maestro.trust.root import find_root, main_checkout


@pytest.fixture
def shared(place: Path) -> Path:
    """A folder that everybody may write to, as the system's temporary one is."""
    folder = Path(os.path.realpath(place)) / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


def repository(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


def below(folder: Path, *names: str) -> Path:
    inner = folder.joinpath(*names)
    inner.mkdir(parents=True)
    return inner


def test_an_empty_git_folder_is_no_project(place: Path) -> None:
    top = Path(os.path.realpath(place)) / "work"
    (top / ".git").mkdir(parents=True)
    inner = below(top, "a", "b")
    found = find_root(str(inner))
    assert found.folder == str(inner)
    assert found.skipped == (f"{top} does not count as the project: {top}/.git is no git repository.",)


def test_a_real_work_tree_is_one(place: Path) -> None:
    top = repository(Path(os.path.realpath(place)) / "work")
    assert find_root(str(below(top, "a", "b"))) == (str(top), ())


def test_a_worktree_of_git_is_one(place: Path) -> None:
    top = repository(Path(os.path.realpath(place)) / "work")
    git = ["git", "-C", str(top), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(top.parent / "other")], check=True)
    assert find_root(str(below(top.parent / "other", "a"))).folder == str(top.parent / "other")


def test_a_pointer_to_nowhere_is_none(place: Path) -> None:
    top = below(Path(os.path.realpath(place)), "work")
    (top / ".git").write_text("gitdir: /nowhere\n")
    assert find_root(str(below(top, "a"))).folder == str(top / "a")


def test_what_is_no_pointer_at_all_is_none_and_not_waited_for(place: Path) -> None:
    top = below(Path(os.path.realpath(place)), "work")
    inner = below(top, "a")
    (top / ".git").write_bytes(b"gitdir: no\0where\n")
    assert (find_root(str(inner)).folder, main_checkout(str(top))) == (str(inner), "")
    (top / ".git").unlink()
    os.mkfifo(top / ".git")
    assert (find_root(str(inner)).folder, main_checkout(str(top))) == (str(inner), "")


@pytest.mark.parametrize("mark", [".git", ".maestro"])
def test_a_folder_that_everybody_may_write_to_is_none(shared: Path, mark: str) -> None:
    if mark == ".git":
        repository(shared)
    else:
        (shared / ".maestro").mkdir()
    inner = below(shared, "mine", "src")
    found = find_root(str(inner))
    assert found.folder == str(inner)
    assert found.skipped == (f"{shared} does not count as the project: everybody may write to {shared}.",)
    project = repository(shared / "mine")
    assert find_root(str(inner)) == (str(project), ()), "below it a project is one"


def test_a_project_behind_a_folder_that_everybody_may_write_to_is_none(place: Path) -> None:
    top = repository(Path(os.path.realpath(place)) / "work")
    (drop := below(top, "drop")).chmod(0o777)
    assert find_root(str(below(drop, "a"))).folder == str(drop / "a")


@skips.needs_root
def test_a_folder_of_a_shared_group_is_none(place: Path) -> None:
    top = repository(Path(os.path.realpath(place)) / "work")
    inner = below(top, "a")
    os.chown(top, -1, 12_345)
    top.chmod(0o775)
    assert find_root(str(inner)).folder == str(inner)
    top.chmod(0o755)
    assert find_root(str(inner)).folder == str(top)


@skips.needs_root
@pytest.mark.parametrize("which", ["", ".git"])
def test_what_belongs_to_another_user_is_none(place: Path, which: str) -> None:
    top = repository(Path(os.path.realpath(place)) / "work")
    inner = below(top, "a")
    os.chown(top / which, 12_345, -1)
    found = find_root(str(inner))
    assert found.folder == str(inner)
    assert "belongs to another user" in found.skipped[0]


def test_the_home_ends_the_search(place: Path) -> None:
    home = Path(os.path.realpath(place))
    repository(home)
    assert find_root(str(below(home, "a"))).folder == str(home / "a")
    assert find_root(str(home)).folder == str(home), "unless one is there"


def test_what_was_skipped_is_said(maestro: Maestro, shared: Path) -> None:
    (shared / ".maestro").mkdir()
    inner = below(shared, "mine")
    listed = maestro("delegate", "list", cwd=inner)
    assert listed.returncode == 0
    assert (
        f"maestro: {shared} does not count as the project: everybody may write to {shared}." in listed.stderr
    )


@skips.needs_root
def test_a_state_folder_of_another_user_is_not_used(maestro: Maestro, shared: Path) -> None:
    (shared / ".maestro").mkdir()
    assert maestro("delegate", "list", cwd=shared).returncode == 0
    os.chown(shared / ".maestro", 12_345, -1)
    for words in (("delegate", "list"), ("tag", "list"), ("chain", "list")):
        done = maestro(*words, cwd=shared)
        assert (done.returncode != 0, "belongs to another user" in done.stderr) == (True, True), (words, done)
    assert os.listdir(shared / ".maestro") == []
