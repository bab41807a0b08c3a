"""`maestro chain run|status|logs|list|show|route`: run a chain, see how far it is, which ones there are, and which one an
intent leads to. Needs no daemon."""

from __future__ import annotations

import os
import sys

from maestro import errors
from maestro.cli import render
from maestro.cli.parser import Parser, add_verb, wants_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from maestro.chains import Catalogue, Chain, Command, Project, Route


def describe(parser: Parser) -> None:
    parser.description = (
        "From an intent to finished, reviewed steps. The package's chains and commands, the user's (chains.toml and "
        "commands/ in MAESTRO_HOME) and the project's (the same in its state folder): the last one wins."
    )
    verbs = parser.verbs()
    _describe_run(add_verb(verbs, "run", _run, "carry out the chain that an intent leads to, step by step"))
    status = add_verb(verbs, "status", _status, "how far a chain is; without ID, the latest")
    status.add_argument("id", metavar="ID", nargs="?", default="")
    status.add_argument("--all", action="store_true", help="every chain of this project")
    logs = add_verb(verbs, "logs", _logs, "what a chain's steps and reviews said; without ID, the latest")
    logs.add_argument("id", metavar="ID", nargs="?", default="")
    logs.add_argument("--step", metavar="N", type=int, help="of this step alone")
    logs.add_argument("--prompt", action="store_true", help="what the steps were told")
    add_verb(verbs, "list", _list, "the chains, and the commands that they are made of")
    show = add_verb(verbs, "show", _show, "one chain with its steps, or one command with its prompt")
    show.add_argument("name", metavar="NAME", help="a chain, or a command by its name or the seed's")
    show.add_argument("--prompt", action="store_true", help="of a command: print its prompt alone")
    route = add_verb(verbs, "route", _route, "which chain an intent leads to, without running it")
    route.add_argument(
        "intent", metavar="INTENT", nargs="+", help="what is wanted; - reads one intent a line"
    )


def _describe_run(run: Parser) -> None:
    run.epilog = (
        "Errors: E001 no intent in a project that is not initialised, E002 too unclear, E003 a step failed and the chain "
        "ended, E004 no such chain to go on with."
    )
    run.add_argument("intent", metavar="INTENT", nargs="*", help="what is wanted; without, what comes next")
    run.add_argument(
        "-y", "--yes", action="store_true", help="ask nothing, and tell the agents that nobody is there"
    )
    run.add_argument(
        "-c",
        "--continue",
        dest="resume",
        metavar="ID",
        nargs="?",
        const="",
        help="go on with a chain at its first step that is not done; without ID, the latest",
    )
    run.add_argument("--dry-run", action="store_true", help="show what would be done, and do nothing")
    run.add_argument("--chain", metavar="NAME", default="", help="this chain, whatever the intent says")
    run.add_argument("--from", dest="first", metavar="N", type=int, help="begin with this step")
    run.add_argument("--to", metavar="TOOL", default="", help="the tool that does every step")
    run.add_argument("--review-by", metavar="TOOL", default="", help="the tool that reviews them")
    run.add_argument("--no-review", action="store_true", help="no reviews")
    run.add_argument(
        "--no-model",
        action="store_true",
        help="ask no model which chain is meant where the words are not sure",
    )
    run.add_argument("--min-score", metavar="N", type=int, help="a review under this stops to ask")
    run.add_argument("--budget", metavar="USD", type=float, help="begin no step when this much is spent")
    run.add_argument(
        "--timeout", metavar="SECONDS", type=float, help="of each step; default as `delegate` has it"
    )
    run.add_argument(
        "--async", dest="detached", action="store_true", help="print the id and return; it goes on by itself"
    )


def _run(arguments: Namespace) -> int:
    from maestro.cli.chain_run import run

    return run(arguments)


def _status(arguments: Namespace) -> None:
    from maestro.cli.chain_view import status

    status(arguments)


def _logs(arguments: Namespace) -> None:
    from maestro.cli.chain_view import logs

    logs(arguments)


def _list(arguments: Namespace) -> None:
    catalogue, _ = _here()
    chains = [chain for name, chain in catalogue.chains.items() if name not in catalogue.commands]
    if wants_json(arguments):
        render.print_json(
            {
                "chains": [_chain_facts(chain) for chain in chains],
                "commands": [_command_facts(command) for command in catalogue.commands.values()],
            }
        )
        return
    render.table(
        ("chain", "steps", "purpose", *(("from",) if _any_foreign(chains) else ())),
        [
            (
                chain.name,
                len(chain.steps),
                chain.purpose,
                *(_place(chain.place) if _any_foreign(chains) else ()),
            )
            for chain in chains
        ],
        empty="There are no chains.",
    )
    print()
    commands = list(catalogue.commands.values())
    render.table(
        ("command", "also", "purpose", *(("from",) if _any_foreign(commands) else ())),
        [
            (
                command.name,
                command.seed_name,
                command.purpose,
                *(_place(command.place) if _any_foreign(commands) else ()),
            )
            for command in commands
        ],
        empty="There are no commands.",
    )


def _any_foreign(entries: list[Any]) -> bool:
    return any(entry.place != "built in" for entry in entries)


def _place(place: str) -> tuple[str]:
    return ("" if place == "built in" else place,)


def _show(arguments: Namespace) -> None:
    from maestro.chains.catalogue.catalogue import command_of

    catalogue, _ = _here()
    name = arguments.name.lstrip("/$")
    command = command_of(catalogue, name)
    if command is not None:
        _show_command(arguments, catalogue, command)
        return
    chain = catalogue.chains.get(name)
    if chain is None:
        from maestro.cli.main import near_miss

        raise errors.NotFound(
            f"There is no chain or command “{arguments.name}”.",
            hint=near_miss(name, list(catalogue.chains), "maestro chain list"),
        )
    if wants_json(arguments):
        render.print_json(_chain_facts(chain))
        return
    render.fields(
        [
            ("chain", chain.name),
            ("purpose", chain.purpose),
            ("work in", _WORK[chain.work]),
            ("from", chain.place),
        ]
    )
    print()
    render.table(
        ("step", "command", "arguments", "purpose"),
        [
            (number, step.command, step.args, catalogue.commands[step.command].purpose)
            for number, step in enumerate(chain.steps, 1)
        ],
        empty="It has no steps.",
    )
    print(f'\nRun it: maestro chain run --chain {chain.name} "INTENT"')


_WORK = {
    "phase": "the phase's folder",
    "scratch": "a scratch folder",
    "issue": "the issue's folder",
    "current": "the named or current phase's folder, or a scratch folder where there is no phase",
    "either": "the named phase's folder, or a scratch folder where there is no phase",
    "none": "",
}


def _show_command(arguments: Namespace, catalogue: Catalogue, command: Command) -> None:
    from maestro.redact import clean, redact

    prompt = redact(clean(command.prompt))
    if wants_json(arguments):
        render.print_json({**_command_facts(command), "prompt": prompt})
        return
    if arguments.prompt:
        print(render.printable(prompt, lines=True))
        return
    within = [
        name
        for name, chain in catalogue.chains.items()
        if name != command.name and any(step.command == command.name for step in chain.steps)
    ]
    render.fields(
        [
            ("command", command.name),
            ("also", command.seed_name),
            ("purpose", command.purpose),
            ("tool", command.tool or "the chain's executor"),
            ("mode", command.mode),
            ("needs", ", ".join(command.inputs)),
            ("leaves", "\n".join(command.artifacts)),
            ("reports", ", ".join(command.result)),
            ("auto flag", command.auto_flag),
            ("in chains", ", ".join(within)),
            ("from", command.place),
        ]
    )
    print()
    print(render.printable(prompt, lines=True))


def _route(arguments: Namespace) -> None:
    from maestro.chains.routing.route import question_of, route
    from maestro.chains.routing.weights_file import load_weights

    catalogue, project = _here()
    weights = load_weights()
    if arguments.intent == ["-"]:
        for line in sys.stdin:
            intent = line.rstrip("\r\n")
            render.print_json_line(_route_line(intent, route(intent, catalogue, project, weights)))
        return
    intent = " ".join(arguments.intent)
    found = route(intent, catalogue, project, weights)
    if wants_json(arguments):
        render.print_json_line(_route_line(intent, found))
        return
    render.fields(
        [
            ("chain", found.chain or "none found"),
            ("clarity", f"{found.clarity} of 3"),
            ("phase", found.phase),
            ("issue", found.issue),
            ("why", found.why),
            ("steps", _steps(catalogue, found.chain)),
            ("ask", question_of(found, catalogue) if found.ask else ""),
        ]
    )


def _steps(catalogue: Catalogue, chain: str) -> str:
    return " → ".join(step.command for step in catalogue.chains[chain].steps) if chain else ""


def _route_line(intent: str, found: Route) -> dict[str, Any]:
    return {
        "intent": intent,
        "chain": found.chain or None,
        "clarity": found.clarity,
        "ask": found.ask or None,
        "candidates": list(found.candidates),
        "issue": found.issue or None,
        "phase": found.phase,
        "why": found.why,
    }


def _here() -> tuple[Catalogue, Project | None]:
    """The catalogue and the state of the project that this folder belongs to."""
    from maestro.chains.catalogue.catalogue_file import shown_catalogue
    from maestro.chains.project_file import read_project
    from maestro.dispatch.places import project_root, state_folder
    from maestro.home import locate

    state = state_folder(project_root(os.getcwd()), os.environ)
    return shown_catalogue(locate(os.environ).root, state), read_project(state)


def _chain_facts(chain: Chain) -> dict[str, Any]:
    return {
        "name": chain.name,
        "purpose": chain.purpose,
        "work": chain.work,
        "steps": [{"command": step.command, "args": step.args, "gaps": step.gaps} for step in chain.steps],
        "from": chain.place,
    }


def _command_facts(command: Command) -> dict[str, Any]:
    import msgspec

    facts = msgspec.structs.asdict(command)
    del facts["prompt"]
    facts["from"] = facts.pop("place")
    return facts
