"""`maestro coordinate init`: writes a policy to start from, with rules for the project's own commands."""

from __future__ import annotations

import os
import sys

from maestro import errors
from maestro.cli import render
from maestro.cli.parser import Parser, wants_json
from maestro.cli.trust import can_ask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from maestro.coordinate import Policy
    from maestro.coordinate.policy.proposed_rules import Proposal

_PRESETS = ("autonomous", "cautious", "supervised")


def describe_init(init: Parser) -> None:
    init.add_argument("--mode", choices=_PRESETS, help="default: between autonomous and cautious")
    init.add_argument(
        "--yes",
        "-y",
        action="store_true",
        help="take every rule whose script the gate lets pass, without asking",
    )
    init.add_argument(
        "--again", action="store_true", help="keep the project's policy; ask for new and changed commands"
    )
    place = init.add_mutually_exclusive_group()
    place.add_argument("--project", action="store_true", help="for the project of this folder (the default)")
    place.add_argument("--user", action="store_true", help="for all projects that have none of their own")
    init.epilog = (
        "Reads package.json, Makefile, pyproject.toml, Cargo.toml, go.mod and CI files, and proposes a rule for each command "
        "that tests, lints, type-checks, builds or formats. Nothing is run. A rule counts until its script changes."
    )


def init(arguments: Namespace) -> None:
    from maestro import home
    from maestro.coordinate.policy.config import DEFAULT, PRESETS
    from maestro.coordinate.policy.config_file import (
        FILE,
        require_new,
        trusted_policy,
        write_new,
        write_policy,
    )
    from maestro.dispatch.places import project_root
    from maestro.trust.person import require_person
    from maestro.trust.project import ProjectTrust

    require_person("decide what is answered without a human")
    own, root = os.path.realpath(home.locate(os.environ).root), project_root(os.getcwd())
    if arguments.again and (arguments.user or arguments.mode):
        raise errors.InvalidInput(
            "`--again` is for the project's own policy as it is.", hint="Leave out --user and --mode."
        )
    path = os.path.join(own if arguments.user else root, FILE)
    trust = ProjectTrust(own, root, os.environ)
    if arguments.again:
        policy = trusted_policy(path, trust)
    else:
        policy = PRESETS[arguments.mode] if arguments.mode else DEFAULT
        require_new(path)
    proposed, notes = ([], ()) if arguments.user else _proposed(policy, root)
    taken = _taken(proposed, arguments)
    write = write_policy if arguments.again else write_new  # somebody may have written one while we asked
    content = write(path, _with_rules(policy, taken))
    trust.confirm_content(path, content)
    if wants_json(arguments):
        render.print_json(_as_json(path, policy.preset, proposed, taken, notes))
    else:
        _print_done(path, proposed, taken, notes, arguments)


def _proposed(policy: Policy, root: str) -> tuple[list[Proposal], tuple[str, ...]]:
    """Returns the rules that could be added to a policy, and what was not understood of the project's files."""
    from maestro.coordinate.policy.project_files import commands_of
    from maestro.coordinate.policy.proposed_rules import proposals

    found, notes = commands_of(root)
    return [one for one in proposals(found, policy) if one.rule not in policy.rules], notes


def _with_rules(policy: Policy, taken: Sequence[Proposal]) -> Policy:
    """Adds rules to a policy, each in the place of the one that it was before its script changed."""
    import msgspec

    new = {(one.rule.pattern, one.rule.source): one.rule for one in taken}
    kept = [rule for rule in policy.rules if not rule.digest or (rule.pattern, rule.source) not in new]
    return msgspec.structs.replace(policy, rules=(*kept, *new.values()))


# Asking.


def _taken(proposed: Sequence[Proposal], arguments: Namespace) -> list[Proposal]:
    if arguments.yes:
        return [one for one in proposed if not one.stopped]
    if wants_json(arguments) or not can_ask():
        return []
    return _asked(proposed)


def _asked(proposed: Sequence[Proposal]) -> list[Proposal]:
    """Asks for each rule: y takes it, n leaves it, a takes all others that the gate lets pass, q leaves all others."""
    taken: list[Proposal] = []
    for number, one in enumerate(proposed, 1):
        for line in _lines(one, number, len(proposed)):
            print(line, file=sys.stderr)
        answer = _answer()
        if answer == "q":
            break
        if answer == "a":
            taken += [each for each in proposed[number - 1 :] if not each.stopped]
            break
        if answer == "y":
            taken.append(one)
    return taken


def _lines(one: Proposal, number: int, count: int) -> list[str]:
    from maestro.redact import redact

    lines = [f"{number} of {count}: answer “{render.printable(one.found.command)}” with Choose 1"]
    lines.append(f"    {one.found.kind}, by {render.printable(one.found.source)}; it runs:")
    lines += [f"      {render.printable(line)}" for line in redact(one.found.text).split("\n")]
    lines += [f"    the gate would ask you: {render.printable(why)}" for why in one.stopped]
    return lines


def _answer() -> str:
    while True:
        print(
            "[y] yes  [n] no  [a] all that the gate lets pass  [q] no more: ",
            end="",
            file=sys.stderr,
            flush=True,
        )
        said = sys.stdin.readline()
        word = said.strip().lower()[:1]
        if not said:
            return "q"
        if word in {"y", "n", "a", "q"}:
            return word


# Telling.


def _as_json(
    path: str, preset: str, proposed: Sequence[Proposal], taken: Sequence[Proposal], notes: Sequence[str]
) -> dict[str, object]:
    def told(one: Proposal) -> dict[str, object]:
        return {
            "name": one.rule.name,
            "kind": one.found.kind,
            "command": one.found.command,
            "source": one.found.source,
            "runs": one.found.text,
            "digest": one.rule.digest,
            "stopped": list(one.stopped),
        }

    return {
        "path": path,
        "preset": preset,
        "rules": [told(one) for one in taken],
        "leftOut": [told(one) for one in proposed if one not in taken],
        "notes": list(notes),
    }


def _print_done(
    path: str,
    proposed: Sequence[Proposal],
    taken: Sequence[Proposal],
    notes: Sequence[str],
    arguments: Namespace,
) -> None:
    print(f"{render.printable(path)} is written. `maestro coordinate check` tries it on questions.")
    if taken:
        print("These are answered without you, until their scripts change:")
    for one in taken:
        print(f"  {render.printable(one.rule.name)}")
    left = [one for one in proposed if one not in taken]
    could = [one for one in left if not one.stopped]
    if could and not arguments.yes and not can_ask():
        print("Rules that you could have by `maestro coordinate init --again -y`:")
        for one in could:
            print(f"  {render.printable(one.rule.name)}")
    for one in left:
        if one.stopped and (arguments.yes or not can_ask()):
            print(f"Left out: {render.printable(one.rule.name)}. {render.printable(one.stopped[0])}")
    for note in notes:
        print(render.printable(note))
