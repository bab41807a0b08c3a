"""A chain in a process of its own (`chain run --async`). The end of each of its runs is told to the daemon, where there is
one, and to the session that asked."""

from __future__ import annotations

import sys

from maestro import errors
from maestro.cli.chain_desk import SilentDesk
from maestro.cli.chain_intent import here
from maestro.cli.chain_run import carried_out
from maestro.cli.detached import start_detached


def start_chain(folder: str, root: str) -> int:
    """Start the process that carries the chain of this folder out, and return its pid."""
    return start_detached("maestro.cli.chain_detached", folder, root)


def main(folder: str) -> int:
    try:
        return carried_out(here(), folder, SilentDesk(), json=True, tells_session=True)
    except errors.MaestroError as error:
        print(f"maestro: {error.message}", file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
