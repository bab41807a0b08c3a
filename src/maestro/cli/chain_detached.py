"""A chain in a process of its own (`chain run --async`). The end of each of its runs is told to the daemon, where there is
one, and to the session that asked."""

from __future__ import annotations

import os
import subprocess
import sys

from maestro import errors
from maestro.cli.chain_desk import SilentDesk
from maestro.cli.chain_intent import here
from maestro.cli.chain_run import carried_out
from maestro.fleet.processtree import RUN_MARKER


def start_chain(folder: str, root: str) -> int:
    """Start the process that carries the chain of this folder out, and return its pid."""
    # A chain that is begun inside a run does not end with it.
    env = {name: value for name, value in os.environ.items() if name != RUN_MARKER}
    with open(os.path.join(folder, "runner.log"), "ab") as log:
        started = subprocess.Popen(
            [sys.executable, "-P", "-m", "maestro.cli.chain_detached", folder],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=env,
            cwd=root,
            start_new_session=True,
        )
    # Popen complains of a child that nobody waits for; this one is meant to outlive us.
    started.returncode = 0
    return started.pid


def main(folder: str) -> int:
    try:
        return carried_out(here(), folder, SilentDesk(), json=True, tells_session=True)
    except errors.MaestroError as error:
        print(f"maestro: {error.message}", file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
