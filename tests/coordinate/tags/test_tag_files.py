"""Tags on the disk: found, approved, claimed by one, done once; what crashes and editors leave."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from maestro import processes
from maestro.coordinate.tags import claims as tag_claims
from maestro.coordinate.tags.claims import Record, Standing
from maestro.coordinate.tags.tag import find_tags
from maestro.coordinate.tags.tag_files import ProjectTags, open_tags
from maestro.dispatch.runs import Process
from maestro.errors import Conflict, IllegalTransition, InvalidInput, NotFound

HOUR = 3_600.0


def write(project: Path, text: str, name: str = "notes.md") -> Path:
    path = project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def one(tags: ProjectTags) -> Standing:
    [seen] = tags.all()
    return seen


def approved(tags: ProjectTags) -> str:
    return tags.approve(one(tags).tag.id).tag.id


def recorded(tags: ProjectTags, tag_id: str) -> Record:
    record = tags.record(tag_id)
    assert record is not None
    return record


def dead_process() -> Process:
    ended = subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE)
    started = processes.start_time(ended.pid) or 0
    ended.communicate(b"\n")
    return Process(ended.pid, started, processes.boot_id())


def this_process() -> Process:
    return Process(os.getpid(), processes.start_time(os.getpid()) or 0, processes.boot_id())


def test_the_way_of_a_tag(project: Path, tags: ProjectTags) -> None:
    path = write(project, "a\r\n- mend it #needs-fix\r\nb")
    path.chmod(0o664)
    tag_id = approved(tags)
    assert path.read_bytes() == b"a\r\n- mend it #delegated-fix\r\nb"
    claimed = tags.claim(tag_id, "ann")
    assert (claimed.tag.state, claimed.holder) == ("claimed", "ann")
    done = tags.done(tag_id, "ann")
    assert (done.tag.state, done.holder, recorded(tags, tag_id).done_by) == ("done", "", "ann")
    assert path.read_bytes() == b"a\r\n- mend it #done-fix\r\nb"
    assert path.stat().st_mode & 0o777 == 0o664
    assert tags.done(tag_id, "ann").tag.state == "done", "said twice, it is said once"
    agains: list[Callable[[], Standing]] = [
        lambda: tags.approve(tag_id),
        lambda: tags.claim(tag_id, "ann"),
        lambda: tags.release(tag_id),
    ]
    for again in agains:
        with pytest.raises(IllegalTransition):
            again()


def test_nothing_goes_without_a_human(project: Path, tags: ProjectTags) -> None:
    write(project, "x #needs-fix\ny #delegated-fix\n")
    needed, foreign = tags.all()
    with pytest.raises(IllegalTransition, match="not approved yet"):
        tags.claim(needed.tag.id, "ann")
    with pytest.raises(IllegalTransition, match="nobody approved it here"):
        tags.claim(foreign.tag.id, "ann")
    assert tags.claim_next("ann") is None
    tags.approve(foreign.tag.id)
    assert tags.claim(foreign.tag.id, "ann").holder == "ann"


def test_an_approval_is_of_these_words(project: Path, tags: ProjectTags) -> None:
    path = write(project, "tidy up #needs-fix\n")
    approved(tags)
    path.write_text("delete it all #delegated-fix\n")
    assert tags.claim_next("ann") is None
    with pytest.raises(IllegalTransition):
        tags.claim(one(tags).tag.id, "ann")


def test_one_claimant_at_a_time(project: Path, tags: ProjectTags) -> None:
    write(project, "x #needs-fix\n")
    tag_id = approved(tags)
    tags.claim(tag_id, "ann", lease_seconds=HOUR)
    with pytest.raises(Conflict, match="claimed by ann"):
        tags.claim(tag_id, "bob")
    changes: list[Callable[[str, str], Standing]] = [
        tags.done,
        lambda i, n: tags.renew(i, n, HOUR),
        tags.release,
    ]
    for change in changes:
        with pytest.raises(Conflict, match="ann's"):
            change(tag_id, "bob")
    assert tags.claim_next("bob") is None
    assert tags.claim(tag_id, "ann").holder == "ann", "one's own claim is renewed"
    assert tags.release(tag_id, "ann", note="no time").tag.state == "delegated"
    assert recorded(tags, tag_id).note == "no time"
    assert tags.claim(tag_id, "bob").holder == "bob"
    assert tags.release(tag_id).tag.state == "delegated", "a human releases anybody's"


def test_a_lease_that_is_over(project: Path, tags: ProjectTags) -> None:
    write(project, "x #needs-fix\n")
    tag_id = approved(tags)
    tags.claim(tag_id, "ann", lease_seconds=HOUR)
    over = msgspec.structs.replace(recorded(tags, tag_id), until=1)
    tags.write_record(over)
    assert one(tags).holder == ""
    assert tags.renew(tag_id, "ann", HOUR).holder == "ann", "nobody had taken it"
    tags.write_record(over)
    taken = tags.claim_next("bob")
    assert taken is not None
    assert taken.holder == "bob"
    with pytest.raises(Conflict):
        tags.done(tag_id, "ann")


def test_a_claimant_that_died(project: Path, tags: ProjectTags) -> None:
    write(project, "x #needs-fix\n")
    tag_id = approved(tags)
    tags.claim(tag_id, "ann", lease_seconds=HOUR, process=dead_process())
    assert one(tags).holder == ""
    tags.claim(tag_id, "bob", lease_seconds=HOUR, process=this_process())
    assert one(tags).holder == "bob"
    elsewhere = msgspec.structs.replace(recorded(tags, tag_id), host="another", process=dead_process())
    tags.write_record(elsewhere)
    assert one(tags).holder == "bob", "of another host only the lease tells"


def test_who_died_between_the_record_and_the_file(project: Path, tags: ProjectTags) -> None:
    path = write(project, "x #needs-fix\n")
    tag_id = approved(tags)
    before = path.read_bytes()
    tags.claim(tag_id, "ann", lease_seconds=HOUR, process=dead_process())
    path.write_bytes(before)
    assert tags.claim(tag_id, "bob").holder == "bob"
    tags.done(tag_id, "bob")
    unsaid = msgspec.structs.replace(recorded(tags, tag_id), done_at=0, done_by="", until=9 * 10**12)
    tags.write_record(unsaid)
    assert one(tags).holder == "", "the file's tag is the truth of the state"
    assert tags.claim_next("eve") is None
    assert recorded(tags, tag_id).done_by == "bob", "settled by the next command"


def test_halves_that_a_killed_writer_left(project: Path, tags: ProjectTags) -> None:
    write(project, "x #needs-fix\n")
    tag_id = approved(tags)
    halves = [
        project / ".notes.md.123.0123456789ab.tmp",
        Path(tags.folder) / f".{tag_id}.json.9.0123456789ab.tmp",
    ]
    others = [project / ".notes.md.swp", project / ".other.md.123.0123456789ab.tmp"]
    for path in [*halves, *others]:
        path.write_bytes(b"half")
    tags.claim(tag_id, "ann")
    assert [path.exists() for path in halves] == [False, False]
    assert all(path.exists() for path in others)


def test_claimed_elsewhere(project: Path, tags: ProjectTags) -> None:
    write(project, "x #claimed-fix\n")
    tag_id = one(tags).tag.id
    assert tags.claim_next("ann") is None
    with pytest.raises(Conflict, match="not here"):
        tags.claim(tag_id, "ann")
    assert tags.release(tag_id).tag.state == "needs", "nobody approved it here"


def test_an_old_copy_saved_over_it(project: Path, tags: ProjectTags) -> None:
    """An editor that had the file open saves what it had: nothing is done twice."""
    path = write(project, "x #needs-fix\n")
    tag_id = approved(tags)
    old = path.read_bytes()
    tags.claim(tag_id, "ann", lease_seconds=HOUR)
    path.write_bytes(old)
    with pytest.raises(Conflict, match="claimed by ann"):
        tags.claim(tag_id, "bob")
    tags.claim(tag_id, "ann")
    tags.done(tag_id, "ann")
    path.write_bytes(old)
    assert tags.claim_next("bob") is None
    with pytest.raises(Conflict, match="was done before"):
        tags.claim(tag_id, "bob")
    tags.approve(tag_id)
    assert tags.claim(tag_id, "bob").holder == "bob", "by a human's word it is done again"


def test_an_editor_that_saves_in_between_loses_nothing(project: Path, tags: ProjectTags) -> None:
    path = write(project, "first\nx #needs-fix\n")
    saves = iter([b"first\nmore\nx #needs-fix\n", b"first\nmore\nand more\nx #needs-fix\n"])
    name = "notes.md"

    def change(text: str) -> str:
        # The editor saves after we have read, before we write.
        if (saved := next(saves, None)) is not None:
            path.write_bytes(saved)
        return text.replace("#needs", "#delegated")

    with tags.locked():
        tags.files.rewrite(name, change)
    assert path.read_bytes() == b"first\nmore\nand more\nx #delegated-fix\n"


def test_somebody_who_never_stops_writing(project: Path, tags: ProjectTags) -> None:
    path = write(project, "0")
    count = 0

    def change(text: str) -> str:
        nonlocal count
        count += 1
        path.write_text(str(count))
        return "ours"

    with tags.locked(), pytest.raises(Conflict, match="all the time"):
        tags.files.rewrite("notes.md", change)
    assert path.read_text() == str(count)
    assert sorted(os.listdir(project)) == [".git", ".maestro", "notes.md"]


def test_many_claim_and_one_gets_it(project: Path, tags: ProjectTags) -> None:
    write(project, "".join(f"- thing {number} #needs-fix\n" for number in range(12)))
    for seen in tags.all():
        tags.approve(seen.tag.id)

    def take(claimant: str) -> list[str]:
        own = ProjectTags(str(project), os.environ)
        found = []
        while (seen := own.claim_next(claimant, lease_seconds=HOUR)) is not None:
            found.append(seen.tag.id)
        return found

    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(take, ["a", "b", "c", "d"]))
    everything = [tag_id for found in taken for tag_id in found]
    assert sorted(everything) == sorted(seen.tag.id for seen in tags.all())
    assert all(seen.tag.state == "claimed" for seen in tags.all())


def test_a_line_that_was_changed_under_its_run(project: Path, tags: ProjectTags) -> None:
    path = write(project, "- mend the clock in the hall #needs-fix\n- other #needs-fix\n")
    seen = tags.all()[0]
    tags.approve(seen.tag.id)
    record = tags.claim(seen.tag.id, "ann", way="run").record
    assert record is not None
    path.write_text("- new\n- mend the old clock in the hall #claimed-fix\n- other #needs-fix\n")
    ended = tags.end_run(record, failed="")
    assert ended is not None
    assert path.read_text() == "- new\n- mend the old clock in the hall #done-fix\n- other #needs-fix\n"


def test_a_line_that_is_gone_under_its_run(project: Path, tags: ProjectTags) -> None:
    path = write(project, "mend it #needs-fix\n")
    tag_id = approved(tags)
    record = tags.claim(tag_id, "ann", way="run").record
    assert record is not None
    path.write_text("nothing alike #claimed-fix\n")
    assert tags.end_run(record, failed="") is None
    assert path.read_text() == "nothing alike #claimed-fix\n"
    told = recorded(tags, tag_id)
    assert told.done_at
    assert "gone or says something else" in told.note
    with pytest.raises(NotFound, match="gone or says something else"):
        tags.find(tag_id)


def test_a_run_that_is_no_longer_the_tags(project: Path, tags: ProjectTags) -> None:
    path = write(project, "x #needs-fix\n")
    tag_id = approved(tags)
    record = tags.claim(tag_id, "ann", way="run").record
    assert record is not None
    assert record.run == f"{tag_id}-1"
    tags.release(tag_id)
    assert tags.end_run(record, failed="") is None
    assert not tags.hold(record, this_process(), HOUR)
    assert path.read_text() == "x #delegated-fix\n"
    again = tags.claim(tag_id, "ann", way="run").record
    assert again is not None
    assert again.run == f"{tag_id}-2"


def test_a_number_that_an_old_run_has_is_not_used_again(project: Path, tags: ProjectTags) -> None:
    write(project, "x #needs-fix\n")
    tag_id = approved(tags)
    (project / ".maestro" / "runs" / f"{tag_id}-7").mkdir(parents=True)
    assert recorded(tags, tags.claim(tag_id, "ann", way="run").tag.id).run == f"{tag_id}-8"


def test_a_dead_dispatchers_run_goes_on_under_its_name(project: Path, tags: ProjectTags) -> None:
    write(project, "x #needs-fix\n")
    tag_id = approved(tags)
    tags.claim(tag_id, "ann", way="run", process=dead_process())
    with pytest.raises(Conflict, match="A run was begun"):
        tags.claim(tag_id, "bob")
    assert tags.claim_next("bob") is None, "nobody does it by hand meanwhile"
    assert recorded(tags, tags.claim(tag_id, "bob", way="run").tag.id).run == f"{tag_id}-1"


def test_which_files(project: Path, tags: ProjectTags) -> None:
    for name in ("a.md", "deep/er/b.markdown", "C.MD", ".maestro/vision.md"):
        write(project, "x #needs-fix\n", name)
    for name in (
        "a.txt", ".hidden/c.md", "node_modules/p/d.md", "sub/.git/HEAD", "sub/e.md", "venv/lib/site-packages/f.md",
        ".maestro/tags/g.md",
    ):  # fmt: skip
        write(project, "x #needs-fix\n", name)
    (project / "link.md").symlink_to(project / "a.md")
    os.mkfifo(project / "pipe.md")
    (project / "folder.md").mkdir()
    (project / "big.md").write_bytes(b"#needs-fix\n" * 300_000)
    files = [seen.tag.file for seen in tags.all()]
    assert files == [".maestro/vision.md", "C.MD", "a.md", "deep/er/b.markdown"]
    assert [seen.tag.file for seen in tags.all([str(project / "deep")])] == ["deep/er/b.markdown"]
    assert [seen.tag.file for seen in tags.all([str(project / "a.md")])] == ["a.md"]
    with pytest.raises(NotFound):
        tags.all([str(project / "no.md")])
    with pytest.raises(InvalidInput, match="not in the project"):
        tags.all(["/"])


def test_no_file_outside_the_project(project: Path, tags: ProjectTags, place: Path) -> None:
    outside = place / "outside.md"
    outside.write_text("mine\n")
    (project / "link.md").symlink_to(outside)
    for path in (outside, project / "link.md", project / ".." / "outside.md"):
        with pytest.raises(InvalidInput, match="not in the project"):
            tags.add(str(path), "x", "fix")
    with pytest.raises(InvalidInput, match="no Markdown"):
        tags.add(str(project / "a.py"), "x", "fix")
    assert outside.read_text() == "mine\n"


def test_short_ids(project: Path, tags: ProjectTags) -> None:
    write(project, "".join(f"- thing {number} #needs-fix\n" for number in range(40)))
    tag_id = tags.all()[0].tag.id
    assert tags.find(tag_id.removeprefix("tag-")).tag.id == tag_id
    assert tags.find(tag_id[:10]).tag.id == tag_id
    with pytest.raises(InvalidInput, match="fits 40 tags"):
        tags.find("tag-")
    with pytest.raises(NotFound):
        tags.find("../../x")


def test_a_record_that_cannot_be_read_is_not_a_default(project: Path, tags: ProjectTags) -> None:
    write(project, "x #needs-fix\n")
    tag_id = approved(tags)
    (Path(tags.folder) / f"{tag_id}.json").write_text("{")
    for look in (tags.all, lambda: tags.claim(tag_id, "ann")):
        with pytest.raises(InvalidInput, match="cannot be read"):
            look()


def test_git_does_not_see_the_records(project: Path, tags: ProjectTags) -> None:
    write(project, "x #needs-fix\n")
    approved(tags)
    assert (Path(tags.folder) / ".gitignore").read_text().endswith("*\n")


def test_what_is_open(project: Path, tags: ProjectTags) -> None:
    write(project, "x #needs-fix\ny #done-fix\nz #claimed-research\n")
    assert [seen.tag.text for seen in open_tags(str(project), os.environ)] == ["x", "z"]


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 129])
def test_a_claimant_has_a_name(project: Path, tags: ProjectTags, name: str) -> None:
    write(project, "x #needs-fix\n")
    tag_id = approved(tags)
    with pytest.raises(InvalidInput):
        tags.claim(tag_id, name)
    assert one(tags).tag.state == "delegated"


def test_a_new_line_of_the_same_words_starts_anew(project: Path, tags: ProjectTags) -> None:
    path = write(project, "# Notes\n")
    first = tags.add(str(path), "mend it", "fix", approve=True)
    assert first.tag.state == "delegated"
    tags.claim(first.tag.id, "ann")
    tags.done(first.tag.id, "ann")
    path.write_text("# Notes\n")
    second = tags.add(str(path), "mend it", "fix", approve=True)
    assert second.tag.id == first.tag.id
    assert tags.claim(second.tag.id, "bob").holder == "bob"


def test_what_failed_is_not_taken_by_itself() -> None:
    seen = Standing(
        tag=find_tags("x #delegated-fix", "a.md")[0],
        record=Record(id="t", file="a.md", kind="fix", text="x", approved_at=1, failed="failed: it broke"),
    )
    assert not tag_claims.is_free(seen)
    assert tag_claims.is_free(seen, again=True)
