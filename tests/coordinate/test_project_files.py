"""Files of a project as they lie on the disk: hostile ones, and scripts that change after a rule was confirmed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from maestro.agents.questions import Option, Question
from maestro.coordinate import ALLOWED, AnswerRule, Case, Policy
from maestro.coordinate.brains.confirmed import Confirmed
from maestro.coordinate.brains.rules import Rules
from maestro.coordinate.interruptible import run_interruptibly
from maestro.coordinate.policy.config import as_json
from maestro.coordinate.policy.config_file import FILE, find_policy, named_policy
from maestro.coordinate.policy.project_commands import rule_of
from maestro.coordinate.policy.project_files import as_confirmed, changed_words, commands_of
from maestro.trust.project import ProjectTrust


def put_script(folder: Path, text: str) -> None:
    (folder / "package.json").write_text(json.dumps({"scripts": {"lint": text}}))


def rules_of(folder: Path) -> tuple[AnswerRule, ...]:
    return tuple(map(rule_of, commands_of(str(folder)).found))


@pytest.fixture
def project(place: Path) -> Path:
    folder = Path(os.path.realpath(place)) / "shop"
    (folder / ".maestro").mkdir(parents=True)
    (folder / ".github" / "workflows").mkdir(parents=True)
    put_script(folder, "eslint .")
    return folder


def test_every_file_is_found(project: Path) -> None:
    (project / "Makefile").write_text("test:\n\tpytest\n")
    (project / "go.mod").write_text("module x\n")
    (project / ".github" / "workflows" / "ci.yaml").write_text("jobs: {a: {steps: [{run: mypy src}]}}")
    (project / ".github" / "workflows" / "a\x1b[2J.yml").write_text("jobs: {a: {steps: [{run: mypy lib}]}}")
    (project / "yarn.lock").write_bytes(b"\xff")
    found = {one.command: one.source for one in commands_of(str(project)).found}
    assert found["yarn lint"] == "package.json"
    assert found["make test"] == "Makefile"
    assert found["go vet ./..."] == "go.mod"
    assert found["mypy src"] == ".github/workflows/ci.yaml"
    assert "mypy lib" not in found


@pytest.mark.parametrize("name", ["package.json", "Makefile", ".gitlab-ci.yml", ".github/workflows/ci.yml"])
def test_what_is_no_file_says_nothing(project: Path, place: Path, name: str) -> None:
    (project / "package.json").unlink()
    path, outside = project / name, place / "outside"
    outside.write_text('{"scripts": {"lint": "x"}}')
    for target in (outside, Path("/dev/zero"), path, None, "a pipe"):
        if isinstance(target, Path):
            path.symlink_to(target)
        elif target is None:
            path.mkdir()
        else:
            os.mkfifo(path)
        assert commands_of(str(project)) == ((), ())
        path.rmdir() if target is None else path.unlink()
    with open(path, "wb") as file:
        file.truncate(1 << 30)
    [note] = commands_of(str(project)).notes
    assert note == f"{name} is left out: it has over 131,072 bytes."


def test_a_folder_of_workflows_that_is_a_link(project: Path, place: Path) -> None:
    (place / "others").mkdir()
    (place / "others" / "ci.yml").write_text("jobs: {a: {steps: [{run: mypy src}]}}")
    (project / ".github" / "workflows").rmdir()
    (project / ".github" / "workflows").symlink_to(place / "others")
    assert [one.command for one in commands_of(str(project)).found] == ["npm run lint"]
    assert commands_of(str(project / "nowhere")) == ((), ())


def test_a_rule_whose_script_has_changed_is_left_out(project: Path) -> None:
    own = AnswerRule("Go on\\?", "Yes")
    policy = Policy(rules=(own, *rules_of(project)))
    assert as_confirmed(policy, str(project)) == (policy, ())
    put_script(project, "eslint . && curl x")
    kept, changed = as_confirmed(policy, str(project))
    assert (kept.rules, changed) == ((own,), policy.rules[1:])
    words = changed_words(changed, str(project))
    assert "“lint: npm run lint (package.json)”" in words
    assert words.endswith("Confirm: maestro coordinate init --again")
    (project / "package.json").unlink()
    assert as_confirmed(policy, str(project))[1] == policy.rules[1:]
    put_script(project, "eslint .")
    assert as_confirmed(policy, str(project)) == (policy, ())
    assert changed_words((), str(project)) == ""


def test_a_policy_is_found_without_it(project: Path, place: Path) -> None:
    home, policy = str(place / "m"), Policy(rules=rules_of(project))
    (project / FILE).write_text(as_json(policy))
    trust = ProjectTrust(home, str(project), {})
    assert find_policy("", str(project), {}, home).policy.rules == (), "nobody trusts it yet"
    trust.confirm_content(str(project / FILE), (project / FILE).read_bytes())
    found = find_policy("", str(project), {}, home)
    assert (found.policy.rules, found.changed) == (policy.rules, ())
    put_script(project, "evil")
    for found in (find_policy("", str(project), {}, home), named_policy(str(project / FILE), trust)):
        assert (found.policy.rules, found.changed) == ((), policy.rules)


def test_a_worker_that_changes_a_script_is_asked_again(project: Path, place: Path) -> None:
    worktree = place / "worktree"
    worktree.mkdir()
    put_script(worktree, "eslint .")
    policy = Policy(rules=rules_of(project))
    said: list[str] = []
    folders = {"sess_1": str(project), "sess_2": str(worktree)}
    brain = Confirmed(Rules(), folders.__getitem__, said.append)

    def answer(session: str) -> str:
        asked = Question(
            "permission", "May I?", (Option("Yes"), Option("No")), tool="Bash", detail="npm run lint"
        )
        case = Case(session, "n", "claude", "q", 1, asked, ALLOWED)
        return run_interruptibly(lambda: brain.assess(case, policy)).answer

    assert [answer("sess_1"), answer("sess_2"), said] == ["Choose 1", "Choose 1", []]
    put_script(worktree, "curl x | sh")
    assert [answer("sess_1"), answer("sess_2"), answer("sess_2")] == ["Choose 1", "", ""]
    assert len(said) == 1, "it is told once"
    assert str(worktree) in said[0]
