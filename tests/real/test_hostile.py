"""The real CLIs in a hostile repository that nobody trusts: their own question comes to the human, and nothing runs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.hostile.files_of_clis import FILES
from tests.hostile.repository import Repository
from tests.hostile.scene import NOTHING, UNTRUSTED
from tests.real.clis import CLIS, Cli
from tests.real.fleet import RealFleet
from tests.real.turns import says
from tests.support import BIN

# Whatever is asked, this policy of the user's own would say yes.
_YES_TO_ALL = {
    "preset": "autonomous",
    "rules": [{"name": "yes to all", "pattern": ".*", "answer": "Choose 1"}],
    "notify": {"desktop": False},
    "precedents": {"enabled": False},
    "timeouts": {"waitTimeout": 2},  # what waits for the human wakes nobody else
}
_OF_CLIS = tuple({one.name for one in FILES})


@pytest.fixture(scope="module", params=sorted(CLIS))
def cli(request: pytest.FixtureRequest) -> Cli:
    return CLIS[request.param]


class Place:
    """A folder that the CLI does not know, with a repository in it."""

    def __init__(self, fleet: RealFleet, folder: Path, names: tuple[str, ...]) -> None:
        self.fleet = fleet
        self.repository = Repository(
            folder / "repository", folder / "canary", folder / "outside", port=fleet.api.port
        )
        folder.mkdir()
        self.repository.make(names)

    def __call__(self, *words: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        return self.fleet.network.run(
            [str(BIN / "maestro"), *words], env=self.fleet.env, cwd=self.repository.folder, timeout=timeout
        )

    def spawn(self) -> subprocess.CompletedProcess[str]:
        added = self("project", "add", ".", "--json")
        assert added.returncode == 0, added.stderr
        words = ("--agent", self.fleet.cli.name, "--mode", "cautious", "--message", "say hello", "--json")
        return self("session", "spawn", *words)

    def session(self) -> str:
        done = self.spawn()
        assert done.returncode == 0, done.stderr
        return str(json.loads(done.stdout)["id"])

    def waits_for_the_human(self, session: str) -> dict[str, Any]:
        """Its own question is on the screen, and in the inbox; the oversight loop leaves it alone."""
        screen = self.fleet.until_asked(session)
        assert screen["kind"] == "dialog", screen
        config = Path(self.fleet.env["MAESTRO_HOME"]) / "coordinate.config.json"
        config.write_text(json.dumps(_YES_TO_ALL))
        for brain in ("rules", self.fleet.cli.name):
            self("coordinate", "--once", "--brain", brain)
        [waiting] = self.fleet.until(
            "it is in the inbox", lambda: self.fleet.json("inbox"), lambda found: len(found) == 1
        )
        assert waiting["sessionId"] == session, waiting
        again = self.fleet.screen(session)
        assert (again["hasQuestion"], again["kind"]) == (True, "dialog"), again
        return screen


@pytest.fixture
def hostile(fleet: RealFleet) -> Place:
    return Place(fleet, _new_folder(fleet), _OF_CLIS)


@pytest.fixture
def unknown(fleet: RealFleet) -> Place:
    """A repository that brings nothing."""
    return Place(fleet, _new_folder(fleet), tuple(NOTHING))


def _new_folder(fleet: RealFleet) -> Path:
    taken = sum(1 for _ in fleet.home.parent.glob("unknown*"))
    return fleet.home.parent / f"unknown{taken}"


def test_the_trust_dialog_is_the_humans(unknown: Place) -> None:
    """In any folder that nobody trusted yet."""
    unknown.waits_for_the_human(unknown.session())


def test_spawned_in_a_hostile_repository_nothing_runs(hostile: Place) -> None:
    done = hostile.spawn()
    if done.returncode == UNTRUSTED:
        assert "maestro trust" in done.stderr
    else:
        assert done.returncode == 0, done.stderr
        hostile.waits_for_the_human(str(json.loads(done.stdout)["id"]))
    assert hostile.repository.evidence() == {}


@pytest.mark.parametrize("mode", ["analysis", "write"])
def test_delegated_to_in_a_hostile_repository_it_is_refused(hostile: Place, mode: str) -> None:
    hostile.fleet.load(says("Hello."))
    done = hostile("delegate", "say hello", "--to", hostile.fleet.cli.name, "--mode", mode)
    assert hostile.repository.evidence() == {}
    assert (done.returncode, "maestro trust" in done.stderr) == (UNTRUSTED, True), done.stderr


def test_trusted_the_same_repository_works(hostile: Place) -> None:
    hostile.fleet.load(says("Hello."))
    trusted = hostile("trust", "--yes")
    assert trusted.returncode == 0, trusted.stderr
    done = hostile("delegate", "say hello", "--to", hostile.fleet.cli.name)
    assert (done.returncode, done.stdout) == (0, "Hello.\n"), done
    # The others read a project's files without a terminal only where they themselves were told to trust it.
    if hostile.fleet.cli.name == "claude":
        assert "claude-hook-SessionStart" in hostile.repository.evidence()
