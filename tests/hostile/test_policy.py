"""A project's policy that nobody trusts may only make things stricter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.hostile.scene import NOTHING, UNTRUSTED, Scene, staged
from tests.support import Maestro

_POLICIES = ("policy-of-coordinator", "policy-reaching-out", "policy-of-project")
_QUESTIONS: tuple[dict[str, Any], ...] = (
    {"id": "push", "kind": "permission", "question": "May I?", "command": "git push --force", "options": ["Yes", "No"]},
    {"id": "delete", "kind": "permission", "question": "May I?", "command": "dropdb production", "options": ["Yes", "No"]},
    {"id": "deploy", "kind": "choice", "question": "Shall I run `kubectl apply -f k8s`?", "options": ["Yes", "No"]},
    {"id": "always", "kind": "permission", "question": "May I?", "command": "ls", "options": ["Yes", "Yes, and don't ask again", "No"], "proposed": "Choose 2"},
    {"id": "hidden", "kind": "permission", "question": "May I?", "command": "ls \u202egnihton", "options": ["Yes", "No"]},
    {"id": "look", "kind": "permission", "question": "May I?", "command": "ls", "options": ["Yes", "No"]},
)  # fmt: skip


def _verdicts(scene: Scene) -> dict[str, str]:
    """Returns what the gate says to each question; "refused" to all where the command is."""
    text = "".join(json.dumps(one) + "\n" for one in _QUESTIONS)
    done = scene("coordinate", "check", "--json", input=text)
    if done.returncode == UNTRUSTED:
        return {one["id"]: "refused" for one in _QUESTIONS}
    assert done.returncode == 0, done.stderr
    return {told["id"]: told["verdict"] for told in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("policy", _POLICIES)
def test_it_opens_no_gate(maestro: Maestro, policy: str) -> None:
    with staged(maestro, (policy,)) as scene:
        now = _verdicts(scene)
        assert {now[name] for name in ("push", "delete", "deploy")} <= {"escalate", "refused"}, now
        assert scene.repository.evidence() == {}


def test_no_rule_of_a_trusted_project_opens_the_floor(maestro: Maestro) -> None:
    with staged(maestro, ("policy-of-project",)) as scene:
        scene.trust()
        now = _verdicts(scene)
        assert (now["always"], now["hidden"], now["look"]) == ("escalate", "escalate", "allow"), now


def test_it_may_close_one(maestro: Maestro) -> None:
    with staged(maestro, NOTHING) as scene:
        assert _verdicts(scene)["look"] == "allow"
        strict = {"categories": [{"name": "looking", "commands": ["ls"]}], "alwaysEscalate": ["looking"]}
        (scene.folder / "coordinate.config.json").write_text(json.dumps(strict))
        now = _verdicts(scene)
        assert (now["look"], now["push"]) == ("escalate", "escalate"), now


def _asker(scene: Scene) -> str:
    """Starts an agent of the user's own that asks something mild, and tells the canary when it is answered."""
    scene.maestro.cwd = scene.folder
    scene.maestro.json("project", "add", ".")
    told = [{"run": ["cp", "/dev/null", str(scene.repository.canary / "question-was-answered")]}]
    asked = {
        "question": "Which colour?",
        "options": [{"label": "Red"}, {"label": "Blue"}],
        "answers": {"*": told},
    }
    path = Path(scene.maestro.place) / "asker.json"
    path.write_text(json.dumps({"steps": [{"ask": asked}]}))
    words = ("--agent", "scripted", "--model", str(path), "--name", "Asker", "--message", "Begin")
    return str(scene.maestro.json("session", "spawn", *words)["id"])


def test_it_answers_nobody(maestro: Maestro) -> None:
    with staged(maestro, NOTHING) as scene:
        session = _asker(scene)
        scene.repository.turn_hostile(("policy-of-coordinator", "policy-of-project", "vision"))
        for more in ((), ("--mode", "autonomous"), ("--brain", "claude")):
            done = scene("coordinate", "--once", *more, timeout=120)
            assert done.returncode in {0, UNTRUSTED}, done.stderr
            assert scene.repository.evidence() == {}, (more, done)
        assert scene.maestro.json("session", "explain", session)["status"] not in {"working", "finished"}


@pytest.mark.more
def test_trusted_it_answers(maestro: Maestro) -> None:
    with staged(maestro, NOTHING) as scene:
        _asker(scene)
        scene.repository.turn_hostile(("policy-of-coordinator",))
        scene.trust()
        done = scene("coordinate", "--once", timeout=120)
        assert "question-was-answered" in scene.repository.evidence(), done
