"""What a person can get wrong: E001 to E004, and a state that cannot be read."""

from __future__ import annotations

import pytest
from tests.chains.run.support import SCRIPTED, Stage
from tests.support import Maestro, some_in_test

INTENT = "add rate limiting to the login endpoint"


def test_nothing_is_wanted_and_nothing_has_begun(maestro: Maestro) -> None:
    done = maestro("chain", "run", "-y", *SCRIPTED)
    assert done.returncode == 2
    assert "E001" in done.stderr
    assert "maestro chain run init" in done.stderr
    assert not (maestro.cwd / ".maestro").exists()


def test_nothing_said_goes_on_with_the_project(maestro: Maestro) -> None:
    stage = Stage(maestro)
    stage.project("planned")
    assert stage.run("-y").returncode == 0
    assert stage.told()["chain_name"] == "execute"


def test_unclear_once_with_nobody_there_and_twice_with_somebody(maestro: Maestro) -> None:
    done = maestro("chain", "run", "-y", "--no-model", "hello there", *SCRIPTED)
    assert (done.returncode, "E002" in done.stderr) == (2, True)
    stage = Stage(maestro)
    code, shown = stage.at_terminal("hm\nwell\nmore\n", "--no-model", "hello there")
    assert (code, shown.count("Which chain is meant?"), "E002" in shown) == (2, 3, True)
    code, _ = stage.at_terminal("code review\n\n", "--no-model", "the login")
    assert (code, stage.told()["chain_name"]) == (0, "review")


def test_a_digit_chooses_one_of_three(maestro: Maestro) -> None:
    offered = maestro.json("chain", "route", "the login")["candidates"]
    assert len(offered) == 3
    stage = Stage(maestro)
    code, shown = stage.at_terminal("2\nc\n", "--no-model", "the login")
    assert (code, "Cancelled" in shown) == (130, True)
    assert f"2  {offered[1]}" in shown
    assert shown.count(offered[1]) > 1


def test_a_model_picks_a_chain_where_words_are_not_sure(maestro: Maestro) -> None:
    stage = Stage(maestro, {"intent": ['{"chain": "review"}', '{"chain": "fly"}', "Do whatever you like."]})
    done = stage.run("-y", "hello there")
    assert done.returncode == 0, done.stderr
    told = stage.told()
    assert (told["chain_name"], told["context"]["description"]) == ("review", "hello there")
    for _ in ("an unknown name", "nothing"):
        assert "E002" in stage.run("-y", "hello there").stderr
    asked = stage.done().count("intent")
    assert "E002" in stage.run("-y", "--no-model", "hello there").stderr
    assert stage.done().count("intent") == asked == 3


@pytest.mark.parametrize(
    ("words", "says"),
    [(("--chain", "fly", "x"), "There is no chain “fly”."), ((), "E001"), (("plan x",), "Nobody is here")],
)
def test_without_a_terminal_what_can_be_told_is_told_first(
    maestro: Maestro, words: tuple[str, ...], says: str
) -> None:
    done = maestro("chain", "run", *words, *SCRIPTED)
    assert done.returncode != 0
    assert says in done.stderr
    assert not (maestro.cwd / ".maestro").exists()


def test_no_such_chain_to_go_on_with(maestro: Maestro) -> None:
    none = maestro("chain", "run", "-y", "-c")
    assert (none.returncode, "E004" in none.stderr) == (3, True)
    stage = Stage(maestro, {"maestro-analyze": ["blocked"]})
    stage.run("-y", INTENT)
    other = maestro("chain", "run", "-y", "-c", "coord-19990101000000")
    assert other.returncode == 3
    assert "E004" in other.stderr
    assert f"{stage.told()['session_id']} (analyze-plan-execute, failed)" in other.stderr


@pytest.mark.parametrize(
    "content", some_in_test([b"{", b"\xff\xfe", b"", b"[]", b'{"session_id": "coord-1"}'], of=2)
)
def test_a_state_that_cannot_be_read_is_kept_and_named(maestro: Maestro, content: bytes) -> None:
    stage = Stage(maestro, {"maestro-analyze": ["blocked"]})
    stage.run("-y", INTENT)
    session, path = stage.told()["session_id"], stage.folder() / "state.json"
    asked = (("chain", "run", "-y", "-c"), ("chain", "run", "-y", "-c", session), ("chain", "status"))
    path.write_bytes(content)
    for words in asked:
        done = maestro(*words)
        assert done.returncode == 2
        assert f"{session}/state.json" in done.stderr
    assert path.read_bytes() == content
    assert "unreadable" in maestro("chain", "status", "--all").stdout
    # A new chain is not hindered by it.
    stage.script.write_text("{}")
    assert stage.run("-y", "--no-review", "--chain", "status").returncode == 0
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--to", "nobody", INTENT), 3, "There is no tool “nobody”"),
        (("--review-by", "nobody", "--to", "scripted", INTENT), 3, "There is no tool “nobody”"),
        (("--chain", "analyse", INTENT), 3, "Did you mean “analyze”?"),
        (("--min-score", "101", INTENT), 2, "0 to 100"),
        (("--budget", "0", INTENT), 2, "more than $0"),
        (("-c", "x", INTENT), 2, "goes on"),
        (("--to", "scripted", "--chain", "execute-verify"), 2, "{work} is needed here and not known"),
        ((INTENT,), 3, "No tool is installed"),
    ],
)
def test_wrong_words_begin_nothing(maestro: Maestro, words: tuple[str, ...], code: int, said: str) -> None:
    done = maestro("chain", "run", "-y", *words)
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr
    assert not (maestro.cwd / ".maestro").exists()


def test_nobody_to_be_asked_is_said(maestro: Maestro) -> None:
    done = maestro("chain", "run", INTENT, *SCRIPTED)
    assert (done.returncode, "-y" in done.stderr) == (2, True)
