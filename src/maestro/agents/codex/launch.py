"""Codex CLI: how a session is started. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping

from maestro.agents import Environment
from maestro.agents.codex.hooks import session_flags
from maestro.agents.files import config_folder
from maestro.agents.launch import LaunchPlan, LaunchRequest, Mode, OwnFolders, opening

# Its sandbox lets commands connect to nothing, not to the daemon's socket either: without this, none can report.
_MAY_REPORT = ("--config", "sandbox_workspace_write.network_access=true")
_MODE_FLAGS: Mapping[Mode, tuple[str, ...]] = {
    "plan": ("--sandbox", "read-only", "--ask-for-approval", "never"),
    "cautious": ("--sandbox", "read-only", "--ask-for-approval", "on-request"),
    "edits": ("--sandbox", "workspace-write", "--ask-for-approval", "on-request", *_MAY_REPORT),
    "autonomous": ("--sandbox", "workspace-write", "--ask-for-approval", "never", *_MAY_REPORT),
    "unrestricted": ("--dangerously-bypass-approvals-and-sandbox",),
}
# What a session gives its own children (CODEX_SANDBOX, CODEX_THREAD_ID, …) is not here.
_LAUNCH_VARIABLES = (
    "AZURE_OPENAI_*", "CODEX_API_KEY", "CODEX_HOME", "OLLAMA_HOST", "OPENAI_*", "OPENROUTER_API_KEY",
)  # fmt: skip


_PROJECT_FILES = (
    ".codex/config.toml", ".codex/hooks.json",
    ".codex/hooks/", ".codex/rules/", ".codex/skills/", ".codex/prompts/", ".codex/agents/", ".agents/",
)  # fmt: skip


class Launching:
    project_files: tuple[str, ...] = _PROJECT_FILES
    needs_trust: bool = False  # it leaves out what an untrusted folder brings
    launch_variables: tuple[str, ...] = _LAUNCH_VARIABLES

    def launch(self, request: LaunchRequest) -> LaunchPlan:
        first = opening(request)
        # --no-daemon: a server that other sessions share has their environment, and outlives this one.
        flags = ["--no-daemon"]
        if request.is_trusted:
            # A quoted key of TOML is written as a JSON string is.
            flags += [
                "--config",
                f'projects={{{json.dumps(request.cwd, ensure_ascii=False)}={{trust_level="trusted"}}}}',
            ]
        if request.model:
            flags += ["--model", request.model]
        flags += _MODE_FLAGS.get(request.mode, ())
        flags += session_flags(request.settings)
        if request.resume:
            argv = ("codex", "resume", *flags, request.transcript_id)
        else:
            argv = ("codex", *flags, *(["--", first.text] if first.text else []))
        return LaunchPlan(
            argv=argv,
            files=first.files,
            # It gives each session an id by itself; the tag in the first prompt finds it.
            transcript_id=request.transcript_id if request.resume else None,
            prompt=first.delivery,
        )

    def own_folders(self, env: Environment) -> OwnFolders:
        folder = config_folder(env, "CODEX_HOME", ".codex")
        run_commands = ("config.toml", "hooks.json", "AGENTS.md", "prompts", "rules", "skills")
        return OwnFolders((str(folder),), tuple(str(folder / name) for name in run_commands))
