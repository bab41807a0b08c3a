"""Codex CLI: how a session is started. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping

from maestro.agents import Environment
from maestro.agents.codex.hooks import session_flags
from maestro.agents.codex.versions import without_shared_server
from maestro.agents.files import config_folder
from maestro.agents.launch import LaunchPlan, LaunchRequest, Mode, OwnFolders, opening
from maestro.errors import InvalidInput

_MODE_FLAGS: Mapping[Mode, tuple[str, ...]] = {
    "plan": ("--sandbox", "read-only", "--ask-for-approval", "never"),
    "cautious": ("--sandbox", "read-only", "--ask-for-approval", "on-request"),
    "edits": ("--sandbox", "workspace-write", "--ask-for-approval", "on-request"),
    "autonomous": ("--sandbox", "workspace-write", "--ask-for-approval", "never"),
    "unrestricted": ("--dangerously-bypass-approvals-and-sandbox",),
}
_READ_ONLY: frozenset[Mode] = frozenset({"plan", "cautious"})
_MAY_WRITE: frozenset[Mode] = frozenset({"edits", "autonomous"})
_OPEN_NETWORK = ("--config", "sandbox_workspace_write.network_access=true")
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
    inner_variables: tuple[str, ...] = ("CODEX_SANDBOX", "CODEX_THREAD_ID")
    launch_variables: tuple[str, ...] = _LAUNCH_VARIABLES
    version_command: str = "codex"

    def launch(self, request: LaunchRequest) -> LaunchPlan:
        first = opening(request)
        flags = [*without_shared_server(request.cli_version)]
        if request.is_trusted:
            # A quoted key of TOML is written as a JSON string is.
            flags += [
                "--config",
                f'projects={{{json.dumps(request.cwd, ensure_ascii=False)}={{trust_level="trusted"}}}}',
            ]
        if request.model:
            flags += ["--model", request.model]
        flags += _MODE_FLAGS.get(request.mode, ())
        sandbox = _sandbox_flags(request)
        flags += sandbox
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
            needs_spool="--add-dir" in sandbox,
        )

    def own_folders(self, env: Environment) -> OwnFolders:
        folder = config_folder(env, "CODEX_HOME", ".codex")
        run_commands = ("config.toml", "hooks.json", "AGENTS.md", "prompts", "rules", "skills")
        return OwnFolders((str(folder),), tuple(str(folder / name) for name in run_commands))


def _sandbox_flags(request: LaunchRequest) -> tuple[str, ...]:
    """Its sandbox lets commands connect to nothing, not to the daemon's socket either. Unless the person opens the network,
    they report by files in a folder that they may write to; a read-only sandbox has none, and with such a folder Codex
    would not start, so the mode `default` gets none: that may be read-only."""
    if request.mode == "unrestricted":
        return ()
    if request.network and request.mode in _READ_ONLY:
        raise InvalidInput(
            f"Codex has no network in its read-only sandbox, which mode {request.mode} is.",
            hint="Leave out the network, or choose the mode edits or autonomous.",
        )
    if request.network:
        return _OPEN_NETWORK
    return ("--add-dir", request.spool) if request.spool and request.mode in _MAY_WRITE else ()
