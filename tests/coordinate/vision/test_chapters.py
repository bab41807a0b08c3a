"""Chapters on the disk: claimed by one coordinator, resumed by the same, completed, logged."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from maestro.coordinate.tags.tag_files import ProjectTags
from maestro.coordinate.vision.chapters import LEASE_SECONDS, claim_next, next_chapter, tick
from maestro.coordinate.vision.document import parse_vision
from maestro.coordinate.vision.document_file import (
    begin_vision,
    brought_principles,
    untrusted_principles,
    vision_name,
)
from maestro.coordinate.vision.document_file import principles_of as vision_principles
from maestro.errors import Conflict, InvalidInput, NotFound
from maestro.trust.project import ONCE, ProjectTrust

TEXT = """\
# Clock

## Goal

Right.

## Decision Principles

- Be quick. api_key=sk-ant-REDACTED
- Be kind.

## Chapters

### Chapter 1: Hands #needs-coordinate

- [ ] turn
- [ ] both

### Chapter 2: Face

- [ ] round

### Chapter 3: Bell #needs-coordinate

Depends on: 1, 2

- [ ] rings
"""
NAME = "VISION.md"


@pytest.fixture
def project(place: Path) -> Path:
    made = place / "work"
    made.mkdir()
    subprocess.run(["git", "init", "-q", str(made)], check=True)
    (made / NAME).write_text(TEXT)
    return made


@pytest.fixture
def tags(project: Path) -> ProjectTags:
    return ProjectTags(str(project), os.environ)


def claim(tags: ProjectTags, claimant: str) -> tuple[int, str] | None:
    found = claim_next(tags, NAME, claimant)
    return None if found is None else (found.chapter.number, found.how)


def log(project: Path, name: str) -> str:
    path = project / ".maestro" / "coordinate" / name / "COORDINATE_LOG.md"
    return path.read_text() if path.exists() else ""


def text(project: Path) -> str:
    return (project / NAME).read_text()


def test_each_coordinator_gets_its_own(project: Path, tags: ProjectTags) -> None:
    assert next_chapter(tags, NAME, "ann") is not None
    assert text(project) == TEXT, "looking changes nothing"
    assert claim(tags, "ann") == (1, "claimed")
    assert claim(tags, "bob") == (2, "claimed")
    assert claim(tags, "eve") is None
    assert claim(tags, "ann") == (1, "resumed")
    assert text(project) == TEXT.replace("Hands #needs", "Hands #claimed").replace(
        "2: Face", "2: Face #claimed-coordinate"
    )
    assert log(project, "ann").count("## Chapter Started") == 1, "resuming is not starting"
    assert "- **Chapter number**: 2\n" in log(project, "bob")
    assert "- **Work item count**: 1\n" in log(project, "bob")


def test_many_at_once(project: Path, tags: ProjectTags) -> None:
    with ThreadPoolExecutor(6) as pool:
        got = list(pool.map(lambda name: claim(ProjectTags(str(project), os.environ), name), "abcdef"))
    assert sorted(one for one in got if one) == [(1, "claimed"), (2, "claimed")]


def test_the_last_criterion_completes_it(project: Path, tags: ProjectTags) -> None:
    claim(tags, "ann")
    tick(tags, NAME, "1.1", "ann", done=True)
    assert "Hands #claimed-coordinate" in text(project)
    chapter, _ = tick(tags, NAME, "1.2", "ann", done=True)
    assert chapter.is_complete
    assert "Hands #done-coordinate" in text(project)
    assert "- **Work items completed**: 2: turn; both\n" in log(project, "ann")
    tick(tags, NAME, "1.2", "ann", done=True)
    assert log(project, "ann").count("## Chapter Complete") == 1
    assert claim(tags, "ann") == (2, "claimed"), "the third waits for the second"
    tick(tags, NAME, "2.1", "ann", done=True)
    assert claim(tags, "ann") == (3, "claimed")


def test_a_criterion_that_is_not_met_after_all(project: Path, tags: ProjectTags) -> None:
    claim(tags, "ann")
    for word in ("1.1", "1.2"):
        tick(tags, NAME, word, "", done=True)
    assert log(project, "ann").count("## Chapter Complete") == 1, "by whoever had claimed it"
    tick(tags, NAME, "1.1", "", done=False)
    assert text(project) == TEXT.replace("- [ ] both", "- [x] both")
    assert claim(tags, "bob") == (1, "claimed"), "it is free again"


def test_nobody_ticks_off_anothers(project: Path, tags: ProjectTags) -> None:
    claim(tags, "ann")
    with pytest.raises(Conflict, match="ann's"):
        tick(tags, NAME, "1.1", "bob", done=True)
    tick(tags, NAME, "1.1", "", done=True)
    assert "- [x] turn" in text(project)


def test_a_coordinator_that_never_came_back(project: Path, tags: ProjectTags) -> None:
    claim(tags, "ann")
    [seen] = [one for one in tags.all() if one.tag.state == "claimed"]
    assert seen.record is not None
    tags.write_record(msgspec.structs.replace(seen.record, until=1))
    assert claim(tags, "bob") == (1, "claimed")
    assert claim(tags, "ann") == (2, "claimed")


def test_work_on_it_keeps_the_claim(project: Path, tags: ProjectTags) -> None:
    claim(tags, "ann")
    [seen] = [one for one in tags.all() if one.tag.state == "claimed"]
    assert seen.record is not None
    tags.write_record(
        msgspec.structs.replace(seen.record, until=seen.record.until - int(LEASE_SECONDS * 500))
    )
    tick(tags, NAME, "1.1", "ann", done=True)
    kept = tags.record(seen.tag.id)
    assert kept is not None
    assert kept.until >= seen.record.until


def test_a_completion_that_was_not_logged_is_logged_later(project: Path, tags: ProjectTags) -> None:
    claim(tags, "ann")
    for word in ("1.1", "1.2"):
        tick(tags, NAME, word, "ann", done=True)
    [seen] = [one for one in tags.all() if one.tag.state == "done"]
    assert seen.record is not None
    # As its writer leaves it that dies after the file, before the log.
    tags.write_record(msgspec.structs.replace(seen.record, done_at=0, done_by=""))
    (project / ".maestro" / "coordinate" / "ann" / "COORDINATE_LOG.md").unlink()
    claim(tags, "bob")
    assert log(project, "ann").count("## Chapter Complete") == 1
    claim(tags, "bob")
    assert log(project, "ann").count("## Chapter Complete") == 1


def test_nothing_is_claimed_in_a_vision_with_faults(project: Path, tags: ProjectTags) -> None:
    broken = TEXT.replace("Depends on: 1, 2", "Depends on: 9").replace("- [ ] round", "- [] round")
    (project / NAME).write_text(broken)
    with pytest.raises(InvalidInput, match=r"3 faults, the first: VISION\.md:19: ") as refused:
        claim_next(tags, NAME, "ann")
    assert [fault.split(":")[1] for fault in refused.value.context["faults"]] == ["19", "21", "23"]
    assert text(project) == broken


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "x" * 200])
def test_a_coordinators_name_is_a_folders(project: Path, tags: ProjectTags, name: str) -> None:
    with pytest.raises(InvalidInput):
        claim_next(tags, NAME, name)
    assert text(project) == TEXT


def test_claimed_on_another_machine(project: Path, tags: ProjectTags) -> None:
    (project / NAME).write_text(TEXT.replace("Hands #needs", "Hands #claimed"))
    assert claim(tags, "ann") == (2, "claimed")


def test_a_heading_that_can_take_no_tag(project: Path, tags: ProjectTags) -> None:
    (project / NAME).write_text(TEXT.replace("Hands #needs-coordinate", "Hands\\"))
    with pytest.raises(InvalidInput, match="no tag can stand"):
        claim_next(tags, NAME, "ann")


def test_how_things_are_to_be_decided(project: Path, tags: ProjectTags) -> None:
    def principles_of(folder: str) -> tuple[str, ...]:
        return vision_principles(folder, {ONCE: "1"}, "/nonexistent")

    assert vision_principles(str(project), {}, str(project / "home")) == (), "nobody has trusted them"
    trust = ProjectTrust(str(project / "home"), str(project), {})
    assert "count when you trust them" in untrusted_principles(trust, {})
    trust.confirm(brought_principles(trust, {}), folder=False)
    assert untrusted_principles(trust, {}) == ""
    assert len(vision_principles(str(project), {}, str(project / "home"))) == 2
    (project / "deeper").mkdir()
    first, second = principles_of(str(project / "deeper"))
    assert first.startswith("Be quick.")
    assert "sk-ant" not in first
    assert second == "Be kind."
    (project / NAME).unlink()
    assert principles_of(str(project)) == ()
    (project / NAME).write_bytes(b"## Decision Principles\n- \xff\xfe\n")
    assert principles_of(str(project)) == ("��",)


def test_where_it_is(project: Path, tags: ProjectTags) -> None:
    assert vision_name(tags.files) == NAME
    other = project / "docs" / "v.md"
    other.parent.mkdir()
    other.write_text(TEXT)
    assert vision_name(tags.files, str(other)) == "docs/v.md"
    (project / NAME).unlink()
    with pytest.raises(NotFound, match="no vision"):
        vision_name(tags.files)
    (project / ".maestro").mkdir()
    (project / ".maestro" / "vision.md").write_text(TEXT)
    assert vision_name(tags.files) == ".maestro/vision.md"
    found = claim_next(tags, ".maestro/vision.md", "ann")
    assert found is not None
    assert [seen.holder for seen in tags.all([str(project / ".maestro" / "vision.md")]) if seen.holder] == [
        "ann"
    ]


def test_one_to_start_from(project: Path) -> None:
    path = project / "docs.md"
    begin_vision(str(path), "My\nclock")
    _, wrong = parse_vision(path.read_text(), "docs.md")
    assert [fault.what[:16] for fault in wrong] == ["There is no goal"], "the author has to say it"
    assert path.read_text().startswith("# My clock\n")
    with pytest.raises(Conflict):
        begin_vision(str(path), "x")
