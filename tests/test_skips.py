from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests import skips

_TESTS = Path(__file__).parent


def test_each_reason_is_listed_once_with_its_count() -> None:
    reasons = [str(skips.ROOT), str(skips.POSTGRESQL), str(skips.POSTGRESQL)]
    assert skips.listed(reasons) == [f"2 skipped: {skips.POSTGRESQL}", f"1 skipped: {skips.ROOT}"]


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_run_ends_with_its_skips(tmp_path: Path, workers: str) -> None:
    """With workers, too: they send their skips to the one that prints."""
    (tmp_path / "conftest.py").write_text("from tests.conftest import pytest_terminal_summary\n")
    (tmp_path / "test_some.py").write_text(
        "import pytest\nfrom tests import skips\n"
        "@skips.needs(skips.BUBBLEWRAP, met=False)\ndef test_marked(): pass\n"
        "@pytest.mark.parametrize('number', range(3))\n"
        "def test_called(number): skips.skip_for(skips.POSTGRESQL)\n"
        "@skips.needs(skips.TMUX, met=True)\ndef test_met(): pass\n"
    )
    words = ["-m", "pytest", "-n", workers, "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, *words, "-o", f"pythonpath={_TESTS.parent}", "-c", "/dev/null", str(tmp_path)],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if " skipped: " in line]
    assert lines == [f"3 skipped: {skips.POSTGRESQL}", f"1 skipped: {skips.BUBBLEWRAP}"], done.stdout
    assert "1 passed, 4 skipped" in done.stdout


def test_there_is_one_way_to_skip() -> None:
    """So that no skip is without a remedy. The real CLIs' tests tell of theirs in a table of their own."""
    other = re.compile(r"pytest\.(skip|mark\.skip|mark\.skipif|importorskip)\b")
    files = [path for path in _TESTS.rglob("*.py") if path.parent.name != "real" and path.name != "skips.py"]
    found = [str(path) for path in files if other.search(path.read_text()) and path != Path(__file__)]
    assert found == []
