"""`make test-real` does not pass where a CLI is missing, or anything was skipped."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.patience import run
from tests.support import clean_env

ROOT = Path(__file__).parent.parent
STEP = [
    *(sys.executable, "-m", "pytest", "-m", "real", "-n", "0", "-p", "no:cacheprovider"),
    *("tests/real/test_context.py", "-k", "compaction"),
]


def test_without_node_it_is_red_and_says_what_to_type(place: Path) -> None:
    (place / "bin").mkdir()
    done = run(STEP, cwd=ROOT, env=clean_env(place) | {"PATH": str(place / "bin")}, text=True)
    assert done.returncode == 1, done.stdout
    assert "claude needs node, which is not on PATH. Install both: apt-get install nodejs npm" in done.stdout
    steps = [line for line in done.stdout.splitlines() if "after a compaction its state is there" in line]
    told = {line.split()[0]: line for line in steps if not line.startswith(("_", "ERROR"))}
    assert " error: claude needs node" in told["claude"]
    assert all(told[name].endswith("it tells nobody of a compaction") for name in ("codex", "gemini"))
    assert "0 steps ran and hold, 1 do not hold or could not run, 2 do not exist." in done.stdout


def test_a_skip_is_red(place: Path) -> None:
    plugin = place / "not_today.py"
    plugin.write_text(
        "import pytest\nfrom _pytest import outcomes\n\n@pytest.hookimpl(tryfirst=True)\ndef pytest_runtest_setup(item):\n"
        "    raise outcomes.skip.Exception('not today')\n"
    )
    done = run(
        [*STEP, "-p", "not_today"], cwd=ROOT, env=clean_env(place) | {"PYTHONPATH": str(place)}, text=True
    )
    assert done.returncode == 1, done.stdout
    assert "A step of `make test-real` was skipped: not today" in done.stdout
