"""A process of Maestro's own that outlives the command which starts it: a run, or a chain."""

from __future__ import annotations

import os
import subprocess
import sys

from maestro import cgroup, confined
from maestro.dispatch.runs import RUNNER_LOG
from maestro.fleet.processtree import RUN_MARKER


class Detached(subprocess.Popen[bytes]):
    """A process that is meant to outlive the one which starts it. Nobody waits for its end, and that is no mistake."""

    def __del__(self) -> None:
        """Does not complain, as `Popen` does, of a process that runs on."""


def start_detached(module: str, folder: str, cwd: str) -> int:
    """`python -m MODULE FOLDER`, its output into the folder's log; returns its pid."""
    # Begun inside a run, it is none the less one of its own, and does not end with the other.
    env = {name: value for name, value in os.environ.items() if name != RUN_MARKER}
    # The lock goes over to the process with its output: whoever finds it held knows that one lives or is just starting,
    # whatever is on record of it yet.
    with confined.lock(os.path.join(folder, RUNNER_LOG), appends=True) as log:
        started = Detached(
            [sys.executable, "-P", "-m", module, folder],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=env,
            cwd=cwd,
            start_new_session=True,
        )
    cgroup.leave(started.pid)
    return started.pid
