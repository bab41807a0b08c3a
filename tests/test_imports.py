"""The direction of the map: imports go down, pure files stay pure, and a command imports almost nothing."""

from __future__ import annotations

import ast
import json
import sys
from functools import cache
from pathlib import Path

import pytest
from tests.patience import run
from tests.support import Maestro

import maestro

ROOT = Path(maestro.__file__).parent

# cli, server → coordinate, chains, orchestrate → dispatch → observe, fleet → worktrees → trust → agents, ledger →
# the ground files. Runs end processes as sessions do, and are priced as transcripts are.
LAYERS = {
    "cli": 10,
    "testing": 9,
    "server": 8,
    "coordinate": 7,
    "chains": 7,
    "orchestrate": 7,
    "dispatch": 6,
    "observe": 5,
    "fleet": 5,
    "worktrees": 4,
    "trust": 3,
    "agents": 2,
    "ledger": 2,
}
GROUND = 1

PURE = {
    "agents/__init__.py",
    "agents/claude/approvals.py",
    "agents/claude/calls.py",
    "agents/claude/dialogs.py",
    "agents/claude/headless.py",
    "agents/claude/hooks.py",
    "agents/claude/layout.py",
    "agents/claude/screen.py",
    "agents/claude/versions.py",
    "agents/codex/calls.py",
    "agents/codex/dialogs.py",
    "agents/codex/headless.py",
    "agents/codex/hooks.py",
    "agents/codex/layout.py",
    "agents/codex/screen.py",
    "agents/codex/versions.py",
    "agents/gemini/calls.py",
    "agents/gemini/dialogs.py",
    "agents/gemini/headless.py",
    "agents/gemini/hooks.py",
    "agents/gemini/layout.py",
    "agents/gemini/screen.py",
    "agents/gemini/versions.py",
    "agents/headless.py",
    "agents/hook_command.py",
    "agents/hooks.py",
    "agents/json_text.py",
    "agents/launch.py",
    "agents/limits.py",
    "agents/occurrence.py",
    "agents/project_files.py",
    "agents/questions.py",
    "agents/records.py",
    "agents/screen.py",
    "agents/shown.py",
    "agents/settings_place.py",
    "agents/settings_text.py",
    "agents/terminal.py",
    "agents/versions.py",
    "chains/__init__.py",
    "chains/catalogue/catalogue.py",
    "chains/catalogue/command_text.py",
    "chains/catalogue/toml_lines.py",
    "chains/context.py",
    "chains/forms.py",
    "chains/moves.py",
    "chains/preview.py",
    "chains/project.py",
    "chains/report.py",
    "chains/result_block.py",
    "chains/review.py",
    "chains/routing/__init__.py",
    "chains/routing/ladder.py",
    "chains/routing/pick.py",
    "chains/routing/references.py",
    "chains/routing/route.py",
    "chains/routing/weights.py",
    "chains/routing/words.py",
    "chains/state.py",
    "chains/steps.py",
    "chains/template.py",
    "cli/live/drawing.py",
    "coordinate/__init__.py",
    "coordinate/assessment.py",
    "coordinate/attention.py",
    "coordinate/brains/rules.py",
    "coordinate/brief.py",
    "coordinate/completion.py",
    "coordinate/debrief.py",
    "coordinate/doing.py",
    "coordinate/gate/__init__.py",
    "coordinate/gate/arguments.py",
    "coordinate/gate/categories.py",
    "coordinate/gate/check.py",
    "coordinate/gate/command_lines.py",
    "coordinate/gate/command_rules.py",
    "coordinate/gate/command_table.py",
    "coordinate/gate/deed_words.py",
    "coordinate/gate/deeds.py",
    "coordinate/gate/effects.py",
    "coordinate/gate/findings.py",
    "coordinate/gate/floor.py",
    "coordinate/gate/folding.py",
    "coordinate/gate/judge.py",
    "coordinate/gate/options.py",
    "coordinate/gate/places.py",
    "coordinate/gate/program_names.py",
    "coordinate/gate/python_code.py",
    "coordinate/gate/quoted_commands.py",
    "coordinate/gate/read_only.py",
    "coordinate/gate/read_only_table.py",
    "coordinate/gate/scripts.py",
    "coordinate/gate/shell.py",
    "coordinate/gate/statements.py",
    "coordinate/gate/task_names.py",
    "coordinate/gate/texts.py",
    "coordinate/gate/tools.py",
    "coordinate/gate/vocabulary.py",
    "coordinate/gate/verbs.py",
    "coordinate/gate/wrappers.py",
    "coordinate/log_entries.py",
    "coordinate/memory/dehydration.py",
    "coordinate/memory/rehydration.py",
    "coordinate/overview.py",
    "coordinate/policy/ci_lines.py",
    "coordinate/policy/command_kinds.py",
    "coordinate/policy/config.py",
    "coordinate/policy/faults.py",
    "coordinate/policy/fitting.py",
    "coordinate/policy/makefile_text.py",
    "coordinate/policy/project_commands.py",
    "coordinate/policy/proposed_rules.py",
    "coordinate/policy/script_tables.py",
    "coordinate/policy/tightened.py",
    "coordinate/precedent.py",
    "coordinate/stats.py",
    "coordinate/tags/claims.py",
    "coordinate/tags/markdown.py",
    "coordinate/tags/tag.py",
    "coordinate/verdict.py",
    "coordinate/vision/document.py",
    "dispatch/batch.py",
    "dispatch/budget.py",
    "dispatch/changes.py",
    "dispatch/progress.py",
    "dispatch/prompts.py",
    "dispatch/retry.py",
    "dispatch/runs.py",
    "dispatch/settings.py",
    "dispatch/summary.py",
    "fleet/answers.py",
    "fleet/colours.py",
    "fleet/commands.py",
    "fleet/coordinator_prompt.py",
    "fleet/deaths.py",
    "fleet/delivery.py",
    "fleet/facts.py",
    "fleet/focus.py",
    "fleet/room.py",
    "fleet/isolate.py",
    "fleet/launch.py",
    "fleet/layout.py",
    "fleet/leases.py",
    "fleet/meant.py",
    "fleet/panes.py",
    "fleet/prompt.py",
    "fleet/reading.py",
    "fleet/words.py",
    "fleet/yaml_text.py",
    "ledger/board.py",
    "ledger/facts.py",
    "ledger/lookup.py",
    "ledger/roles.py",
    "ages.py",
    "hook_payload.py",
    "invisible.py",
    "key_formats.py",
    "key_search.py",
    "observe/context.py",
    "observe/digest.py",
    "observe/fusion.py",
    "observe/recent.py",
    "observe/status.py",
    "observe/stuck.py",
    "redact.py",
    "trust/__init__.py",
    "trust/wants.py",
    "server/hosts.py",
    "testing/scripted_agent/box.py",
    "testing/scripted_agent/cells.py",
    "testing/scripted_agent/claude_dialogs.py",
    "testing/scripted_agent/claude_screen.py",
    "testing/scripted_agent/codex_dialogs.py",
    "testing/scripted_agent/codex_screen.py",
    "testing/scripted_agent/dialog.py",
    "testing/scripted_agent/effects.py",
    "testing/scripted_agent/fields.py",
    "testing/scripted_agent/gemini_dialogs.py",
    "testing/scripted_agent/gemini_screen.py",
    "testing/scripted_agent/hooks.py",
    "testing/scripted_agent/imitation.py",
    "testing/scripted_agent/keys.py",
    "testing/scripted_agent/play.py",
    "testing/scripted_agent/render.py",
    "testing/scripted_agent/screen.py",
    "testing/scripted_agent/small.py",
    "testing/scripted_agent/script.py",
    "testing/scripted_agent/steps.py",
    "testing/scripted_agent/transcript.py",
    "testing/scripted_agent/turn.py",
    "worktrees/git_settings.py",
    "worktrees/overlaps.py",
}
# Folders that a pure file may take a pure neighbour from: `from maestro.ledger import board`.
PURE_FOLDERS = {"agents/claude", "agents/codex", "agents/gemini", "fleet", "testing/scripted_agent"}
# Paths may be joined and named by pure code; `os` and the rest may not be there to use them.
TOUCHES_THE_WORLD = {
    "asyncio", "fcntl", "http", "io", "os", "select", "selectors", "shutil", "signal", "socket",
    "sqlalchemy", "sqlite3", "subprocess", "tempfile", "threading", "time", "urllib",
}  # fmt: skip

TOO_HEAVY_FOR_A_COMMAND = {
    "alembic", "asyncio", "dataclasses", "email", "fastapi", "http", "inspect", "logging", "msgspec", "pathlib",
    "pydantic", "rich", "selectors", "socket", "sqlalchemy", "starlette", "structlog", "subprocess", "typing",
    "urllib", "uvicorn",
}  # fmt: skip


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text())))


def imports_of(path: Path) -> set[str]:
    found: set[str] = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= (
                {f"{node.module}.{alias.name}" for alias in node.names}
                if node.module == "maestro"
                else {node.module}
            )
    return found


def files() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.py") if "migrations" not in path.parts)


def layer_of_folder(name: str) -> int:
    if name in LAYERS:
        return LAYERS[name]
    assert not (ROOT / name).is_dir(), f"folder {name} has no place on the map"
    return GROUND


def test_imports_go_down() -> None:
    wrong = []
    for path in files():
        parts = path.relative_to(ROOT).parts
        here = parts[0] if len(parts) > 1 else parts[0].removesuffix(".py")
        layer = layer_of_folder(here)
        if here == "__main__":
            continue
        for imported in imports_of(path):
            words = imported.split(".")
            if words[0] != "maestro" or len(words) < 2 or words[1] == "__version__":
                continue
            there = words[1]
            if there != here and layer_of_folder(there) >= layer and layer != GROUND:
                wrong.append(f"{path.relative_to(ROOT)} imports {imported}")
            if layer == GROUND and layer_of_folder(there) != GROUND:
                wrong.append(f"{path.relative_to(ROOT)} imports {imported}")
    assert wrong == []


def test_pure_files_touch_nothing() -> None:
    wrong = []
    for name in PURE:
        for imported in imports_of(ROOT / name):
            if imported.split(".")[0] in TOUCHES_THE_WORLD:
                wrong.append(f"{name} imports {imported}")
            if imported.startswith("maestro.") and imported != "maestro.errors":
                place = imported.removeprefix("maestro.").replace(".", "/")
                if not {f"{place}.py", f"{place}/__init__.py"} & PURE and place not in PURE_FOLDERS:
                    wrong.append(f"{name} imports {imported}")
    assert wrong == []


def test_only_one_file_runs_tmux() -> None:
    for path in files():
        strings = {n.value for n in nodes_of(path) if isinstance(n, ast.Constant)}
        if "tmux" in strings:
            assert path.relative_to(ROOT).as_posix() in {"fleet/tmux.py", "server/diagnosis.py"}, path


@pytest.fixture(scope="module")
def settled(shared_maestro: Maestro) -> Maestro:
    """With a project: these commands only read."""
    shared_maestro.json("project", "add", ".")
    return shared_maestro


@pytest.mark.parametrize(
    "words",
    [
        ["task", "list"],
        ["task", "list", "--json"],
        ["status"],
        ["session", "list"],
        ["project", "list"],
        ["--help"],
        ["--version"],
    ],
)
def test_a_command_imports_almost_nothing(settled: Maestro, words: list[str]) -> None:
    program = (
        "import json, sys; from maestro.cli.main import main; code = main(json.loads(sys.argv[1]));"
        "print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)"
    )
    done = run(
        # -S: what the environment's own .pth files import is not ours to answer for.
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {[p for p in sys.path if p]!r}; {program}", json.dumps(words)],
        env=settled.env, cwd=settled.cwd, text=True, check=True,
    )  # fmt: skip
    code, modules = json.loads(done.stderr)
    assert code == 0
    assert {name.split(".")[0] for name in modules} & TOO_HEAVY_FOR_A_COMMAND == set()
