"""How each CLI is run: the prompt never on the command line, analysis by flags that forbid writing."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from maestro.agents.headless import Headless, RunMode, RunPlan, RunRequest
from maestro.agents.registry import agent_names, headless_named
from maestro.errors import InvalidInput

REAL = ("claude", "codex", "gemini")


def plan(agent: str, mode: RunMode = "analysis", **more: Any) -> RunPlan:
    asked = RunRequest(
        prompt_path="/run/prompt.md",
        folder="/run",
        cwd="/project",
        env={"MAESTRO_SCRIPTED": "1"},
        mode=mode,
        **more,
    )
    return headless_named(agent).headless(asked)


def after(plan: RunPlan, option: str) -> str:
    return plan.argv[plan.argv.index(option) + 1]


@pytest.mark.parametrize("agent", agent_names())
def test_every_agent_can_be_run(agent: str) -> None:
    assert isinstance(headless_named(agent), Headless)


@pytest.mark.parametrize("agent", [*REAL, "scripted"])
@pytest.mark.parametrize("mode", ["analysis", "write"])
def test_the_prompt_comes_by_stdin(agent: str, mode: RunMode) -> None:
    made = plan(agent, mode)
    assert made.stdin == "/run/prompt.md"
    assert not any("prompt.md" in word for word in made.argv)


@pytest.mark.parametrize("agent", REAL)
def test_nobody_is_asked_and_nothing_is_bypassed(agent: str) -> None:
    assert not any("dangerously" in word for word in plan(agent, "write").argv)


@pytest.mark.parametrize("mode", ["analysis", "write"])
def test_codex_has_a_network_only_where_a_person_opens_it(mode: RunMode) -> None:
    opens = "sandbox_workspace_write.network_access=true"
    assert opens not in plan("codex", mode).argv
    assert (opens in plan("codex", mode, network=True).argv) is (mode == "write")


def test_claude_has_no_tool_that_writes_in_analysis() -> None:
    made = plan("claude", allowed_tools=("mcp__srv__look",))
    assert after(made, "--tools") == "Read,Grep,Glob"
    assert after(made, "--permission-mode") == "dontAsk"
    assert "--strict-mcp-config" in made.argv
    assert after(made, "--allowedTools") == "Read,Grep,Glob,mcp__srv__look"


def test_claude_with_fewer_abilities_than_write_gives() -> None:
    made = plan("claude", "write", abilities=("read", "edit"))
    assert after(made, "--tools") == "Read,Edit,Write,NotebookEdit"
    assert "Bash" not in after(made, "--allowedTools")


@pytest.mark.parametrize("agent", REAL)
def test_analysis_is_not_widened_by_abilities(agent: str) -> None:
    narrow = plan(agent, abilities=("read", "search"))
    wide = plan(agent, abilities=("read", "search", "edit", "shell"))
    assert narrow == wide


def test_codex_is_in_a_read_only_sandbox_for_analysis() -> None:
    assert after(plan("codex"), "--sandbox") == "read-only"
    assert after(plan("codex", "write"), "--sandbox") == "workspace-write"
    assert after(plan("codex", "write", abilities=("read",)), "--sandbox") == "read-only"


def test_gemini_is_denied_all_but_reading_by_a_policy() -> None:
    made = plan("gemini", allowed_tools=("my_mcp_tool", "run_shell_command"))
    [file] = made.files
    assert after(made, "--admin-policy") == file.path == "/run/policy.toml"
    deny, allow = tomllib.loads(file.content.decode())["rule"]
    assert (deny["toolName"], deny["decision"]) == ("*", "deny")
    assert allow["priority"] > deny["priority"]
    assert "read_file" in allow["toolName"]
    assert "my_mcp_tool" in allow["toolName"]
    assert not {"write_file", "replace", "run_shell_command"} & set(allow["toolName"])
    assert plan("gemini", "write").files == ()


def test_sessions() -> None:
    assert after(plan("claude", session_id="u"), "--session-id") == "u"
    assert after(plan("claude", session_id="u", resume="r"), "--resume") == "r"
    assert "--session-id" not in plan("claude", session_id="u", resume="r").argv
    assert after(plan("gemini", resume="r"), "--resume") == "r"
    assert plan("codex", resume="r").argv[-3:] == ("resume", "r", "-")
    assert plan("codex", session_id="u").argv[-1] == "-"


def test_models() -> None:
    for agent in REAL:
        assert after(plan(agent, model="big"), "--model") == "big"


def test_mcp_servers() -> None:
    servers: dict[str, dict[str, object]] = {"ping": {"command": "pinger", "args": ["-v"]}}
    assert after(plan("claude", mcp_config="/m.json"), "--mcp-config") == "/m.json"
    words = plan("codex", mcp_config="/m.json", mcp_servers=servers).argv
    assert 'mcp_servers.ping.command="pinger"' in words
    assert 'mcp_servers.ping.args=["-v"]' in words
    with pytest.raises(InvalidInput):
        plan("codex", mcp_config="/m.json", mcp_servers={"ping": {"command": "p", "env": {"KEY": "secret"}}})
    with pytest.raises(InvalidInput):
        plan("gemini", mcp_config="/m.json")
