"""Agents that run in the user's own tmux and that nobody told us about: prompts are proved there as well."""

from __future__ import annotations

import os
import time
from pathlib import Path
from uuid import uuid4

import pytest
from tests.fleet.typing.stage import Stage
from tests.patience import until

WAITS = ({"wait": True}, {"say": "Got: ${prompt}"})
SHOWS = "? for shortcuts"


def test_an_agent_that_has_written_nothing_yet(stage: Stage) -> None:
    session = stage.adopt("fresh", *WAITS, shows=SHOWS)
    assert stage.show(session)["transcriptPath"] is None
    first = stage.sent(session, "your first words")
    assert (first["state"], "transcript" in first["evidence"][0]) == ("submitted", True), first
    assert stage.show(session)["transcriptPath"]
    until(lambda: stage.said(session) == ["Got: your first words"])
    second = stage.sent(session, "and more")
    assert (second["state"], second["evidence"]) == ("submitted", ["its transcript has this prompt"]), second


def test_two_agents_in_one_folder_have_each_their_own_log(stage: Stage) -> None:
    """The newest log of the folder is another's, with the very same prompt in it."""
    first = stage.adopt("first", {"wait": True}, folder="shared")
    assert stage.sent(first, "the same words")["state"] == "submitted"
    one = stage.adopt("one", *WAITS, folder="shared", shows=SHOWS)
    two = stage.adopt("two", *WAITS, folder="shared", shows=SHOWS)
    for session in (one, two):
        told = stage.sent(session, "the same words")
        assert told["state"] == "submitted", told
    paths = {Path(stage.show(session)["transcriptPath"]) for session in (first, one, two)}
    assert len(paths) == 3


@pytest.mark.parametrize(
    ("imitate", "label"),
    [("claude", "Yes, I trust this folder"), ("codex", "Trust and continue"), ("gemini", "Trust folder")],
)
def test_its_first_dialog(stage: Stage, imitate: str, label: str) -> None:
    """Whether the folder is trusted: before there is any log, by keys alone."""
    steps = ({"dialog": "trust"}, {"say": "I am in."}, {"wait": True})
    session = stage.adopt(f"trust-{imitate}", *steps, imitate=imitate, shows="rust")
    question = until(lambda: stage.explain(session)["question"], lambda: stage.screen(session))
    assert question["kind"] == "dialog"
    labels = [option["label"] for option in question["asked"]["options"]]
    [number] = [place for place, shown in enumerate(labels, 1) if shown.startswith(label)]
    told = stage.sent(session, f"Choose {number}")
    assert told["state"] == "submitted", (told, stage.screen(session))
    stage.see(session, "I am in.")


def test_a_prompt_that_it_has_queued_shows_its_log_when_it_is_taken(stage: Stage) -> None:
    """The newest log of the folder is a stranger's; while the agent works, only its screen proves the prompt."""
    known = stage.adopt("known", {"wait": True}, folder="shared")
    log = Path(stage.show(known)["transcriptPath"])
    stranger = log.with_name(f"{uuid4()}.jsonl")
    stranger.write_bytes(log.read_bytes())
    later = time.time() + 3600
    os.utime(stranger, (later, later))
    go_on = stage.place / "go-on"
    busy = {"run": ["sh", "-c", f"until [ -e {go_on} ]; do sleep 0.05; done"]}
    session = stage.adopt("busy", busy, {"say": "Got it."}, folder="shared", shows="esc to interrupt")
    assert stage.show(session)["transcriptPath"] is None
    told = stage.sent(session, "when you have time")
    assert (told["state"], "queued" in told["evidence"][0]) == ("submitted", True), told
    go_on.touch()
    until(lambda: stage.show(session)["transcriptPath"] not in (None, str(stranger), str(log)))
    until(lambda: "Got it." in stage.said(session), lambda: stage.screen(session))
