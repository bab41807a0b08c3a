"""Every command of Maestro as it is run in the hostile repository, without a terminal, and how it must end there.

A command of the README is named by its line; the others by their noun and verb.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, _SubParsersAction
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from tests.hostile.files_of_maestro import CHAIN, RUN, TAG

from maestro.cli.completion import whole_parser
from maestro.cli.main import parser_of

README: Final = (Path(__file__).parent.parent.parent / "README.md").read_text()


@dataclass(frozen=True)
class Run:
    """A command line; SESSION, TASK, FREE and FILE stand for what the scene has."""

    line: str  # of the README, or a command of our own
    words: tuple[str, ...]
    refused: bool = False  # with exit code 9, and the line to type
    careful: bool = False  # refused likewise, or done without anything of the repository's
    input: str = ""
    endless: bool = False  # it goes on until it is interrupted


def _run(line: str, *more: str, **options: bool | str) -> Run:
    """The line as it stands, with more words where the README's alone would not end or find anything."""
    words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', line)]
    return Run(line, (*words, *more), **options)  # type: ignore[arg-type]  # the fields' own types


def _instead(line: str, *words: str, **options: bool | str) -> Run:
    """Other words in the place of the README's, whose ids are examples."""
    return Run(line, words, **options)  # type: ignore[arg-type]  # the fields' own types


OF_README: Final[tuple[Run, ...]] = (
    _run("session discover"),
    _instead("session adopt ID", "session", "adopt", "no-such-session"),
    _instead("session logs ID -f", "session", "logs", "SESSION", "-f", endless=True),
    _instead('session prompt ID --message "…"', "session", "prompt", "FREE", "--message", "Go on.", "--no-wait"),
    _instead("session stats ID", "session", "stats", "SESSION"),
    _run("project add ."),
    _instead('task create "Tests" --depends-on ID', "task", "create", "Tests", "--depends-on", "TASK"),
    _run("task tree"),
    _instead('task report progress ID "half way"', "task", "report", "progress", "TASK", "half way"),
    _run("inbox"),
    _run("status"),
    _run("doctor"),
    _instead("session logs sess_7X2K9Q,sess_Q4M1ZD", "session", "logs", "SESSION"),
    _instead("session diff ID", "session", "diff", "SESSION"),
    _instead("session merge ID", "session", "merge", "SESSION"),
    _instead("session spawn --agent claude --task ID --worktree", "session", "spawn", "--agent", "claude", "--task", "TASK", "--worktree", careful=True),
    _run("up", refused=True),
    _run("attach"),
    _run("trust", careful=True),
    _run("trust --revoke"),
    _run('delegate "fix the tests" --to claude --mode write', refused=True),
    _run("dispatch batch --to claude", refused=True),
    _run("dispatch batch --resume", refused=True),
    _run("dispatch batch --isolate worktree --apply", refused=True),
    _run("dispatch batch --retries 2 --max-cost 5", refused=True),
    _run('chain run "add rate limiting to the login endpoint" --dry-run'),
    _run('chain run "add rate limiting to the login endpoint"', "-y", refused=True),
    _run("chain run -c", "-y", refused=True),
    _run("chain run next -y", refused=True),
    _run('chain route "code review of the auth module" --json'),
    _run("chain list"),
    _run("chain status"),
    _instead('session prompt Backend --message "Run the tests again, please"', "session", "prompt", "Free", "--message", "Run the tests again, please", "--no-wait"),
    _instead("session explain Backend", "session", "explain", "Worker"),
    _instead('session prompt Backend --message "Choose 1"', "session", "prompt", "Free", "--message", "Choose 1", "--no-wait"),
    _run("coordinate init --mode cautious"),
    _run("coordinate", "--once", careful=True),
    _instead("answer Frontend 2", "answer", "Free", "2"),
    _instead("coordinate why Frontend", "coordinate", "why", "Worker"),
    _instead("session stop ID", "session", "stop", "SESSION"),
    _run("down", "maestro"),
    _run("server status"),
    _run("server logs -f", endless=True),
    _run("server stop"),
    _instead("server start --listen 127.0.0.1:8765", "server", "start", "--listen", "127.0.0.1:0"),
)  # fmt: skip

_QUESTION = (
    '{"kind": "permission", "question": "May I?", "command": "git push --force", "options": ["Yes", "No"]}\n'
)
# They come before those of the README, which end the sessions and the daemon.
OTHERS: Final[tuple[Run, ...]] = (
    _run("delegate run", "hello", refused=True),
    _instead("delegate", "delegate", "hello", "--to", "claude", refused=True),
    _instead("delegate", "delegate", "hello", "--to", "codex", "--mode", "analysis", refused=True),
    _instead("delegate", "delegate", "hello", "--to", "gemini", refused=True),
    _instead("delegate", "delegate", "hello", "--to", "handy", refused=True),
    _instead("delegate", "delegate", "hello", "--to", "gone", refused=True),
    _instead("delegate", "delegate", "hello", "--to", "modelled", refused=True),
    _instead("delegate", "delegate", "hello", "--resume", RUN, careful=True),
    _instead("delegate", "delegate", "hello", "--rule", "write-implement", "--to", "own", refused=True),
    _instead("delegate", "delegate", "hello", "--async", refused=True),
    _run("delegate list"),
    _run("delegate show", RUN),
    _run("delegate output", RUN),
    _instead("delegate tail", "delegate", "tail", RUN, endless=True),
    _run("delegate cancel", RUN),
    _run("delegate cancel", f"{RUN}2"),
    _run("delegate wait", RUN, "--timeout", "1"),
    _run("delegate rules", "write-implement"),
    _run("delegate tools", careful=True),
    _run("dispatch", "batch", "--any-agent", refused=True),
    _instead("chain run", "chain", "run", "quick", "-y", refused=True),
    _instead("chain run", "chain", "run", "-c", CHAIN, "-y", refused=True),
    _instead("chain run", "chain", "run", "plan", "-y", "--async", refused=True),
    _run("chain status", CHAIN),
    _run("chain logs", CHAIN),
    _run("chain show", "plan"),
    _run("chain route", "zorble the frobnitz"),
    _run("dispatch", "linked-batch", "--to", "own", "--stagger", "0", careful=True),
    _run("dispatch", "forged-batch", "--resume", careful=True),
    _run("dispatch", "forged-batch", "--restart", "--to", "claude", refused=True),
    _run("trust", "--show"),
    _run("tag list"),
    _run("tag add", "notes.md", "Look at it", "--kind", "fix"),
    _run("tag add", "linked.md", "Look at it", "--kind", "fix"),
    _run("tag add", "docs/notes.md", "Look at it", "--kind", "fix"),
    _run("tag add", ".git/description.md", "Look at it", "--kind", "fix"),
    _run("tag dispatch", "--to", "own", careful=True),
    _run("tag dispatch", careful=True),
    _run("tag dispatch", "--spawn", "claude", careful=True),
    _run("tag claim", TAG, "--as", "me"),
    _run("tag renew", TAG, "--as", "me"),
    _run("tag release", TAG, "--as", "me"),
    _run("tag approve", TAG),
    _run("tag done", TAG, "--as", "me"),
    _run("vision show"),
    _run("vision check"),
    _run("vision check", "1.1"),
    _run("vision next"),
    _run("vision init"),
    _run("coordinate run", "--once", "--mode", "autonomous", careful=True),
    _run("coordinate run", "--once", "--brain", "claude", careful=True),
    _run("coordinate stats"),
    _run("coordinate audit"),
    _run("coordinate check", input=_QUESTION),
    _run("coordinate replay"),
    _run("coordinate replay", "--brain", "claude"),
    _run("session spawn", "--agent", "scripted", careful=True),
    _run("session spawn", "--agent", "codex", careful=True),
    _run("session spawn", "--agent", "gemini", careful=True),
    _run("session list"),
    _run("session show", "SESSION"),
    _run("session prompts", "SESSION"),
    _run("session report", "progress", "half way"),
    _run("session rehydrate", "SESSION"),
    _run("session dehydrate", "SESSION", input='{"summary": "x", "requiredFiles": ["notes.md", "docs/notes.md"]}'),
    _run("session assign", "FREE", "TASK"),
    _run("project list"),
    _run("project show", "repository"),
    _run("task list"),
    _run("task show", "TASK"),
    _run("task children", "TASK"),
    _run("task update", "TASK", "--title", "Other"),
    _run("fleet status"),
    _run("fleet list-panes"),
    _run("fleet notify", "done", "--pane", "SESSION"),
    _run("fleet capture-pane", "SESSION"),
    _run("fleet coordinate-wait", "--timeout", "1"),
    _run("fleet coordinator-connect", "SESSION"),
    _run("fleet coordinator-disconnect", "SESSION"),
    _run("inbox list"),
    _run("inbox show", "no-such-one"),
    _run("precedent list"),
    _run("precedent show", "no-such-one"),
    _run("precedent forget", "no-such-one"),
    _run("agents list"),
    _run("agents read-screen", "claude", input="Do you trust the files in this folder?\n"),
    _run("context"),
    _run("install", "claude", "--scope", "project"),
    _run("uninstall", "claude", "--scope", "project"),
    _run("hook", "claude", "Stop", input="{}"),
    _run("completion", "bash"),
    _run("server restart"),
)  # fmt: skip
# When the sessions have ended.
AT_THE_END: Final[tuple[Run, ...]] = (
    _run("session watch", "SESSION"),
    _run("session discard", "SESSION"),
    _run("project remove", "repository"),
)
EVERY: Final = (*OTHERS, *OF_README, *AT_THE_END)
# Not run here: it plays in a folder of its own, which `tests/testing/test_demo.py` holds.
_NOT_RUN: Final = {("demo", "")}


def lines_of_readme() -> list[str]:
    """Returns each command of the README's code blocks, without its comment."""
    blocks = "\n".join(re.findall(r"```(?:sh|console)\n(.*?)```", README, re.DOTALL))
    found = re.findall(r"^(?:\$ )?maestro (.+)$", blocks, re.MULTILINE)
    return [re.split(r"\s+#", line)[0].strip() for line in found]


def mentioned_in_readme() -> set[tuple[str, str]]:
    """Returns noun and verb of each command that stands in the README's sentences."""
    spans = re.findall(r"`maestro ([a-z][^`]*)`", README)
    return {pair for span in spans for pair in _pairs(span)}


def _pairs(span: str) -> set[tuple[str, str]]:
    noun, _, rest = span.partition(" ")
    verbs = verbs_of(noun)
    word = rest.split(" ")[0]
    return {(noun, verb) for verb in word.split("|") if verb in verbs} or {(noun, "")}


def known() -> set[tuple[str, str]]:
    """Returns noun and verb of every command that there is; a noun without verbs has the verb ""."""
    return {(noun, verb) for noun in _nouns() for verb in (verbs_of(noun) or [""])}


def covered() -> set[tuple[str, str]]:
    """Returns noun and verb of every command that is run here."""
    found = set(_NOT_RUN)
    for one in EVERY:
        noun, *rest = one.words
        verbs = verbs_of(noun)
        verb = rest[0] if rest and rest[0] in verbs else parser_of(noun).default_verb if verbs else ""
        found.add((noun, verb or ""))
    return found


@cache
def verbs_of(noun: str) -> list[str]:
    parser = _nouns().get(noun)
    return list(_choices(parser)) if parser is not None else []


@cache
def _nouns() -> dict[str, ArgumentParser]:
    return _choices(whole_parser())


def _choices(parser: ArgumentParser) -> dict[str, ArgumentParser]:
    found = [one for one in parser._actions if isinstance(one, _SubParsersAction)]
    return dict(found[0].choices) if found else {}
