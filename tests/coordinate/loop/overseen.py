"""Workers on a stage under a real `maestro coordinate`, and what came of it in ledger, inbox and transcripts."""

from __future__ import annotations

import json
import re
import subprocess
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.fleet.typing.stage import Stage

# No test waits longer for nothing than it must, and none shows anything on this machine's desktop.
QUICK: dict[str, Any] = {"timeouts": {"waitTimeout": 1}, "notify": {"desktop": False}}
_STAMP = re.compile(rb'"timestamp":\s?"([^"]+)"')


def asks(question: str, *options: str, **more: Any) -> dict[str, Any]:
    """A question whose answer the worker then tells."""
    answers = {"*": [{"say": "It is ${answer}."}]}
    return {"ask": {"question": question, "header": "H", "options": list(options), "answers": answers} | more}


def waits_for(path: Path) -> dict[str, Any]:
    """A tool that runs until the test says so."""
    return {"run": ["sh", "-c", f"until [ -e {path} ]; do sleep 0.05; done"]}


class Overseen:
    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._files = 0

    def policy(self, **fields: Any) -> str:
        """A file with this policy: of an object only the fields that are named."""
        self._files += 1
        path = self.stage.place / f"policy{self._files}.json"
        whole = {**fields}
        for part, values in QUICK.items():
            whole[part] = {**values, **fields.get(part, {})}
        path.write_text(json.dumps(whole))
        return str(path)

    def command(self, *words: str, of: str = "", config: str | None = None, **fields: Any) -> list[str]:
        """`maestro coordinate` for the panes of these names, each with an oversight of its own."""
        managed = ("--managed", of, "--as", of.replace(",", "-")) if of else ()
        return ["coordinate", *words, "--config", config or self.policy(**fields), *managed]

    def once(
        self, *words: str, of: str = "", env: dict[str, str] | None = None, **fields: Any
    ) -> subprocess.CompletedProcess[str]:
        """One pass: workers are looked after, and one engagement, or a wait in vain."""
        done = self.stage.maestro(*self.command("--once", *words, of=of, **fields), env=env or {})
        assert done.returncode == 0, done.stderr
        return done

    # What came of it.

    def decided(self, session: str) -> list[dict[str, Any]]:
        query: dict[str, str | int | None] = {"sessionId": session}
        found: list[dict[str, Any]] = self.stage.maestro.daemon.call("GET", "/api/decisions", query=query)
        return found

    def done(self, session: str) -> list[tuple[str, str, str]]:
        """Kind, action and who, of all that was decided about a session."""
        return [(one["kind"], one["action"], one["by"]) for one in self.decided(session)]

    def inbox(self, session: str, *, closed: bool = False) -> list[dict[str, Any]]:
        """What waits for the human there; with `closed`, also what no longer does."""
        every = self.stage.maestro.json("inbox", *(["--all"] if closed else []))
        return [one for one in every if one["sessionId"] == session]

    def log(self, name: str) -> str:
        return (self.folder(name) / "COORDINATE_LOG.md").read_text()

    def folder(self, name: str) -> Path:
        return self.stage.maestro.cwd / ".maestro" / "coordinate" / name

    def age(self, session: str, **by: float) -> None:
        """Everything that this worker wrote so far was written so much earlier."""
        name = self.stage.show(session)["transcriptId"]
        [path] = self.stage.place.glob(f"claude/projects/*/{name}.jsonl")

        def earlier(found: re.Match[bytes]) -> bytes:
            then = datetime.fromisoformat(found[1].decode()) - timedelta(**by)
            new = then.isoformat(timespec="milliseconds").replace("+00:00", "Z").encode()
            assert len(new) == len(found[1]), found[1]
            return found[0].replace(found[1], new)

        # In place: its agent has the file open, and goes on writing at its end.
        with path.open("r+b") as file:
            changed = _STAMP.sub(earlier, file.read())
            file.seek(0)
            file.write(changed)

    def spawn_for(self, task: str, name: str, *steps: dict[str, Any], **rest: Any) -> str:
        """A worker that has this task."""
        stage = self.stage
        body = {
            "agent": "scripted",
            "model": stage.script(*steps, **rest),
            "name": name,
            "message": "Begin",
            "directory": str(stage.maestro.cwd),
            "environment": stage.maestro.env,
            "taskIds": [task],
        }
        found = stage.maestro.daemon.call("POST", "/api/sessions/spawn", body, timeout=60)
        assert found["endedAt"] is None, found
        return str(found["id"])
