"""A secret that an agent says reaches neither the person's screen, nor the reviewer, nor the files that people read."""

from __future__ import annotations

import json

import pytest
from tests.chains.run.support import Stage
from tests.chains.run.test_moves import chain
from tests.support import Maestro

from maestro.chains import Context
from maestro.chains.review import review_prompt
from maestro.chains.step_runs import last_words
from maestro.dispatch.run import look

pytestmark = pytest.mark.more  # make test-more

SECRET = "sk-ant-api03-" + "a1B2" * 20
SAID = f"say The key is {SECRET}, and it works."
SHOWN = "The key is [redacted], and it works."


def test_what_a_step_and_its_review_say(maestro: Maestro) -> None:
    stage = Stage(maestro, {"maestro-analyze": [SAID], "review maestro-analyze": [SAID]})
    done = stage.run("-y", "add rate limiting to the login endpoint")
    assert done.returncode == 0, done.stderr
    # It was really said, and what was said to the letter stays with its run.
    step = stage.told()["steps"][0]
    runs = {name: stage.state / "runs" / step[name] for name in ("exec_id", "review_id")}
    assert all(SECRET in (folder / "result.json").read_text() for folder in runs.values())
    # The reviewer, and the step after it, were told the rest of it.
    review_prompt = (runs["review_id"] / "prompt.md").read_text()
    assert SHOWN in review_prompt
    next_prompt = (stage.state / "runs" / stage.told()["steps"][1]["exec_id"] / "prompt.md").read_text()
    assert SHOWN in next_prompt
    kept = {path.name: path.read_text() for path in stage.folder().iterdir()}
    assert SHOWN in kept["state.json"]
    assert SHOWN in kept["step-1-output.txt"]
    shown = {
        words: maestro("chain", *words).stdout
        for verb in ("status", "logs")
        for words in ((verb,), (verb, "--json"))
    }
    assert all(SHOWN in text for text in (done.stdout, *shown.values()))
    for text in (done.stdout, done.stderr, review_prompt, next_prompt, *kept.values(), *shown.values()):
        assert SECRET not in text


def test_what_a_step_that_cannot_be_used_says(maestro: Maestro) -> None:
    """In the complaint that the next attempt gets, and in the error."""
    stage = Stage(maestro)
    script = json.dumps({"steps": [{"say": f"=== RESULT ===\nTOKEN {SECRET}\n=== END ==="}]})
    maestro.env["MAESTRO_SCRIPT"] = str(maestro.place / "broken.json")
    (maestro.place / "broken.json").write_text(script)
    done = stage.run("-y", "--json", "add rate limiting to the login endpoint")
    assert done.returncode == 1
    assert "is no field of a result block" in done.stderr
    assert "[redacted]" in done.stderr
    prompt = (stage.state / "runs" / stage.told()["steps"][0]["exec_id"] / "prompt.md").read_text()
    assert "[redacted]" in prompt
    for text in (done.stdout, done.stderr, prompt, (stage.folder() / "state.json").read_text()):
        assert SECRET[:40] not in text


def test_what_a_person_says_is_not_shown_again(maestro: Maestro) -> None:
    stage = Stage(maestro)
    assert stage.run("-y", "--no-review", "--chain", "analyze", f"why {SECRET} fails").returncode == 0
    for words in (("status",), ("status", "--json"), ("status", "--all"), ("logs", "--prompt")):
        shown = maestro("chain", *words).stdout
        assert SECRET not in shown
        assert "[redacted]" in shown


def test_what_the_reviewer_is_given_is_cut_only_afterwards() -> None:
    """A cut must not leave the half of a secret that no pattern knows."""
    state = chain({}, {}, context=Context(description=f"mend {SECRET}"))
    for filling in range(39_900, 40_000):
        told = review_prompt(state, state.steps[0], f"{SECRET}{'.' * filling}")
        assert "[redacted]" in told
        assert "a1B2" not in told


def test_what_a_step_says_last_and_what_an_older_file_holds(maestro: Maestro) -> None:
    stage = Stage(maestro)
    assert stage.run("-y", "--chain", "analyze", "the login").returncode == 0
    folder = stage.state / "runs" / stage.told()["steps"][0]["exec_id"]
    content = [{"type": "text", "text": f"The key is {SECRET}, and it works."}]
    with (folder / "stdout").open("a") as file:
        file.write(json.dumps({"type": "assistant", "message": {"content": content}}) + "\n")
    assert last_words(look(str(folder)), maestro.env) == SHOWN
    (stage.folder() / "step-1-output.txt").write_text(f"The key is {SECRET}, and it works.")
    for words in (("logs",), ("logs", "--json")):
        shown = maestro("chain", *words).stdout
        assert (SECRET in shown, SHOWN in shown) == (False, True)
