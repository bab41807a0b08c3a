"""Each CLI has one Maestro for all of its tests; at the end, what ran and what did not, and why."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.real import namespace
from tests.real.clis import CLIS, Cli, NotInstalled, installed
from tests.real.fleet import RealFleet
from tests.real.stub_api import StubApi

_HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def cli(request: pytest.FixtureRequest) -> Cli:
    """The CLI that the test file is named for; a file that is for several of them says so itself."""
    return CLIS[request.path.stem.removeprefix("test_")]


@pytest.fixture(scope="module")
def fleet(cli: Cli) -> Iterator[RealFleet]:
    """Maestro with this CLI."""
    with contextlib.ExitStack() as stack:
        try:
            program = installed(cli)
            network = stack.enter_context(namespace.opened())
        except (NotInstalled, namespace.NoNamespace) as reason:
            pytest.skip(str(reason))
        # Short: a socket's path may have 107 bytes.
        place = Path(tempfile.mkdtemp(prefix="mr"))
        stack.callback(shutil.rmtree, place, ignore_errors=True)
        api = stack.enter_context(StubApi(network.listener).serving())
        made = RealFleet(cli, program, place, network, api)
        version = network.run([cli.name, "--version"], env=made.env, cwd=made.work)
        assert cli.version in version.stdout, version
        made.json("project", "add", ".")
        stack.callback(made, "server", "stop", "--force")
        yield made


@pytest.fixture(autouse=True)
def _nothing_left(fleet: RealFleet) -> Iterator[None]:
    """A test's sessions end with it."""
    yield
    fleet.stop_all()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker("real")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    fleet = getattr(item, "funcargs", {}).get("fleet")
    if report.failed and isinstance(fleet, RealFleet):
        report.sections.append(("what the machine shows", fleet.evidence()))
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    rows: dict[tuple[str, str], str] = {}
    for outcome in ("passed", "skipped", "xfailed", "failed", "error"):
        for report in terminalreporter.stats.get(outcome, []):
            if "real" in report.keywords and (report.when == "call" or outcome in {"skipped", "error"}):
                rows[_step(report.nodeid)] = f"{outcome}{_why(report)}"
    if not rows:
        return
    terminalreporter.section("the real CLIs, step by step")
    for (name, step), told in sorted(rows.items(), key=lambda row: row[0][0]):
        who = f"{name} {CLIS[name].version}" if name in CLIS else name
        terminalreporter.line(f"{who:<16} {step:<42} {told}")
    counts = {word: sum(told.startswith(word) for told in rows.values()) for word in ("passed", "skipped")}
    left = len(rows) - sum(counts.values())
    terminalreporter.line(
        f"{counts['passed']} steps ran and hold, {left} do not hold, {counts['skipped']} did not run."
    )


def _step(nodeid: str) -> tuple[str, str]:
    """Which CLI, and what is tried with it."""
    file, _, test = nodeid.partition("::")
    name, _, parameter = test.removeprefix("test_").replace("_", " ").partition("[")
    return parameter.rstrip("]") or Path(file).stem.removeprefix("test_"), name


def _why(report: Any) -> str:
    if isinstance(report.longrepr, tuple):
        return f": {report.longrepr[2].removeprefix('Skipped: ')}"
    return f": {report.wasxfail}" if hasattr(report, "wasxfail") else ""
