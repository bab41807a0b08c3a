"""Agents that run in the user's own tmux and that nobody told us about: prompts are proved there as well."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fleet.typing.stage import Stage, until

WAITS = ({"wait": True}, {"say": "Got: ${prompt}"})
SHOWS = "? for shortcuts"


def test_an_agent_that_has_written_nothing_yet(stage: Stage) -> None:
    session = stage.adopt("fresh", *WAITS, shows=SHOWS)
    assert stage.show(session)["transcriptPath"] is None
    first = stage.sent(session, "your first words")
    assert (first["state"], "of its folder" in first["evidence"][0]) == ("submitted", True), first
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
