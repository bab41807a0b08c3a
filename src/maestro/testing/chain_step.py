"""How the scripted agent does the steps of chains, and reviews them: for demos and tests.

It leaves the files that the step's command wants, and ends with the result block. SCRIPTED_CHAIN may name a JSON file that
says what else becomes of them, one word for each time that the step is done, the last one for all after it:

    {"maestro-plan": ["no-block", "ok"], "review maestro-plan": ["score 40", "critical", "malformed"]}

    ok, no-block, no-files, bad-files, fail, blocked, error, gaps, wait (until FILE.go is there), limit TEXT, say TEXT; of
    a review: ok, score N, critical, malformed, limit TEXT, say TEXT; of “intent”: what it answers when it is asked
    which chain is meant

What it does is noted in FILE.log, a line each.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from maestro.chains.forms import Form

VARIABLE: Final = "SCRIPTED_CHAIN"
_TITLE: Final = re.compile(r"^# Step (\d+)/\d+ of the chain \S+: /(\S+) ?(.*)$", re.MULTILINE)
_REVIEW: Final = re.compile(
    r"^(?:.*\n)?\n?Review step (\d+) of \d+ of the chain .*\n\n- The step: /(\S+)", re.MULTILINE
)
_KNOWN: Final = re.compile(
    r"^- (State folder|Folder of this work|Phase|Issue|Specification): (.*)$", re.MULTILINE
)
_INTENT: Final = "Somebody told a coordinator of coding agents what they want."
_COST: Final = 0.01
_BAD: Final = "{ This is none of the formats.\n"
_PHASES: Final = ("Foundation", "Behaviour")


def played(prompt: str) -> list[dict[str, Any]] | None:
    """What it does for this prompt; None where that is no step of a chain."""
    usage = {"usage": {"input": 1200, "output": 300, "cost": _COST}}
    review = _REVIEW.search(prompt)
    if review:
        word = _word(f"review {review[2]}")
        if word.startswith("limit "):
            return [usage, {"limit": word.removeprefix("limit ")}]
        return [usage, {"say": "Looks fine to me." if word == "malformed" else _review(word, review[2])}]
    if prompt.startswith(_INTENT):
        return [usage, {"say": _word("intent")}]
    title = _TITLE.search(prompt)
    if title is None or "=== RESULT ===" not in prompt:
        return None
    return [usage, *_step(title[2], prompt, _word(title[2]))]


def _step(cmd: str, prompt: str, word: str) -> list[dict[str, Any]]:
    known = {name: value.strip() for name, value in _KNOWN.findall(prompt)}
    steps: list[dict[str, Any]] = [{"say": f"I read what {cmd} is about."}]
    if word == "wait":
        go = f"{os.environ[VARIABLE]}.go"
        steps.append({"run": ["sh", "-c", f"until [ -e '{go}' ]; do sleep 0.05; done"]})
    if word.startswith("limit "):
        return [*steps, {"limit": word.removeprefix("limit ")}]
    if word == "error":
        return [*steps, {"fail": "The scripted agent was told to fail."}]
    if word == "no-block":
        return [*steps, {"say": "All done, and very well."}]
    if word == "fail":
        return [*steps, {"say": _block("FAILURE", {}, [], "The tests do not pass.")}]
    if word == "blocked":
        return [*steps, {"say": _block("BLOCKED", {}, [], "Which database shall it be?")}]
    fields, files = _work(cmd, known, word)
    if files and word != "no-files":
        steps.append({"write": files})
    said = word.removeprefix("say ") if word.startswith("say ") else ""
    block = _block("SUCCESS", fields, list(files), said or f"{cmd} is done.")
    return [*steps, {"say": f"{said}\n\n{block}" if said else block}]


def _work(cmd: str, known: dict[str, str], word: str) -> tuple[dict[str, str], dict[str, str]]:
    """What the step tells, and the files that it leaves."""
    from maestro.chains.catalogue.catalogue import command_of
    from maestro.chains.catalogue.catalogue_file import shown_catalogue
    from maestro.chains.forms import form_for
    from maestro.chains.template import fill_text

    state = known["State folder"]
    catalogue = shown_catalogue("/nonexistent", os.path.realpath(state))
    command = command_of(catalogue, cmd)
    assert command is not None
    fields = {
        "VERIFICATION": "the tests were run, and pass",
        "VERDICT": "GAPS" if word == "gaps" else "PASS",
        "PHASE": (known.get("Phase") or "1").partition(",")[0],
        "ISSUE": known.get("Issue") or "ISSUE-1",
        "SPEC": known.get("Specification") or "SPEC-scripted",
    }
    values = {
        "state": state,
        "work": known.get("Folder of this work", ""),
        "phase": fields["PHASE"],
        "issue_id": fields["ISSUE"],
        "spec_session_id": fields["SPEC"],
    }
    files = {}
    for path in (fill_text(one, values) for one in command.artifacts):
        form = form_for(path, command.formats, catalogue.formats)
        files[path] = _BAD if word == "bad-files" else _content(path, state, cmd, form)
    return {name: fields[name] for name in command.result if name in fields}, files


def _content(path: str, state: str, cmd: str, form: Form | None) -> str:
    if os.path.basename(path) != "project.json":
        words = f"written by the scripted agent for {cmd}"
        lines = [f"{form.first} {words}", *form.lines] if form else [f"# {words.capitalize()}"]
        return "\n\n".join(lines) + "\n"
    try:
        with open(path, encoding="utf-8") as file:
            project = json.load(file)
    except FileNotFoundError:
        project = {"name": os.path.basename(os.path.dirname(os.path.abspath(state))) or "project"}
    if cmd != "maestro-init" and not project.get("phases"):
        project["phases"] = [{"number": n, "title": title} for n, title in enumerate(_PHASES, 1)]
        project |= {"current_phase": 1, "status": "active", "milestone": "First"}
    return json.dumps(project)


def _block(status: str, fields: dict[str, str], files: list[str], summary: str) -> str:
    listed = "\n" + "\n".join(f"- {path}" for path in files) if files else " none"
    more = "".join(f"{name}: {value}\n" for name, value in fields.items())
    return f"=== RESULT ===\nSTATUS: {status}\nARTIFACTS:{listed}\n{more}SUMMARY: {summary}\n=== END ==="


def _review(word: str, cmd: str) -> str:
    score = (
        int(word.removeprefix("score ")) if word.startswith("score ") else 40 if word == "critical" else 85
    )
    said = word.removeprefix("say ") if word.startswith("say ") else ""
    issues = [{"severity": "critical", "description": "It loses data."}] if word == "critical" else []
    return json.dumps(
        {
            "quality_score": score,
            "assessment": said or f"{cmd} does what it is for.",
            "issues": issues,
            "next_step_hints": {"additions": [said or f"hint after {cmd}"], "cautions": [], "context": []},
        }
    )


def _word(what: str) -> str:
    """What is to become of this one; noted, so that it can be counted."""
    path = os.environ.get(VARIABLE)
    if not path:
        return "ok"
    log = f"{path}.log"
    with open(log, "a+", encoding="utf-8") as file:
        file.seek(0)
        before = [line.rstrip("\n") for line in file].count(what)
        file.write(f"{what}\n")
    with open(path, encoding="utf-8") as file:
        words = json.load(file).get(what) or ["ok"]
    return str(words[min(before, len(words) - 1)])
