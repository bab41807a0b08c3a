"""The scripted agent of `maestro.testing`: it writes Claude Code's transcript format.

Its script is what would be another agent's model: a file's path, by `model` or by MAESTRO_SCRIPT. A relative path
is relative to the session's working directory.
"""

from __future__ import annotations

import sys
from posixpath import join

from maestro.agents import Environment
from maestro.agents.claude import Claude
from maestro.agents.files import config_folder
from maestro.agents.launch import LaunchPlan, LaunchRequest, OwnFolders, opening
from maestro.errors import InvalidInput


class Scripted(Claude):
    name = "scripted"
    launch_variables: tuple[str, ...] = ("CLAUDE_CONFIG_DIR", "MAESTRO_SCRIPT")

    def launch(self, request: LaunchRequest) -> LaunchPlan:
        script = request.model or request.env.get("MAESTRO_SCRIPT", "")
        if not script:
            raise InvalidInput(
                "The scripted agent has no script to play.",
                hint="Give the path of one as its model, or set MAESTRO_SCRIPT.",
            )
        if script.startswith("~/"):
            script = join(request.env.get("HOME", "/"), script[2:])
        first = opening(request)
        return LaunchPlan(
            # -P: a folder of the project must not pose as one of our packages.
            argv=(
                sys.executable, "-P", "-m", "maestro.testing.scripted_agent",
                "--script", join(request.cwd, script),
                "--resume" if request.resume else "--session-id", request.transcript_id,
                *([f"--prompt={first.text}"] if first.text else []),
            ),
            files=first.files,
            transcript_id=request.transcript_id,
            prompt=first.delivery,
        )  # fmt: skip

    def own_folders(self, env: Environment) -> OwnFolders:
        return OwnFolders((str(config_folder(env, "CLAUDE_CONFIG_DIR", ".claude")),))


ADAPTER = Scripted()
