"""`maestro delegate PROMPT` and `delegate list|show|output|tail|cancel|wait|rules|tools`.

A run needs no daemon: it runs in this process, or with --async in one of its own, and its folder is the truth.
"""

from __future__ import annotations

import os
import sys
import time

from maestro import confined, errors
from maestro.cli import render
from maestro.cli.parser import Parser, add_verb, wants_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator
    from typing import Any

    from maestro.dispatch.runs import RunResult, RunSeen

_EXITS = (
    "Exit codes: 0 success, 1 failed, 20 denied (it answered, but was not allowed something), 21 a rate or quota "
    "limit, 22 refused by the model or a hook, 23 interrupted, 124 timeout, 130 cancelled; others as everywhere: the "
    "command itself was wrong."
)
_LOOK_SECONDS = 0.2


def describe(parser: Parser) -> None:
    parser.description = (
        "Give one prompt to one tool, without a terminal. `maestro delegate PROMPT --to TOOL` runs it; the other "
        "commands are about runs of this project."
    )
    parser.epilog = _EXITS
    parser.default_verb = "run"
    verbs = parser.verbs()
    _describe_run(add_verb(verbs, "run", _run, "run a prompt; `run` may be left out"))
    add_verb(verbs, "list", _list, "the runs of this project, the newest first")
    _with_ids(add_verb(verbs, "show", _show, "one run: what was asked and what became of it"), "ID")
    output = add_verb(verbs, "output", _output, "what a run answered, or has said so far")
    output.add_argument("--raw", action="store_true", help="what the tool printed, as it is")
    _with_ids(output, "ID")
    _with_ids(add_verb(verbs, "tail", _tail, "follow what a run says until it ends"), "ID")
    _with_ids(add_verb(verbs, "cancel", _cancel, "end runs and everything that they started"), "ID", "+")
    wait = add_verb(verbs, "wait", _wait, "wait until runs are over")
    wait.add_argument("--timeout", metavar="SECONDS", type=float, default=86_400.0, help="at most so long")
    _with_ids(wait, "ID", "+")
    rules = add_verb(
        verbs, "rules", _rules, "what can be put before a prompt by --rule; with a NAME, its text"
    )
    rules.add_argument("name", metavar="NAME", nargs="?")
    add_verb(verbs, "tools", _tools, "the tools that can be named by --to, and their files")


def _describe_run(run: Parser) -> None:
    run.epilog = _EXITS
    run.add_argument("prompt", metavar="PROMPT", help="text, - for stdin, or @FILE")
    run.add_argument("--to", metavar="TOOL", default="", help="claude, codex, gemini, or one of tools.toml")
    run.add_argument(
        "--mode",
        choices=("analysis", "write"),
        default="analysis",
        help="analysis reads only, by the tool's own flags; write edits and runs commands, unasked (default: analysis)",
    )
    run.add_argument("--model", metavar="MODEL", default="")
    run.add_argument("--cd", metavar="FOLDER", default="", help="where it works; default: here")
    run.add_argument(
        "--rule", metavar="NAME", default="", help="put a rule before the prompt: `delegate rules`"
    )
    run.add_argument(
        "--resume",
        metavar="ID",
        nargs="?",
        const="",
        help="go on with the session of a run, or with a session; without ID the last run (then after PROMPT)",
    )
    run.add_argument("--id", metavar="ID", default="", help="the run's id; default: TOOL-HHMMSS-xxxx")
    run.add_argument(
        "--timeout", metavar="SECONDS", type=float, help="default: 600 for write, 300 for analysis"
    )
    run.add_argument(
        "--mcp-config", metavar="FILE", default="", help='MCP servers for this run: {"mcpServers": {…}}'
    )
    run.add_argument(
        "--allow",
        metavar="TOOL",
        action="append",
        default=[],
        help="allow a tool, in the CLI's own words; repeatable",
    )
    run.add_argument(
        "--network", action="store_true", help="open the network to its commands, where its CLI closes it"
    )
    run.add_argument(
        "--async",
        dest="detached",
        action="store_true",
        help="print the id and return; the run goes on by itself",
    )


def _with_ids(parser: Parser, name: str, count: str | None = None) -> None:
    if count:
        parser.add_argument("ids", metavar=name, nargs=count)
    else:
        parser.add_argument("id", metavar=name)


def _run(arguments: Namespace) -> int:
    from maestro.dispatch import delegate, places, run
    from maestro.dispatch.runs import EXIT_CODES

    order = delegate.Order(
        prompt=_prompt(arguments.prompt),
        to=arguments.to,
        mode=arguments.mode,
        cd=arguments.cd,
        model=arguments.model,
        rule=arguments.rule,
        resume=arguments.resume,
        id=arguments.id,
        timeout_s=arguments.timeout,
        mcp_config=arguments.mcp_config,
        allowed_tools=tuple(arguments.allow),
        network=arguments.network,
    )
    prepared, prompt = delegate.ready(order, os.environ)
    places.prepare(order.cd or os.getcwd(), os.environ)
    if arguments.detached:
        from maestro.cli.delegated import start

        delegate.hand_over(prepared, prompt, start)
        told = {"id": prepared.run.id, "folder": prepared.folder}
        render.print_json(told) if wants_json(arguments) else print(prepared.run.id)
        return 0
    run.begin(prepared, prompt)
    if order.to and prepared.run.tool != order.to and not wants_json(arguments):
        print(f"maestro: {prepared.run.tool} takes it.", file=sys.stderr)
    result = delegate.carry_out_here(prepared)
    from maestro.cli.delegated import announce

    announce(prepared.run, result, prepared.folder, os.environ, prompt_session=False)
    _show_result(arguments, result)
    return EXIT_CODES[result.status]


def _prompt(word: str) -> bytes:
    if word == "-":
        return sys.stdin.buffer.read()
    if word.startswith("@") and len(word) > 1:
        try:
            with open(word[1:], "rb") as file:
                return file.read()
        except OSError as error:
            raise errors.NotFound(
                f"{word[1:]} cannot be read: {error.strerror}.", hint="@FILE takes the prompt from a file."
            ) from error
    return os.fsencode(word)


def _show_result(arguments: Namespace, result: RunResult) -> None:
    if wants_json(arguments):
        render.print_json(_plain(result))
        return
    if result.status in {"success", "denied"}:
        print(render.printable(result.text, lines=True))
    line = f"{result.id}: {result.status}, {result.duration_ms / 1000:.1f} s"
    print(f"{line}{_cost(result, ', ')}", file=sys.stderr)
    if result.error:
        print(f"  {render.printable(result.error, lines=True)}", file=sys.stderr)
    if result.resets_at is not None:
        print(
            f"  The limit ends {time.strftime('%F %T', time.localtime(result.resets_at / 1000))}.",
            file=sys.stderr,
        )
    if result.status not in {"success", "denied"} and result.text:
        print(f"  → What it had said: maestro delegate output {result.id}", file=sys.stderr)


def _plain(value: Any) -> Any:
    import msgspec

    return msgspec.to_builtins(value)


def _cost(result: RunResult | None, before: str = "") -> str:
    if result is None or result.cost_usd is None:
        return ""
    return f"{before}{'about ' if result.cost_is_estimate else ''}${result.cost_usd:.4f}"


def _here(wanted: str) -> RunSeen:
    from maestro.dispatch import delegate

    return delegate.find_run(wanted, os.getcwd(), os.environ)


def _list(arguments: Namespace) -> None:
    from maestro.dispatch import delegate

    seen = delegate.list_runs(os.getcwd(), os.environ)
    if wants_json(arguments):
        render.print_json([_seen(s) for s in seen])
        return
    render.table(
        ("id", "status", "tool", "mode", "age", "took", "cost"),
        [
            (
                s.run.id,
                s.state,
                s.run.tool,
                s.run.mode,
                render.age(s.run.started_at),
                f"{s.result.duration_ms / 1000:.0f} s" if s.result else "",
                _cost(s.result),
            )
            for s in seen
        ],
        empty="No runs here. `maestro delegate PROMPT --to TOOL` makes one.",
    )


def _seen(seen: RunSeen) -> dict[str, Any]:
    return {
        "state": seen.state,
        "folder": seen.folder,
        "run": _plain(seen.run),
        "result": _plain(seen.result) if seen.result else None,
    }


def _show(arguments: Namespace) -> None:
    seen = _here(arguments.id)
    if wants_json(arguments):
        render.print_json(_seen(seen))
        return
    run, result = seen.run, seen.result
    usage = result.usage if result else ()
    render.fields(
        [
            ("id", run.id),
            ("status", seen.state),
            ("error", result.error if result else ""),
            ("tool", run.tool if run.tool == run.agent else f"{run.tool} ({run.agent})"),
            ("mode", run.mode),
            ("model", run.model),
            ("rule", run.rule),
            ("in", run.cwd),
            ("took", f"{result.duration_ms / 1000:.1f} s of {run.timeout_s:g} s" if result else ""),
            ("exit code", result.exit_code if result else None),
            ("signal", result.signal if result else None),
            (
                "tokens",
                "\n".join(
                    f"{u.model}: {u.input} in, {u.cached} cached, {u.output} out ({u.thinking} thinking)"
                    for u in usage
                ),
            ),
            (
                "counted",
                "for the whole session, not this run alone" if result and result.counts_session else "",
            ),
            ("cost", _cost(result)),
            ("denied", ", ".join(f"{d.tool} {d.detail}".strip() for d in result.denials) if result else ""),
            ("session", (result.session_id if result else "") or run.resume or run.session_id),
            ("folder", seen.folder),
            ("answer", result.text if result else ""),
        ]
    )


def _output(arguments: Namespace) -> None:
    seen = _here(arguments.id)
    if arguments.raw:
        from maestro.dispatch.runs import STDOUT_FILE

        path = os.path.join(seen.folder, STDOUT_FILE)
        if confined.exists(path):
            with open(confined.open_file(path, os.O_RDONLY), "rb") as file:
                while block := file.read(1 << 16):
                    sys.stdout.buffer.write(block)
        return
    if seen.result is not None and wants_json(arguments):
        render.print_json({"id": seen.run.id, "status": seen.state, "text": seen.result.text})
    elif seen.result is not None and seen.result.text:
        print(render.printable(seen.result.text, lines=True))
    else:
        for words in _spoken(seen, follow=False):
            print(render.printable(words, lines=True))


def _tail(arguments: Namespace) -> int:
    seen = _here(arguments.id)
    for words in _spoken(seen, follow=True):
        print(render.printable(words, lines=True), flush=True)
    return _state_code(seen.folder)


def _spoken(seen: RunSeen, *, follow: bool) -> Iterator[str]:
    """What the run says, line by line of its output; with `follow`, until it is over."""
    from maestro.dispatch import delegate
    from maestro.dispatch.runs import STDOUT_FILE

    agent = delegate.taken_over_agent(seen, os.environ)
    path = os.path.join(seen.folder, STDOUT_FILE)
    place, rest = 0, b""
    while True:
        is_over = seen.state != "running"
        if confined.exists(path):
            with open(confined.open_file(path, os.O_RDONLY), "rb") as file:
                file.seek(place)
                block = file.read()
            place += len(block)
            *lines, rest = (rest + block).split(b"\n")
            for line in [*lines, *([rest] if is_over and rest else [])]:
                if words := agent.spoken(line):
                    yield words
        if is_over or not follow:
            return
        seen = delegate.wait_for(seen, _LOOK_SECONDS)


def _cancel(arguments: Namespace) -> None:
    from maestro.dispatch import delegate

    ended = [delegate.cancel_run(_here(wanted)) for wanted in arguments.ids]
    if wants_json(arguments):
        render.print_json([_seen(s) for s in ended])
        return
    for seen in ended:
        print(f"{seen.run.id}: {seen.state}")


def _wait(arguments: Namespace) -> int:
    from maestro.dispatch import delegate

    deadline = time.monotonic() + arguments.timeout
    ended = []
    for wanted in arguments.ids:
        seen = delegate.wait_for(_here(wanted), max(0.0, deadline - time.monotonic()))
        if seen.state == "running":
            raise errors.TimedOut(
                f"{seen.run.id} is still running after {arguments.timeout:g} s.",
                hint="The run goes on; wait again, or `maestro delegate cancel` it.",
            )
        ended.append(seen)
    if wants_json(arguments):
        render.print_json([_seen(s) for s in ended])
    else:
        for seen in ended:
            print(f"{seen.run.id}: {seen.state}")
    return max((_state_code(seen.folder) for seen in ended), default=0)


def _state_code(folder: str) -> int:
    from maestro.dispatch.run import look
    from maestro.dispatch.runs import EXIT_CODES

    return EXIT_CODES[look(folder).state]


def _rules(arguments: Namespace) -> None:
    from maestro.dispatch import places, rules
    from maestro.home import locate

    home, cwd = locate(os.environ).root, os.getcwd()
    state = places.state_folder(places.project_root(cwd), os.environ)
    if arguments.name:
        print(rules.rule_named(arguments.name, home, state).text.rstrip())
        return
    known = rules.rules(home, state).values()
    if wants_json(arguments):
        render.print_json([rule._asdict() for rule in known])
        return
    render.table(
        ("rule", "purpose", "place"), [(r.name, r.purpose, r.place) for r in known], empty="No rules."
    )


def _tools(arguments: Namespace) -> None:
    import shutil

    from maestro.dispatch import delegate

    box = delegate.described_tools(os.getcwd(), os.environ)
    rows = []
    for name in sorted(box.tools):
        tool = box.tools[name]
        program = delegate.adapter(name, tool).program
        rows.append(
            {
                "tool": name,
                "runs": tool.agent or " ".join(tool.command),
                "installed": "yes" if shutil.which(program) else "no",
                "model": tool.model,
                "roles": ", ".join(role for role, of in box.roles.items() if of == name),
                "fallbacks": ", ".join(tool.fallbacks),
            }
        )
    if wants_json(arguments):
        render.print_json(rows)
        return
    headers = ("tool", "runs", "installed", "model", "roles", "fallbacks")
    render.table(headers, [[row[header] for header in headers] for row in rows], empty="No tools.")
