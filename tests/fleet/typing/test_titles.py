"""What a pane's title makes Maestro believe, and what it does not."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.fleet.typing.stage import Stage
from tests.patience import until

WORKING, IDLE = "✦  Working… · scripted gemini", "◇  Ready · scripted gemini"


def test_an_empty_box_is_not_idleness_while_its_log_owes_an_answer(stage: Stage) -> None:
    """An agent that was started with a prompt shows its empty box until it takes it."""
    asked, free = _two_at_work(stage)
    records = stage.records(asked)
    prompt = next(one for one in records if one["type"] == "user")
    _append(stage, asked, prompt)
    _show_empty_boxes(stage, asked, free)
    # No other title follows: it is looked at again by itself.
    _append(stage, asked, *records[records.index(prompt) + 1 :])
    _until_status(stage, asked, "idle")


def test_an_empty_box_is_not_idleness_before_its_log_is_begun(stage: Stage, place: Path) -> None:
    """Its hook says that it was prompted before its log does."""
    early, free = _two_at_work(stage)
    log = _log(stage, early)
    hidden = log.rename(place / "not-begun")
    _show_empty_boxes(stage, early, free)
    hidden.rename(log)
    _until_status(stage, early, "idle")


def test_an_empty_box_that_is_older_than_its_log_is_not_idleness(stage: Stage) -> None:
    """A log may be faster than the screen: what the screen did not show yet is the work that the log tells of."""
    busy, free = _two_at_work(stage)
    records = stage.records(busy)
    said = next(one for one in records if one["type"] == "assistant")
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "make"}}
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    message = {**said["message"], "content": [call], "stop_reason": "tool_use"}
    _append(stage, busy, {**said, "timestamp": later, "message": message})
    _show_empty_boxes(stage, busy, free)
    _append(stage, busy, *records[records.index(said) :])
    _until_status(stage, busy, "idle")


def _two_at_work(stage: Stage) -> tuple[str, str]:
    one, other = (_at_rest(stage, name) for name in ("one", "other"))
    for session in (one, other):
        stage.in_pane(session, "select-pane", "-T", WORKING)
        _until_status(stage, session, "working")
    return one, other


def _show_empty_boxes(stage: Stage, at_work: str, free: str) -> None:
    """Both panes' titles say the same, and one of them has finished."""
    stage.in_pane(at_work, "select-pane", "-T", IDLE)
    stage.in_pane(free, "select-pane", "-T", IDLE)
    _until_status(stage, free, "idle")
    assert stage.show(at_work)["status"] == "working"


def _at_rest(stage: Stage, name: str) -> str:
    session = stage.spawn(name, imitate="gemini")
    _until_status(stage, session, "idle")
    return session


def _until_status(stage: Stage, session: str, status: str) -> None:
    until(
        lambda: stage.show(session)["status"] == status, lambda: (stage.show(session), stage.screen(session))
    )


def _append(stage: Stage, session: str, *records: object) -> None:
    with _log(stage, session).open("a", encoding="utf-8") as log:
        log.writelines(json.dumps(record) + "\n" for record in records)


def _log(stage: Stage, session: str) -> Path:
    found = stage.show(session)
    [path] = stage.place.glob(f"claude/projects/*/{found['transcriptId']}.jsonl")
    return Path(path)
