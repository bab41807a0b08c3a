"""Files of a project, opened without following a link: whatever the names, whatever is swapped meanwhile."""

from __future__ import annotations

import ast
import os
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.patience import until
from tests.skips import needs_no_root
from tests.support import SOAK

from maestro import confined, files
from maestro.errors import InvalidInput, LeadsOut, MaestroError

PRECIOUS = b"mine"


@pytest.fixture
def project(place: Path) -> Path:
    made = place / "project"
    (made / "state" / "runs").mkdir(parents=True)
    return made


@pytest.fixture
def outside(place: Path) -> Path:
    """A stranger's folder, with a file that nobody may read or change."""
    made = place / "outside"
    made.mkdir()
    (made / "f").write_bytes(PRECIOUS)
    (made / "folder").mkdir()
    (made / "folder" / "inner").write_bytes(PRECIOUS)
    return made


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Everything in a folder, with modes."""
    found = {}
    for path in sorted(folder.rglob("*")):
        seen = path.lstat()
        data = path.read_bytes() if stat.S_ISREG(seen.st_mode) else b""
        found[str(path.relative_to(folder))] = (seen.st_mode, data)
    return found


@contextmanager
def untouched(folder: Path) -> Iterator[None]:
    before = contents(folder)
    yield
    assert contents(folder) == before


@contextmanager
def same_descriptors() -> Iterator[None]:
    before = len(os.listdir("/proc/self/fd"))
    yield
    assert len(os.listdir("/proc/self/fd")) == before


def _opened(path: str) -> None:
    os.close(confined.open_file(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC))


def _appended(path: str) -> None:
    with confined.lock(path, appends=True) as descriptor:
        os.write(descriptor, b"more")


def _locked(path: str) -> None:
    with confined.lock(path, wait=False) as descriptor:
        os.write(descriptor, b"pid")


def _written(path: str) -> None:
    files.write_atomically(path, b"new", confined=True)


def _written_new(path: str) -> None:
    files.write_new(path, b"new", confined=True)


def _changed_mode(path: str) -> None:
    place, name = confined.parent(path)
    with place:
        place.set_mode(name, 0o666)


def _linked(path: str) -> None:
    place, name = confined.parent(path)
    with place:
        place.link(name, place, "second")


ON_A_FILE: list[Callable[[str], object]] = [
    _opened, _appended, _locked, _written, _written_new, _changed_mode, _linked, confined.read, confined.unlink,
    confined.remove_tree, confined.exists, confined.is_file, confined.status, confined.make_new_folder,
    confined.make_folders, lambda path: confined.read_end(path, 100), confined.names,
]  # fmt: skip
# A name that is itself a link: these look at it, take it away, or put a file in its place.
ON_THE_NAME_ITSELF = {
    _written, _written_new, confined.unlink, confined.remove_tree, confined.exists, confined.is_file, confined.status,
}  # fmt: skip


@pytest.mark.parametrize("act", ON_A_FILE, ids=lambda act: act.__name__.strip("_"))
@pytest.mark.parametrize("linked", ["state", "state/runs"])
def test_no_folder_on_the_way_is_a_link(
    project: Path, outside: Path, act: Callable[[str], object], linked: str
) -> None:
    (outside / "runs").mkdir()
    for name in ("f", "runs/f"):
        (outside / name).write_bytes(PRECIOUS)
    link = project / linked
    link.rename(project / "aside")
    link.symlink_to(outside)
    with untouched(outside), same_descriptors():
        with pytest.raises(LeadsOut) as refused:
            act(str(project / "state" / "runs" / "f"))
        assert str(link) in refused.value.message
        assert "leads out of the project: " in refused.value.message
        assert refused.value.message.endswith(" is a link.")
        assert refused.value.hint == "Remove it, then try again."


@pytest.mark.parametrize("act", ON_A_FILE, ids=lambda act: act.__name__.strip("_"))
@pytest.mark.parametrize("target", ["f", "folder", "not there"])
def test_a_file_is_no_link(project: Path, outside: Path, act: Callable[[str], object], target: str) -> None:
    link = project / "state" / "f"
    link.symlink_to(outside / target)
    with untouched(outside), same_descriptors():
        if act in ON_THE_NAME_ITSELF:
            act(str(link))
        else:
            with pytest.raises((LeadsOut, FileExistsError)) as refused:
                act(str(link))
            if isinstance(refused.value, LeadsOut):
                assert refused.value.message == f"{link} leads out of the project: it is a link."
    assert not confined.is_file(str(link)) or not link.is_symlink()


def test_a_tree_is_removed_and_what_its_links_lead_to_stays(project: Path, outside: Path) -> None:
    tree = project / "state" / "runs" / "tree"
    (tree / "deep" / "deeper").mkdir(parents=True)
    (tree / "deep" / "file").write_text("x")
    (tree / "deep" / "deeper" / "link").symlink_to(outside)
    (tree / "link").symlink_to(outside / "f")
    with untouched(outside), same_descriptors():
        confined.remove_tree(str(tree))
        confined.remove_tree(str(tree))
    assert os.listdir(project / "state" / "runs") == []


def test_no_tree_is_too_deep_to_be_removed(project: Path) -> None:
    tree = project / "state" / "runs" / "deep"
    tree.mkdir()
    place = os.open(tree, os.O_RDONLY)
    for _ in range(sys.getrecursionlimit() * 2):
        os.mkdir("d", dir_fd=place)
        place, above = os.open("d", os.O_RDONLY, dir_fd=place), place
        os.close(above)
    os.close(place)
    with same_descriptors():
        confined.remove_tree(str(tree))
    assert not tree.exists()


def test_a_pipe_does_not_hold_us_up(project: Path) -> None:
    pipe = project / "state" / "f"
    os.mkfifo(pipe)
    with same_descriptors():
        for act in (confined.read, _opened, _locked, _appended):
            with pytest.raises(OSError, match=r"no file|No such device"):
                act(str(pipe))
        with pytest.raises(IsADirectoryError):
            confined.read(str(project / "state"))


def test_only_so_much_is_read(project: Path) -> None:
    path = project / "state" / "f"
    path.write_bytes(bytes(range(256)) * 10_000)
    assert confined.read(str(path), 7) == bytes(range(7))
    assert confined.read_end(str(path), 7) == bytes(range(249, 256))
    assert confined.read_end(str(path), 10_000_000) == confined.read(str(path)) == path.read_bytes()


def test_folders_are_made_and_private(project: Path) -> None:
    confined.make_folders(str(project / "a" / "b" / "c"))
    confined.make_folders(str(project / "a" / "b" / "c"))
    assert [stat.S_IMODE((project / name).stat().st_mode) for name in ("a", "a/b", "a/b/c")] == [0o700] * 3
    with pytest.raises(FileExistsError):
        confined.make_new_folder(str(project / "a" / "b"))
    (project / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        confined.make_folders(str(project / "file" / "below"))


def test_a_child_gets_a_file_that_waits(project: Path) -> None:
    descriptor = confined.open_file(str(project / "state" / "out"), os.O_WRONLY | os.O_CREAT)
    assert os.get_blocking(descriptor)
    assert not os.get_inheritable(descriptor)
    os.close(descriptor)


# Swapped in the middle.


def test_what_is_open_stays_where_it_is(project: Path, outside: Path) -> None:
    """Between any two calls the folder may be swapped for a link: every one of them goes to the folder that was opened."""
    runs, aside = project / "state" / "runs", project / "aside"
    with untouched(outside), confined.folder(str(runs)) as opened:
        runs.rename(aside)
        runs.symlink_to(outside)
        files.replace_in(opened, "f", b"new")
        opened.make("made")
        opened.rename("f", opened, "g")
        opened.link("g", opened, "h")
        opened.unlink("g")
        assert (opened.read("h"), sorted(opened.names())) == (b"new", ["h", "made"])
    assert sorted(os.listdir(aside)) == ["h", "made"]


def test_a_folder_swapped_while_a_file_is_written(project: Path, outside: Path) -> None:
    runs, aside = project / "state" / "runs", project / "aside"

    def swap() -> None:
        runs.rename(aside)
        runs.symlink_to(outside)

    with untouched(outside):
        files.write_atomically(str(runs / "f"), b"new", check=swap, confined=True)
    assert (aside / "f").read_bytes() == b"new"
    assert os.listdir(aside) == ["f"]


def test_a_folder_swapped_again_and_again(project: Path, outside: Path) -> None:
    runs, aside, link = project / "state" / "runs", project / "aside", project / "link"
    link.symlink_to(outside)
    over = threading.Event()
    swaps = 0

    def swap() -> None:
        nonlocal swaps
        while not over.is_set():
            runs.rename(aside)
            link.rename(runs)
            runs.rename(link)
            aside.rename(runs)
            swaps += 1

    thread = threading.Thread(target=swap)
    thread.start()
    written = refused = 0

    def write() -> bool:
        nonlocal written, refused
        for act in (_written, _written_new, _appended, _opened, confined.remove_tree, confined.exists) * 20:
            try:
                act(str(runs / "f"))
                written += 1
            except LeadsOut:
                refused += 1
            except OSError:
                pass  # for a moment there is nothing at all
        assert thread.is_alive()
        return bool(written and refused) and written + refused > (20_000 if SOAK else 500)

    try:
        with untouched(outside), same_descriptors():
            until(write, lambda: (written, refused, swaps), seconds=60)
    finally:
        over.set()
        thread.join()


def test_a_lock_that_was_moved_away_is_not_the_lock(project: Path) -> None:
    path = project / "state" / "lock"
    order: list[str] = []
    waits = threading.Event()

    def second() -> None:
        waits.set()
        with confined.lock(str(path)) as descriptor:
            order.append("second")
            assert os.path.samestat(os.fstat(descriptor), path.stat())

    thread = threading.Thread(target=second)
    with confined.lock(str(path)):
        with pytest.raises(BlockingIOError):
            confined.lock(str(path), wait=False)
        thread.start()
        waits.wait()
        path.unlink()
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


# Names.

_NAMES = st.one_of(
    st.sampled_from(
        ["", ".", "..", "/", "/etc", "../f", "a/../../f", "\0", "f\0g", "\udcff", "\ud800", "x" * 300]
    ),
    st.text(max_size=20),
    st.text(alphabet="./\0ab\u202e\u0301", max_size=12),
)


@given(name=_NAMES)
def test_a_name_is_one_in_its_folder(project: Path, outside: Path, name: str) -> None:
    folder = project / "state" / "runs"
    before = set(os.listdir(project / "state"))
    with untouched(outside), same_descriptors(), confined.folder(str(folder)) as opened:
        with suppress(InvalidInput, OSError):
            files.replace_in(opened, name, b"new")
            assert opened.read(name) == b"new"
            assert os.fsencode(name) in os.listdir(os.fsencode(folder))
        for act in (opened.status, opened.has, opened.make, opened.below, opened.unlink, opened.remove):
            with suppress(InvalidInput, OSError):
                act(name)
    assert set(os.listdir(project / "state")) == before


@given(name=_NAMES)
def test_a_path_does_not_go_up(project: Path, outside: Path, name: str) -> None:
    path = f"{project}/state/runs/{name}"
    with untouched(outside), same_descriptors():
        for act in (_written, confined.read, confined.exists, confined.names, confined.make_folders):
            with suppress(InvalidInput, OSError):
                act(path)
                assert ".." not in path.split("/")
    assert sorted(os.listdir(project)) == ["state"]


@pytest.mark.parametrize("path", ["", "f", "./f", "../f", "/tmp/../etc/f", "/tmp/\0"])
def test_only_whole_paths_are_opened(path: str) -> None:
    with pytest.raises(MaestroError, match="no absolute path"):
        confined.folder(path)


@needs_no_root
def test_a_folder_on_the_way_need_not_be_readable(project: Path) -> None:
    (project / "state").chmod(0o100)
    try:
        files.write_atomically(str(project / "state" / "runs" / "f"), b"new", confined=True)
        assert confined.read(str(project / "state" / "runs" / "f")) == b"new"
    finally:
        (project / "state").chmod(0o700)


# Used everywhere.

_KEEPS_FILES_IN_PROJECTS = ("dispatch", "chains", "coordinate", "cli")
_WRITES = {
    "makedirs",
    "mkdir",
    "rename",
    "replace",
    "unlink",
    "remove",
    "rmdir",
    "link",
    "symlink",
    "chmod",
    "truncate",
}
_ELSEWHERE = {
    "dispatch/process.py: os.open",  # /dev/null
    "coordinate/brains/headless.py: os.makedirs",  # in MAESTRO_HOME
    "cli/main.py: os.open",  # /dev/null
}


def test_the_headless_half_writes_in_no_other_way() -> None:
    """Every file that is written below a project goes through confined.py."""
    found = set()
    root = Path(confined.__file__).parent
    for path in (path for name in _KEEPS_FILES_IN_PROJECTS for path in (root / name).rglob("*.py")):
        where = path.relative_to(root)
        for call in (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)):
            words = ast.unparse(call.func)
            module, _, name = words.rpartition(".")
            if name in {"write_atomically", "write_new"} or words in {"write_atomically", "write_new"}:
                if not any(keyword.arg == "confined" for keyword in call.keywords):
                    found.add(f"{where}: {words}")
            elif (module == "os" and name in _WRITES | {"open"}) or (module == "shutil" and name != "which"):
                found.add(f"{where}: {words}")
    assert {one for one in found if "get_terminal_size" not in one} == _ELSEWHERE
