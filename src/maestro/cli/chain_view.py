"""`maestro chain status` and `chain logs`: how far the chains of this project are, and what their steps said."""

from __future__ import annotations

import os

from maestro import confined, errors, processes
from maestro.chains.report import facts, report
from maestro.chains.state import OUTPUT_FILE, PROMPT_FILE, REVIEW_FILE, ChainState
from maestro.chains.state_file import Found, find_chain, list_chains
from maestro.chains.step_runs import last_words
from maestro.cli import render
from maestro.cli.parser import wants_json
from maestro.dispatch.places import project_root, state_folder
from maestro.dispatch.run import has_runner, identity_of, look
from maestro.redact import clean, redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace


def _state() -> str:
    return state_folder(project_root(os.getcwd()), os.environ)


def status(arguments: Namespace) -> None:
    if arguments.all:
        _all(arguments)
        return
    found = find_chain(_state(), arguments.id, unfinished=False)
    assert found.state is not None
    lives, words = _is_alive(found), _last_words(found.state)
    if wants_json(arguments):
        render.print_json({**facts(found.state), "folder": found.folder, "alive": lives, "last_words": words})
        return
    print(render.printable(report(found.state), lines=True))
    if words:
        print(f"It says: {render.printable(words)}")
    if found.state.status == "running" and not lives:
        print(f"Its process is gone. Go on with: maestro chain run -c {found.id}")
    if found.state.status == "paused" and lives:
        print("Its process waits for that, and goes on by itself.")


def _all(arguments: Namespace) -> None:
    known = list_chains(_state())
    rows = [
        {
            "id": one.id,
            "status": _shown_status(one, one.state) if one.state else "unreadable",
            "chain": one.state.chain_name if one.state else "",
            "step": f"{min(one.state.current_step + 1, len(one.state.steps))}/{len(one.state.steps)}"
            if one.state
            else "",
            "intent": redact(clean(one.state.intent if one.state else one.fault)),
        }
        for one in known
    ]
    if wants_json(arguments):
        render.print_json(rows)
        return
    headers = ("id", "status", "chain", "step", "intent")
    render.table(
        headers,
        [[row[name] for name in headers] for row in rows],
        empty='No chains here. `maestro chain run "INTENT"` makes one.',
    )


def _shown_status(found: Found, state: ChainState) -> str:
    return "interrupted" if state.status == "running" and not _is_alive(found) else state.status


def _is_alive(found: Found) -> bool:
    state = found.state
    if state is None or state.status not in ("running", "paused"):
        return False
    # One that was started in the background says who it is only when it has begun.
    runner = state.runner
    is_on_record = runner is not None and processes.is_same(identity_of(runner))
    return is_on_record or has_runner(found.folder)


def _last_words(state: ChainState) -> str:
    for step in state.steps:
        run_id = step.exec_id if step.status == "running" else step.review_id
        if run_id and (step.status == "running" or step.review == "running"):
            try:
                seen = look(os.path.join(_state(), "runs", run_id))
                return last_words(seen, os.environ) if seen.state == "running" else ""
            except errors.MaestroError:
                return ""  # named in the state, and not begun yet
    return ""


def logs(arguments: Namespace) -> None:
    found = find_chain(_state(), arguments.id, unfinished=False)
    assert found.state is not None
    wanted = [step for step in found.state.steps if arguments.step in (None, step.number)]
    if not wanted:
        raise errors.NotFound(
            f"{found.id} has no step {arguments.step}.", hint=f"Its steps are 1 to {len(found.state.steps)}."
        )
    kinds = (
        (("prompt", PROMPT_FILE),) if arguments.prompt else (("output", OUTPUT_FILE), ("review", REVIEW_FILE))
    )
    told = []
    for step in wanted:
        for kind, name in kinds:
            text = _text(os.path.join(found.folder, name.format(number=step.number)))
            if text is not None:
                told.append({"step": step.number, "cmd": step.cmd, "kind": kind, "text": redact(clean(text))})
    if wants_json(arguments):
        render.print_json(told)
        return
    if not told:
        print("Nothing was said yet.")
    for entry in told:
        print(f"--- {entry['step']}. {entry['cmd']}: {entry['kind']}")
        print(render.printable(str(entry["text"]).rstrip(), lines=True))


def _text(path: str) -> str | None:
    try:
        return confined.read(path).decode(errors="replace")
    except FileNotFoundError:
        return None
