"""CLIs of other versions, and programs in their place that are slow, broken or say anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fleet.crew.seen import close_panes
from tests.patience import patience, until
from tests.support import Maestro

from maestro.server.diagnosis import Finding, examine

# As Codex does, it ends at once when it is given a flag that its version does not know.
CODEX = """\
#!/bin/sh
case $1 in --version) echo asked >> {place}/asked; echo codex-cli {version}; exit;; esac
for word; do
  case $word,{version} in --no-daemon,0.149.0|--no-daemon,) echo "unexpected argument $word"; exit 2;; esac
done
echo "$@" > {place}/launched.new && mv {place}/launched.new {place}/launched
exec sleep 3600
"""
ENDLESS = "#!/bin/sh\nwhile :; do sleep 1; done\n"


@pytest.fixture
def maestro(shared_maestro: Maestro) -> Iterator[Maestro]:
    programs = shared_maestro.place / "clis"
    programs.mkdir(exist_ok=True)
    for path in programs.iterdir():
        path.unlink()
    made = replace(
        shared_maestro, env=shared_maestro.env | {"PATH": f"{programs}:{shared_maestro.env['PATH']}"}
    )
    made.json("project", "add", ".")
    yield made
    close_panes(shared_maestro)


def put(maestro: Maestro, name: str, script: str) -> Path:
    path = maestro.place / "clis" / name
    path.unlink(missing_ok=True)
    path.write_text(script)
    path.chmod(0o755)
    return path


def launched(maestro: Maestro, version: str) -> str:
    """Spawns a session of a Codex of this version; returns the words that it was started with."""
    put(maestro, "codex", CODEX.format(place=maestro.place, version=version))
    return spawned(maestro)


def spawned(maestro: Maestro) -> str:
    told = maestro.place / "launched"
    told.unlink(missing_ok=True)
    spawning = maestro.start("session", "spawn", "--agent", "codex", "--mode", "edits")
    until(lambda: told.exists() or spawning.poll() is not None)
    assert told.exists(), spawning.communicate()
    # It would wait for a screen that shows that it is ready.
    spawning.kill()
    spawning.communicate()
    return told.read_text()


def test_a_codex_that_does_not_know_a_flag_is_launched_without_it(maestro: Maestro) -> None:
    for version, knows in (("0.149.0", False), ("0.166.0", True), ("", False)):
        assert ("--no-daemon" in launched(maestro, version)) == knows, version


def test_a_program_is_asked_for_its_version_once(maestro: Maestro) -> None:
    launched(maestro, "0.160.1")
    asked = (maestro.place / "asked").read_text()
    assert "--no-daemon" in spawned(maestro)
    assert (maestro.place / "asked").read_text() == asked


def finding(maestro: Maestro, name: str, seconds: float) -> Finding:
    [found] = [one for one in examine(maestro.env, seconds=seconds) if one.check == name]
    return found


def test_doctor_calls_a_program_slow_that_does_not_answer(maestro: Maestro) -> None:
    path = put(maestro, "gemini", ENDLESS)
    found = finding(maestro, "gemini", 0.5)
    assert (found.state, found.found) == ("warn", f"slow: no answer in 0.5 s at {path}")
    assert found.remedy


@pytest.mark.parametrize(
    ("script", "state", "said"),
    [
        ("echo 'Error: Cannot find module' >&2; exit 1", "fail", "does not run: exit code 1: Error: Cannot find module"),
        ("echo hello", "warn", "says “hello” and no version: what works with it is not known"),
        ("exit 0", "warn", "says no version: what works with it is not known"),
        ("echo codex-cli 0.149.0", "ok", "launched: yes, read: yes, typed at: yes"),
        ("echo codex-cli 0.152.0", "warn", "not recorded; nearest is 0.149.0: degraded"),
        ("echo codex-cli 9.0.0", "warn", "not recorded; nearest is 0.166.0: degraded"),
    ],
)  # fmt: skip
def test_doctor_says_what_can_be_done_with_a_program(
    maestro: Maestro, script: str, state: str, said: str
) -> None:
    put(maestro, "codex", f"#!/bin/sh\n{script}\n")
    found = finding(maestro, "codex", patience())
    assert (found.state, said in found.found) == (state, True), found
    assert bool(found.remedy) == (state != "ok")


def test_a_list_of_agents_shows_what_works_on_the_installed_version(maestro: Maestro) -> None:
    put(maestro, "codex", "#!/bin/sh\necho codex-cli 0.152.0\n")
    put(maestro, "claude", "#!/bin/sh\necho '2.1.325 (Claude Code)'\n")
    put(maestro, "gemini", "#!/bin/sh\necho broken >&2; exit 1\n")
    rows = {row["name"]: row for row in maestro.json("agents", "list")}
    assert {row["works"] and row["works"]["isRecorded"] for row in rows.values()} == {True, False, None}
    assert (rows["codex"]["works"]["nearest"], rows["claude"]["works"]["version"]) == ("0.149.0", "2.1.325")
    assert rows["codex"]["works"]["parts"]["launch"]["state"] == "degraded"
    assert rows["gemini"]["installed"]["fault"] == "fails"
    assert [one["version"] for one in rows["codex"]["recorded"]] == ["0.149.0", "0.160.1", "0.166.0"]
    shown = maestro("agents", "list").stdout
    lines = [line.split() for line in shown.splitlines()]
    assert ["claude", "2.1.325", "installed", *["yes"] * 7] in lines
    assert ["codex", "0.152.0", "installed", *["degraded"] * 7] in lines
    assert "codex 0.152.0 is not recorded; nearest is 0.149.0: degraded." in shown
    assert "gemini: It does not run: exit code 1: broken." in shown
