"""The chapter of a project's vision that a coordinator is at, as its files have it now."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import NamedTuple

from maestro.coordinate.memory.dehydration import Criterion, cut
from maestro.coordinate.tags.tag_files import ProjectTags
from maestro.coordinate.vision.chapters import standings
from maestro.coordinate.vision.document import Chapter, Vision, ready_chapters
from maestro.coordinate.vision.document_file import read_vision, vision_name
from maestro.errors import MaestroError, NotFound


class ChapterFound(NamedTuple):
    path: str = ""  # of the vision; empty where there is none
    chapter: str = ""
    criteria: tuple[Criterion, ...] = ()


def current_chapter(project: str, env: Mapping[str, str], claimants: Collection[str]) -> ChapterFound:
    """The one that is claimed by one of these names; else by anybody; else the next. Nothing is changed."""
    try:
        tags = ProjectTags(project, env)
        name = vision_name(tags.files)
        vision, _ = read_vision(tags.files, name)
        holders = {number: seen.holder for number, seen in standings(tags, vision).items()}
    except NotFound:
        return ChapterFound()
    except (MaestroError, OSError) as error:
        return ChapterFound(cut(f"(cannot be read: {error})"))
    chapter = _choose(vision, holders, claimants)
    path = os.path.join(tags.files.root, name)
    if chapter is None:
        return ChapterFound(path)
    boxes = tuple(Criterion(cut(one.text), one.done) for one in chapter.criteria)
    return ChapterFound(path, cut(f"Chapter {chapter.number}: {chapter.title}"), boxes)


def _choose(vision: Vision, holders: Mapping[int, str], claimants: Collection[str]) -> Chapter | None:
    left = [chapter for chapter in vision.chapters if not chapter.is_complete]
    own = [chapter for chapter in left if holders.get(chapter.number, "") in claimants]
    claimed = [chapter for chapter in left if chapter.tag is not None and chapter.tag.state == "claimed"]
    return next(iter([*own, *claimed, *ready_chapters(vision)]), None)
