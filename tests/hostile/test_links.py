"""Links in a project lead nothing out of it: no file, no lock, no record is written where they point."""

from __future__ import annotations

import json
import shutil

import pytest
from tests.hostile.scene import NOTHING, Scene, staged
from tests.support import Maestro

pytestmark = pytest.mark.more  # make test-more

_DELEGATE = ("delegate", "hello", "--to", "own")
_CHAIN = ("chain", "run", "fix a typo", "--chain", "quick", "-y", "--no-review", "--to", "own")
_ADD = ("tag", "add", "notes.md", "Look at it", "--kind", "fix")
_DISPATCH = ("dispatch", "batch", "--to", "own", "--stagger", "0")
_INIT = ("coordinate", "init")
_LINKS: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = (
    (".maestro", (_DELEGATE, _CHAIN, _ADD)),
    (".maestro/runs", (_DELEGATE, (*_DELEGATE, "--async"))),
    (".maestro/chains", (_CHAIN,)),
    (".maestro/scratch", (_CHAIN,)),
    (".maestro/tags", (_ADD, ("tag", "approve", "--all"))),
    (".maestro/coordinate", (("coordinate", "--once"),)),
    ("batch/results", (_DISPATCH,)),
    ("batch/runs", (_DISPATCH,)),
    ("batch/lock", (_DISPATCH,)),
    ("batch/batch.json", (_DISPATCH,)),
    ("coordinate.config.json", (_INIT,)),
    ("notes.md", (_ADD,)),
    ("VISION.md", (("vision", "init"), ("vision", "check", "1.1"))),
    (".claude", (("install", "claude", "--scope", "project"),)),
    (".gemini/settings.json", (("install", "gemini", "--scope", "project"),)),
    (".codex", (("install", "codex", "--scope", "project"),)),
)


def _linked(scene: Scene, name: str) -> None:
    """Puts a link in place of a file or folder, to a file that is there or to a folder."""
    for path in (scene.folder / ".maestro", scene.folder / "batch"):
        if path.is_symlink():
            path.unlink()
        else:
            shutil.rmtree(path, ignore_errors=True)
    prompts = scene.folder / "batch" / "prompts"
    prompts.mkdir(parents=True)
    (prompts / "coder.txt").write_text("hello\n")
    link = scene.folder / name
    link.parent.mkdir(parents=True, exist_ok=True)
    targets = {".md": "notes.md", ".json": "settings.json"}
    link.symlink_to(
        scene.repository.outside / ("new" if link.name == "lock" else targets.get(link.suffix, ""))
    )
    (scene.repository.outside / "settings.json").write_text("{}\n")
    if name == ".maestro/coordinate":
        _start_fleet(scene)


def _start_fleet(scene: Scene) -> None:
    """Starts a session of the user's own: an oversight loop needs a fleet."""
    path = scene.maestro.place / "idle.json"
    path.write_text(json.dumps({"steps": [{"dialog": "trust"}]}))
    assert scene("project", "add", ".").returncode == 0
    done = scene("session", "spawn", "--agent", "scripted", "--model", str(path), "--message", "Begin")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", [name for name, _ in _LINKS])
def test_a_link_leads_nothing_out(maestro: Maestro, name: str) -> None:
    with staged(maestro, NOTHING) as scene:
        _linked(scene, name)
        before = scene.surroundings()
        for words in dict(_LINKS)[name]:
            done = scene(*words)
            assert "Traceback" not in done.stderr, done.stderr
            assert scene.surroundings() == before, words


@pytest.mark.parametrize("name", ["x.md", "hooks/x.md", "info/exclude.md"])
def test_a_tag_goes_into_no_folder_of_git(maestro: Maestro, name: str) -> None:
    with staged(maestro, NOTHING) as scene:
        done = scene("tag", "add", f".git/{name}", "Look at it", "--kind", "fix")
        assert done.returncode != 0
        assert not (scene.folder / ".git" / name).exists()
