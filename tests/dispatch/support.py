"""Runs of the scripted agent, and looking after what they leave."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.patience import patience

from maestro.agents.headless import RunMode
from maestro.agents.registry import headless_named
from maestro.dispatch.process import now_ms
from maestro.dispatch.run import Ready, begin, check, this_process
from maestro.dispatch.runs import Run
from maestro.processes import start_time, variable


def script(*steps: dict[str, Any]) -> str:
    return json.dumps({"steps": steps})


def ready_run(
    folder: Path, *steps: dict[str, Any], mode: RunMode = "write", seconds: float | None = None, **more: Any
) -> Ready:
    """A run of the scripted agent that plays these steps, begun."""
    run = Run(
        id=folder.name, tool="scripted", agent="scripted", mode=mode, project=str(folder.parent),
        cwd=str(folder.parent), timeout_s=patience() if seconds is None else seconds, started_at=now_ms(), runner=this_process(), session_id="s", **more,
    )  # fmt: skip
    made = check(run, str(folder), headless_named("scripted"), dict(os.environ))
    begin(made, script(*steps).encode())
    return made


def processes_of(mark: str) -> list[int]:
    """The live processes that carry a run's mark, looked for without any help of the product."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    return [
        pid
        for pid in pids
        if mark in (variable(pid, "MAESTRO_RUN_ID") or "").split("/") and start_time(pid) is not None
    ]


def result(folder: Path | str) -> Mapping[str, Any]:
    told: dict[str, Any] = json.loads((Path(folder) / "result.json").read_text())
    return told
