"""Where the demo is played: a temporary folder with a daemon and a tmux server of its own, and the workers in it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

from maestro.agents.scripted.headless import ALLOWED
from maestro.server import client, lifecycle
from maestro.server.client import Daemon
from maestro.testing.leftovers import run_folder
from maestro.trust.project import ProjectTrust

FLEET: Final = "demo"
POLICY: Final = "coordinate.config.json"
# What the second chapter's agents play: they are started by name, from the project's folder.
AGENT_SCRIPTS: Final = ("lead.json", "writer.json")
_HERE: Final = os.path.dirname(__file__)
_SPAWN_SECONDS: Final = 60.0
_PASSED_ON: Final = ("HOME", "PATH", "CLAUDE_CONFIG_DIR", ALLOWED)


class Part(NamedTuple):
    title: str
    who: str
    script: str
    waits_for: tuple[str, ...] = ()


PARTS: Final = (
    Part("User deletion API", "Backend Dev", "backend.json"),
    Part("Fix login validation", "Frontend Dev", "frontend.json"),
    Part("Write auth tests", "Test Writer", "tester.json", ("Fix login validation",)),
)


@contextmanager
def staged(env: Mapping[str, str]) -> Iterator[tuple[Daemon, str]]:
    """The daemon and the project's folder; nothing of either is left."""
    with run_folder("maestro-demo-") as made:
        daemon, place = _furnish(made.path, env)
        try:
            yield daemon, place
        finally:
            lifecycle.stop(daemon.home)


def _furnish(folder: str, env: Mapping[str, str]) -> tuple[Daemon, str]:
    place = os.path.join(folder, "shop")
    temporary = os.path.join(folder, "t")
    for made in (place, temporary):
        os.mkdir(made)
    # Something to read: the workers look at real files, and their transcripts grow as real ones do.
    for name, source in (("login.py", client.__file__), ("accounts.py", lifecycle.__file__)):
        shutil.copyfile(source, os.path.join(place, name))
    for name in (POLICY, *AGENT_SCRIPTS):
        shutil.copyfile(os.path.join(_HERE, name), os.path.join(place, name))
    own = lifecycle.scrubbed(env) | {
        "HOME": folder,
        "MAESTRO_HOME": os.path.join(folder, "m"),
        "CLAUDE_CONFIG_DIR": os.path.join(folder, "claude"),
        "TMPDIR": temporary,
        ALLOWED: "1",
        # The workers call `maestro` by name, as agents do: this one.
        "PATH": os.path.dirname(sys.executable) + os.pathsep + env.get("PATH", os.defpath),
    }
    own.pop("MAESTRO_DATABASE_URL", None)
    ProjectTrust(own["MAESTRO_HOME"], place, own).confirm_own(os.path.join(place, POLICY))
    return Daemon(own), place


class Board(NamedTuple):
    root: str
    ids: dict[str, str]  # of each part, by its title


def fill_board(daemon: Daemon, project_id: str) -> Board:
    root = daemon.call("POST", "/api/tasks", {"title": "Ship accounts", "projectId": project_id})["id"]
    ids: dict[str, str] = {}
    for part in PARTS:
        body = {
            "title": part.title,
            "assignee": part.who,
            "parentId": root,
            "dependsOn": [ids[other] for other in part.waits_for],
        }
        ids[part.title] = daemon.call("POST", "/api/tasks", body)["id"]
    return Board(root, ids)


class Troupe:
    """The workers: each a session in a pane of its own, played by the scripted agent."""

    def __init__(self, daemon: Daemon, place: str, tasks: Mapping[str, str]) -> None:
        self._daemon = daemon
        self._place = place
        self._tasks = tasks
        self.sessions: set[str] = set()
        self.waiting: Sequence[Part] = PARTS

    def start_free(self, completed: Collection[str]) -> None:
        """Start whoever waits for nobody any more; `completed` are ids of tasks."""
        free = [part for part in self.waiting if all(self._tasks[one] in completed for one in part.waits_for)]
        self.waiting = [part for part in self.waiting if part not in free]
        for part in free:
            self._start(part)

    def _start(self, part: Part) -> None:
        body = {
            "agent": "scripted",
            "model": os.path.join(_HERE, part.script),
            "name": part.who,
            "label": part.who,
            "taskIds": [self._tasks[part.title]],
            "fleet": FLEET,
            "cwd": self._place,
            "directory": self._place,
            "environment": {name: self._daemon.env[name] for name in _PASSED_ON},
        }
        session = self._daemon.call("POST", "/api/sessions/spawn", body, timeout=_SPAWN_SECONDS)
        self.sessions.add(session["id"])

    def dismiss(self) -> None:
        if self.sessions:
            self._daemon.call("POST", f"/api/fleets/{FLEET}/down", {}, timeout=_SPAWN_SECONDS)
