"""`maestro tag list|add|approve|claim|renew|done|release|dispatch`: work noted in the project's Markdown files.

No daemon is needed: the files, and the records in the project's own folder, are the truth.
"""

from __future__ import annotations

import os
import time

from maestro import errors
from maestro.cli import render, tag_dispatch
from maestro.cli.parser import Parser, add_verb, wants_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from maestro.coordinate.tags.claims import Standing
    from maestro.coordinate.tags.tag_files import ProjectTags

_STATES = ("needs", "delegated", "claimed", "done")
_LEASE = 900.0


def describe(parser: Parser) -> None:
    parser.epilog = (
        "A tag is a word in a line of a Markdown file: #needs-fix, then #delegated-fix once a human approved it, "
        "#claimed-fix while somebody is at it, #done-fix. In code and comments, or after a backslash, it is no tag."
    )
    verbs = parser.verbs()
    listing = add_verb(verbs, "list", _list, "the tags of this project, by file and line")
    listing.add_argument("paths", metavar="PATH", nargs="*", help="files or folders; default: all")
    listing.add_argument("--state", choices=_STATES)
    listing.add_argument("--kind", metavar="X", help="brainstorm, research, implementation, fix, …")
    add = add_verb(verbs, "add", _add, "note what is needed, as a new line of a file")
    add.add_argument("file", metavar="FILE")
    add.add_argument("text", metavar="TEXT")
    add.add_argument("--kind", metavar="X", required=True)
    place = add.add_mutually_exclusive_group()
    place.add_argument("--line", metavar="N", type=int, help="after this line; default: at the end")
    place.add_argument("--heading", metavar="H", default="", help="at the end of this heading's section")
    add.add_argument("--approved", action="store_true", help="and approve it; for humans")
    _with_id(add_verb(verbs, "approve", _approve, "say that it may be done; for humans"))
    _describe_claims(verbs)
    dispatched = "hand approved ones to a tool or to sessions; each is done once"
    tag_dispatch.describe(add_verb(verbs, "dispatch", tag_dispatch.dispatch, dispatched))


def _describe_claims(verbs: Any) -> None:
    claim = add_verb(verbs, "claim", _claim, "take one, or the next that is free, so that nobody else does")
    claim.add_argument("id", metavar="ID", nargs="?", default="")
    claim.add_argument("--next", action="store_true", help="the first that is free")
    claim.add_argument("--kind", metavar="X", default="", help="with --next: of this kind")
    claim.add_argument("--pid", metavar="PID", type=int, help="it is free as soon as this process has ended")
    _with_name(claim)
    _with_lease(claim)
    renew = add_verb(verbs, "renew", _renew, "keep what one has claimed")
    done = add_verb(verbs, "done", _done, "say that it is done")
    release = add_verb(verbs, "release", _release, "give it back; a human may release anybody's")
    for parser in (renew, done, release):
        _with_id(parser)
    _with_name(renew)
    _with_lease(renew)
    _with_name(done)
    release.add_argument("--as", dest="name", metavar="NAME", default="", help="who had claimed it")
    release.add_argument("--reason", metavar="WHY", default="")


def _with_id(parser: Parser) -> None:
    parser.add_argument("id", metavar="ID", help="as `tag list` shows it, or its beginning")


def _with_name(parser: Parser) -> None:
    parser.add_argument("--as", dest="name", metavar="NAME", required=True, help="who claims it")


def _with_lease(parser: Parser) -> None:
    parser.add_argument(
        "--lease", metavar="SECONDS", type=float, default=_LEASE, help=f"how long; default {_LEASE:g}"
    )


def here() -> ProjectTags:
    from maestro.coordinate.tags.tag_files import ProjectTags

    return ProjectTags(os.getcwd(), os.environ)


def plain(seen: Standing) -> dict[str, Any]:
    import msgspec

    told: dict[str, Any] = msgspec.to_builtins(seen)
    return told


def _list(arguments: Namespace) -> None:
    found = [
        seen
        for seen in here().all(arguments.paths)
        if arguments.state in {None, seen.tag.state} and arguments.kind in {None, seen.tag.kind}
    ]
    if wants_json(arguments):
        render.print_json([plain(seen) for seen in found])
        return
    rows = [
        (
            seen.tag.id,
            f"{seen.tag.file}:{seen.tag.line}",
            seen.tag.state,
            seen.tag.kind,
            _who(seen),
            seen.tag.text,
        )
        for seen in found
    ]
    render.table(
        ("id", "place", "state", "kind", "who", "title"),
        rows,
        empty='No tags here. `maestro tag add FILE "words" --kind fix` notes one.',
    )


def _who(seen: Standing) -> str:
    """Who has it and for how long, or what keeps it where it is."""
    from maestro.coordinate.tags.claims import was_done

    record = seen.record
    if seen.tag.state == "done":
        return record.done_by if record else ""
    if record is None:
        return {"delegated": "not approved here", "claimed": "not claimed here"}.get(seen.tag.state, "")
    if seen.holder:
        return f"{seen.holder}, {max(0, int(record.until / 1000 - time.time()))} s left"
    if was_done(seen):
        return "was done before"
    if record.failed or record.note:
        return (record.failed or record.note)[:80]
    if record.claimant:
        return f"free: {record.claimant} is gone"
    return "not approved here" if seen.tag.state == "delegated" and not record.approved_at else ""


def _show(arguments: Namespace, seen: Standing, word: str) -> None:
    if wants_json(arguments):
        render.print_json(plain(seen))
        return
    tag = seen.tag
    print(f"{tag.id}  {word}  {render.printable(f'{tag.file}:{tag.line}')}  {render.printable(tag.text)}")


def _add(arguments: Namespace) -> None:
    if arguments.approved:
        _require_person("approve work")
    seen = here().add(
        arguments.file,
        arguments.text,
        arguments.kind,
        line=arguments.line,
        heading=arguments.heading,
        approve=arguments.approved,
    )
    _show(arguments, seen, seen.tag.state)


def _require_person(to_do: str) -> None:
    from maestro.trust.person import require_person

    require_person(to_do)


def _approve(arguments: Namespace) -> None:
    _require_person("approve work")
    _show(arguments, here().approve(arguments.id), "approved")


def _claim(arguments: Namespace) -> None:
    if bool(arguments.id) == arguments.next:
        raise errors.InvalidInput("Which one?", hint="Give an ID, or --next.")
    process = _process(arguments.pid)
    tags = here()
    if arguments.id:
        seen = tags.claim(arguments.id, arguments.name, lease_seconds=_lease(arguments), process=process)
    else:
        found = tags.claim_next(
            arguments.name, kind=arguments.kind, lease_seconds=_lease(arguments), process=process
        )
        if found is None:
            raise errors.NotFound("Nothing is free.", hint="`maestro tag list` shows how they stand.")
        seen = found
    _show(arguments, seen, "claimed")


def _process(pid: int | None) -> Any:
    from maestro import processes
    from maestro.dispatch.runs import Process

    if pid is None:
        return None
    started = processes.start_time(pid)
    if started is None:
        raise errors.NotFound(f"There is no process {pid}.", hint="Give the pid of whoever claims it.")
    return Process(pid, started, processes.boot_id())


def _lease(arguments: Namespace) -> float:
    seconds: float = arguments.lease
    if not 0 < seconds <= 30 * 86_400:
        raise errors.InvalidInput(
            f"A lease of {seconds:g} s is not possible.", hint="Give seconds: more than 0, at most 30 days."
        )
    return seconds


def _renew(arguments: Namespace) -> None:
    _show(arguments, here().renew(arguments.id, arguments.name, _lease(arguments)), "claimed")


def _done(arguments: Namespace) -> None:
    _show(arguments, here().done(arguments.id, arguments.name), "done")


def _release(arguments: Namespace) -> None:
    if not arguments.name:
        _require_person("release what others claimed")
    seen = here().release(arguments.id, arguments.name, note=" ".join(arguments.reason.split()))
    _show(arguments, seen, seen.tag.state)
