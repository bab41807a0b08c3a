"""git as Maestro runs it starts no program that a worker chose, and goes on to start the user's own."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.worktrees.test_worktree import commit, git, made

from maestro.errors import Conflict, GitFailed
from maestro.ledger.facts import Worktree
from maestro.worktrees import worktree as worktrees
from maestro.worktrees.git import Git, programs_of
from maestro.worktrees.git_settings import Confirmed
from maestro.worktrees.repository import inside, stage_all


@pytest.fixture
def repository(place: Path) -> Path:
    folder = place / "project"
    folder.mkdir()
    (place / ".gitconfig").write_text(
        "[user]\nname = T\nemail = t@example.org\n[init]\ndefaultBranch = main\n"
    )
    git(folder, "init", "-q")
    commit(
        folder,
        {"a.txt": "one\n", "b.txt": "two\n", ".gitattributes": "*.x filter=f diff=d merge=m\n", "c.x": "x\n"},
    )
    return folder


class Canary:
    """A program that writes down that it ran."""

    def __init__(self, place: Path) -> None:
        self.trace = place / "ran"
        self.program = place / "canary"
        self.program.write_text(f'#!/bin/sh\necho "$0 $*" >> {shlex.quote(str(self.trace))}\n')
        self.program.chmod(0o755)

    @property
    def has_run(self) -> bool:
        return self.trace.exists()

    def told(self) -> str:
        return self.trace.read_text() if self.has_run else ""

    def hook(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        hook = folder / name
        hook.write_text(f"#!/bin/sh\necho {name} >> {shlex.quote(str(self.trace))}\n")
        hook.chmod(0o755)


@pytest.fixture
def canary(place: Path) -> Canary:
    return Canary(place)


# All that can run here but those that check a merge: with one of these, it is refused.
HOOKS = (
    "pre-commit", "post-commit", "post-merge", "post-checkout", "post-index-change", "reference-transaction",
    "pre-auto-gc", "post-rewrite",
)  # fmt: skip


def nested_repository(tree: Worktree, canary: Canary) -> None:
    """A repository inside the worktree, committed as a submodule, whose settings name a program."""
    nested = Path(tree.path) / "nested"
    nested.mkdir()
    git(nested, "init", "-q")
    commit(nested, {"n.txt": "n\n"})
    git(tree.path, "add", "nested")
    git(tree.path, "commit", "-qm", "nested")
    git(nested, "config", "core.fsmonitor", str(canary.program))
    (nested / "n.txt").write_text("changed\n")


def unstaged_nested_repository(tree: Worktree, canary: Canary) -> None:
    nested = Path(tree.path) / "nested"
    nested.mkdir()
    git(nested, "init", "-q")
    commit(nested, {"n.txt": "n\n"})
    git(nested, "config", "core.fsmonitor", str(canary.program))


def nested_repository_that_wants_to_be_entered(tree: Worktree, canary: Canary) -> None:
    nested_repository(tree, canary)
    commit(tree.path, {".gitmodules": '[submodule "nested"]\npath = nested\nurl = ./nested\nignore = none\n'})
    for key, value in (
        ("submodule.recurse", "true"), ("status.submoduleSummary", "true"), ("diff.submodule", "diff"),
        ("submodule.nested.ignore", "none"), ("submodule.nested.active", "true"),
    ):  # fmt: skip
        git(tree.project, "config", key, value)


def fsmonitor(tree: Worktree, canary: Canary) -> None:
    git(tree.project, "config", "core.fsmonitor", str(canary.program))


def drivers(tree: Worktree, canary: Canary) -> None:
    for key in (
        "filter.f.clean", "filter.f.smudge", "filter.f.process", "diff.d.textconv", "diff.d.command", "diff.external",
        "merge.m.driver", "core.pager", "core.editor", "sequence.editor", "gpg.program", "core.sshCommand",
        "core.alternateRefsCommand", "credential.helper", "core.askPass", "pager.diff", "pager.status",
    ):  # fmt: skip
        git(tree.project, "config", key, str(canary.program))
    git(tree.project, "config", "commit.gpgSign", "false")


def nested_repository_in_the_project(tree: Worktree, canary: Canary) -> None:
    nested_repository(
        Worktree(project=tree.project, path=tree.project, cwd=tree.project, branch="main"), canary
    )


def hooks(tree: Worktree, canary: Canary) -> None:
    for name in HOOKS:
        canary.hook(Path(tree.project) / ".git/hooks", name)


def fetching(tree: Worktree, canary: Canary) -> None:
    """Objects that are missing, and a place to fetch them from that is a program."""
    for key, value in (
        ("extensions.partialClone", "origin"), ("remote.origin.promisor", "true"), ("remote.origin.url", tree.path),
        ("remote.origin.uploadpack", str(canary.program)), ("core.repositoryFormatVersion", "1"),
    ):  # fmt: skip
        git(tree.project, "config", key, value)
    blob = git(tree.project, "rev-parse", "HEAD:b.txt")
    (Path(tree.project) / ".git/objects" / blob[:2] / blob[2:]).unlink()


def hooks_elsewhere(tree: Worktree, canary: Canary) -> None:
    for name in HOOKS:
        canary.hook(Path(tree.path) / ".hooks", name)
    commit(tree.path, {"more": "more\n"})
    git(tree.project, "config", "core.hooksPath", f"{tree.path}/.hooks")


def settings_of_the_worktree(tree: Worktree, canary: Canary) -> None:
    for name in HOOKS:
        canary.hook(Path(tree.path) / ".hooks", name)
    commit(tree.path, {"more": "more\n"})
    git(tree.project, "config", "extensions.worktreeConfig", "true")
    git(tree.path, "config", "--worktree", "core.hooksPath", ".hooks")
    git(tree.path, "config", "--worktree", "core.fsmonitor", str(canary.program))


def included_settings(tree: Worktree, canary: Canary) -> None:
    commit(tree.path, {".settings": f"[core]\nfsmonitor = {canary.program}\n"})
    git(tree.project, "config", "include.path", f"{tree.path}/.settings")


ATTACKS: tuple[Callable[[Worktree, Canary], None], ...] = (
    nested_repository, unstaged_nested_repository, nested_repository_that_wants_to_be_entered,
    nested_repository_in_the_project, fsmonitor, drivers, hooks, hooks_elsewhere, settings_of_the_worktree,
    included_settings,
)  # fmt: skip


def use_all(tree: Worktree, place: Path) -> None:
    """Does everything that Maestro does with git around a worktree."""
    worktrees.diff(tree)
    worktrees.touched_files(tree)
    inside(tree).names("status", "--porcelain", "-z", "--ignored", "--untracked-files=all")
    Git(tree.project).names("status", "--porcelain", "-z")
    own = inside(tree)
    stage_all(own)
    own("commit", "--quiet", "--no-verify", "-m", "work")
    worktrees.merge(tree)
    worktrees.create(tree.project, str(place / "second"), "sess_second", "second")
    (Path(tree.path) / "c.x").write_text("left behind\n")
    worktrees.remove(tree, force=True)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_nothing_that_a_worker_wrote_is_run(
    repository: Path, place: Path, canary: Canary, attack: Callable[[Worktree, Canary], None]
) -> None:
    tree = made(repository, place)
    commit(tree.path, {"c.x": "theirs\n", "d.x": "new\n"})
    attack(tree, canary)
    (Path(tree.path) / "c.x").write_text("uncommitted\n")
    canary.trace.unlink(missing_ok=True)  # the git of this test runs what it is told to
    use_all(tree, place)
    assert canary.told() == ""


def test_a_missing_object_is_not_fetched_by_a_program_of_the_repository(
    repository: Path, place: Path, canary: Canary
) -> None:
    tree = made(repository, place)
    fetching(tree, canary)
    with pytest.raises(GitFailed):
        worktrees.create(tree.project, str(place / "second"), "sess_second", "second")
    assert canary.told() == ""


def test_a_setting_that_no_other_takes_back_stops_git_until_it_is_confirmed(
    repository: Path, place: Path, canary: Canary
) -> None:
    """Of several proxies git takes the first that fits."""
    tree = made(repository, place)
    fetching(tree, canary)
    git(repository, "config", "remote.origin.url", "git://127.0.0.1:1/x")
    git(repository, "config", "core.gitProxy", str(canary.program))
    with pytest.raises(Conflict, match=r"\(core\.gitproxy\)"):
        worktrees.create(tree.project, str(place / "second"), "sess_second", "second")
    assert canary.told() == ""
    agreed = programs_of(str(repository)).confirmed
    assert Git(str(repository), agreed=agreed)("rev-parse", "--is-inside-work-tree") == "true"


@pytest.mark.parametrize("key", ["gc.recentObjectsHook", "core.gitProxy"])
def test_every_setting_of_which_git_runs_more_than_the_last_stops_it(
    repository: Path, canary: Canary, key: str
) -> None:
    git(repository, "config", key, str(canary.program))
    with pytest.raises(Conflict, match="whatever else it is told"):
        Git(str(repository))("status")


def test_a_merge_fetches_no_commit_of_a_submodule_by_a_program_of_that_one(
    repository: Path, place: Path, canary: Canary
) -> None:
    nested = repository / "nested"
    nested.mkdir()
    git(nested, "init", "-q")
    commit(nested, {"n.txt": "n\n"})
    commit(repository, {})
    tree = made(repository, place)
    commit(nested, {"m.txt": "m\n"})
    commit(repository, {})
    git(tree.path, "update-index", "--cacheinfo", f"160000,{'1' * 40},nested")
    git(tree.path, "commit", "-qm", "theirs")
    for key, value in (
        ("extensions.partialClone", "origin"), ("remote.origin.promisor", "true"), ("remote.origin.url", "ssh://x/y"),
        ("core.sshCommand", str(canary.program)), ("core.repositoryFormatVersion", "1"),
    ):  # fmt: skip
        git(nested, "config", key, value)
    with pytest.raises(Conflict, match="both changed nested"):
        worktrees.merge(tree)
    assert canary.told() == ""


@pytest.mark.parametrize("how", ["folder", "file", "link"])
def test_a_git_file_that_was_replaced_is_not_followed(
    repository: Path, place: Path, canary: Canary, how: str
) -> None:
    tree = made(repository, place)
    commit(tree.path, {"n.txt": "n\n"})
    own = place / "worker's own"
    own.mkdir()
    git(own, "init", "-q")
    commit(own, {"n.txt": "n\n"})
    git(own, "config", "core.fsmonitor", str(canary.program))
    link = Path(tree.path) / ".git"
    link.unlink()
    if how == "folder":
        (own / ".git").rename(link)
    elif how == "file":
        link.write_text(f"gitdir: {own}/.git\n")
    else:
        link.symlink_to(own / ".git")
    for step in (worktrees.diff, worktrees.touched_files, worktrees.merge, worktrees.remove):
        with pytest.raises(Conflict, match=r"its \.git was replaced"):
            step(tree)
    assert canary.told() == ""
    assert (Path(tree.path) / "n.txt").exists()


def test_a_repository_that_says_its_files_are_elsewhere_is_refused(repository: Path, place: Path) -> None:
    (place / "victim").mkdir()
    git(repository, "config", "core.worktree", str(place))
    with pytest.raises(Conflict, match="which is not where it is"):
        worktrees.create(str(repository), str(place / "w"), "sess_w")


def test_settings_that_depend_on_conditions_are_refused(
    repository: Path, place: Path, canary: Canary
) -> None:
    """`git worktree add` runs git in the new worktree, where other conditions hold."""
    (repository / ".git/more").write_text(f'[filter "f"]\nsmudge = {canary.program}\n')
    git(repository, "config", "includeIf.gitdir:**/worktrees/**.path", "more")
    with pytest.raises(Conflict, match="depends on conditions"):
        worktrees.create(str(repository), str(place / "w"), "sess_w")
    assert canary.told() == ""


def test_a_program_in_the_folder_that_git_works_in_is_not_taken_for_git(
    repository: Path, canary: Canary, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary.program.rename(repository / "git")
    monkeypatch.setenv("PATH", f".:{Path('/usr/bin')}:/bin:/usr/local/bin")
    assert Git(str(repository))("rev-parse", "--is-inside-work-tree") == "true"
    assert canary.told() == ""


def of_user(*pairs: tuple[str, str]) -> None:
    for key, value in pairs:
        git("/", "config", "--global", key, value)


def test_the_filters_of_the_user_go_on_working(repository: Path, place: Path) -> None:
    """As git-lfs: what is committed is another content than what lies there."""
    of_user(
        ("filter.f.clean", "tr a-z A-Z"), ("filter.f.smudge", "tr A-Z a-z"), ("filter.f.required", "true")
    )
    commit(repository, {"c.x": "y\n"})
    tree = made(repository, place)
    git(repository, "config", "filter.f.clean", "cat")  # which a worker may have written
    (Path(tree.path) / "d.x").write_text("loud\n")
    assert "+LOUD" in worktrees.diff(tree)
    own = inside(tree)
    stage_all(own)
    own("commit", "--quiet", "--no-verify", "-m", "work")
    worktrees.merge(tree)
    assert git(repository, "show", "HEAD:d.x") == "LOUD"
    assert (repository / "d.x").read_text() == "loud\n"


def test_the_hooks_of_the_user_go_on_working(repository: Path, place: Path, canary: Canary) -> None:
    names = ("post-checkout", "pre-merge-commit", "commit-msg", "post-merge")
    for name in names:
        canary.hook(place / "my hooks", name)
    of_user(("core.hooksPath", "~/my hooks"))
    tree = made(repository, place)
    commit(tree.path, {"n.txt": "n\n"})
    canary.hook(Path(tree.path) / "theirs", "pre-merge-commit")
    git(repository, "config", "core.hooksPath", f"{tree.path}/theirs")
    git(tree.path, "add", "-A")
    git(tree.path, "-c", "core.hooksPath=/dev/null", "commit", "-qm", "hooks")
    canary.trace.unlink()
    worktrees.merge(tree)
    assert set(canary.told().split()) == {"pre-merge-commit", "commit-msg", "post-merge"}
    canary.trace.unlink()
    worktrees.create(str(repository), str(place / "second"), "sess_second")
    assert canary.told().split() == ["post-checkout"]
    (place / "my hooks/pre-merge-commit").write_text("#!/bin/sh\nexit 1\n")
    commit(tree.path, {"m.txt": "m\n"})
    with pytest.raises(Conflict, match="cannot be merged"):
        worktrees.merge(tree)


def test_hooks_of_the_user_that_lie_in_the_tree_are_not_run(
    repository: Path, place: Path, canary: Canary
) -> None:
    of_user(("core.hooksPath", ".hooks"))
    tree = made(repository, place)
    canary.hook(Path(tree.path) / ".hooks", "post-index-change")
    worktrees.diff(tree)
    assert canary.told() == ""


def test_a_driver_that_does_not_count_leaves_a_plain_merge(repository: Path, place: Path) -> None:
    commit(repository, {"c.x": "1\n2\n3\n4\n5\n6\n7\n"})
    tree = made(repository, place)
    git(repository, "config", "merge.m.driver", "true")
    commit(tree.path, {"c.x": "1\n2\n3\n4\n5\n6\ntheirs\n"})
    commit(repository, {"c.x": "ours\n2\n3\n4\n5\n6\n7\n"})
    worktrees.merge(tree)
    assert (repository / "c.x").read_text() == "ours\n2\n3\n4\n5\n6\ntheirs\n"
    commit(tree.path, {"c.x": "theirs too\n2\n3\n4\n5\n6\ntheirs\n"})
    commit(repository, {"c.x": "ours again\n2\n3\n4\n5\n6\ntheirs\n"})
    with pytest.raises(Conflict, match=r"both changed c\.x"):
        worktrees.merge(tree)


def test_a_filter_that_is_required_and_does_not_count_stops_git(repository: Path) -> None:
    git(repository, "config", "filter.f.clean", "tr a-z A-Z")
    git(repository, "config", "filter.f.required", "true")
    (repository / "c.x").write_text("changed\n")
    with pytest.raises(GitFailed) as caught:
        stage_all(Git(str(repository)))
    assert "filter.f.clean" in caught.value.hint


@pytest.mark.parametrize("name", ["pre-merge-commit", "prepare-commit-msg", "commit-msg"])
def test_a_check_that_nobody_confirmed_stops_the_merge(
    repository: Path, place: Path, canary: Canary, name: str
) -> None:
    tree = made(repository, place)
    commit(tree.path, {"n.txt": "n\n"})
    canary.hook(repository / ".git/hooks", name)
    with pytest.raises(Conflict, match=f"hooks that check a merge \\({name}\\)") as caught:
        worktrees.merge(tree)
    assert "maestro trust" in caught.value.hint
    assert canary.told() == ""


def test_what_the_user_confirmed_runs_until_it_changes(repository: Path, canary: Canary) -> None:
    git(repository, "config", "filter.f.clean", str(canary.program))
    git(repository, "config", "filter.g.clean", "./in-the-tree")
    git(repository, "config", "core.bare", "false")
    canary.hook(repository / ".git/hooks", "post-index-change")
    brought = programs_of(str(repository / "."))
    assert [one.key for one in brought.settings] == ["filter.f.clean", "filter.g.clean"]
    assert [hook.name for hook in brought.hooks] == ["post-index-change"]
    assert brought.repository == str(repository / ".git")

    def ran(agreed: Confirmed) -> set[str]:
        (repository / "c.x").write_text(f"{canary.told()} more\n")
        canary.trace.unlink(missing_ok=True)
        Git(str(repository), agreed=agreed)("add", "c.x")
        return {Path(line.split()[0]).name for line in canary.told().splitlines()}

    assert ran(Confirmed()) == set()
    assert ran(brought.confirmed) == {"canary", "post-index-change"}
    assert Git(str(repository), agreed=brought.confirmed).unconfirmed() == ("filter.g.clean",)
    with (repository / ".git/hooks/post-index-change").open("a") as hook:
        hook.write("# changed\n")
    assert ran(brought.confirmed) == {"canary"}
    git(repository, "config", "filter.f.clean", f"{canary.program} more")
    assert ran(brought.confirmed) == set()


def test_a_commit_in_a_submodule_counts_and_what_lies_there_is_not_deleted(
    repository: Path, place: Path, canary: Canary
) -> None:
    tree = made(repository, place)
    nested_repository(tree, canary)
    before = git(tree.path, "rev-parse", "HEAD:nested")
    worktrees.merge(tree)
    with pytest.raises(Conflict, match="other repositories, which Maestro does not look into: nested"):
        worktrees.remove(tree)
    nested = Path(tree.path) / "nested"
    git(nested, "-c", "core.fsmonitor=false", "commit", "-qam", "more")
    canary.trace.unlink(missing_ok=True)
    assert worktrees.touched_files(tree).files == ("nested",)
    own = inside(tree)
    stage_all(own)
    assert git(tree.path, "rev-parse", ":nested") not in {before, ""}
    assert canary.told() == ""
