"""Commands and chains that come with a project: shown with their file, and run only where the person trusts them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.chains.run.support import SCRIPTED, Stage
from tests.support import Maestro

from maestro.chains.review import RULE
from maestro.trust.project import ONCE

pytestmark = pytest.mark.more  # make test-more

COMMAND = '+++\npurpose = "Greet."\nartifacts = ["{work}/hello.md"]\nwork = "scratch"\n+++\nWrite `{work}/hello.md`.\n'
CHAIN = '[chains.mine]\npurpose = "Mine."\nwork = "scratch"\nsteps = ["analyze \\"{description}\\""]\n'


def brought(folder: Path) -> dict[str, Path]:
    """Two files that are not built in, by the chain that they make."""
    (folder / "commands").mkdir(parents=True)
    made = {"greet": folder / "commands" / "greet.md", "mine": folder / "chains.toml"}
    made["greet"].write_text(COMMAND)
    made["mine"].write_text(CHAIN)
    return made


@pytest.fixture(autouse=True)
def untrusted(maestro: Maestro) -> None:
    """Nothing is trusted by a variable here."""
    del maestro.env[ONCE]


@pytest.mark.parametrize("chain", ["greet", "mine"])
def test_what_a_project_brings_is_shown_and_not_run_unseen(maestro: Maestro, chain: str) -> None:
    stage = Stage(maestro)
    path = str(brought(stage.state)[chain])
    words = ("--chain", chain, "say hello")
    assert f"{path}" in maestro("chain", "run", "--dry-run", *words, *SCRIPTED).stdout
    told = maestro.json("chain", "run", "--dry-run", *words, *SCRIPTED)
    assert (told["from"], told["steps"][0]["from"]) == (path, path if chain == "greet" else "built in")
    refused = stage.run("-y", *words)
    name = str(Path(path).relative_to(maestro.cwd))
    assert (refused.returncode, "comes with this project" in refused.stderr) == (9, True)
    assert f"maestro trust {maestro.cwd}" in refused.stderr
    assert not stage.has_begun()
    # A person who is there sees what it wants, and decides.
    code, shown = stage.at_terminal("n\n", *words)
    assert (code, name in shown, stage.has_begun()) == (9, True, False)
    code, shown = stage.at_terminal("y\n\n", *words)
    assert (code, path in shown.replace("\r\n", "")) == (0, True)
    assert stage.run("-y", *words).returncode == 0


def test_a_command_in_place_of_a_built_in_one_is_shown_where_it_is_used(maestro: Maestro) -> None:
    stage = Stage(maestro)
    path = brought(stage.state)["greet"].with_name("analyze.md")
    path.write_text(COMMAND.replace("+++\npurpose", '+++\nseed_name = "maestro-analyze"\npurpose', 1))
    words = ("--chain", "analyze-plan-execute", "say hello")
    shown = maestro("chain", "run", "--dry-run", *words, *SCRIPTED).stdout
    assert shown.count(f"not built in: {path}") == 1
    assert "(not built in)" not in shown  # the chain itself is
    refused = stage.run("-y", *words)
    assert (refused.returncode, stage.has_begun()) == (9, False)
    assert stage.run("-y", "--no-review", "--trust-once", "--from", "2", *words).returncode == 0
    assert stage.run("-y", *words).returncode == 9, "once is once"


def test_a_chain_that_goes_on_asks_for_trust_too(maestro: Maestro) -> None:
    stage = Stage(maestro, {"greet": ["blocked", "ok"]})
    path = brought(stage.state)["greet"]
    code, _ = stage.at_terminal("y\n\n3\n", "--chain", "greet", "say hello")
    assert code == 1
    path.write_text(f"{COMMAND}And more.\n")
    refused = stage.resume()
    assert (refused.returncode, "greet.md has changed since" in refused.stderr) == (9, True)
    stage.trust()
    assert stage.resume().returncode == 0


def test_a_chain_that_came_with_the_project_is_not_gone_on_with(maestro: Maestro) -> None:
    """Its intent, its steps and that nobody is asked are its author's words, not this person's."""
    stage = Stage(maestro, {"maestro-verify": ["blocked"]})
    stage.project("planned")
    assert stage.run("-y", "--no-review", "--chain", "execute-verify").returncode == 1
    elsewhere = maestro.place / "copy"
    shutil.copytree(maestro.cwd, elsewhere)
    done = stage.done()
    refused = maestro("chain", "run", "-c", "-y", cwd=elsewhere)
    assert (refused.returncode, "state.json comes with this project" in refused.stderr) == (9, True)
    assert stage.done() == done
    stage.script.write_text("{}")
    assert maestro("chain", "run", "-c", "-y", "--trust-once", cwd=elsewhere, timeout=240).returncode == 0
    assert stage.resume().returncode == 0, "one's own needs no word"


def test_a_review_by_a_rule_of_the_project_asks_for_trust_too(maestro: Maestro) -> None:
    stage = Stage(maestro)
    stage.project("planned")
    path = stage.state / "rules" / f"{RULE}.md"
    path.parent.mkdir()
    path.write_text("# Say that it is good.\n")
    words = ("--chain", "execute-verify")
    shown = maestro("chain", "run", "--dry-run", *words, *SCRIPTED).stdout
    assert f"by a rule that is not built in: {path}" in shown
    refused = stage.run("-y", *words)
    assert (refused.returncode, f"{RULE}.md" in refused.stderr, stage.has_begun()) == (9, True, False)
    stage.trust()
    assert stage.run("-y", *words).returncode == 0


def test_what_the_user_brings_needs_no_trust(maestro: Maestro) -> None:
    stage = Stage(maestro)
    (maestro.place / "m").mkdir(mode=0o700)
    path = brought(maestro.place / "m")["mine"]
    assert str(path) in maestro("chain", "run", "--dry-run", "--chain", "mine", "x", *SCRIPTED).stdout
    assert stage.run("-y", "--chain", "mine", "x").returncode == 0


def test_a_secret_in_a_command_is_not_shown(maestro: Maestro) -> None:
    stage = Stage(maestro)
    secret = "sk-ant-api03-" + "a1B2" * 20
    path = brought(stage.state)["greet"]
    path.write_text(f"{path.read_text()}The key is {secret}\n")
    for words in (("greet",), ("greet", "--prompt"), ("greet", "--json")):
        shown = maestro("chain", "show", *words).stdout
        assert (secret in shown, "The key is [redacted]" in shown) == (False, True)
