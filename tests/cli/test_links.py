"""Links that a project brings, wherever Maestro reads and writes in it: nothing outside is shown or changed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.chains.run.support import SCRIPTED
from tests.support import Maestro

from maestro.errors import Conflict, InvalidInput

SECRET = "-----BEGIN OPENSSH PRIVATE KEY-----"
TEXT = "# Notes\n\n- [ ] Mend the clock #needs-fix\n"
VISION = """\
# Clock

## Goal

Right.

## Decision Principles

- Be quick.

## Chapters

### Chapter 1: Hands #needs-coordinate

- [ ] turn
"""
# A tool that plays its prompt, after our preamble, as a shell script.
TOOLS = """
[tools.sh]
command = ["sh", "-c", 'eval "$(sed "1,/^$/d" "$1")"', "agent", "{prompt_file}"]
modes = ["write", "analysis"]
"""


@dataclass
class Ground:
    """A project, and a folder outside of it that must stay as it is."""

    maestro: Maestro
    outside: Path

    @property
    def root(self) -> Path:
        return self.maestro.cwd

    @property
    def state(self) -> Path:
        return self.root / ".maestro"

    @property
    def batch(self) -> Path:
        return self.maestro.place / "batch"

    def link(self, path: Path, to: str = "") -> None:
        """Puts a link where `path` is, or would be."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        path.symlink_to(self.outside / to)

    def contents(self) -> dict[str, bytes]:
        files = (path for path in self.outside.rglob("*") if path.is_file())
        folders = {str(path): b"" for path in self.outside.rglob("*") if path.is_dir()}
        return folders | {str(path): path.read_bytes() for path in files}

    def tag(self) -> str:
        (self.root / "notes.md").write_text(TEXT)
        told = self.maestro.json("tag", "list")
        return str(told[0]["tag"]["id"])

    def chain(self) -> Path:
        done = self.maestro("chain", "run", "-y", "--chain", "quick", "mend it", *SCRIPTED, timeout=240)
        assert done.returncode == 0, done.stderr
        [folder] = (self.state / "chains").glob("coord-*")
        return folder

    def prompts(self) -> None:
        (self.batch / "prompts").mkdir(parents=True, exist_ok=True)
        (self.batch / "prompts" / "coder.txt").write_text("echo done")

    def dispatched(self) -> tuple[str, ...]:
        self.prompts()
        done = self.maestro(*dispatching(self))
        assert done.returncode == 0, done.stderr
        return dispatching(self)

    def delegated(self) -> Path:
        done = self.maestro(*DELEGATE, "--id", "one")
        assert done.returncode == 0, done.stderr
        return self.state / "runs" / "one"


DELEGATE = ("delegate", "hello", "--to", "scripted")
CHAIN = ("chain", "run", "-y", "--chain", "quick", "mend it", *SCRIPTED)


def dispatching(ground: Ground) -> tuple[str, ...]:
    return ("dispatch", str(ground.batch), "--any-agent", "--stagger", "0", "--to", "sh")


@pytest.fixture
def ground(maestro: Maestro) -> Ground:
    home = Path(maestro.env["MAESTRO_HOME"])
    home.mkdir(mode=0o700)
    (home / "tools.toml").write_text(TOOLS)
    outside = maestro.place / "outside"
    (outside / "folder").mkdir(parents=True)
    (outside / "secret").write_text(SECRET + "\n")
    (outside / "folder" / "secret.md").write_text(SECRET + "\n")
    (outside / "folder" / "secret.txt").write_text(SECRET + "\n")
    return Ground(maestro, outside)


Prepare = Callable[[Ground], tuple[str, ...]]


def runs(ground: Ground) -> tuple[str, ...]:
    ground.link(ground.state / "runs", "folder")
    return DELEGATE


def state(ground: Ground) -> tuple[str, ...]:
    ground.link(ground.state, "folder")
    return DELEGATE


def state_named(ground: Ground) -> tuple[str, ...]:
    ground.maestro.env["MAESTRO_STATE_DIR"] = "deep/state"
    ground.link(ground.root / "deep", "folder")
    return DELEGATE


def own_run(ground: Ground) -> tuple[str, ...]:
    ground.link(ground.state / "runs" / "one", "folder")
    return (*DELEGATE, "--id", "one")


def runs_async(ground: Ground) -> tuple[str, ...]:
    ground.link(ground.state / "runs", "folder")
    return (*DELEGATE, "--async")


def run_prompted_by_rule(ground: Ground) -> tuple[str, ...]:
    ground.link(ground.state / "rules" / "mine.md", "secret")
    return (*DELEGATE, "--rule", "mine")


def rules(ground: Ground) -> tuple[str, ...]:
    ground.link(ground.state / "rules", "folder")
    return (*DELEGATE, "--rule", "secret")


def tools(ground: Ground) -> tuple[str, ...]:
    ground.link(ground.state / "tools.toml", "secret")
    return DELEGATE


def run_shown(ground: Ground) -> tuple[str, ...]:
    ground.link(ground.delegated() / "result.json", "secret")
    return ("delegate", "show", "one")


def run_output(ground: Ground) -> tuple[str, ...]:
    ground.link(ground.delegated() / "stdout", "secret")
    return ("delegate", "output", "one", "--raw")


def run_folder(ground: Ground) -> tuple[str, ...]:
    shutil.copytree(ground.delegated(), ground.outside / "one")
    ground.link(ground.state / "runs" / "one", "one")
    return ("delegate", "output", "one")


def run_cancelled(ground: Ground) -> tuple[str, ...]:
    folder = ground.delegated()
    (folder / "result.json").unlink()
    shutil.copytree(folder, ground.outside / "one")
    ground.link(folder, "one")
    return ("delegate", "cancel", "one")


def tags(ground: Ground) -> tuple[str, ...]:
    ground.link(ground.state / "tags", "folder")
    return ("tag", "add", "notes.md", "Mend it", "--kind", "fix")


def tags_approved(ground: Ground) -> tuple[str, ...]:
    tag = ground.tag()
    ground.link(ground.state / "tags", "folder")
    return ("tag", "approve", tag)


def tags_lock(ground: Ground) -> tuple[str, ...]:
    ground.link(ground.state / "tags" / "lock", "secret")
    return ("tag", "add", "notes.md", "Mend it", "--kind", "fix")


def tag_claimed(ground: Ground) -> tuple[str, ...]:
    tag = ground.tag()
    ground.maestro("tag", "approve", tag)
    ground.link(ground.state / "tags", "folder")
    return ("tag", "claim", tag, "--as", "ann")


def tag_dispatched(ground: Ground) -> tuple[str, ...]:
    tag = ground.tag()
    ground.maestro("tag", "approve", tag)
    ground.link(ground.state / "tags" / f"{tag}.lock", "secret")
    return ("tag", "dispatch", tag, "--to", "scripted")


def tag_run(ground: Ground) -> tuple[str, ...]:
    tag = ground.tag()
    ground.maestro("tag", "approve", tag)
    ground.link(ground.state / "runs", "folder")
    return ("tag", "dispatch", tag, "--to", "scripted")


def chains(ground: Ground) -> tuple[str, ...]:
    ground.link(ground.state / "chains", "folder")
    return CHAIN


def chains_started(ground: Ground) -> tuple[str, ...]:
    ground.link(ground.state / "chains", "folder")
    return (*CHAIN, "--async")


def chain_runs(ground: Ground) -> tuple[str, ...]:
    ground.link(ground.state / "runs", "folder")
    return CHAIN


def chain_project(ground: Ground) -> tuple[str, ...]:
    ground.link(ground.state / "project.json", "secret")
    return CHAIN


def chain_commands(ground: Ground) -> tuple[str, ...]:
    ground.link(ground.state / "commands", "folder")
    return ("chain", "list")


def chain_catalogue(ground: Ground) -> tuple[str, ...]:
    ground.link(ground.state / "chains.toml", "secret")
    return ("chain", "list")


def chain_logs(ground: Ground) -> tuple[str, ...]:
    [output] = ground.chain().glob("step-*-output.txt")
    ground.link(output, "secret")
    return ("chain", "logs")


def chain_folder(ground: Ground) -> tuple[str, ...]:
    folder = ground.chain()
    shutil.copytree(folder, ground.outside / "chain")
    ground.link(folder, "chain")
    return ("chain", "logs", folder.name)


def chain_lock(ground: Ground) -> tuple[str, ...]:
    folder = ground.chain()
    told = json.loads((folder / "state.json").read_text())
    told["status"] = "stopped"
    (folder / "state.json").write_text(json.dumps(told))
    ground.link(folder / "lock", "secret")
    return ("chain", "run", "-c", "-y")


def coordinate(ground: Ground) -> tuple[str, ...]:
    (ground.root / "VISION.md").write_text(VISION)
    ground.link(ground.state / "coordinate", "folder")
    return ("vision", "next", "--claim", "--as", "ann")


def coordinate_log(ground: Ground) -> tuple[str, ...]:
    (ground.root / "VISION.md").write_text(VISION)
    ground.link(ground.state / "coordinate" / "ann" / "COORDINATE_LOG.md", "secret")
    return ("vision", "next", "--claim", "--as", "ann")


def policy(ground: Ground) -> tuple[str, ...]:
    ground.link(ground.root / "coordinate.config.json", "secret")
    (ground.root / "questions.jsonl").write_text("{}\n")
    return ("coordinate", "check", "questions.jsonl")


def batch_results(ground: Ground) -> tuple[str, ...]:
    ground.prompts()
    ground.link(ground.batch / "results", "folder")
    return dispatching(ground)


def batch_runs(ground: Ground) -> tuple[str, ...]:
    words = ground.dispatched()
    told = json.loads((ground.batch / "batch.json").read_text())
    (ground.batch / "batch.json").write_text(json.dumps(told | {"ended_at": None}))
    ground.link(ground.batch / "runs", "folder")
    return (*words, "--resume")


def batch_lock(ground: Ground) -> tuple[str, ...]:
    ground.prompts()
    [lock] = {path.name for path in _made_by(ground) if "lock" in path.name}
    ground.link(ground.batch / lock, "secret")
    return dispatching(ground)


def _made_by(ground: Ground) -> list[Path]:
    ground.dispatched()
    made = list(ground.batch.iterdir())
    for path in made:
        if path.name != "prompts":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return made


def batch_earlier(ground: Ground) -> tuple[str, ...]:
    words = ground.dispatched()
    ground.link(ground.batch / "earlier", "folder")
    return words


def batch_record(ground: Ground) -> tuple[str, ...]:
    ground.prompts()
    ground.link(ground.batch / "batch.json", "secret")
    return dispatching(ground)


def batch_prompts(ground: Ground) -> tuple[str, ...]:
    ground.batch.mkdir()
    ground.link(ground.batch / "prompts", "folder")
    return dispatching(ground)


def batch_prompt(ground: Ground) -> tuple[str, ...]:
    ground.prompts()
    ground.link(ground.batch / "prompts" / "tester.txt", "secret")
    return dispatching(ground)


def batch_roster(ground: Ground) -> tuple[str, ...]:
    ground.prompts()
    ground.link(ground.state / "agents", "folder")
    return dispatching(ground)


@pytest.mark.parametrize(
    "prepare",
    [
        runs, state, state_named, own_run, runs_async, run_prompted_by_rule, rules, tools, run_shown, run_output, run_folder,
        run_cancelled, tags, tags_approved, tags_lock, tag_claimed, tag_dispatched, tag_run, chains, chains_started,
        chain_runs, chain_project, chain_commands, chain_catalogue, chain_logs, chain_folder, chain_lock, coordinate,
        coordinate_log, policy, batch_results, batch_runs, batch_lock, batch_earlier, batch_record, batch_prompts,
        batch_prompt, batch_roster,
    ],
    ids=lambda prepare: prepare.__name__,
)  # fmt: skip
def test_a_link_is_refused(ground: Ground, prepare: Prepare) -> None:
    words = prepare(ground)
    before = ground.contents()
    done = ground.maestro(*words, timeout=240)
    assert ground.contents() == before
    assert SECRET not in done.stdout + done.stderr
    assert done.returncode != 0
    assert "leads out of the project" in done.stderr, (done.stdout, done.stderr)


def own_policy(ground: Ground) -> tuple[str, ...]:
    ground.link(ground.root / "coordinate.config.json", "not there")
    return ("coordinate", "init")


def own_vision(ground: Ground) -> tuple[str, ...]:
    ground.link(ground.root / "VISION.md", "not-there.md")
    return ("vision", "init")


@pytest.mark.parametrize("prepare", [own_policy, own_vision], ids=lambda prepare: prepare.__name__)
def test_a_link_in_place_of_something_new_is_in_the_way(ground: Ground, prepare: Prepare) -> None:
    words = prepare(ground)
    before = ground.contents()
    done = ground.maestro(*words)
    assert done.returncode in {Conflict.exit_code, InvalidInput.exit_code}
    assert ground.contents() == before


def ignored_runs(ground: Ground) -> tuple[str, ...]:
    ground.link(ground.state / "runs" / ".gitignore", "not there")
    return DELEGATE


def ignored_chains(ground: Ground) -> tuple[str, ...]:
    ground.link(ground.state / "chains" / ".gitignore", "not there")
    return CHAIN


def changes(ground: Ground) -> tuple[str, ...]:
    ground.prompts()
    ground.link(ground.batch / "changes.json", "not there")
    return dispatching(ground)


def summary(ground: Ground) -> tuple[str, ...]:
    ground.prompts()
    (ground.batch / "results").mkdir()
    ground.link(ground.batch / "results" / "summary.json", "secret")
    return dispatching(ground)


def result(ground: Ground) -> tuple[str, ...]:
    ground.prompts()
    (ground.batch / "prompts" / "coder.txt").write_text(
        f"ln -s {ground.outside}/new {ground.batch}/results/coder.json; echo done"
    )
    return dispatching(ground)


@pytest.mark.parametrize(
    "prepare", [ignored_runs, ignored_chains, changes, summary, result], ids=lambda prepare: prepare.__name__
)
def test_a_link_is_not_written_through(ground: Ground, prepare: Prepare) -> None:
    """A file of ours takes its place, or it stays."""
    words = prepare(ground)
    before = ground.contents()
    done = ground.maestro(*words, timeout=240)
    assert (done.returncode, ground.contents()) == (0, before), done.stderr


def test_an_agent_swaps_the_folder_of_its_run(ground: Ground) -> None:
    """In the middle of the run: its result and its answer are looked for where they were promised, and nowhere else."""
    runs = ground.state / "runs"
    before = ground.contents()
    swap = f"\n\nmv {runs}/one {runs}/aside; ln -s {ground.outside}/folder {runs}/one; echo {SECRET}"
    done = ground.maestro("delegate", swap, "--to", "sh", "--mode", "write", "--id", "one")
    assert ground.contents() == before
    assert done.returncode != 0
    assert "leads out of the project" in done.stderr, done.stderr


def test_an_agent_swaps_the_results_of_its_batch(ground: Ground) -> None:
    ground.prompts()
    swap = f"mv {ground.batch}/results {ground.batch}/aside; ln -s {ground.outside}/folder {ground.batch}/results"
    (ground.batch / "prompts" / "coder.txt").write_text(swap)
    before = ground.contents()
    done = ground.maestro(*dispatching(ground))
    assert ground.contents() == before
    assert (done.returncode != 0, "leads out of the project" in done.stderr) == (True, True), done.stderr


@pytest.mark.parametrize(
    "name",
    [
        ".git/x.md",
        "sub/.git/x.md",
        ".GIT/x.md",
        ".maestro/x.md",
        ".maestro/tags/x.md",
        "../x.md",
        "linked/x.md",
    ],
)
def test_only_files_that_people_write_are_tagged(ground: Ground, name: str) -> None:
    path = ground.root / name
    if name.startswith("linked"):
        (ground.root / "linked").symlink_to(ground.outside / "folder")
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
    before = ground.contents()
    done = ground.maestro("tag", "add", name, "Mend it", "--kind", "fix")
    assert (done.returncode, path.exists(), ground.contents()) == (InvalidInput.exit_code, False, before)
    assert name in done.stderr


def test_a_record_names_no_file_outside(ground: Ground) -> None:
    """A tag's record may come with the project: the file that it names is one of the project, or none."""
    tag = ground.tag()
    ground.maestro("tag", "approve", tag)
    ground.maestro("tag", "claim", tag, "--as", "ann")
    record = ground.state / "tags" / f"{tag}.json"
    told = json.loads(record.read_text())
    record.write_text(json.dumps(told | {"file": "../outside/folder/secret.md"}))
    before = ground.contents()
    ground.maestro("tag", "done", tag, "--as", "ann")
    ground.maestro("tag", "release", tag)
    assert ground.contents() == before


# What is right goes on working.


def test_a_project_that_is_reached_by_a_link(ground: Ground) -> None:
    link = ground.maestro.place / "link"
    link.symlink_to(ground.root)
    (ground.root / "notes.md").write_text(TEXT)
    ground.prompts()
    batch = ground.maestro.place / "linked-batch"
    batch.symlink_to(ground.batch)
    for words in (
        DELEGATE,
        ("delegate", "hello", "--to", "scripted", "--cd", str(link)),
        ("tag", "add", str(link / "notes.md"), "Mend it", "--kind", "fix"),
        ("dispatch", str(batch), *dispatching(ground)[2:]),
        CHAIN,
        ("coordinate", "init"),
    ):
        done = ground.maestro(*words, cwd=link, timeout=240)
        assert done.returncode == 0, (words, done.stderr)
    assert len(os.listdir(ground.state / "runs")) >= 3


def test_links_of_the_users_own_home(ground: Ground) -> None:
    home, dotfiles = Path(ground.maestro.env["MAESTRO_HOME"]), ground.maestro.place / "dotfiles"
    (dotfiles / "rules").mkdir(parents=True)
    (dotfiles / "commands").mkdir()
    (dotfiles / "mine.md").write_text("# Be short\n")
    (home / "tools.toml").rename(dotfiles / "tools.toml")
    (home / "tools.toml").symlink_to(dotfiles / "tools.toml")
    (home / "rules").symlink_to(dotfiles / "rules")
    (home / "rules" / "mine.md").symlink_to(dotfiles / "mine.md")
    (home / "commands").symlink_to(dotfiles / "commands")
    linked = ground.maestro.place / "linked-home"
    linked.symlink_to(home)
    ground.maestro.env["MAESTRO_HOME"] = str(linked)
    done = ground.maestro("delegate", "\n\necho done", "--to", "sh", "--rule", "mine", "--mode", "write")
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert ground.maestro("chain", "list").returncode == 0
    assert ground.maestro("coordinate", "init", "--user").returncode == 0


def test_another_state_folder(ground: Ground) -> None:
    ground.maestro.env["MAESTRO_STATE_DIR"] = ".gemini"
    assert ground.maestro(*DELEGATE).returncode == 0
    assert (ground.root / ".gemini" / "runs").is_dir()
    assert not ground.state.exists()
