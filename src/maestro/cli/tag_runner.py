"""The process of its own that does what a tag asks for: the run, and then the tag's end.

It outlives whoever started it, and holds the tag's run lock, which it was given, as long as it lives.
"""

from __future__ import annotations

import os
import subprocess
import sys

import msgspec

from maestro import cgroup, confined
from maestro.cli.delegated import announce
from maestro.cli.detached import Detached
from maestro.coordinate.tags.claims import Record
from maestro.coordinate.tags.runs import carry_out
from maestro.coordinate.tags.tag_files import ProjectTags
from maestro.dispatch.run import look
from maestro.dispatch.runs import RUNNER_LOG
from maestro.fleet.processtree import RUN_MARKER


def start(folder: str, record: Record, lock: int, *, prompt_session: bool) -> int:
    """Start it, and return its pid. `prompt_session`: the session that asked does not wait, and is told of the end."""
    words = [folder, record.id, record.run, str(lock), *(["prompt"] if prompt_session else [])]
    # A run inside another one is a run of its own: it does not end with the other.
    env = {name: value for name, value in os.environ.items() if name != RUN_MARKER}
    with confined.lock(os.path.join(folder, RUNNER_LOG), appends=True) as log:
        started = Detached(
            [sys.executable, "-P", "-m", "maestro.cli.tag_runner", *words],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=env,
            cwd="/",
            start_new_session=True,
            pass_fds=(lock,),
        )
    cgroup.leave(started.pid)
    return started.pid


def main(folder: str, tag_id: str, run_id: str, lock: int, *, prompt_session: bool) -> int:
    # The agent and what it starts must not hold the lock when we are gone.
    os.set_inheritable(lock, False)
    made = look(folder).run
    tags = ProjectTags(made.project, os.environ)
    record = tags.record(tag_id) or Record(id=tag_id, file="", kind="", text="")
    record = msgspec.structs.replace(record, run=run_id)
    result = carry_out(tags, record, folder, os.environ)
    announce(made, result, folder, os.environ, prompt_session=prompt_session)
    return 0


if __name__ == "__main__":
    given = sys.argv[1:]
    sys.exit(main(given[0], given[1], given[2], int(given[3]), prompt_session="prompt" in given[4:]))
