"""What an agent of a batch leaves behind for git is looked at, and not run."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.worktrees.test_git_programs import Canary, nested_repository
from tests.worktrees.test_worktree import commit, git

from maestro.dispatch.isolation import Apart, Shared
from maestro.ledger.facts import Worktree


@pytest.fixture
def project(place: Path) -> Path:
    folder = place / "project"
    folder.mkdir()
    (place / ".gitconfig").write_text("[user]\nname = T\nemail = t@example.org\n")
    git(folder, "init", "-q", "-b", "main")
    commit(folder, {"a.txt": "one\n", ".gitattributes": "*.x filter=f diff=f\n", "c.x": "x\n"})
    return folder


def attack(project: Path, folder: Path, canary: Canary) -> None:
    nested_repository(Worktree(project=str(project), path=str(folder), cwd=str(folder), branch=""), canary)
    for key in ("core.fsmonitor", "filter.f.clean", "diff.f.textconv"):
        git(project, "config", key, str(canary.program))
    canary.hook(project / ".git/hooks", "post-commit")
    (folder / "c.x").write_text("changed\n")
    canary.trace.unlink(missing_ok=True)


def test_in_a_worktree_of_its_own(project: Path, place: Path) -> None:
    canary = Canary(place)
    results = place / "results"
    results.mkdir()
    apart = Apart(str(project), str(place / "changes.json"), str(place / "trees"), str(results), "batch_1")

    async def batch() -> bool:
        folder = Path(await apart.place_of("w"))
        await apart.entered("w")
        attack(project, folder, canary)
        await apart.left("w", lambda: b"")
        found = await apart.harvest()
        assert found.notes == ()
        assert found.changes.files["w"] == ("c.x", "nested")
        [applied] = await apart.apply(["w"])
        return applied.is_merged

    assert asyncio.run(batch())
    assert canary.told() == ""
    assert b"+changed" in (results / "w.patch").read_bytes()
    assert (project / "c.x").read_text() == "changed\n"


def test_in_the_folder_of_the_project(project: Path, place: Path) -> None:
    canary = Canary(place)
    shared = Shared(str(project), str(place / "changes.json"), ())

    async def batch() -> None:
        await shared.entered("w")
        attack(project, project, canary)
        await shared.left("w", lambda: b"c.x")
        found = await shared.harvest()
        assert found.notes == ()
        assert found.changes.files["w"] == ("c.x", "nested")

    asyncio.run(batch())
    assert canary.told() == ""
