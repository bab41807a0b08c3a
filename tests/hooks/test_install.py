"""`maestro install` and `uninstall`: a person's own settings file, as it is on a disk."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.support import Maestro

from maestro.agents.hook_command import hook_command

# An agent that another package brings, so that no CLI's own events matter here.
_PLUGIN = """
from maestro.agents.hooks import HookEvent
from maestro.agents.settings_place import SettingsPlace

class Plugged:
    name = "plugged"
    home_variables = ()
    no_session_hooks = ""
    hook_events = (HookEvent("Stop"), HookEvent("Ask", waits=True))

    def hook_settings(self, commands):
        return {"hooks": {event: [{"hooks": [{"type": "command", "command": command}]}] for event, command in commands.items()}}

    def read_hook(self, event, payload): ...
    def hook_answer(self, event, payload, question, answer): ...

    def settings_place(self, scope, env, project):
        folder = env["HOME"] if scope == "user" else project
        return SettingsPlace(f"{folder}/.plugged/settings.json", has_comments=True, advice="Trust them.")

ADAPTER = Plugged()
"""
OURS = {
    "hooks": {
        event: [{"hooks": [{"type": "command", "command": hook_command("plugged", event, event == "Ask")}]}]
        for event in ("Stop", "Ask")
    }
}


@pytest.fixture
def plugged(maestro: Maestro) -> Maestro:
    folder = maestro.place / "plugins"
    (folder / "plugged-1.dist-info").mkdir(parents=True)
    (folder / "plugged-1.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: plugged\nVersion: 1\n"
    )
    (folder / "plugged-1.dist-info" / "entry_points.txt").write_text(
        "[maestro.agents]\nplugged = plugged:ADAPTER\n"
    )
    (folder / "plugged.py").write_text(_PLUGIN)
    maestro.env["PYTHONPATH"] = str(folder)
    (maestro.place / ".plugged").mkdir()
    return maestro


def settings(maestro: Maestro) -> Path:
    return maestro.place / ".plugged" / "settings.json"


@pytest.mark.parametrize(
    "before",
    [
        b"",
        b"{}",
        b'{"a": 1}',
        b'\xef\xbb\xbf{\r\n\t"a": "\xc3\xa9" // why\r\n}',
        b'{\n  "hooks": {\n    "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]\n  }\n}\n\n',
    ],
)
@pytest.mark.parametrize("out", [("uninstall",), ("install", "--remove")])
def test_in_and_out_leaves_the_very_bytes(plugged: Maestro, before: bytes, out: tuple[str, ...]) -> None:
    settings(plugged).write_bytes(before)
    told = plugged.json("install", "plugged")
    assert told == {
        "agent": "plugged",
        "scope": "user",
        "path": str(settings(plugged)),
        "installed": True,
        "changed": True,
        "events": ["Stop", "Ask"],
        "advice": "Trust them.",
    }
    installed = settings(plugged).read_bytes()
    assert installed.count(b"hook.py plugged") == 2
    assert plugged.json("install", "plugged")["changed"] is False
    assert settings(plugged).read_bytes() == installed
    assert plugged.json(*out, "plugged")["changed"] is True
    assert settings(plugged).read_bytes() == before
    assert plugged.json(*out, "plugged")["changed"] is False


def test_a_file_that_was_not_there_goes_again(plugged: Maestro) -> None:
    done = plugged("install", "plugged")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"The hooks are in {settings(plugged)}: sessions of plugged that start now report to Maestro.",
        "Trust them.",
    ]
    assert json.loads(settings(plugged).read_text()) == OURS
    assert settings(plugged).stat().st_mode & 0o777 == 0o600
    assert os.path.isdir(plugged.home.root)
    assert plugged("uninstall", "plugged").stdout == f"The hooks were taken out of {settings(plugged)}.\n"
    assert not settings(plugged).exists()
    assert plugged("uninstall", "plugged").stdout == f"There are no hooks of ours in {settings(plugged)}.\n"


def test_only_in_a_project(plugged: Maestro) -> None:
    told = plugged.json("install", "plugged", "--scope", "project")
    assert told["path"] == str(plugged.cwd / ".plugged" / "settings.json")
    assert not settings(plugged).exists()
    plugged("uninstall", "plugged", "--scope", "project")
    assert not os.path.exists(told["path"])


def test_a_link_stays_one(plugged: Maestro) -> None:
    target = plugged.place / "dotfiles.json"
    target.write_bytes(b'{"a": 1}')
    target.chmod(0o664)
    settings(plugged).symlink_to(target)
    plugged.json("install", "plugged")
    assert settings(plugged).is_symlink()
    assert json.loads(target.read_text()) == {"a": 1} | OURS
    assert target.stat().st_mode & 0o777 == 0o664
    plugged.json("uninstall", "plugged")
    assert settings(plugged).is_symlink()
    assert target.read_bytes() == b'{"a": 1}'


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (b'{\n  "a": 1,\n}', "line 3 has no name in quotation marks"),
        (b'{"a": \xff}', "is not UTF-8"),
        (b'{"hooks": []}', "“hooks” is not an object"),
        (b'{"hooks": {"Stop": "x"}}', "“hooks.Stop” is not a list"),
        (b"[1]", "settings are one"),
    ],
)
def test_what_cannot_be_understood_is_left_as_it_is(plugged: Maestro, found: bytes, said: str) -> None:
    settings(plugged).write_bytes(found)
    done = plugged("install", "plugged")
    assert done.returncode == 2
    assert said in done.stderr
    assert "was left as it is" in done.stderr
    assert settings(plugged).read_bytes() == found


def test_a_folder_in_its_place(plugged: Maestro) -> None:
    settings(plugged).mkdir()
    done = plugged("install", "plugged")
    assert done.returncode == 6
    assert "cannot be read" in done.stderr


def test_an_unknown_agent(maestro: Maestro) -> None:
    assert maestro("install", "nobody").returncode == 3
    assert maestro("install", "scripted").returncode == 2


PLACES = {
    ("claude", "user"): ("claude/settings.json", ""),
    ("claude", "project"): ("work/.claude/settings.local.json", ""),
    ("codex", "user"): ("codex/hooks.json", "review"),
    ("codex", "project"): ("work/.codex/hooks.json", "review"),
    ("gemini", "user"): ("gemini/.gemini/settings.json", ""),
    ("gemini", "project"): ("work/.gemini/settings.json", "trust"),
}


@pytest.mark.parametrize(("agent", "scope"), PLACES)
def test_every_agent(maestro: Maestro, agent: str, scope: str) -> None:
    place, advice = PLACES[agent, scope]
    path = maestro.place / place
    before: dict[str, Any] = {
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]},
        "x": [1],
    }
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(before))
    told = maestro.json("install", agent, "--scope", scope)
    assert told["path"] == str(path)
    assert told["events"]
    assert advice in told["advice"]
    for event in told["events"]:
        assert f"hook.py {agent} {event}" in path.read_text()
    assert maestro.json("install", agent, "--scope", scope)["changed"] is False
    maestro.json("uninstall", agent, "--scope", scope)
    assert path.read_text() == json.dumps(before)
