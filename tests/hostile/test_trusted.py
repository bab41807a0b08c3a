"""The same repository, trusted: shown and asked for at a terminal, recorded file by file, outside of the repository."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from tests import skips
from tests.hostile.brought import MARK, Brought
from tests.hostile.repository import EVERYTHING
from tests.hostile.scene import UNTRUSTED, Scene, staged
from tests.patience import until
from tests.support import Maestro

pytestmark = [skips.needs_person, pytest.mark.more]  # make test-more

_ACTING = sorted({one.path for one in EVERYTHING if one.acts and not one.path.startswith(".git/")})


def _delegate(scene: Scene, *more: str) -> int:
    return scene("delegate", "hello", *more).returncode


def _state(scene: Scene) -> dict[str, bytes]:
    """Returns the content of every file of the repository."""
    files = (path for path in scene.folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path): path.read_bytes() for path in files}


def _is_named(path: str, shown: str) -> bool:
    """Whether a list of files has this one, or a folder that it is in."""
    words = shown.split()
    return any(f"{parent}/" in words for parent in Path(path).parents) or path in words


def _plain(shown: str) -> str:
    """What a terminal showed, without colours and line ends that its width made."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|[\r\n]", "", shown)


# What is asked


def test_every_file_that_can_act_is_named(maestro: Maestro) -> None:
    with staged(maestro) as scene:
        done = scene("trust", "--show")
        assert done.returncode == 0, done.stderr
        assert [path for path in _ACTING if not _is_named(path, done.stdout)] == []
        assert _delegate(scene) == UNTRUSTED, "to show is not to trust"


def test_what_they_want_is_said(maestro: Maestro) -> None:
    with staged(maestro) as scene:
        shown = scene("trust", "--show").stdout
        outside = str(scene.repository.outside)
        wanted = ("scripted", "tools-command", "unrestricted", outside, "notify-command")
        assert [words for words in wanted if words not in shown] == []


def test_no_leaves_everything_as_it_was(maestro: Maestro) -> None:
    with staged(maestro, ("tools-agent",)) as scene:
        before = _state(scene)
        code, shown = scene.on_terminal("delegate", "hello", typed="n\n")
        assert code != 0
        assert ".maestro/tools.toml" in _plain(shown)
        assert "scripted" in _plain(shown), "what the file wants"
        assert (scene.repository.evidence(), _state(scene)) == ({}, before)
        assert _delegate(scene) == UNTRUSTED


def test_enter_alone_is_no(maestro: Maestro) -> None:
    with staged(maestro, ("tools-agent",)) as scene:
        code, _ = scene.on_terminal("delegate", "hello", typed="\n")
        assert (code != 0, scene.repository.evidence()) == (True, {})


def test_yes_records_and_goes_on(maestro: Maestro) -> None:
    with staged(maestro, ("tools-agent",)) as scene:
        code, shown = scene.on_terminal("delegate", "hello", typed="y\n")
        assert code == 0, shown
        assert "tools-agent" in scene.repository.evidence()
        assert _delegate(scene) == 0, "and is not asked again"


@pytest.mark.parametrize(
    ("files", "words", "evidence"),
    [
        (("fleet", "fleet-scripted"), ("up",), "fleet-scripted"),
        (("roster-agent", "batch"), ("dispatch", "batch", "--stagger", "0"), "roster-agent"),
    ],
)
def test_other_commands_ask_likewise(
    maestro: Maestro, files: tuple[str, ...], words: tuple[str, ...], evidence: str
) -> None:
    with staged(maestro, files) as scene:
        code, shown = scene.on_terminal(*words, typed="n\n")
        assert (code != 0, scene.repository.evidence()) == (True, {}), shown
        _, shown = scene.on_terminal(*words, typed="y\n")
        until(lambda: evidence in scene.repository.evidence(), lambda: shown)


def test_once_is_once(maestro: Maestro) -> None:
    with staged(maestro, ("tools-agent",)) as scene:
        assert _delegate(scene, "--trust-once") == 0
        assert "tools-agent" in scene.repository.evidence()
        assert _delegate(scene) == UNTRUSTED


# What is recorded


def test_trust_lives_in_the_users_home_alone(maestro: Maestro) -> None:
    with staged(maestro) as scene:
        before, around = _state(scene), scene.surroundings()
        scene.trust()
        assert (_state(scene), scene.surroundings(), scene.repository.evidence()) == (before, around, {})


def _acting() -> list[Brought]:
    first: dict[str, Brought] = {}
    for one in EVERYTHING:
        if one.acts and not one.link and not one.path.startswith(".git/"):
            first.setdefault(one.path, one)
    return list(first.values())


def _waiting(scene: Scene) -> set[str]:
    """Returns the files that are not trusted as they are now."""
    shown = scene("trust", "--show", "--json")
    assert shown.returncode == 0, shown.stderr
    return {one["name"] for one in json.loads(shown.stdout)["unconfirmed"]}


def test_a_changed_file_asks_again(maestro: Maestro) -> None:
    with staged(maestro) as scene:
        scene.trust()
        assert _waiting(scene) == set()
        for one in _acting():
            path = scene.folder / one.path
            kept = path.read_text()
            path.write_text(kept.replace(MARK, "OTHER-WORDS-").replace("sh ", "bash ") + "\n")
            waiting = _waiting(scene)
            assert len(waiting) == 1, one.path
            assert _is_named(one.path, waiting.pop()), one.path
            path.write_text(kept)
        assert _waiting(scene) == set()


@pytest.mark.parametrize("change", ["replaced", "linked"])
def test_another_file_in_its_place_asks_again(maestro: Maestro, change: str) -> None:
    with staged(maestro, ("tools-agent",)) as scene:
        scene.trust()
        tools, other = scene.folder / ".maestro" / "tools.toml", scene.folder / "other.toml"
        other.write_text(tools.read_text() + "\n")
        if change == "replaced":
            other.replace(tools)
        else:
            tools.unlink()
            tools.symlink_to(other)
        assert (_delegate(scene) != 0, scene.repository.evidence()) == (True, {})


def test_a_file_that_comes_later_asks_again(maestro: Maestro) -> None:
    with staged(maestro, ("claude-settings",)) as scene:
        scene.trust()
        assert _delegate(scene, "--to", "claude") != UNTRUSTED
        (scene.folder / ".mcp.json").write_text('{"mcpServers": {"evil": {"command": "sh"}}}')
        assert _delegate(scene, "--to", "claude") == UNTRUSTED


def test_a_copy_is_not_trusted(maestro: Maestro) -> None:
    with staged(maestro, ("tools-agent",)) as scene:
        scene.trust()
        copy = Path(maestro.place) / "copy"
        shutil.copytree(scene.folder, copy, symlinks=True)
        done = scene("delegate", "hello", cwd=copy)
        assert (done.returncode, scene.repository.evidence()) == (UNTRUSTED, {}), done


def test_revoked_it_is_refused_again(maestro: Maestro) -> None:
    with staged(maestro, ("tools-agent",)) as scene:
        scene.trust()
        assert scene("trust", "--revoke").returncode == 0
        assert (_delegate(scene), scene.repository.evidence()) == (UNTRUSTED, {})


def test_no_agent_trusts_its_own_project(maestro: Maestro) -> None:
    with staged(maestro, ("tools-agent",)) as scene:
        done = scene("trust", "--yes", env={"MAESTRO_SESSION_ID": "sess_1", "MAESTRO_SESSION_TOKEN": "x"})
        assert done.returncode == 5, done.stderr
        done = scene("delegate", "hello", "--trust-once", env={"MAESTRO_SESSION_ID": "sess_1"})
        assert (done.returncode != 0, scene.repository.evidence()) == (True, {}), done


def test_the_old_list_is_taken_over_once(maestro: Maestro) -> None:
    with staged(maestro, ("tools-agent",)) as scene:
        tools = Path(maestro.env["MAESTRO_HOME"]) / "tools.toml"
        tools.write_text(f"trust = [{str(scene.folder)!r}]\n{tools.read_text()}")
        first = scene("delegate", "hello")
        assert (first.returncode, "trust" in first.stderr) == (0, True), first
        assert "trust" not in scene("delegate", "hello").stderr
        (scene.folder / ".maestro" / "tools.toml").write_text('default = "own"\n')
        assert _delegate(scene) == UNTRUSTED, "it counted for the files as they were"
