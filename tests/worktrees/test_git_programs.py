"""git as Maestro runs it starts no program that a worker chose, and goes on to start the user's own."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.worktrees.test_worktree import SESSION, commit, git, made

from maestro.errors import Conflict, GitFailed, MaestroError
from maestro.ledger.facts import Worktree
from maestro.worktrees import worktree as worktrees
from maestro.worktrees.git import Git, programs_of
from maestro.worktrees.git_settings import Confirmed
from maestro.worktrees.repository import inside, stage_all

pytest_plugins: list[str] = []


@pytest.fixture
def repository(place: Path) -> Path:
    folder = place / "project"
    folder.mkdir()
    (place / ".gitconfig").write_text(
        "[user]\nname = T\nemail = t@example.org\n[init]\ndefaultBranch = main\n"
    )
    git(folder, "init", "-q")
    commit(folder, {"a.txt": "one\n", "b.txt": "two\n", ".gitattributes": "*.x filter=f diff=d merge=m\n", "c.x": "x\n"})
    return folder


class Canary:
    """A program that writes down that it ran."""

    def __init__(self, place: Path) -> None:
        self.trace = place / "ran"
        self.program = place / "canary"
        self.program.write_text(f"#!/bin/sh\necho \"$0 $*\" >> {shlex.quote(str(self.trace))}\ncat 2>/dev/null\nexit 0\n")
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


HOOKS = (
    "pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-merge", "post-checkout",
    "post-index-change", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman",
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


def hooks(tree: Worktree, canary: Canary) -> None:
    for name in HOOKS:
        if name not in {"pre-merge-commit", "prepare-commit-msg", "commit-msg"}:  # which stop a merge
            canary.hook(Path(tree.project) / ".git/hooks", name)


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
    nested_repository, unstaged_nested_repository, nested_repository_that_wants_to_be_entered, fsmonitor, drivers,
    hooks, hooks_elsewhere, settings_of_the_worktree, included_settings,
)  # fmt: skip


def use_all(tree: Worktree, place: Path) -> None:
    """Everything that Maestro does with git around a worktree, the faults of a single step aside."""
    def dispatched() -> None:
        own = inside(tree)
        stage_all(own)
        own("commit", "--quiet", "--no-verify", "--allow-empty", "-m", "work")

    steps: tuple[Callable[[], object], ...] = (
        lambda: worktrees.diff(tree),
        lambda: worktrees.touched_files(tree),
        lambda: inside(tree).names("status", "--porcelain", "-z", "--ignored", "--untracked-files=all"),
        lambda: Git(tree.project).names("status", "--porcelain", "-z"),
        dispatched,
        lambda: worktrees.merge(tree),
        lambda: worktrees.create(tree.project, str(place / "second"), "sess_second", "second"),
        lambda: worktrees.remove(tree, force=True),
    )
    for step in steps:
        try:
            step()
        except MaestroError as error:
            print(error.message)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_nothing_that_a_worker_wrote_is_run(
    repository: Path, place: Path, canary: Canary, attack: Callable[[Worktree, Canary], None]
) -> None:
    tree = made(repository, place)
    commit(tree.path, {"c.x": "theirs\n", "d.x": "new\n"})
    attack(tree, canary)
    canary.trace.unlink(missing_ok=True)  # the worker's own git may run it
    (Path(tree.path) / "c.x").write_text("uncommitted\n")
    commit(repository, {"e.txt": "ours\n"}, "ours") if attack is nested_repository else None
    canary.trace.unlink(missing_ok=True)
    use_all(tree, place)
    assert canary.told() == ""
