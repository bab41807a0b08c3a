"""Tests pass wherever and by whomever they are run: a part of them, in surroundings as odd as they come."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests import skips
from tests.support import SOAK
from tests.surroundings import temporary_folder

_TESTS = Path(__file__).parent
# Together they use git, tmux, the daemon, files and their modes, times, colours and widths.
_PART = (
    "worktrees/test_worktree.py::test_merge",
    "coordinate/test_policy_file.py",
    "cli/test_bad_input.py::test_a_home_that_cannot_be_made",
)
_MORE = (
    "worktrees", "cli", "server", "testing", "observe", "hooks", "chains", "dispatch", "fleet/crew", "fleet/isolate",
    "coordinate/tags", "coordinate/vision", "coordinate/brains", "ledger",
)  # fmt: skip
_GITCONFIG = """
[init]
    defaultBranch = trunk
[commit]
    gpgsign = true
[core]
    hooksPath = /dev/null/hooks
    autocrlf = true
    pager = false
[merge]
    ff = only
[diff]
    noprefix = true
[status]
    short = true
"""
_ODD = {
    "EDITOR": "false", "VISUAL": "false", "PAGER": "false", "GIT_PAGER": "false", "GIT_EDITOR": "false", "BROWSER": "false",
    "NO_COLOR": "1", "COLUMNS": "20", "LINES": "3", "CI": "true", "TERM": "dumb", "PYTHONDONTWRITEBYTECODE": "1",
    "USER": "someone else", "LOGNAME": "someone else", "SHELL": "/bin/false",
    "GIT_DIR": "/nowhere", "GIT_WORK_TREE": "/nowhere", "GIT_AUTHOR_NAME": "", "GIT_INDEX_FILE": "/nowhere/index",
    "XDG_STATE_HOME": "/nowhere", "XDG_RUNTIME_DIR": "/nowhere", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere",
    "MAESTRO_HOME": "/nowhere", "MAESTRO_SESSION_ID": "sess_1", "MAESTRO_SERVER_URL": "http://127.0.0.1:1",
    "TMUX": "/nowhere,1,0", "TMUX_PANE": "%1", "CLAUDECODE": "1", "CLAUDE_CONFIG_DIR": "/nowhere", "CODEX_HOME": "/nowhere",
}  # fmt: skip


@pytest.fixture
def odd(place: Path) -> dict[str, str]:
    """Variables that point to a home with a settled git, and to a long temporary folder in a project, by a link."""
    project = place / "project"
    for folder in (".git", ".maestro", ".claude", "x" * 60):
        (project / folder).mkdir(parents=True)
    for name in ("CLAUDE.md", "pyproject.toml", "coordinate.config.json", "fleet.yml", "conftest.py"):
        (project / name).write_text("{ no sense\n")
    (place / "link").symlink_to(project / ("x" * 60))
    (place / "gitconfig").write_text(_GITCONFIG)
    path = os.environ["PATH"]
    return _ODD | {"PATH": path, "TMPDIR": str(place / "link"), "GIT_CONFIG_GLOBAL": str(place / "gitconfig")}


@pytest.mark.parametrize(
    ("umask", "zone", "language"),
    [
        (0o077, "Pacific/Kiritimati", {"LC_ALL": "C"}),
        pytest.param(
            0o002, "Asia/Kolkata", {"LC_ALL": "tr_TR.UTF-8", "LANGUAGE": "tr"}, marks=skips.only_soak
        ),
        pytest.param(0o000, "America/St_Johns", {"LANG": "de_DE.ISO-8859-1"}, marks=skips.only_soak),
        pytest.param(0o022, "", {}, marks=skips.only_soak),
    ],
)
@pytest.mark.soak
@pytest.mark.timeout(7200 if SOAK else 600)
def test_a_part_passes_in_odd_surroundings(
    odd: dict[str, str], umask: int, zone: str, language: dict[str, str]
) -> None:
    files = [str(_TESTS / file) for file in (_MORE if SOAK else _PART)]
    words = [
        "-m",
        "pytest",
        "-q",
        "-n",
        "2" if SOAK else "0",
        "-m",
        "not real and not soak and not more",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(
        [sys.executable, *words, *files], capture_output=True, text=True, check=False, errors="replace",
        cwd=_TESTS.parent, env=odd | language | {"TZ": zone}, umask=umask,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_temporary_folder_is_short_and_in_no_project(place: Path) -> None:
    plain = os.path.realpath(place.parent)
    project = place / "p"
    (project / ".git").mkdir(parents=True)
    (project / "in").mkdir()
    long = place / ("x" * 60)
    long.mkdir()
    (place / "link").symlink_to(long)
    unfit = [str(project), str(project / "in"), str(long), str(place / "link"), str(place / "missing")]
    assert temporary_folder([*unfit, plain]) == plain
    with pytest.raises(pytest.exit.Exception, match="Set TMPDIR"):
        temporary_folder(unfit)
