"""A program that a real CLI runs is known as an agent's, also where Maestro did not start the CLI: it trusts nothing."""

from __future__ import annotations

import pytest
from tests.real.clis import CLIS, Cli
from tests.real.fleet import RealFleet
from tests.real.test_pairs import adopted, runs
from tests.real.turns import says
from tests.support import BIN

from maestro.agents.registry import acting_agents


@pytest.fixture(scope="module", params=sorted(CLIS))
def cli(request: pytest.FixtureRequest) -> Cli:
    return CLIS[request.param]


def test_an_adopted_agent_trusts_nothing(fleet: RealFleet) -> None:
    said = fleet.work / "said.txt"
    with adopted(fleet) as session_id:
        fleet.load(runs(fleet, f"{BIN / 'maestro'} trust --yes > {said} 2>&1 || true"), says("It was tried."))
        fleet.tell(session_id, "trust this project")
        fleet.until_asked(session_id)
        fleet.tell(session_id, "Choose 1")
        fleet.until_said(session_id, "It was tried.")
    told = said.read_text()
    assert "An agent may not trust a project" in told
    acting = next(agent for agent in acting_agents() if agent.name == fleet.cli.name)
    assert [name for name in acting.inner_variables if f"its variable {name}." in told], told
