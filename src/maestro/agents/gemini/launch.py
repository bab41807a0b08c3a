"""Gemini CLI: how a session is started. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from maestro.agents import Environment
from maestro.agents.files import config_folder
from maestro.agents.launch import LaunchPlan, LaunchRequest, Mode, OwnFolders, opening

_APPROVAL_MODES: Mapping[Mode, str] = {
    "plan": "plan",
    "cautious": "default",
    "edits": "auto_edit",
    "autonomous": "auto_edit",  # it has nothing between this and never asking at all
    "unrestricted": "yolo",
}
# What a session gives its own children (GEMINI_CLI, …) is not here.
_LAUNCH_VARIABLES = (
    "GEMINI_API_KEY", "GEMINI_CLI_HOME", "GEMINI_MODEL", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_PROJECT", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_GCA",
    "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_VERTEX_BASE_URL",
)  # fmt: skip


# A `.env` may name another address for the person's key. Where the person has it work in a sandbox, the sandbox is built
# and begun as the project's files say.
_PROJECT_FILES = (
    ".env", ".gemini/.env", ".gemini/settings.json", ".gemini/system.md",
    ".gemini/hooks/", ".gemini/extensions/", ".gemini/commands/", ".gemini/policies/", ".gemini/agents/",
    ".gemini/skills/", ".agents/",
    ".gemini/sandbox.bashrc", ".gemini/sandbox.Dockerfile", ".gemini/sandbox-macos-*.sb",
)  # fmt: skip


class Launching:
    project_files: tuple[str, ...] = _PROJECT_FILES
    needs_trust: bool = True
    inner_variables: tuple[str, ...] = ("GEMINI_CLI",)
    launch_variables: tuple[str, ...] = _LAUNCH_VARIABLES

    def launch(self, request: LaunchRequest) -> LaunchPlan:
        first = opening(request)
        argv = ["gemini", "--resume" if request.resume else "--session-id", request.transcript_id]
        if request.is_trusted:
            argv.append("--skip-trust")
        if request.model:
            argv += ["--model", request.model]
        if request.mode in _APPROVAL_MODES:
            argv += ["--approval-mode", _APPROVAL_MODES[request.mode]]
        # It reads no file outside its folder without asking first, so a long prompt is typed.
        if first.delivery == "argv":
            argv.append(f"--prompt-interactive={first.text}")
        # Settings for one session alone it takes from files of root only: `request.settings` has no place.
        return LaunchPlan(
            argv=tuple(argv),
            transcript_id=request.transcript_id,
            prompt="typed" if first.delivery == "file" else first.delivery,
        )

    def own_folders(self, env: Environment) -> OwnFolders:
        folder = config_folder({"HOME": env.get("GEMINI_CLI_HOME") or env.get("HOME", "")}, "", ".gemini")
        run_commands = (
            "settings.json",
            "extensions",
            "commands",
            "policies",
            "trustedFolders.json",
            "GEMINI.md",
        )
        return OwnFolders((str(folder),), tuple(str(folder / name) for name in run_commands))
