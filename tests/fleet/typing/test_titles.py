"""What a pane's title makes Maestro believe, and what it does not."""

from __future__ import annotations

import json
from pathlib import Path

from tests.fleet.typing.stage import Stage
from tests.patience import until

WORKING, IDLE = "✦  Working… · scripted gemini", "◇  Ready · scripted gemini"


def test_an_empty_box_is_not_idleness_while_its_log_owes_an_answer(stage: Stage) -> None:
    """An agent that was started with a prompt shows its empty box until it takes it. Both panes' titles say the same;
    one has a prompt in its log that it has not answered."""
    asked, free = (_at_rest(stage, name) for name in ("asked", "free"))
    for session in (asked, free):
        stage.in_pane(session, "select-pane", "-T", WORKING)
        _until_status(stage, session, "working")
    records = stage.records(asked)
    prompt = next(one for one in records if one["type"] == "user")
    answer = records[records.index(prompt) + 1 :]
    _append(stage, asked, prompt)
    stage.in_pane(asked, "select-pane", "-T", IDLE)
    stage.in_pane(free, "select-pane", "-T", IDLE)
    _until_status(stage, free, "idle")
    assert stage.show(asked)["status"] == "working"
    # No other title follows: it is looked at again by itself.
    _append(stage, asked, *answer)
    _until_status(stage, asked, "idle")


def _at_rest(stage: Stage, name: str) -> str:
    session = stage.spawn(name, imitate="gemini")
    _until_status(stage, session, "idle")
    return session


def _until_status(stage: Stage, session: str, status: str) -> None:
    until(
        lambda: stage.show(session)["status"] == status, lambda: (stage.show(session), stage.screen(session))
    )


def _append(stage: Stage, session: str, *records: object) -> None:
    found = stage.show(session)
    [path] = stage.place.glob(f"claude/projects/*/{found['transcriptId']}.jsonl")
    with Path(path).open("a", encoding="utf-8") as log:
        log.writelines(json.dumps(record) + "\n" for record in records)
