"""`maestro vision show|check|next|init`: where the project is to go, by which principles, and how far it is."""

from __future__ import annotations

import os

from maestro import errors
from maestro.cli import render
from maestro.cli.parser import Parser, add_verb, wants_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from maestro.coordinate.tags.claims import Standing
    from maestro.coordinate.tags.tag_files import ProjectTags
    from maestro.coordinate.vision.document import Chapter, Vision


def describe(parser: Parser) -> None:
    parser.epilog = (
        "The vision is VISION.md in the project, or vision.md in its .maestro folder: `## Goal`, "
        "`## Decision Principles`, `## Chapters` with `### Chapter N: Title`, `Depends on: N` and checkboxes."
    )
    verbs = parser.verbs()
    _with_file(add_verb(verbs, "show", _show, "the goal, the principles, and each chapter with its progress"))
    check = add_verb(verbs, "check", _check, "what is wrong with it; with N.M, tick off a criterion")
    check.add_argument("criterion", metavar="N.M", nargs="?", help="the M-th criterion of chapter N is met")
    check.add_argument("--undo", action="store_true", help="it is not met after all")
    check.add_argument("--as", dest="name", metavar="NAME", default="", help="the coordinator that says so")
    _with_file(check)
    following = add_verb(verbs, "next", _next, "the chapter to go on with")
    following.add_argument("--claim", action="store_true", help="take it, so that no other coordinator does")
    following.add_argument(
        "--as", dest="name", metavar="NAME", default="", help="who asks: one's own chapter comes first"
    )
    _with_file(following)
    init = add_verb(verbs, "init", _init, "write a vision to start from")
    init.add_argument("--title", metavar="T", default="", help="default: the folder's name")
    init.add_argument("--file", metavar="F", default="", help="default: VISION.md of the project")


def _with_file(parser: Parser) -> None:
    parser.add_argument("--file", metavar="F", default="", help="another Markdown file of the project")


def _here(arguments: Namespace) -> tuple[ProjectTags, str]:
    from maestro.coordinate.tags.tag_files import ProjectTags
    from maestro.coordinate.vision.document_file import vision_name

    tags = ProjectTags(os.getcwd(), os.environ)
    return tags, vision_name(tags.files, arguments.file)


def _show(arguments: Namespace) -> None:
    import msgspec

    from maestro.coordinate.vision.chapters import standings
    from maestro.coordinate.vision.document_file import read_vision

    tags, name = _here(arguments)
    vision, faults = read_vision(tags.files, name)
    stand = standings(tags, vision)
    if wants_json(arguments):
        told: dict[str, Any] = msgspec.to_builtins(vision)
        told["chapters"] = [_as_json(one, vision, stand.get(one.number)) for one in vision.chapters]
        render.print_json(told | {"faults": msgspec.to_builtins(faults)})
        return
    print(render.ansi(render.printable(vision.title or name), "bold"))
    if vision.goal:
        print(render.printable(vision.goal, lines=True))
    if vision.principles:
        print("\nPrinciples")
        for principle in vision.principles:
            print(f"  - {render.printable(principle)}")
    for chapter in vision.chapters:
        print()
        _print_chapter(chapter, vision, stand.get(chapter.number))
    if faults:
        print(f"\n{len(faults)} faults: `maestro vision check` tells them.")


def _as_json(chapter: Chapter, vision: Vision, seen: Standing | None) -> dict[str, Any]:
    import msgspec

    from maestro.coordinate.vision.document import unfinished_before

    told: dict[str, Any] = msgspec.to_builtins(chapter)
    return told | {
        "done": chapter.done,
        "total": len(chapter.criteria),
        "complete": chapter.is_complete,
        "waitsFor": list(unfinished_before(vision, chapter)),
        "claimant": seen.holder if seen else "",
    }


def _print_chapter(chapter: Chapter, vision: Vision, seen: Standing | None) -> None:
    print(f"{_headline(chapter)}  {_state(chapter, vision, seen)}")
    for one in chapter.criteria:
        box = render.ansi("[x]", "green") if one.done else "[ ]"
        print(f"  {'  ' * one.depth}{box} {chapter.number}.{one.number} {render.printable(one.text)}")


def _headline(chapter: Chapter) -> str:
    return render.printable(f"Chapter {chapter.number}: {chapter.title}")


def _state(chapter: Chapter, vision: Vision, seen: Standing | None) -> str:
    from maestro.coordinate.vision.document import unfinished_before

    progress = f"{chapter.done}/{len(chapter.criteria)}"
    if chapter.is_complete:
        return render.ansi(f"{progress} complete", "green")
    waits = unfinished_before(vision, chapter)
    if waits:
        return render.ansi(f"{progress} waits for {', '.join(map(str, waits))}", "dim")
    if seen and seen.tag.state == "claimed":
        return render.ansi(f"{progress} {seen.holder or 'nobody'} is at it", "cyan")
    return progress


def _check(arguments: Namespace) -> int:
    tags, name = _here(arguments)
    if arguments.criterion is None:
        if arguments.undo or arguments.name:
            raise errors.InvalidInput("Which criterion?", hint="Write chapter and criterion, such as 2.3.")
        return _validate(arguments, tags, name)
    from maestro.coordinate.vision.chapters import tick

    chapter, criterion = tick(tags, name, arguments.criterion, arguments.name, done=not arguments.undo)
    if wants_json(arguments):
        import msgspec

        progress = {"chapter": chapter.number, "done": chapter.done, "total": len(chapter.criteria)}
        render.print_json(
            {"criterion": msgspec.to_builtins(criterion), "complete": chapter.is_complete, **progress}
        )
        return 0
    word = "met" if criterion.done else "not met"
    print(f"{chapter.number}.{criterion.number} is {word}: {render.printable(criterion.text)}")
    print(
        f"{_headline(chapter)}: {'complete' if chapter.is_complete else f'{chapter.done}/{len(chapter.criteria)}'}"
    )
    return 0


def _validate(arguments: Namespace, tags: ProjectTags, name: str) -> int:
    from maestro.coordinate.vision.document_file import read_vision

    vision, faults = read_vision(tags.files, name)
    if wants_json(arguments):
        import msgspec

        render.print_json({"file": name, "faults": msgspec.to_builtins(faults)})
    else:
        for fault in faults:
            print(render.printable(fault))
        if not faults:
            met = sum(one.done for one in vision.chapters)
            total = sum(len(one.criteria) for one in vision.chapters)
            print(f"{name} is sound: {len(vision.chapters)} chapters, {met} of {total} criteria met.")
    return errors.InvalidInput.exit_code if faults else 0


def _next(arguments: Namespace) -> int:
    from maestro.coordinate.vision import chapters
    from maestro.coordinate.vision.document_file import read_vision

    tags, name = _here(arguments)
    claimant = arguments.name or (chapters.OVERSIGHT if arguments.claim else "")
    found = (chapters.claim_next if arguments.claim else chapters.next_chapter)(tags, name, claimant)
    vision, _ = read_vision(tags.files, name)
    if found is None:
        left = [one.number for one in vision.chapters if not one.is_complete]
        if wants_json(arguments):
            render.print_json({"chapter": None, "left": left})
        elif left:
            print(f"No chapter is free; {len(left)} are not complete. `maestro vision show` tells why.")
        else:
            print("All chapters are complete.")
        return 0
    seen = chapters.standings(tags, vision).get(found.chapter.number)
    if wants_json(arguments):
        told = {"chapter": _as_json(found.chapter, vision, seen), "how": found.how, "left": None}
        render.print_json(told)
        return 0
    _print_chapter(found.chapter, vision, seen)
    if found.how != "free":
        print(f"{'Resumed' if found.how == 'resumed' else 'Claimed'} by {claimant}.")
    if found.chapter.text:
        print(f"\n{render.printable(found.chapter.text, lines=True)}")
    return 0


def _init(arguments: Namespace) -> None:
    from maestro.coordinate.tags.markdown_files import MarkdownFiles
    from maestro.coordinate.vision.document_file import FILE, begin_vision

    files = MarkdownFiles(os.getcwd(), os.environ)
    path = files.path_of(files.name_of(arguments.file or os.path.join(files.root, FILE)))
    begin_vision(path, arguments.title or os.path.basename(files.root))
    if wants_json(arguments):
        render.print_json({"path": path})
    else:
        print(f"{path} is there now: write the goal and the chapters, then `maestro vision check`.")
