"""A run in a process of its own (`delegate --async`), and the word to the daemon when a run is over.

The daemon is told only where there is one: none is started for it, and a run does not fail because it cannot be told.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from maestro import errors
from maestro.cli.detached import start_detached
from maestro.dispatch import delegate
from maestro.dispatch.run import look, record_failure, record_start, this_process
from maestro.dispatch.runs import Run, RunResult
from maestro.redact import clean, redact
from maestro.server.client import Daemon

_TOLD_SECONDS = 10.0
_MOST_CHARACTERS = 2000


def start(folder: str) -> int:
    """Start the process that will carry the run out, and return its pid."""
    return start_detached("maestro.cli.delegated", folder, "/")


def main(folder: str) -> int:
    """The process of its own. Whoever asked may be gone before it could record who we are: we record it, too."""
    run = delegate.run_by(look(folder).run, this_process())
    record_start(run, folder)
    try:
        result = delegate.carry_out_here(delegate.taken_over(folder, os.environ))
    except errors.MaestroError as error:
        result = record_failure(run, folder, error)
    announce(run, result, folder, os.environ, prompt_session=True)
    return 0


def announce(
    run: Run, result: RunResult, folder: str, env: Mapping[str, str], *, prompt_session: bool
) -> None:
    """An event in the log and, where a session waits for it, a prompt to that session."""
    body = {
        "id": run.id,
        "tool": run.tool,
        "mode": run.mode,
        "status": result.status,
        "directory": run.cwd,
        "folder": folder,
        "durationMs": result.duration_ms,
        "costUsd": result.cost_usd,
        "summary": redact(clean(result.error or result.text))[:_MOST_CHARACTERS],
        "sessionId": run.asked_by or None,
        "promptSession": prompt_session and bool(run.asked_by),
    }
    try:
        Daemon(env).call("POST", "/api/runs/ended", body, start=False, timeout=_TOLD_SECONDS)
    except errors.MaestroError as error:
        if not isinstance(error, errors.DaemonError):
            print(f"maestro: the daemon was not told of {run.id}: {error.message}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
