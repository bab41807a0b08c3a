"""The scripted agent without a terminal: `maestro.testing.headless_agent`, which prints Claude Code's records. Pure."""

from __future__ import annotations

import sys
from posixpath import join
from typing import Final

from maestro.agents import Environment
from maestro.agents.headless import Outcome, Output, RunPlan, RunRequest
from maestro.errors import InvalidInput

ALLOWED: Final = "MAESTRO_SCRIPTED"


def require_allowed(env: Environment) -> None:
    """Raises InvalidInput unless the person's own environment allows it: a script can run anything, so no project and no
    worker may choose it by itself."""
    if env.get(ALLOWED) != "1":
        raise InvalidInput(
            "The scripted agent is for tests and demos.",
            hint=f"To use it, set {ALLOWED}=1 in your environment.",
        )


class Headlessly:
    """In front of Claude Code's, whose `outcome` it keeps: the same records mean the same."""

    program: str = sys.executable
    session_variables: tuple[str, ...] = ()

    def headless(self, request: RunRequest) -> RunPlan:
        """Its script is what would be another agent's model; without one, the prompt itself is the script."""
        require_allowed(request.env)
        script = request.model or request.env.get("MAESTRO_SCRIPT", "")
        return RunPlan(
            # -P: a folder of the project must not pose as one of our packages.
            argv=(
                sys.executable, "-P", "-m", "maestro.testing.headless_agent", "--mode", request.mode,
                "--resume" if request.resume else "--session-id", request.resume or request.session_id or "scripted",
                *(["--script", join(request.cwd, script)] if script else []),
            ),
            stdin=request.prompt_path,
        )  # fmt: skip

    def outcome(self, output: Output, request: RunRequest) -> Outcome:
        # What a scripted run counts is its own, also of a resumed session.
        from msgspec.structs import replace

        from maestro.agents.claude.headless import Headlessly as OfClaude

        return OfClaude().outcome(output, replace(request, resume="", before=None))
