"""Whether bubblewrap can be used here. Where CI runs, a sandbox that cannot be tested is a failure, not a skip."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from tests import skips


def works() -> bool:
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        return False
    words = [bwrap, "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "true"]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


LACK = skips.SANDBOX if shutil.which("bwrap") else skips.BUBBLEWRAP
IS_REQUIRED = bool({os.environ.get("CI"), os.environ.get("MAESTRO_CI")} & {"1", "true"})
# Where it is required the tests run, and fail.
needs_bwrap: pytest.MarkDecorator = skips.needs(LACK, met=IS_REQUIRED or works())
