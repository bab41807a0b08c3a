"""Claude Code: how a session is started. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from maestro.agents import Environment
from maestro.agents.files import config_folder
from maestro.agents.launch import FileToWrite, LaunchPlan, LaunchRequest, Mode, OwnFolders, opening

_PERMISSION_MODES: Mapping[Mode, str] = {
    "plan": "plan",
    # Newer versions call it “manual”; both take this.
    "cautious": "default",
    "edits": "acceptEdits",
    "autonomous": "auto",
    "unrestricted": "bypassPermissions",
}
# What a session gives its own children (CLAUDECODE, CLAUDE_CODE_ENTRYPOINT, CLAUDE_CODE_SSE_PORT, …) is not here.
_LAUNCH_VARIABLES = (
    "ANTHROPIC_*", "API_TIMEOUT_MS", "AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE", "AWS_REGION",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "CLAUDE_CODE_MAX_RETRIES",
    "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_SKIP_BEDROCK_AUTH", "CLAUDE_CODE_SKIP_VERTEX_AUTH",
    "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_FOUNDRY", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CONFIG_DIR",
    "CLOUD_ML_REGION", "DISABLE_AUTOUPDATER", "DISABLE_ERROR_REPORTING", "DISABLE_TELEMETRY",
    "GOOGLE_APPLICATION_CREDENTIALS",
)  # fmt: skip


# It fills the lines of a prompt up to the edge. Where tmux takes more columns for a character than it does, as for a skin
# tone or a vowel of Hindi, such a line would be wrapped, and all that it draws below would stand one line too low.
_NO_WRAPPING = "\x1b[?7l"
# Settings hold hooks, helpers, permissions and variables; the folders hold programs that these, or a model, run.
_PROJECT_FILES = (
    ".claude/settings.json", ".claude/settings.local.json", ".mcp.json", ".claude/scheduled_tasks.json",
    ".claude/hooks/", ".claude/commands/", ".claude/agents/", ".claude/skills/", ".claude/plugins/",
    ".claude/workflows/",
)  # fmt: skip


class Launching:
    project_files: tuple[str, ...] = _PROJECT_FILES
    needs_trust: bool = False  # without a terminal it takes every folder as trusted
    inner_variables: tuple[str, ...] = ("CLAUDECODE",)
    launch_variables: tuple[str, ...] = _LAUNCH_VARIABLES

    def launch(self, request: LaunchRequest) -> LaunchPlan:
        first = opening(request)
        argv = ["claude", "--resume" if request.resume else "--session-id", request.transcript_id]
        settings = _launch_settings(request)
        if settings:
            argv += ["--settings", settings[0].path]
        if request.model:
            argv += ["--model", request.model]
        if request.mode in _PERMISSION_MODES:
            argv += ["--permission-mode", _PERMISSION_MODES[request.mode]]
        if first.delivery == "file":
            argv += ["--add-dir", request.folder]
        if first.text:
            argv += ["--", first.text]
        # As root it bypasses permissions only where it is told that it is in a sandbox.
        bypasses_in_sandbox = request.is_isolated and request.mode == "unrestricted"
        return LaunchPlan(
            argv=tuple(argv),
            env={"IS_SANDBOX": "1"} if bypasses_in_sandbox else {},
            files=(*settings, *first.files),
            transcript_id=request.transcript_id,
            prompt=first.delivery,
            terminal_modes=_NO_WRAPPING,
        )

    def own_folders(self, env: Environment) -> OwnFolders:
        folder = config_folder(env, "CLAUDE_CONFIG_DIR", ".claude")
        # Without a folder of its own, one file of its state lies beside the default one.
        state = [] if env.get("CLAUDE_CONFIG_DIR") else [str(folder.parent / ".claude.json")]
        run_commands = (
            "settings.json",
            "settings.local.json",
            "plugins",
            "commands",
            "agents",
            "skills",
            "CLAUDE.md",
        )
        return OwnFolders((str(folder), *state), tuple(str(folder / name) for name in run_commands))


def _launch_settings(request: LaunchRequest) -> tuple[FileToWrite, ...]:
    """Settings of one session alone: its hooks, and the answer to the question that an unrestricted start asks."""
    settings = dict(request.settings)
    if request.mode == "unrestricted":
        settings["skipDangerousModePermissionPrompt"] = True
    if not settings:
        return ()
    return (FileToWrite(f"{request.folder}/claude-settings.json", msgspec.json.encode(settings)),)
