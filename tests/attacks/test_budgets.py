"""A batch in a repository, where git is asked what each agent changed before anything else happens: nobody gets the
place of an agent whose cost, tokens or limit are not counted yet."""

from __future__ import annotations

import pytest
from tests.dispatch.batch import conftest as batch
from tests.dispatch.batch.conftest import Stage
from tests.dispatch.support import script

pytestmark = pytest.mark.more  # make test-more

stage, repository = batch.stage, batch.repository  # fixtures

SPENT = {"usage": {"input": 100, "output": 50, "cost": 0.5}}
STEPS = script({"say": "It is all done."}, SPENT)


def started(stage: Stage) -> list[str]:
    """Every attempt that was ever begun."""
    return sorted(path.name for path in (stage.folder / "runs").iterdir())


@pytest.mark.parametrize("isolate", [(), ("--isolate", "worktree")])
def test_no_agent_starts_once_the_budget_is_spent(repository: Stage, isolate: tuple[str, ...]) -> None:
    words = ("--to", "scripted", "--concurrent", "1", *isolate)
    repository.write(a=STEPS, b=STEPS, c=STEPS, d=STEPS)
    assert repository.run(*words, "--max-cost", "0.5").returncode == 3
    assert started(repository) == ["a.1"]
    assert repository.run(*words, "--max-cost", "1.0", "--resume").returncode == 2
    assert started(repository) == ["a.1", "b.1"]
    assert repository.run(*words, "--max-tokens", "450", "--resume").returncode == 1
    assert started(repository) == ["a.1", "b.1", "c.1"]


def test_nor_while_another_one_still_runs(repository: Stage) -> None:
    # Written when git has told what a changed, after its cost was counted and its place given away.
    over = repository.results / "a.exit"
    waits = f"for i in $(seq 3000); do [ -e {over} ] && exit; sleep 0.1; done; exit 1"
    dear = script({"say": "It is all done."}, {"usage": {"input": 1, "output": 1, "cost": 2.0}})
    slow = script({"run": ["sh", "-c", waits]}, {"say": "It is done, too."}, SPENT)
    repository.write(a=dear, b=slow, c=STEPS, d=STEPS)
    assert repository.run("--to", "scripted", "--concurrent", "2", "--max-cost", "1").returncode == 2
    assert started(repository) == ["a.1", "b.1"]
    assert repository.summary["cost_usd"] == 2.5


def test_nor_once_its_tool_has_met_a_limit(repository: Stage) -> None:
    met = script({"limit": "usage limit reached, try again in 3 hours"})
    repository.write(a=met, b=STEPS)
    repository.run("--to", "scripted", "--concurrent", "1", "--max-wait", "60")
    assert started(repository) == ["a.1"]
    assert repository.row("b")["error"] == "scripted is at a limit."
