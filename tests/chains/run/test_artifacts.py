"""Each command, run once in a small repository with code, is judged by what it leaves there: its files count if they are
there, made or changed by this step, and in their form."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from tests.chains.run.support import Stage, statuses
from tests.chains.support import package, project_at
from tests.patience import end_of
from tests.support import Maestro, clean_env

from maestro.chains import Chain, Command, Route
from maestro.chains.artifacts import Ground, artifact_patterns, marks
from maestro.chains.catalogue.catalogue_file import step_template
from maestro.chains.context import begin
from maestro.chains.forms import form_fault, form_for, form_of
from maestro.chains.project import as_json
from maestro.chains.runner import ChainRun
from maestro.chains.settling import settled
from maestro.chains.state import ChainState, StepRecord, new_steps
from maestro.chains.state_file import make_folder
from maestro.chains.step_runs import Setting
from maestro.chains.steps import promised_files
from maestro.cli.chain_desk import SilentDesk
from maestro.dispatch.delegate import taken_over
from maestro.dispatch.run import carry_out, look
from maestro.dispatch.runs import RunResult

COMMANDS = sorted(package().commands)
CODE = {
    "shop/__init__.py": "",
    "shop/cart.py": "def total(prices):\n    return sum(prices)\n",
    "tests/test_cart.py": "from shop.cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n",
    "README.md": "# Shop\n\nRun the tests: python -m pytest\n",
    ".maestro/roadmap.md": "# Roadmap: M1 First sale\n\n## Phase 1: Catalogue\n",
    ".maestro/issues/ISSUE-7.md": "# ISSUE-7: Login fails\n\n- Status: open\n- Severity: high\n",
}


@pytest.fixture(scope="module")
def origin() -> Iterator[Path]:
    """The repository that each command gets a copy of."""
    folder = Path(tempfile.mkdtemp(prefix="mt"))
    for name, text in CODE.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    project = project_at("executed")
    assert project is not None
    (folder / ".maestro" / "project.json").write_bytes(as_json(project))
    for words in (("init", "-q"), ("add", "shop", "tests", "README.md"), ("commit", "-qm", "Begin")):
        who = ("-c", "user.name=a", "-c", "user.email=a@example.invalid")
        subprocess.run(["git", *who, *words], cwd=folder, check=True, env=clean_env(folder))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


class Done(NamedTuple):
    """A step that was carried out, as it was before it and after it."""

    command: Command
    before: ChainState
    after: ChainState
    result: RunResult
    ground: Ground

    @property
    def step(self) -> StepRecord:
        return self.after.steps[0]

    @property
    def promised(self) -> list[Path]:
        told = promised_files(self.command, self.after.context, self.after.project, ".maestro")
        return [Path(self.ground.root) / path for path in told]

    def judged(self, ground: Ground | None = None) -> StepRecord:
        """The same result, with the files as they are now."""
        return settled(self.before, 0, self.result, self.command, ground or self.ground).steps[0]


def chain_of(chain: Chain, root: Path, description: str) -> ChainState:
    project = project_at("executed")
    route = Route(chain=chain.name, clarity=3, issue="ISSUE-7", description=description)
    context = begin(chain, route, project, state=".maestro", stamp="S")
    return ChainState(
        session_id="coord-20260101000000", created_at="", intent=description, task_type=chain.name,
        chain_name=chain.name, auto_mode=True, phase=context.phase, steps=new_steps(chain, package(), 1),
        context=context, project=project, to="scripted",
    )  # fmt: skip


@pytest.fixture
def carried_out(origin: Path, place: Path) -> Callable[[str], Done]:
    """Runs a command in this process; only its agent is another one."""
    env = clean_env(place)
    root = place / "shop"
    shutil.copytree(origin, root)

    def start(folder: str) -> int:
        asyncio.run(carry_out(taken_over(folder, env), asyncio.Event()))
        return os.getpid()

    def run(name: str) -> Done:
        command, chain = package().commands[name], package().chains[name]
        state_folder = str(root / ".maestro")
        before = chain_of(chain, root, "mend the login")
        patterns = artifact_patterns(command, before.context, before.project, ".maestro")
        ground = Ground(str(root), state_folder, marks(str(root), patterns), package().formats)
        setting = Setting(str(root), state_folder, package(), step_template(), "scripted", env, start)
        session_id, folder = make_folder(state_folder, 0)
        before = msgspec.structs.replace(before, session_id=session_id)
        after = ChainRun(setting, folder, before, SilentDesk()).carry_out()
        run_id = after.steps[0].exec_id
        assert run_id is not None
        result = look(os.path.join(state_folder, "runs", run_id)).result
        assert result is not None
        return Done(command, before, after, result, ground)

    return run


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_judged_by_what_it_leaves(carried_out: Callable[[str], Done], name: str) -> None:
    done = carried_out(name)
    assert (done.step.status, done.step.failure, len(done.step.attempts)) == ("completed", "", 1)
    assert all(path.is_file() for path in done.promised)
    assert len(done.promised) == len(done.command.artifacts)
    for path, template in zip(done.promised, done.command.artifacts, strict=True):
        shown, content = path.relative_to(done.ground.root), path.read_bytes()
        # As it is now, it was before: nothing was made or changed by the step.
        known = marks(done.ground.root, [str(shown)])
        same = done.judged(done.ground._replace(before=known))
        may_keep = template in done.command.may_keep
        assert same.status == ("completed" if may_keep else "failed")
        assert may_keep or f"{shown} is as before this step" in same.failure
        # Made anew with the same content, it was made by this step.
        path.unlink()
        path.with_name("new").write_bytes(content)
        path.with_name("new").rename(path)
        assert done.judged(done.ground._replace(before=known)).status == "completed"
        # Out of its form, where it has one.
        path.write_text("{ This is none of the formats.\n")
        wrong = done.judged()
        has_form = path.name == "project.json" or form_for(
            str(shown), done.command.formats, package().formats
        )
        assert wrong.status == ("failed" if has_form else "completed")
        assert str(shown) in wrong.failure or not has_form
        # Not there.
        path.unlink()
        missing = done.judged()
        assert (missing.status, missing.failure_kind) == ("failed", "answer")
        assert f"{shown} is not there, and it must be." in missing.failure
        path.write_bytes(content)
        assert done.judged().status == "completed"


def test_a_scratch_folder_is_among_the_others(carried_out: Callable[[str], Done]) -> None:
    """Elsewhere, an old file could pass for a new one: it was not looked at before."""
    done = carried_out("analyze")
    own = done.after.context.scratch_dir
    assert done.promised[0].is_relative_to(Path(done.ground.root) / own)
    for folder, status in (
        (own, "completed"),
        (f"./{own}/", "completed"),
        ("docs", "failed"),
        ("..", "failed"),
    ):
        elsewhere = Path(done.ground.root, folder)
        elsewhere.mkdir(exist_ok=True)
        if not (elsewhere / done.promised[0].name).exists():
            shutil.copy(done.promised[0], elsewhere)
        text = done.result.text.replace("=== END ===", f"SCRATCH: {folder}\n=== END ===")
        told = done._replace(result=msgspec.structs.replace(done.result, text=text)).judged()
        assert told.status == status, (folder, told.failure)
        assert status == "completed" or "SCRATCH" in told.failure


def test_every_format_says_how_it_is_checked() -> None:
    told = {name: form_of(text) for name, text in package().formats.items()}
    assert [name for name, form in told.items() if form is None] == ["project.json"]  # by its own parser
    for name, form in told.items():
        if form is not None:
            # What is shown to agents as the form is in it.
            [shown, *_] = re.findall(
                r"^```markdown\n(.*?)^```", package().formats[name], re.DOTALL | re.MULTILINE
            )
            assert form_fault("x", shown, form) == "", name


@pytest.mark.parametrize(
    "text", ["", "\n \n", "# Plan\n", "## Tasks\n### T1\n", "Plan\n# Plan\n## Tasks\n### T1"]
)
def test_what_is_no_plan(text: str) -> None:
    form = form_of(package().formats["plan.md"])
    assert form is not None
    assert form_fault("plan.md", text, form).startswith("plan.md ")


def test_what_was_there_and_stays_as_it_was_is_asked_for_once_more(maestro: Maestro) -> None:
    """Also when the chain was interrupted in between: how it was is on record from before the step's first run."""
    stage = Stage(maestro, {"maestro-plan": ["no-files"]})
    stage.project("pending")
    plan = stage.state / "phases" / "01-catalogue" / "plan.md"
    plan.parent.mkdir(parents=True)
    plan.write_text("# Plan: of last week\n\n## Tasks\n\n### T1\n")
    done = stage.run("-y", "--chain", "plan", "phase 1")
    assert done.returncode == 1
    assert ".maestro/phases/01-catalogue/plan.md is as before this step" in done.stderr
    step = stage.told()["steps"][0]
    assert (step["failure_kind"], len(step["attempts"])) == ("answer", 2)
    assert "is as before this step" in (stage.folder() / "step-1-prompt.md").read_text()
    assert stage.resume().returncode == 1  # and is no other by waiting
    stage.script.write_text('{"maestro-plan": ["ok"]}')
    assert stage.resume().returncode == 0
    assert statuses(stage.told()) == ["completed"]


def test_what_an_earlier_attempt_made_counts(maestro: Maestro) -> None:
    stage = Stage(maestro, {"maestro-plan": ["wait", "no-files"]})
    stage.project("pending")
    first = maestro.start("chain", "run", "-y", "--chain", "plan", "phase 1", "--to", "scripted")
    stage.until_done(first, ["maestro-plan"])
    # The first attempt has written its file when it is interrupted.
    plan = stage.state / "phases" / "01-catalogue" / "plan.md"
    plan.parent.mkdir(parents=True)
    plan.write_text("# Plan: begun\n\n## Tasks\n\n### T1\n")
    first.terminate()
    assert end_of(first) == 130
    assert stage.resume().returncode == 0
    assert stage.done() == ["maestro-plan", "maestro-plan"]
