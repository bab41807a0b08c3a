"""What a person trusts of a project: these files as they are, and nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import threading
from pathlib import Path

import pytest

from maestro.agents.project_files import ActsOnProject
from maestro.agents.registry import acting_agents, agent_named
from maestro.errors import InvalidInput, LeadsOut, MaestroError, Untrusted
from maestro.trust.approvals import Approvals
from maestro.trust.brought import digest_of
from maestro.trust.project import ONCE, ProjectTrust
from maestro.trust.records import decline, read_record, revoke


class Ground:
    def __init__(self, place: Path) -> None:
        self.home, self.root = place / "m", Path(os.path.realpath(place)) / "shop"
        self.root.mkdir()
        self.env: dict[str, str] = {}

    @property
    def trust(self) -> ProjectTrust:
        return ProjectTrust(str(self.home), str(self.root), self.env)

    def write(self, name: str, text: str = "x") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def confirm_all(self) -> None:
        self.trust.confirm(self.trust.unconfirmed(acting_agents()), folder=True)


@pytest.fixture
def ground(place: Path) -> Ground:
    return Ground(place)


def acting(name: str) -> ActsOnProject:
    agent = agent_named(name)
    assert isinstance(agent, ActsOnProject)
    return agent


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *who, *words], cwd=folder, check=True)


MAESTRO_FILES = [
    "fleet.yml",
    "coordinate.config.json",
    ".maestro/coordinate.config.json",
    ".maestro/coordinate/lead/coordinate.config.json",
    ".maestro/tools.toml",
    ".maestro/chains.toml",
    ".maestro/commands/plan.md",
    ".maestro/rules/review.md",
    ".maestro/agents/coder.md",
]


@pytest.mark.parametrize("name", MAESTRO_FILES)
def test_a_file_acts_only_as_it_was_confirmed(ground: Ground, name: str) -> None:
    path = ground.write(name, "first")
    with pytest.raises(Untrusted, match="comes with this project"):
        ground.trust.read(str(path))
    assert [one.name for one in ground.trust.unconfirmed([])] == [name]
    ground.confirm_all()
    assert ground.trust.read(str(path)) == b"first"
    path.write_text("second")
    with pytest.raises(Untrusted, match="has changed since you trusted it"):
        ground.trust.read(str(path))
    path.write_text("first")
    assert ground.trust.read(str(path)) == b"first"


def test_a_file_by_the_content_of_another_is_not_confirmed(ground: Ground) -> None:
    ground.write("fleet.yml", "same")
    ground.confirm_all()
    path = ground.write(".maestro/tools.toml", "same")
    with pytest.raises(Untrusted):
        ground.trust.read(str(path))


def test_a_copy_of_a_project_is_not_trusted(ground: Ground, place: Path) -> None:
    ground.write("fleet.yml")
    ground.confirm_all()
    ground.root.rename(ground.root.with_name("moved"))
    moved = ProjectTrust(str(ground.home), str(ground.root.with_name("moved")), {})
    with pytest.raises(Untrusted):
        moved.read(str(ground.root.with_name("moved") / "fleet.yml"))


def test_a_link_that_leads_out_is_the_projects_all_the_same(ground: Ground, place: Path) -> None:
    outside = place / "outside"
    outside.mkdir()
    (outside / "tools.toml").write_text("evil")
    (ground.root / ".maestro").symlink_to(outside)
    with pytest.raises(LeadsOut):
        ground.trust.read(str(ground.root / ".maestro" / "tools.toml"))


def test_what_a_link_leads_to_is_not_shown(ground: Ground, place: Path) -> None:
    (place / "key").write_text('{"key": "a secret of mine"}')
    ground.write(".claude/settings.json").unlink()
    (ground.root / ".claude" / "settings.json").symlink_to(place / "key")
    (found,) = ground.trust.unconfirmed(acting_agents())
    assert found.wants == (f"is a link to {os.path.realpath(place / 'key')}",)


def test_a_file_outside_is_the_persons_own(ground: Ground, place: Path) -> None:
    (place / "own.yml").write_text("own")
    assert ground.trust.read(str(place / "own.yml")) == b"own"
    assert ground.trust.read(str(ground.root / "none.yml")) is None


def test_a_project_by_another_path_is_the_same(ground: Ground, place: Path) -> None:
    (place / "link").symlink_to(ground.root)
    path = ground.write("fleet.yml")
    ground.confirm_all()
    by_link = ProjectTrust(str(ground.home), str(place / "link"), {})
    assert by_link.read(str(place / "link" / "fleet.yml")) == path.read_bytes()


def test_once_is_not_recorded(ground: Ground) -> None:
    path = ground.write("fleet.yml")
    ground.env = {ONCE: "1"}
    assert ground.trust.read(str(path)) == b"x"
    ground.env = {}
    with pytest.raises(Untrusted):
        ground.trust.read(str(path))
    assert read_record(str(ground.home), str(ground.root)) is None


CLI_FILES = [
    ("claude", ".claude/settings.json"),
    ("claude", ".claude/settings.local.json"),
    ("claude", ".mcp.json"),
    ("claude", ".claude/hooks/deep/run.sh"),
    ("claude", ".claude/skills/x/SKILL.md"),
    ("codex", ".codex/config.toml"),
    ("codex", ".codex/hooks.json"),
    ("gemini", ".gemini/settings.json"),
    ("gemini", ".gemini/.env"),
    ("gemini", ".env"),
    ("gemini", ".gemini/extensions/x/gemini-extension.json"),
    ("gemini", ".gemini/sandbox.bashrc"),
    ("gemini", ".gemini/sandbox.Dockerfile"),
    ("gemini", ".gemini/sandbox-macos-custom.sb"),
    ("claude", ".claude/scheduled_tasks.json"),
    ("claude", ".claude/workflows/x.js"),
]


@pytest.mark.parametrize(("agent", "name"), CLI_FILES)
@pytest.mark.parametrize("below", ["", "packages/one"])
def test_a_run_does_not_act_on_what_nobody_trusts(ground: Ground, agent: str, name: str, below: str) -> None:
    """Without a terminal no CLI asks anybody, and some run a project's hooks and servers."""
    cwd = ground.root / "packages" / "one"
    cwd.mkdir(parents=True)
    ground.trust.confirm([], folder=True)
    assert ground.trust.require_run(acting(agent), str(cwd))
    path = ground.write(os.path.join(below, name))
    with pytest.raises(Untrusted, match=re.escape(os.path.join(below, "/".join(name.split("/")[:2])))):
        ground.trust.require_run(acting(agent), str(cwd))
    assert not ground.trust.trusts_folder(acting(agent), str(cwd))
    others = [one for one in acting_agents() if one.name != agent]
    assert all(ground.trust.trusts_folder(one, str(cwd)) for one in others)
    ground.trust.confirm(ground.trust.unconfirmed(acting_agents(), cwd=str(cwd)), folder=True)
    assert ground.trust.require_run(acting(agent), str(cwd))
    path.write_text("changed")
    with pytest.raises(Untrusted, match="has changed") as refused:
        ground.trust.require_run(acting(agent), str(cwd))
    assert f"maestro trust {cwd}" in refused.value.hint


@pytest.mark.parametrize(("agent", "name"), [("claude", ".mcp.json"), ("gemini", ".env"), ("claude", ".claude/skills/x/SKILL.md")])  # fmt: skip
def test_what_lies_above_the_project_is_confirmed_too(
    ground: Ground, place: Path, monkeypatch: pytest.MonkeyPatch, agent: str, name: str
) -> None:
    """Claude Code starts the servers of every `.mcp.json` above: a folder `.maestro` in a part of a repository must not
    hide what the repository brings."""
    monkeypatch.setenv("HOME", str(place / "home"))
    path = place / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"mcpServers": {"evil": {}}}')
    ground.trust.confirm([], folder=True)
    shown = os.path.join(os.path.realpath(place), "/".join(name.split("/")[:2]))
    with pytest.raises(Untrusted, match=re.escape(shown)):
        ground.trust.require_run(acting(agent), str(ground.root))
    assert not ground.trust.trusts_folder(acting(agent), str(ground.root))
    (waits,) = ground.trust.unconfirmed(acting_agents())
    assert "is a link" not in waits.wants[0]
    ground.confirm_all()
    assert ground.trust.require_run(acting(agent), str(ground.root))


def test_what_the_person_has_at_home_is_their_own(
    ground: Ground, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / ".mcp.json").write_text("{}")
    monkeypatch.setenv("HOME", str(place))
    assert not ground.trust.unconfirmed(acting_agents())


def test_a_worktree_brings_what_its_main_checkout_has(ground: Ground, place: Path) -> None:
    """From a worktree Claude Code runs the hooks in the main checkout's settings.local.json, which git need not know."""
    git(ground.root, "init", "-q")
    git(ground.root, "commit", "-q", "--allow-empty", "-m", "x")
    git(ground.root, "worktree", "add", "-q", str(place / "tree"))
    ground.confirm_all()
    of_tree = ProjectTrust(str(ground.home), str(place / "tree"), {})
    of_tree.confirm([], folder=True)
    claude, tree = acting("claude"), str(place / "tree")
    assert ground.trust.require_run(claude, tree)
    assert of_tree.require_run(claude, tree)
    path = ground.write(".claude/settings.local.json", '{"hooks": {}}')
    with pytest.raises(Untrusted, match=r"^\.claude/settings\.local\.json comes with this project"):
        ground.trust.require_run(claude, tree)
    with pytest.raises(Untrusted, match=re.escape(f"{path} is read by agents that work here")):
        of_tree.require_run(claude, tree)
    ground.confirm_all()
    of_tree.confirm(of_tree.unconfirmed(acting_agents()), folder=True)
    assert ground.trust.require_run(claude, tree)
    assert of_tree.require_run(claude, tree)


def test_a_folder_is_trusted_only_by_a_word(ground: Ground) -> None:
    claude, gemini = acting("claude"), acting("gemini")
    assert not ground.trust.require_run(claude, str(ground.root)), "it runs, and is told nothing"
    with pytest.raises(Untrusted, match="runs only in a folder that you trust"):
        ground.trust.require_run(gemini, str(ground.root))
    decline(str(ground.home), str(ground.root))
    assert not ground.trust.trusts_folder(claude, str(ground.root))
    ground.trust.confirm([], folder=True)
    assert ground.trust.require_run(gemini, str(ground.root))
    revoke(str(ground.home), str(ground.root))
    assert not ground.trust.trusts_folder(claude, str(ground.root))


def test_a_worktree_is_trusted_as_its_project(ground: Ground, place: Path) -> None:
    ground.write(".claude/settings.json", "{}")
    ground.confirm_all()
    worktree = place / "m" / "worktrees" / "one"
    (worktree / ".claude").mkdir(parents=True)
    (worktree / ".git").write_text("gitdir: elsewhere\n")
    (worktree / "src").mkdir()
    (worktree / ".claude" / "settings.json").write_text("{}")
    assert ground.trust.trusts_folder(acting("claude"), str(worktree))
    assert ground.trust.trusts_folder(acting("claude"), str(worktree / "src"))
    (worktree / ".claude" / "settings.json").write_text('{"hooks": {}}')
    assert not ground.trust.trusts_folder(acting("claude"), str(worktree))
    assert not ground.trust.trusts_folder(acting("claude"), str(worktree / "src"))


def test_what_maestro_wrote_at_a_persons_word_counts(ground: Ground) -> None:
    path = ground.write("coordinate.config.json", "{}")
    ground.trust.confirm_own(str(path))
    assert ground.trust.read(str(path)) == b"{}"
    assert not ground.trust.trusts_folder(acting("claude"), str(ground.root))


def test_a_pipe_or_a_huge_file_holds_nobody_up(ground: Ground) -> None:
    (ground.root / ".maestro").mkdir()
    os.mkfifo(ground.root / ".maestro" / "tools.toml")
    with pytest.raises(MaestroError):
        ground.trust.read(str(ground.root / ".maestro" / "tools.toml"))
    path = ground.write("fleet.yml", "x" * 2_000_000)
    with pytest.raises(InvalidInput, match="over 1,000,000 bytes"):
        ground.trust.read(str(path))


def test_a_circle_of_links_ends(ground: Ground) -> None:
    ground.write(".claude/skills/one/SKILL.md")
    (ground.root / ".claude" / "skills" / "one" / "again").symlink_to(ground.root / ".claude" / "skills")
    assert ground.trust.unconfirmed(acting_agents())


def test_what_is_shown_is_what_is_confirmed(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody puts another file in its place as soon as it has been opened."""
    path = ground.write("fleet.yml", "harmless")
    opened = os.open

    def swapping(name: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        descriptor = opened(name, flags, mode, dir_fd=dir_fd)
        if name == str(path):
            path.rename(path.with_name("old"))
            ground.write("fleet.yml", "malicious")
        return descriptor

    monkeypatch.setattr(os, "open", swapping)
    (shown,) = ground.trust.unconfirmed([])
    monkeypatch.undo()
    assert (shown.wants[1], shown.digest) == ("harmless", digest_of(b"harmless"))


def test_two_who_confirm_at_once_lose_nothing(ground: Ground) -> None:
    for number in range(20):
        ground.write(f".maestro/rules/{number}.md")
    found = ground.trust.unconfirmed([])
    threads = [
        threading.Thread(target=ground.trust.confirm, args=([one],), kwargs={"folder": False})
        for one in found
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ground.trust.unconfirmed([]) == []


def test_a_damaged_record_is_never_trust(ground: Ground) -> None:
    path = ground.write("fleet.yml")
    ground.confirm_all()
    record = next((ground.home / "trust").glob("*.json"))
    record.write_text("{")
    with pytest.raises(MaestroError, match="is damaged"):
        ground.trust.read(str(path))
    assert record.stat().st_mode & 0o777 == 0o600


def test_approvals_are_of_one_place(ground: Ground, place: Path) -> None:
    own = Approvals(str(ground.home), str(ground.root))
    assert own.given_at("tag/one") == 0
    assert own.give("tag/one") == own.given_at("tag/one") > 0
    assert own.given_at("chain/one") == 0
    assert Approvals(str(ground.home), str(place / "copy")).given_at("tag/one") == 0
    own.take_back("tag/one")
    assert own.given_at("tag/one") == 0
