"""Each CLI has one Maestro for all of its tests; at the end, each step and what became of it. What cannot run is red."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.real import namespace
from tests.real.clis import CLIS, Cli, NotInstalled, installed, older
from tests.real.fleet import RealFleet
from tests.real.stub_api import StubApi
from tests.support import SOAK

from maestro.agents.registry import agent_named
from maestro.agents.versions import Versioned

_HERE = Path(__file__).parent
# Steps that are not tried, because the CLI has no such thing.
_COMPACTION = "after a compaction its state is there"
NOT_THERE = {
    ("codex", _COMPACTION): "it tells nobody of a compaction",
    ("gemini", _COMPACTION): "it tells nobody of a compaction",
}


@pytest.fixture(scope="module")
def cli(request: pytest.FixtureRequest) -> Cli:
    """The CLI that the test file is named for, in a soak also older versions of it; a file for several CLIs says so itself."""
    asked: Cli | None = getattr(request, "param", None)
    return asked or CLIS[request.path.stem.removeprefix("test_")]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Takes the walk of a soak with older versions of its CLI, too."""
    name = metafunc.module.__name__.rpartition("test_")[2]
    if SOAK and name in CLIS and "fleet" in metafunc.fixturenames:
        step = metafunc.function.__name__.removeprefix("test_")
        pinned = pytest.param(CLIS[name], id=f"{name}-{CLIS[name].version}")
        rows = [
            pytest.param(one, id=f"{name}-{one.version}", marks=[pytest.mark.soak, *_expected(one, step)])
            for one in older(name)
        ]
        metafunc.parametrize("cli", [pinned, *rows], indirect=True, scope="module")


def _expected(cli: Cli, step: str) -> list[pytest.MarkDecorator]:
    """A step fails where the CLI's own table says so, and nowhere else."""
    agent = agent_named(cli.name)
    assert isinstance(agent, Versioned)
    [recorded] = [one for one in agent.versions if one.version == cli.version]
    why = recorded.fails.get(step)
    return [pytest.mark.xfail(strict=True, reason=why)] if why else []


@pytest.fixture(scope="module")
def fleet(cli: Cli) -> Iterator[RealFleet]:
    """Maestro with this CLI."""
    with contextlib.ExitStack() as stack:
        try:
            program = installed(cli)
            network = stack.enter_context(namespace.opened())
        except (NotInstalled, namespace.NoNamespace) as reason:
            pytest.fail(str(reason), pytrace=False)
        # Short: a socket's path may have 107 bytes.
        place = Path(tempfile.mkdtemp(prefix="mr"))
        stack.callback(shutil.rmtree, place, ignore_errors=True)
        api = stack.enter_context(StubApi(network.listener).serving())
        made = RealFleet(cli, program, place, network, api)
        version = network.run([cli.name, "--version"], env=made.env, cwd=made.work)
        assert cli.version in version.stdout, version
        made.json("project", "add", ".")
        made.json("trust", "--yes")
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
    if report.skipped and not hasattr(report, "wasxfail"):
        # What was not tried is not known to work.
        report.outcome = "failed"
        report.longrepr = f"A step of `make test-real` was skipped{_why(report)}"
    fleet = getattr(item, "funcargs", {}).get("fleet")
    if report.failed and isinstance(fleet, RealFleet):
        report.sections.append(("what the machine shows", fleet.evidence()))
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    rows: dict[tuple[str, str], str] = {}
    for outcome in ("passed", "xfailed", "failed", "error"):
        for report in terminalreporter.stats.get(outcome, []):
            if "real" in report.keywords and (report.when == "call" or outcome in {"failed", "error"}):
                rows[_step(report.nodeid)] = f"{outcome}{_why(report)}"
    if not rows:
        return
    tried = {step for _, step in rows}
    rows |= {
        (name, step): f"does not exist: {why}" for (name, step), why in NOT_THERE.items() if step in tried
    }
    terminalreporter.section("the real CLIs, step by step")
    for (name, step), told in sorted(rows.items(), key=lambda row: row[0][0]):
        who = f"{name} {CLIS[name].version}" if name in CLIS else name.replace("-", " ")
        terminalreporter.line(f"{who:<16} {step:<42} {told}")
    words = ("passed", "does not exist")
    holding, absent = (sum(told.startswith(word) for told in rows.values()) for word in words)
    failed = len(rows) - holding - absent
    terminalreporter.line(
        f"{holding} steps ran and hold, {failed} do not hold or could not run, {absent} do not exist."
    )


def _step(nodeid: str) -> tuple[str, str]:
    """Which CLI, and what is tried with it."""
    file, _, test = nodeid.partition("::")
    name, _, parameter = test.removeprefix("test_").replace("_", " ").partition("[")
    return parameter.rstrip("]") or Path(file).stem.removeprefix("test_"), name


def _why(report: Any) -> str:
    if isinstance(report.longrepr, tuple):
        return f": {report.longrepr[2].removeprefix('Skipped: ')}"
    if report.failed and report.when == "setup":
        return f": {str(report.longrepr).splitlines()[0]}"
    return f": {report.wasxfail}" if hasattr(report, "wasxfail") else ""
