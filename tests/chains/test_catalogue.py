"""Chains and commands as files: put on top of each other, and refused with file and line."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.chains.support import package

from maestro.chains import Catalogue, Step
from maestro.chains.catalogue.catalogue import Source, build_catalogue, command_of
from maestro.chains.catalogue.catalogue_file import shown_catalogue
from maestro.chains.catalogue.command_text import parse_command
from maestro.errors import InvalidInput

COMMAND = """+++
purpose = "Greet."
artifacts = ["{work}/hello.md"]
+++
Say hello in `{work}/hello.md`.
"""


class Files:
    def __init__(self, place: Path) -> None:
        self.home, self.state = place / "home", place / "project" / ".maestro"
        for folder in (self.home, self.state):
            (folder / "commands").mkdir(parents=True)

    def load(self) -> Catalogue:
        return shown_catalogue(str(self.home), str(self.state))

    def refused(self) -> InvalidInput:
        with pytest.raises(InvalidInput) as caught:
            self.load()
        return caught.value


@pytest.fixture
def files(place: Path) -> Files:
    return Files(place)


def chain(name: str, *steps: str, purpose: str = "Test.") -> str:
    listed = "".join(f"    {step!r},\n" for step in steps)
    return f'# a comment\n[chains.{name}]\npurpose = "{purpose}"\nsteps = [\n{listed}]\n'


def test_the_issues_chains_have_their_steps() -> None:
    steps = {name: [step.command for step in one.steps] for name, one in package().chains.items()}
    assert steps["full-lifecycle"] == [
        "plan", "execute", "verify", "review", "test", "milestone-audit", "milestone-complete",
    ]  # fmt: skip
    assert steps["spec-driven"] == ["init", "spec-generate", "plan", "execute", "verify"]
    assert steps["roadmap-driven"] == ["init", "roadmap", "plan", "execute", "verify"]
    assert steps["next-milestone"] == ["roadmap", "plan", "execute", "verify"]
    assert steps["quality-loop"] == ["verify", "review", "test", "debug", "plan", "execute"]
    assert steps["issue-full"] == ["issue-analyze", "issue-plan", "issue-execute", "review", "issue-close"]
    assert [step.gaps for step in package().chains["quality-loop"].steps][4:] == [True, True]
    for name in package().commands:
        assert steps[name] == [name]


def test_what_a_chain_needs_is_known_or_brought_by_an_earlier_step() -> None:
    """A placeholder is filled by the intent, by the project, or by a step before it."""
    brought = {"phase": "PHASE", "spec_session_id": "SPEC"}
    for one in package().chains.values():
        told = {"description", "issue_id", *(("scratch_dir",) if one.work == "scratch" else ())}
        told |= {"phase"} if one.work == "phase" and one.steps[0].command != "init" else set()
        for step in one.steps:
            for name in ("phase", "spec_session_id", "scratch_dir"):
                if f"{{{name}}}" in step.args:
                    assert name in told, (one.name, step)
            result = package().commands[step.command].result
            told |= {name for name, field in brought.items() if field in result}


def test_the_users_and_the_projects_files_override_and_extend(files: Files) -> None:
    (files.home / "chains.toml").write_text(
        chain("execute-verify", "execute {phase}", purpose="Mine.")
        + chain("both", "plan {phase}").split("\n", 1)[1]
    )
    (files.state / "chains.toml").write_text(chain("both", "quality-loop", "greet", purpose="Theirs."))
    (files.state / "commands" / "greet.md").write_text(COMMAND)
    (files.home / "commands" / "quick.md").write_text(COMMAND.replace("Greet", "My quick"))
    catalogue = files.load()
    assert catalogue.chains["execute-verify"].steps == (Step("execute", "{phase}"),)
    assert catalogue.chains["execute-verify"].place == str(files.home / "chains.toml")
    assert catalogue.chains["both"].purpose == "Theirs."
    assert [step.command for step in catalogue.chains["both"].steps] == [
        "verify", "review", "test", "debug", "plan", "execute", "greet",
    ]  # fmt: skip
    assert catalogue.commands["quick"].purpose == "My quick."
    assert catalogue.chains["greet"].steps == (Step("greet", '"{description}"'),)
    assert len(catalogue.chains) == len(package().chains) + 2


def test_commands_are_known_by_the_seeds_names_also_in_steps(files: Files) -> None:
    (files.state / "chains.toml").write_text(chain("mine", "maestro-plan {phase}", "quality-test"))
    assert [step.command for step in files.load().chains["mine"].steps] == ["plan", "test"]
    found = command_of(package(), "manage-issue-create")
    assert found is not None
    assert found.name == "issue-create"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (chain("a", "plan {phase}", "plna"), ":6", "chains.a, step 2: there is no command or chain “plna”"),
        (chain("a", "plan {phas}"), ":5", "no placeholder {phas}"),
        (chain("a", "plan {state}"), ":5", "no placeholder {state}"),
        (chain("a"), ":2", "chains.a: it has no steps"),
        (chain("a", "plan", purpose=""), ":2", "its purpose is empty"),
        (chain("a", "b") + chain("b", "plan", "a"), ":12", "in a circle: a → b → a"),
        (chain("a", "a"), ":5", "in a circle: a → a"),
        (chain("a", "quality-loop {phase}"), ":5", "a chain takes no arguments"),
        (chain("plan", "execute"), ":2", "there is a command of this name"),
        (chain("maestro-plan", "execute"), ":2", "there is a command of this name"),
        (chain("A_b", "plan"), ":2", "small letters"),
        (chain("a", "plan") + chain("a", "plan"), ":8", "twice"),
        ("[chains.a]\npurpose = 3\nsteps = []\n", ":1", "chains.a: purpose: Expected `str`"),
        ("x = 1\n[chains.a]\npurpose = 'p'\nsteps = ['plan']\nstep = 1\n", ":2", "unknown field `step`"),
        ("\n\nother = 1\n", ":3", "unknown field `other`"),
        ("[chains.a\n", ":1", "Expected"),
    ],
)
def test_a_fault_is_told_with_file_and_line(files: Files, text: str, line: str, words: str) -> None:
    path = files.state / "chains.toml"
    path.write_text(text)
    error = files.refused()
    assert error.message.startswith(f"{path}{line}: "), error.message
    assert words in error.message


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("Say hello.", 1, "the first line is not +++"),
        ("+++\npurpose = 'x'\n", 1, "not closed"),
        ("+++\npurpose = 'x'\n+++\n  \n", 3, "there is no prompt"),
        ("+++\n\nmode = 'write'\n+++\nGo.", 1, "missing required field `purpose`"),
        ("+++\npurpose = 'x'\nmode = 'read'\n+++\nGo.", 3, "mode: Invalid enum value 'read'"),
        ("+++\npurpose = 'x'\nartefacts = []\n+++\nGo.", 3, "unknown field `artefacts`"),
        ("+++\npurpose = 'x'\nresult = ['RESULT']\n+++\nGo.", 3, "result: Invalid enum value"),
        ("+++\npurpose = 'x'\nresult = ['STATUS']\n+++\nGo.", 3, "need not be named"),
        ("+++\npurpose = 'x'\nargs = '{fase}'\n+++\nGo.", 3, "no placeholder {fase}"),
        ("+++\npurpose = 'x'\nartifacts = ['{other}/x']\n+++\nGo.", 3, "no placeholder {other}"),
        ("+++\npurpose = 'x'\nartifacts = ['../x']\n+++\nGo.", 3, "leads out of the project"),
        ("+++\npurpose = 'x'\nformats = ['poem']\n+++\nGo.", 3, "no format “poem”"),
        ("+++\npurpose = 'x'\nauto_flag = 'yes'\n+++\nGo.", 3, "is no flag"),
        (
            "+++\npurpose = 'x'\n+++\nGo.\nTo {issue_id}.",
            5,
            "{issue_id}, which is not among the command's inputs",
        ),
        ("+++\npurpose = \n+++\nGo.", 2, "Invalid value"),
    ],
)
def test_a_commands_fault_is_told_with_file_and_line(files: Files, text: str, line: int, words: str) -> None:
    path = files.state / "commands" / "greet.md"
    path.write_text(text)
    error = files.refused()
    assert error.message.startswith(f"{path}:{line}: "), error.message
    assert words in error.message


def test_other_faults_of_files_are_told(files: Files) -> None:
    path = files.state / "commands" / "Greet.md"
    path.write_text(COMMAND)
    assert "cannot be a command's name" in files.refused().message
    path.unlink()
    (files.state / "commands" / "greet.md").write_bytes(b"+++\n\xff\n+++\nx")
    assert f"{files.state}/commands/greet.md:2: it is not UTF-8" in files.refused().message
    (files.state / "commands" / "greet.md").write_text(
        COMMAND.replace("+++\n", '+++\nseed_name = "plan"\n', 1)
    )
    assert "the name plan is also one of the command" in files.refused().message


@given(st.text(max_size=200))
def test_any_text_is_a_catalogue_or_refused(text: str) -> None:
    for attempt in (
        lambda: build_catalogue(tuple(package().commands.values()), [Source("x.toml", text)], {}),
        lambda: parse_command("greet", text, "greet.md", []),
        lambda: parse_command("greet", f"+++\n{text}\n+++\nGo.", "greet.md", []),
    ):
        with contextlib.suppress(InvalidInput):
            attempt()


def test_chains_that_grow_without_bound_are_refused(files: Files) -> None:
    levels = [chain("a0", "plan", "plan"), *(chain(f"a{n}", f"a{n - 1}", f"a{n - 1}") for n in range(1, 64))]
    (files.state / "chains.toml").write_text("".join(levels))
    assert "it has over 50 steps" in files.refused().message
