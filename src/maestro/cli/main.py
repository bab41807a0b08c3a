"""`maestro`: finds the noun in a table, imports only its file, runs it, and ends with a documented code."""

from __future__ import annotations

import os
import sys

from maestro import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from maestro.cli.parser import Parser

# noun → (file in this folder, what it is for). Order is the order of `maestro --help`.
COMMANDS: dict[str, tuple[str, str]] = {
    "status": ("status", "everything at a glance"),
    "project": ("project", "working directories that agents work in"),
    "trust": ("trust", "what a project brings that can act, and your word on it"),
    "task": ("task", "units of work: a tree with dependencies"),
    "session": ("session", "conversations of agents, and what they report"),
    "up": ("up", "start or find again the fleet of a fleet.yml"),
    "down": ("down", "end a fleet and its sessions"),
    "attach": ("attach", "look at a fleet in its tmux"),
    "fleet": ("fleet", "the panes that sessions live in"),
    "coordinate": ("coordinate", "answer workers' questions when sure, and bring you the others"),
    "inbox": ("inbox", "what waits for you, why, and how to answer it"),
    "answer": ("answer", "your word to what waits for you, with a receipt"),
    "precedent": ("precedent", "your answers that count when the same is asked again"),
    "agents": ("agents", "the coding-agent CLIs that Maestro knows"),
    "context": ("context", "the board and the workers' activity, for a coordinator's prompt"),
    "install": ("install", "report sessions that you start by hand: an agent's own hooks"),
    "uninstall": ("uninstall", "take those hooks out again"),
    "hook": ("hook", "what an agent's own hooks run"),
    "delegate": ("delegate", "one prompt to one tool, without a terminal: its answer, usage and cost"),
    "dispatch": ("dispatch", "a folder of prompts, an agent for each, side by side"),
    "chain": ("chain", "from an intent to finished, reviewed steps: which chain, which commands"),
    "vision": ("vision", "goal, principles and chapters of the project, and how far they are"),
    "tag": ("tag", "work noted in Markdown files: approved, claimed, handed out, done"),
    "server": ("server", "the daemon, which starts itself when it is needed"),
    "doctor": ("doctor", "what this machine has and lacks, with remedies"),
    "demo": ("demo", "three scripted workers on a board, in under a minute"),
    "completion": ("completion", "shell completion: bash, zsh, tcsh"),
}

_MOST_QUESTIONS = 3  # of trust for one command: a file may change while the person reads


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in words
    try:
        try:
            code = _run(words)
        finally:
            _print_remarks()
        sys.stdout.flush()
    except errors.MaestroError as error:
        if debug:
            raise
        return _complain(error, as_json="--json" in words)
    except KeyboardInterrupt:
        return errors.EXIT_INTERRUPTED
    except BrokenPipeError:
        # `maestro … | head`: the reader has what it wanted. Python must not complain when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if debug:
            raise
        return _complain(_as_ours(error), as_json="--json" in words)
    return code


def _run(words: list[str]) -> int:
    noun = next((word for word in words if not word.startswith("-")), None)
    if noun is None:
        return _without_noun(words)
    if noun not in COMMANDS:
        raise errors.NotFound(
            f"There is no command “{noun}”.", hint=near_miss(noun, COMMANDS, "maestro --help")
        )
    options = words[: words.index(noun)]
    arguments = parser_of(noun).parse_args([*words[words.index(noun) + 1 :], *options])
    if getattr(arguments, "trust_once", False):
        _trust_once()
    outcome: int | None = _asking(lambda: arguments.run(arguments), as_json="--json" in words)
    return outcome or 0


def _asking(run: Callable[[], int | None], *, as_json: bool) -> int | None:
    """Runs a command. What the person has to trust first is asked in place, then the command is run again: it refuses
    before it changes anything."""
    for _ in range(_MOST_QUESTIONS):
        try:
            return run()
        except errors.Untrusted as error:
            from maestro.cli.trust import ask_to_trust

            if as_json or not ask_to_trust(error):
                raise
    return run()


def _trust_once() -> None:
    from maestro.trust.person import require_person
    from maestro.trust.project import ONCE

    require_person("trust a project")
    os.environ[ONCE] = "1"


def _print_remarks() -> None:
    remarks = sys.modules.get("maestro.trust.remarks")
    if remarks is not None:
        from maestro.cli.render import printable

        for sentence in remarks.take_remarks():
            print(f"maestro: {printable(sentence)}", file=sys.stderr)


def parser_of(noun: str) -> Parser:
    from importlib import import_module

    from maestro.cli.parser import Parser

    file, purpose = COMMANDS[noun]
    parser = Parser(prog=f"maestro {noun}", description=purpose[:1].upper() + purpose[1:] + ".")
    import_module(f"maestro.cli.{file}").describe(parser)
    return parser


def _without_noun(words: list[str]) -> int:
    if "--version" in words or "-V" in words:
        from maestro import __version__

        print(f"maestro {__version__}")
        return 0
    unknown = [word for word in words if word not in {"-h", "--help", "--json", "--debug", "--trust-once"}]
    if unknown:
        raise errors.InvalidInput(f"There is no option {unknown[0]}.", hint="`maestro --help` shows all.")
    if not words and sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        from maestro.cli.live import run

        return run()
    width = max(map(len, COMMANDS))
    print("maestro: one coordinator for every coding agent that you run\n")
    print("usage: maestro COMMAND [--json] [--debug] …\n")
    for noun, (_, purpose) in COMMANDS.items():
        print(f"  {noun:<{width}}  {purpose}")
    print("\n`maestro COMMAND --help` explains one; `maestro --version` tells which this is.")
    return 0


def near_miss(word: str, known: Sequence[str] | dict[str, tuple[str, str]], otherwise: str) -> str:
    import difflib

    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"Did you mean “{near[0]}”?" if near else f"`{otherwise}` shows all."


def _complain(error: errors.MaestroError, *, as_json: bool) -> int:
    if as_json:
        import json

        print(json.dumps(error.to_wire(), ensure_ascii=False), file=sys.stderr)
    else:
        from maestro.cli.render import printable

        print(f"maestro: {printable(error.message)}", file=sys.stderr)
        if error.hint:
            print(f"  → {printable(error.hint)}", file=sys.stderr)
    return error.exit_code


def _as_ours(error: OSError) -> errors.MaestroError:
    import errno

    what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return errors.DiskFull(f"No space left: {what}.", hint="Free some disk space and try again.")
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return errors.NoPermission(f"Not permitted: {what}.", hint="Check the file's owner and mode.")
    return errors.MaestroError(f"The system said: {what}.", hint="Run it again with --debug to see where.")
