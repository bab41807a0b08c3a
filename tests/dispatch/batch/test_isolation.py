"""What agents change: each in a worktree of its own, or all in one folder; what overlaps; what is merged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.dispatch.batch.conftest import Stage, git

pytestmark = pytest.mark.more  # make test-more


def worktrees_of(stage: Stage) -> list[str]:
    told = git(stage.project, "worktree", "list", "--porcelain")
    return [line.split(" ", 1)[1] for line in told.splitlines() if line.startswith("worktree ")]


def test_each_in_its_own_worktree(repository: Stage) -> None:
    stage = repository
    stage.write(
        a="pwd; echo from a > src/file-a.txt; printf '\\001\\377' > binary",
        b="pwd; cat src/file-a.txt; echo new > src/new.txt; git add -A; git -c user.name=B -c user.email=b@b commit -qm Mine",
        idle="echo nothing to do",
    )
    done = stage.run("--isolate", "worktree")
    assert done.returncode == 0, done.stderr
    assert (stage.project / "src" / "file-a.txt").read_text() == "placeholder\n"
    assert stage.summary["file_conflicts"] == []
    row = stage.row("a")
    assert row["files_changed"] == ["binary", "src/file-a.txt"]
    assert row["patch"] == "a.patch"
    assert row["branch"].startswith("maestro/")
    assert (Path(row["worktree"]) / "src" / "file-a.txt").read_text() == "from a\n"
    assert stage.row("b")["files_changed"] == ["src/new.txt"]
    # The patches are whole: they make the same change anywhere else.
    git(stage.project, "apply", str(stage.results / "a.patch"), str(stage.results / "b.patch"))
    assert (stage.project / "binary").read_bytes() == b"\x01\xff"
    assert (stage.project / "src" / "new.txt").read_text() == "new\n"
    # Where nothing was done, nothing is left.
    assert stage.row("idle")["worktree"] == ""
    assert len(worktrees_of(stage)) == 3


def test_conflicts_are_told_and_only_clean_work_is_merged(repository: Stage) -> None:
    stage = repository
    stage.write(
        a="echo a > src/file-a.txt; echo ok",
        b="echo b > src/file-a.txt; echo b > src/own.txt; echo ok",
        c="echo c > src/file-b.txt; echo ok",
        d="echo d > src/half.txt; exit 3",
    )
    done = stage.run("--isolate", "worktree", "--apply")
    assert done.returncode == 1
    assert stage.summary["file_conflicts"] == [{"file": "src/file-a.txt", "agents": ["a", "b"]}]
    conflicts = [error for error in stage.summary["errors"] if error["type"] == "file_conflict"]
    assert {error["agent"] for error in conflicts} == {"a", "b"}
    assert conflicts[0]["message"] == "src/file-a.txt (modified by a and b)"
    applied = {one["agent"]: one["is_merged"] for one in stage.summary["applied"]}
    assert applied == {"a": False, "b": False, "c": True, "d": False}
    assert (stage.project / "src" / "file-b.txt").read_text() == "c\n"
    assert (stage.project / "src" / "file-a.txt").read_text() == "placeholder\n"
    assert not (stage.project / "src" / "half.txt").exists()
    assert git(stage.project, "status", "--porcelain", "--untracked-files=no") == ""
    for name, file in (("a", "file-a.txt"), ("b", "own.txt"), ("d", "half.txt")):
        assert (Path(stage.row(name)["worktree"]) / "src" / file).read_text() == f"{name}\n"
    assert "File conflict: src/file-a.txt (a, b)" in done.stdout
    assert "Applied: c" in done.stdout
    # What was merged stays told when the batch is looked at again.
    assert stage.run("--resume", "--apply").returncode == 1
    assert {one["agent"]: one["is_merged"] for one in stage.summary["applied"]} == applied
    assert stage.row("c")["files_changed"] == ["src/file-b.txt"]


def test_work_that_the_project_contradicts_is_not_merged(repository: Stage) -> None:
    stage = repository
    (stage.project / "src" / "file-a.txt").write_text("mine, not committed\n")
    stage.write(a="echo theirs > src/file-a.txt; echo ok")
    assert stage.run("--isolate", "worktree", "--apply").returncode == 0
    (one,) = stage.summary["applied"]
    assert not one["is_merged"]
    assert "not committed" in one["reason"]
    assert (stage.project / "src" / "file-a.txt").read_text() == "mine, not committed\n"
    assert (Path(stage.row("a")["worktree"]) / "src" / "file-a.txt").read_text() == "theirs\n"


def test_an_ignored_file_keeps_its_worktree(repository: Stage) -> None:
    stage = repository
    (stage.project / ".gitignore").write_text("*.secret\n")
    git(stage.project, "add", "-A")
    git(stage.project, "commit", "-qm", "Ignore")
    stage.write(a="echo precious > key.secret; echo ok")
    assert stage.run("--isolate", "worktree", "--apply").returncode == 0
    kept = [path for path in worktrees_of(stage) if os.path.exists(f"{path}/key.secret")]
    assert len(kept) == 1


def test_a_retry_goes_on_in_the_same_worktree(repository: Stage) -> None:
    stage = repository
    stage.write(a="echo x >> src/tries; [ $(wc -l < src/tries) -ge 2 ] && echo ok; exit 0")
    assert stage.run("--isolate", "worktree", "--retries", "1", "--backoff", "0").returncode == 0
    assert stage.row("a")["attempts"] == 2
    assert stage.row("a")["files_changed"] == ["src/tries"]


def test_overlaps_in_one_folder(repository: Stage) -> None:
    """Without isolation git says what changed, the times and the agents' own words who did it."""
    stage = repository
    stage.write(
        a="echo a >> src/file-a.txt; git commit -qam A 2>/dev/null || git -c user.name=A -c user.email=a@a commit -qam A; echo ok",
        b="echo b >> src/file-a.txt; echo b > src/'new file.txt'; echo ok",
        c="echo c > src/file-b.txt; echo ok",
    )
    assert stage.run("--concurrent", "1").returncode == 0
    assert stage.row("a")["files_changed"] == ["src/file-a.txt"]
    assert stage.row("b")["files_changed"] == ["src/file-a.txt", "src/new file.txt"]
    assert stage.row("c")["files_changed"] == ["src/file-b.txt"]
    assert stage.summary["file_conflicts"] == [{"file": "src/file-a.txt", "agents": ["a", "b"]}]
    # A batch that goes on still knows.
    assert stage.run("--resume").returncode == 0
    assert stage.row("c")["files_changed"] == ["src/file-b.txt"]


def test_analysis_is_not_watched_and_changes_nothing(repository: Stage) -> None:
    stage = repository
    stage.write(a="echo looked")
    assert stage.run("--mode", "analysis").returncode == 0
    assert stage.summary["mode"] == "analysis"
    assert not (stage.folder / "changes.json").exists()


def test_the_batch_s_own_folder_is_no_change(repository: Stage) -> None:
    stage = repository
    stage.folder = stage.project / ".maestro" / "parallel" / "one"
    stage.write(a="echo x > src/own.txt; echo ok")
    assert stage.run().returncode == 0
    assert stage.row("a")["files_changed"] == ["src/own.txt"]


def test_an_agent_that_breaks_its_worktree_is_told(repository: Stage) -> None:
    stage = repository
    stage.write(
        a="echo kept > src/own.txt; echo broken > .git; echo ok", b="echo b > src/file-b.txt; echo ok"
    )
    assert stage.run("--isolate", "worktree", "--apply").returncode == 0
    assert (Path(stage.row("a")["worktree"]) / "src" / "own.txt").read_text() == "kept\n"
    assert any("The changes of a in" in note for note in stage.summary["notes"])
    assert (stage.project / "src" / "file-b.txt").read_text() == "b\n"


def test_an_agent_that_breaks_the_repository_is_told(repository: Stage) -> None:
    stage = repository
    stage.write(a="echo nonsense > .git/index; echo ok", b="echo fine")
    assert stage.run("--concurrent", "1").returncode == 0
    assert any("cannot be told" in note for note in stage.summary["notes"])
