"""A home that others may write to, or that is another's: told and left as it is, never quietly changed and used."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from tests.patience import run
from tests.support import BIN, Maestro

from maestro import home as homes
from maestro.errors import NoPermission


def mode_of(path: Path | str) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def finding(maestro: Maestro, check: str) -> dict[str, str]:
    found = json.loads(maestro("doctor", "--json").stdout)
    return next(one for one in found if one["check"] == check)


@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_a_home_that_others_may_write_to_is_refused(maestro: Maestro, mode: int) -> None:
    root = Path(maestro.home.root)
    root.mkdir()
    root.chmod(mode)
    (root / "token").write_text("planted\n")
    done = maestro("project", "list")
    assert done.returncode == 6
    assert "can be written to by" in done.stderr
    assert f"chmod go= {root}" in done.stderr
    assert mode_of(root) == mode
    assert sorted(path.name for path in root.iterdir()) == ["token"]
    told = finding(maestro, "home")
    assert (told["state"], str(root) in told["found"]) == ("fail", True)


@pytest.mark.parametrize("mode", [0o755, 0o711, 0o750, 0o700])
def test_a_home_that_others_may_only_read_is_closed(place: Path, mode: int) -> None:
    """A folder that a person made by hand: nobody else can have put anything there."""
    root = place / "m"
    root.mkdir()
    root.chmod(mode)
    homes.prepare(homes.Home(str(root)))
    assert mode_of(root) == 0o700


def test_logs_that_others_may_write_to_are_refused(maestro: Maestro) -> None:
    logs = Path(maestro.home.path("logs"))
    logs.mkdir(parents=True, mode=0o700)
    logs.parent.chmod(0o700)
    logs.chmod(0o777)
    done = maestro("project", "list")
    assert (done.returncode, f"chmod go= {logs}" in done.stderr) == (6, True)
    assert mode_of(logs) == 0o777


def test_a_home_that_was_opened_under_a_running_daemon(maestro: Maestro) -> None:
    """Whoever may write there could have put a socket of his own in the daemon's place."""
    assert maestro("project", "list").returncode == 0
    os.chmod(maestro.home.root, 0o777)
    done = maestro("project", "list")
    assert (done.returncode, "written to by everybody" in done.stderr) == (6, True)
    os.chmod(maestro.home.root, 0o700)
    assert maestro("project", "list").returncode == 0


@pytest.mark.parametrize("mode", [0o777, 0o775])
def test_a_hook_leaves_nothing_in_such_a_home(maestro: Maestro, mode: int) -> None:
    root = Path(maestro.home.root)
    root.mkdir()
    root.chmod(mode)
    done = run([BIN / "maestro", "hook", "claude", "Stop"], env=maestro.env, input=b'{"secret": 1}')
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert list(root.iterdir()) == []


def test_a_link_leads_to_the_folder_that_counts(maestro: Maestro, place: Path) -> None:
    real = place / "real"
    real.mkdir()
    real.chmod(0o777)
    os.symlink(real, maestro.home.root)
    done = maestro("project", "list")
    assert (done.returncode, "written to by everybody" in done.stderr) == (6, True)
    real.chmod(0o700)
    assert maestro("project", "list").returncode == 0


@pytest.mark.parametrize("way", ["link", "file", "link to nowhere"])
def test_what_is_no_folder_of_ours(maestro: Maestro, place: Path, way: str) -> None:
    root = Path(maestro.home.root)
    if way == "link":
        if os.geteuid() == 0:
            other = place / "other"
            other.mkdir()
            os.chown(other, 12345, 12345)
            root.symlink_to(other)
        else:
            root.symlink_to("/usr")
    elif way == "file":
        root.write_text("")
    else:
        root.symlink_to(place / "nowhere" / "at all")
    done = maestro("project", "list")
    assert (done.returncode, "Traceback" not in done.stderr) == (6, True)
    assert "MAESTRO_HOME" in done.stderr
    root.unlink()


def test_doctor_tells_of_a_parent_that_everybody_may_write_to(maestro: Maestro, place: Path) -> None:
    """A volume of a container is often like that, and its user cannot change it: it is told, not refused."""
    parent = place / "volume"
    parent.mkdir()
    parent.chmod(0o777)
    env = {"MAESTRO_HOME": str(parent / "m")}
    maestro.env |= env
    assert maestro("project", "list").returncode == 0
    told = finding(maestro, "home")
    assert (told["state"], f"chmod o-w {parent}" in told["remedy"]) == ("warn", True)
    parent.chmod(0o1777)
    assert finding(maestro, "home")["state"] == "ok"


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o775, 0o770, 0o702, 0o722, 0o720])
def test_prepare_and_check_agree(place: Path, mode: int) -> None:
    home = homes.Home(str(place / "m"))
    homes.check(home)
    homes.prepare(home)
    homes.check(home)
    os.chmod(home.root, mode)
    for refuses in (homes.check, homes.prepare):
        with pytest.raises(NoPermission, match="everybody" if mode & 0o002 else "its group"):
            refuses(home)
    assert mode_of(home.root) == mode
