"""Rules that `maestro coordinate init` wrote answer a worker, until the worker changes the script."""

from __future__ import annotations

import json

import pytest
from tests.coordinate.journey.overseen import Overseen, may

from maestro.coordinate.policy.config_file import FILE

pytestmark = pytest.mark.more  # make test-more


def test_a_new_project_needs_no_model_but_for_the_push(stage: Overseen) -> None:
    folder = stage.maestro.cwd
    (folder / "package.json").write_text(json.dumps({"scripts": {"test": "vitest run"}}))
    (folder / FILE).unlink(missing_ok=True)
    done = stage.maestro("coordinate", "init", "-y")
    assert done.returncode == 0, done.stderr
    steps = (may("status", "git status --short"), may("search", "rg -n TODO src"), may("tests", "npm test"))
    worker = stage.spawn("worker", *steps, may("push", "git push origin main"))
    loop = stage.oversee()
    stage.until_said(worker, "status got yes", "search got yes", "tests got yes")
    stage.escalated(worker, "git push origin main")
    stage.stop(loop)
    (folder / FILE).unlink()
    (folder / "package.json").unlink()


def test_a_script_is_answered_until_it_changes(stage: Overseen) -> None:
    folder = stage.maestro.cwd
    (folder / "package.json").write_text(json.dumps({"scripts": {"lint": "eslint ."}}))
    (folder / FILE).unlink(missing_ok=True)
    done = stage.maestro("coordinate", "init", "-y", "--mode", "autonomous")
    assert done.returncode == 0, done.stderr
    first = stage.spawn("first", may("lint", "npm run lint"))
    loop = stage.oversee()
    stage.until_said(first, "lint got yes")
    (folder / "package.json").write_text(json.dumps({"scripts": {"lint": "eslint . && node other.js"}}))
    for name in ("second", "third"):
        stage.escalated(stage.spawn(name, may("lint", "npm run lint")), "npm run lint")
    said = stage.stop(loop)
    assert said.count("“lint: npm run lint (package.json)”. Confirm: maestro coordinate init --again") == 1, (
        said
    )
    loop = stage.oversee()
    stage.escalated(stage.spawn("fourth", may("lint", "npm run lint")), "npm run lint")
    assert "This rule waits until you confirm it again" in stage.stop(loop)
    (folder / FILE).unlink()
    (folder / "package.json").unlink()
