"""`maestro coordinate check|replay`: what a policy would do, before it does anything."""

from __future__ import annotations

import os
import sys

from maestro import errors
from maestro.cli import render
from maestro.cli.parser import Parser, wants_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator
    from typing import IO, Any

    from maestro.coordinate import Brain, Policy
    from maestro.coordinate.replay import Difference, Recorded, Replayed, ReplayReport

_MODES = ("autonomous", "cautious", "supervised")
_MOST_BY_RULES, _MOST_BY_MODEL = 1000, 50
_BRAINS = ("rules", "claude", "codex", "gemini", "api", "none")


def describe_check(check: Parser) -> None:
    check.add_argument(
        "file", metavar="FILE", nargs="?", help="questions, a JSON object a line; - is standard input"
    )
    _describe_policy(check)
    check.epilog = (
        "A line has kind (permission, choice, multi_choice, plan, free_text), question, options, and, as it likes, "
        "preamble, detail or command, tool, proposed, id. No model is asked and no daemon is needed."
    )


def describe_replay(replay: Parser) -> None:
    _describe_policy(replay)
    replay.add_argument("--brain", choices=_BRAINS, help="what assesses; default: the policy's")
    replay.add_argument("--since", metavar="H", type=float, default=168.0, help="hours back (default 168)")
    replay.add_argument(
        "--limit",
        metavar="N",
        type=int,
        help=f"so many at most (default {_MOST_BY_RULES}, or {_MOST_BY_MODEL} where a model is asked)",
    )


def _describe_policy(verb: Parser) -> None:
    verb.add_argument("--config", metavar="F", help="this policy; default: the one in force in this folder")
    verb.add_argument("--mode", choices=_MODES, help="as if it were run in this mode")


def policy_of(arguments: Namespace) -> Policy:
    """The policy that is meant: a file, or what is in force in this folder; in the mode that was named."""
    from maestro import home
    from maestro.coordinate.policy.config import with_mode
    from maestro.coordinate.policy.config_file import find_policy, load_policy
    from maestro.coordinate.policy.project_files import changed_words
    from maestro.trust.remarks import remark

    if arguments.config:
        policy = load_policy(arguments.config)
    else:
        found = find_policy("", os.getcwd(), os.environ, home.locate(os.environ).root)
        if words := changed_words(found.changed, os.getcwd()):
            remark(words)
        policy = found.policy
    return with_mode(policy, arguments.mode) if arguments.mode else policy


# check


def check(arguments: Namespace) -> None:
    from maestro.coordinate.gate.check import check_line

    policy = policy_of(arguments)
    as_json = wants_json(arguments)
    counts = {"allow": 0, "escalate": 0}
    wrong: list[int] = []
    for number, line in _lines(arguments.file):
        record: Any = None
        try:
            record = _record(line)
            told = check_line(record, policy)
        except (errors.InvalidInput, RecursionError) as error:
            wrong.append(number)
            what = error.message if isinstance(error, errors.InvalidInput) else "It is nested too deeply."
            _complain(number, record, what, as_json=as_json)
            continue
        counts[told["verdict"]] += 1
        _print_verdict(record, told, as_json=as_json)
    if wrong:
        raise errors.InvalidInput(
            f"{len(wrong)} of {sum(counts.values()) + len(wrong)} lines could not be checked: {_places(wrong)}.",
            hint="Each is a JSON object with kind and question; `maestro coordinate check --help` tells the rest.",
        )
    if not as_json:
        print(
            f"{sum(counts.values())} checked: {counts['allow']} allowed, {counts['escalate']} for the human."
        )


def _lines(path: str | None) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers."""
    if path is None and sys.stdin.isatty():
        raise errors.InvalidInput(
            "There are no questions to check.",
            hint="Name a file, or pipe JSON lines in: maestro coordinate check < questions.jsonl",
        )
    if path in {None, "-"}:
        yield from _numbered(sys.stdin.buffer)
        return
    try:
        with open(str(path), "rb") as file:
            yield from _numbered(file)
    except (FileNotFoundError, IsADirectoryError):
        raise errors.NotFound(f"There is no file {path}.", hint="Check its name.") from None


def _numbered(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(file, 1):
        words = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        if words.strip():
            yield number, words


def _record(line: bytes) -> dict[str, Any]:
    import json

    try:
        record = json.loads(line.decode().strip())
    except UnicodeDecodeError as error:
        raise errors.InvalidInput("It is not UTF-8.") from error
    except json.JSONDecodeError as error:
        raise errors.InvalidInput(f"It is not JSON: {error.msg}, at character {error.colno}.") from error
    if not isinstance(record, dict):
        raise errors.InvalidInput("It is no JSON object.")
    return record


def _print_verdict(record: dict[str, Any], told: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        _print_line(told, record)
        return
    name = f"{record['id']}  " if "id" in record else ""
    asked = " ".join(str(record.get("question", "")).split())
    style = "yellow" if told["verdict"] == "escalate" else "green"
    print(render.ansi(f"{told['verdict']:<8}", style), render.printable(f" {name}{asked}"))
    for reason in (*told["reasons"], *told["labels"]):
        print(f"          {render.printable(reason)}")


def _complain(number: int, record: Any, what: str, *, as_json: bool) -> None:
    if as_json:
        # Whoever reads the answers must not take a row that could not be read for one that may pass.
        _print_line({"line": number, "error": what, "verdict": "escalate", "readOnly": False}, record)
    else:
        print(f"line {number}: {render.printable(what)}", file=sys.stderr)


def _print_line(told: dict[str, Any], record: Any) -> None:
    """With the record's own id. In ASCII: what is checked may hold half a character, which no terminal takes."""
    import json

    named = {"id": record["id"]} if isinstance(record, dict) and "id" in record else {}
    print(json.dumps(told | named), flush=True)


def _places(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:10]))
    more = f" and {len(numbers) - 10} more" if len(numbers) > 10 else ""
    return f"line {shown}{more}" if len(numbers) == 1 else f"lines {shown}{more}"


# replay


def replay(arguments: Namespace) -> None:
    import asyncio
    import tempfile

    import msgspec

    from maestro.coordinate.brains import brain_named
    from maestro.coordinate.replay import compare

    policy = policy_of(arguments)
    if arguments.brain:
        policy = msgspec.structs.replace(
            policy, brain=msgspec.structs.replace(policy.brain, kind=arguments.brain)
        )
    recorded = _recorded(arguments, policy)
    with tempfile.TemporaryDirectory(prefix="maestro-replay-") as folder:
        brain = brain_named(policy.brain, os.environ, os.path.realpath(folder))
        shows_progress = not wants_json(arguments) and sys.stderr.isatty()
        again = asyncio.run(_again(recorded, policy, brain, shows_progress=shows_progress))
    report = compare(recorded, again)
    if wants_json(arguments):
        render.print_json(msgspec.to_builtins(report))
        return
    for line in replay_lines(report, f"{policy.preset}, {policy.brain.kind}"):
        print(line)


def _recorded(arguments: Namespace, policy: Policy) -> list[Recorded]:
    import msgspec

    from maestro.coordinate import Case
    from maestro.coordinate.replay import Recorded
    from maestro.server.client import Daemon

    asks_a_model = policy.brain.kind not in {"rules", "none"}
    limit = arguments.limit or (_MOST_BY_MODEL if asks_a_model else _MOST_BY_RULES)
    query: dict[str, str | int | None] = {"sinceHours": str(arguments.since), "limit": limit}
    told = Daemon(os.environ).call("GET", "/api/coordinate/cases", query=query)["cases"]
    found = []
    for one in told:
        case, done = msgspec.convert(one["case"], Case), one["done"]
        if done["by"] == "human":
            # A human's word is the last: the engine had left it to them.
            answer = done["text"] if done["action"] == "answer" else ""
            found.append(Recorded(case, "escalate", "human", answer, "human" if answer else ""))
        elif done["action"] == "answer":
            found.append(Recorded(case, "answer", done["by"], done["text"], "engine"))
        else:
            found.append(Recorded(case, done["action"], done["by"]))
    return found


async def _again(
    recorded: list[Recorded], policy: Policy, brain: Brain, *, shows_progress: bool
) -> list[Replayed]:
    import time

    from maestro.coordinate.gate.judge import gate
    from maestro.coordinate.replay import replaying

    done: list[Replayed] = []
    now = time.time_ns() // 1_000_000
    async for one in replaying((past.case for past in recorded), policy, brain, gate, now):
        done.append(one)
        if shows_progress:
            print(f"\r{len(done)} of {len(recorded)} decided again ", end="", file=sys.stderr, flush=True)
    if shows_progress and done:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    return done


def replay_lines(report: ReplayReport, how: str) -> list[str]:
    """What came of it: how many, what would be otherwise, what it cost."""
    if not report.total:
        return ["No questions were decided in that time; there is nothing to decide again."]
    lines = [
        f"{report.total} {'question' if report.total == 1 else 'questions'} decided again ({how})",
        f"  would be answered   {report.answered}",
        f"  would be escalated  {report.escalated}",
        f"  would be probed     {report.probed}",
        f"  agreement           {share(report.agreed, report.compared)} with what was answered then",
    ]
    if report.needless:
        lines.append(f"  needless            {report.needless} escalated, and you answered what was proposed")
    for title, differences in (
        ("You answered otherwise", report.contradicted),
        ("Answered otherwise before, without you", report.changed),
        ("Answered without you then, escalated now", report.newly_escalated),
        ("Escalated then, answered now", report.newly_answered),
    ):
        if differences:
            lines += [f"{title}: {len(differences)}", *(_difference(one) for one in differences)]
    return [*lines, f"Cost: {spent_words(report.spent.calls, report.spent.tokens, report.spent.cost_usd)}"]


def _difference(one: Difference) -> str:
    asked = " ".join(one.question.split())
    shown = asked if len(asked) <= 100 else asked[:99] + "…"
    then, now = (" ".join(words.split()) for words in (one.then, one.now))
    return render.printable(
        f"  {one.question_id}  {one.session_name}  “{shown}”  then {then}, now {now}"
        f" ({one.by}, confidence {one.confidence:.2f})"
    )


def share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.0%})" if whole else "nothing to compare"


def spent_words(calls: int, tokens: int, cost_usd: float) -> str:
    return f"{calls} calls, {tokens:,} tokens, ${cost_usd:.2f}" if calls else "nothing; no model was asked"
