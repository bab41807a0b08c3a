"""`maestro trust`: shows what a project brings that can act, and records the person's word on it."""

from __future__ import annotations

import os
import sys

from maestro import errors
from maestro.cli import render
from maestro.cli.parser import Parser, wants_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from maestro.trust import Brought
    from maestro.trust.project import ProjectTrust


def describe(parser: Parser) -> None:
    parser.add_argument("directory", metavar="DIR", nargs="?", default=".", help="default: the project here")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--yes", "-y", action="store_true", help="record it without asking")
    how.add_argument(
        "--show", action="store_true", help="show what it brings and what you trust; change nothing"
    )
    how.add_argument("--revoke", action="store_true", help="take all trust in the project back")
    parser.epilog = (
        "What a repository brings is data until you trust it: tools, fleets, policies, chains, commands, rules, agents, and "
        "the files by which a CLI runs programs of its own accord. Digests of these files are kept in MAESTRO_HOME; a file "
        "that changes asks again."
    )
    parser.set_defaults(run=_trust)


def _trust(arguments: Namespace) -> int:
    from maestro.dispatch.delegate import trust_of

    if not os.path.isdir(arguments.directory):
        raise errors.NotFound(f"There is no folder {arguments.directory}.", hint="maestro trust DIR")
    trust = trust_of(arguments.directory, os.environ)
    if arguments.show:
        _show(trust, arguments.directory, as_json=wants_json(arguments))
        return 0
    _require_person("trust a project")
    if arguments.revoke:
        from maestro.trust.records import revoke

        revoke(trust.home, trust.root)
        print(f"Nothing of {render.printable(trust.root)} is trusted any more.")
        return 0
    if not arguments.yes and not can_ask():
        raise errors.InvalidInput("Nobody is here to be asked.", hint="Say --yes, or --show to look first.")
    if arguments.yes:
        brought = unconfirmed(trust, cwd=arguments.directory)
        _confirm(trust, brought)
        _print_recorded(trust, brought, as_json=wants_json(arguments))
        return 0
    return 0 if ask(trust, cwd=arguments.directory) else errors.EXIT_INTERRUPTED


def can_ask() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask_to_trust(error: errors.Untrusted) -> bool:
    """Asks the person in place when a command would act on what they have not trusted. Returns whether they agreed."""
    from maestro.dispatch.delegate import trust_of

    root, name = str(error.context.get("root", "")), str(error.context.get("name", ""))
    if not root or not can_ask():
        return False
    _require_person("trust a project")
    return ask(trust_of(root, os.environ), [name], root)


def ask_once(directory: str) -> None:
    """Asks whether a folder is trusted, where nobody was ever asked and somebody is there."""
    from maestro.dispatch.delegate import trust_of

    if not can_ask():
        return
    trust = trust_of(directory, os.environ)
    if trust.record() is None:
        _require_person("trust a project")
        ask(trust)


def ask(trust: ProjectTrust, names: Sequence[str] = (), cwd: str = "") -> bool:
    """Shows what is not confirmed yet and records the answer."""
    from maestro.trust.records import decline

    brought = unconfirmed(trust, names, cwd)
    print(f"maestro: do you trust {render.printable(trust.root)}?", file=sys.stderr)
    if not brought:
        print("  It brings nothing that Maestro or a CLI acts on.", file=sys.stderr)
    _print_brought(brought)
    print(
        "  Agents may then work in this folder without asking, and these files may act until they change.",
        file=sys.stderr,
    )
    print("[y] trust  [n] not now: ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline().strip().lower()
    if answer not in {"y", "yes"}:
        decline(trust.home, trust.root)
        return False
    _confirm(trust, brought)
    return True


def _confirm(trust: ProjectTrust, brought: Sequence[Brought]) -> None:
    """Records it. What git runs belongs to the repository, of which the project may be a part."""
    from maestro.trust.project import ProjectTrust
    from maestro.worktrees.git import programs_of

    for_git = programs_of(trust.root)
    own = {one.name for one in for_git.brought}
    if own:
        repository = ProjectTrust(trust.home, for_git.project, {})
        repository.confirm([one for one in brought if one.name in own], folder=False)
    trust.confirm([one for one in brought if one.name not in own], folder=True)


def unconfirmed(trust: ProjectTrust, names: Sequence[str] = (), cwd: str = "") -> list[Brought]:
    """Returns everything of the project that can act and is not confirmed as it is now."""
    from maestro.agents.registry import acting_agents
    from maestro.chains.state_file import brought_chains
    from maestro.coordinate.vision.document_file import brought_principles
    from maestro.trust.project import ProjectTrust
    from maestro.worktrees.git import programs_of

    found = trust.unconfirmed(acting_agents(), names, cwd)
    found += _waiting(trust, brought_principles(trust, os.environ))
    # A chain may be among the names that a command gave.
    known = {one.name for one in found}
    found += [one for one in _waiting(trust, brought_chains(trust)) if one.name not in known]
    for_git = programs_of(trust.root)
    return found + _waiting(ProjectTrust(trust.home, for_git.project, {}), for_git.brought)


def _waiting(trust: ProjectTrust, brought: Sequence[Brought]) -> list[Brought]:
    known = trust.record()
    confirmed = known.files if known else {}
    return [one for one in brought if confirmed.get(one.name) != one.digest]


def _print_brought(brought: Sequence[Brought]) -> None:
    for one in brought:
        print(f"  {render.printable(one.name)}", file=sys.stderr)
        for words in one.wants:
            print(f"      {render.printable(words)}", file=sys.stderr)


def _print_recorded(trust: ProjectTrust, brought: Sequence[Brought], *, as_json: bool) -> None:
    if as_json:
        render.print_json({"root": trust.root, "confirmed": [one.name for one in brought]})
        return
    print(f"{render.printable(trust.root)} is trusted.")
    for one in brought:
        print(f"  {render.printable(one.name)}")


def _show(trust: ProjectTrust, cwd: str, *, as_json: bool) -> None:
    waiting, known = unconfirmed(trust, cwd=cwd), trust.record()
    confirmed = sorted(set(known.files if known else {}) - {one.name for one in waiting})
    is_trusted = bool(known and known.trusted_at)
    if as_json:
        render.print_json(
            {
                "root": trust.root,
                "isTrusted": is_trusted,
                "confirmed": confirmed,
                "unconfirmed": [{"name": one.name, "wants": list(one.wants)} for one in waiting],
            }
        )
        return
    print(f"{render.printable(trust.root)} is {'trusted' if is_trusted else 'not trusted'}.")
    for name in confirmed:
        print(f"  confirmed  {render.printable(name)}")
    for one in waiting:
        print(f"  waits      {render.printable(one.name)}")
        for words in one.wants:
            print(f"               {render.printable(words)}")


def _require_person(to_do: str) -> None:
    from maestro.trust.person import require_person

    require_person(to_do)
