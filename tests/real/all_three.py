"""Maestro with all three CLIs on PATH, against one stub of their APIs."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.real import namespace
from tests.real.clis import CLIS, NotInstalled, installed
from tests.real.fleet import RealFleet
from tests.real.stub_api import StubApi


@contextlib.contextmanager
def all_three(stub: type[StubApi] = StubApi) -> Iterator[RealFleet]:
    with contextlib.ExitStack() as stack:
        try:
            programs = [installed(cli) for cli in CLIS.values()]
            network = stack.enter_context(namespace.opened())
        except (NotInstalled, namespace.NoNamespace) as reason:
            pytest.fail(str(reason), pytrace=False)
        place = Path(tempfile.mkdtemp(prefix="mr"))
        stack.callback(shutil.rmtree, place, ignore_errors=True)
        api = stack.enter_context(stub(network.listener).serving())
        made = RealFleet(CLIS["claude"], programs[0], place, network, api)
        made.env["PATH"] = ":".join([*map(str, programs), made.env["PATH"]])
        made.json("trust", "--yes")
        stack.callback(made, "server", "stop", "--force")
        yield made
