"""`maestro tag`, as a person or an agent runs it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.patience import run
from tests.support import BIN, Maestro

from maestro.errors import Conflict, IllegalTransition, InvalidInput, NotFound, Refused

TEXT = """\
# Notes

- [ ] Mend the clock #needs-fix
- See why `#needs-fix` #needs-research

## Later

```
#needs-fix
```
"""


@pytest.fixture
def notes(maestro: Maestro) -> Path:
    path = maestro.cwd / "notes.md"
    path.write_text(TEXT)
    return path


def ids(maestro: Maestro, *words: str) -> list[str]:
    return [one["tag"]["id"] for one in maestro.json("tag", "list", *words)]


def test_listed(maestro: Maestro, notes: Path) -> None:
    first, second = ids(maestro)
    rows = [line.split(maxsplit=4) for line in maestro("tag", "list").stdout.splitlines()]
    assert rows == [
        ["ID", "PLACE", "STATE", "KIND", "WHO  TITLE"],
        [first, "notes.md:3", "needs", "fix", "Mend the clock"],
        [second, "notes.md:4", "needs", "research", "See why `#needs-fix`"],
    ]
    assert ids(maestro, "--kind", "fix") == [first]
    assert ids(maestro, "--state", "done") == []
    assert ids(maestro, "notes.md") == [first, second]
    assert maestro("tag", "list", "no.md").returncode == NotFound.exit_code
    assert "No tags here." in maestro("tag", "list", "--state", "done").stdout
    assert notes.read_text() == TEXT
    assert not Path(maestro.home.daemon_record).exists(), "no daemon is needed"


def test_from_a_need_to_its_end(maestro: Maestro, notes: Path) -> None:
    tag_id = ids(maestro)[0]
    short = tag_id.removeprefix("tag-")[:6]
    assert maestro("tag", "claim", short, "--as", "ann").returncode == IllegalTransition.exit_code
    assert maestro("tag", "approve", short).stdout == f"{tag_id}  approved  notes.md:3  Mend the clock\n"
    claimed = maestro.json("tag", "claim", short, "--as", "ann", "--lease", "3600")
    assert (claimed["holder"], claimed["tag"]["state"]) == ("ann", "claimed")
    assert "ann, 3" in maestro("tag", "list", "--state", "claimed").stdout
    taken = maestro("tag", "claim", short, "--as", "bob")
    assert (taken.returncode, f"{tag_id} is claimed by ann." in taken.stderr) == (Conflict.exit_code, True)
    assert maestro("tag", "claim", "--next", "--as", "bob").returncode == NotFound.exit_code
    assert maestro("tag", "renew", short, "--as", "ann", "--lease", "60").returncode == 0
    assert maestro("tag", "done", short, "--as", "bob").returncode == Conflict.exit_code
    assert maestro("tag", "done", short, "--as", "ann").returncode == 0
    assert notes.read_text() == TEXT.replace("clock #needs", "clock #done")
    assert maestro("tag", "release", short).returncode == IllegalTransition.exit_code


def test_given_back(maestro: Maestro, notes: Path) -> None:
    tag_id = ids(maestro)[0]
    maestro("tag", "approve", tag_id)
    assert maestro.json("tag", "claim", "--next", "--kind", "fix", "--as", "ann")["tag"]["id"] == tag_id
    told = maestro.json("tag", "release", tag_id, "--as", "ann", "--reason", "no\ntime")
    assert (told["tag"]["state"], told["record"]["note"]) == ("delegated", "no time")
    assert "no time" in maestro("tag", "list").stdout


def test_a_claim_ends_with_its_process(maestro: Maestro, notes: Path) -> None:
    tag_id = ids(maestro)[0]
    maestro("tag", "approve", tag_id)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as claimant:
        held = maestro.json("tag", "claim", tag_id, "--as", "ann", "--pid", str(claimant.pid))
        assert held["holder"] == "ann"
        assert maestro("tag", "claim", tag_id, "--as", "bob").returncode == Conflict.exit_code
    assert "free: ann is gone" in maestro("tag", "list").stdout
    assert maestro.json("tag", "claim", tag_id, "--as", "bob")["holder"] == "bob"
    assert (
        maestro("tag", "claim", tag_id, "--as", "x", "--pid", str(2**22 + 1)).returncode == NotFound.exit_code
    )


def test_noted(maestro: Maestro, notes: Path) -> None:
    added = maestro.json(
        "tag", "add", "notes.md", "Wind  it", "--kind", "implementation", "--heading", "notes"
    )
    assert (added["tag"]["line"], added["tag"]["state"]) == (5, "needs")
    assert notes.read_text() == TEXT.replace("research\n", "research\n- Wind it #needs-implementation\n")
    approved = maestro.json("tag", "add", "new.md", "Oil it", "--kind", "fix", "--approved")
    assert approved["tag"]["state"] == "delegated"
    assert (maestro.cwd / "new.md").read_text() == "- Oil it #delegated-fix\n"
    for words in (["--line", "99"], ["--line", "9"], ["--kind", "A B"], ["--line", "1", "--heading", "x"]):
        kind = [] if "--kind" in words else ["--kind", "fix"]
        assert maestro("tag", "add", "notes.md", "x", *kind, *words).returncode == InvalidInput.exit_code, (
            words
        )
    assert maestro("tag", "add", "../out.md", "x", "--kind", "fix").returncode == InvalidInput.exit_code


def test_an_agent_approves_nothing(maestro: Maestro, notes: Path) -> None:
    tag_id = ids(maestro)[0]
    asked: list[tuple[list[str], dict[str, str]]] = [
        (["tag", "approve", tag_id], {"MAESTRO_SESSION_ID": "sess_x"}),
        (["tag", "approve", tag_id], {"MAESTRO_RUN_ID": "some.run"}),
        (["tag", "add", "notes.md", "x", "--kind", "fix", "--approved"], {"MAESTRO_SESSION_ID": "sess_x"}),
        (["tag", "release", tag_id], {"MAESTRO_SESSION_ID": "sess_x"}),
    ]
    for words, env in asked:
        done = maestro(*words, env=env)
        assert (done.returncode, "An agent may not" in done.stderr) == (Refused.exit_code, True), words
    # Taking the variable away does not make a human of it: the processes that led here have it.
    hidden = run(
        ["sh", "-c", f"env -u MAESTRO_SESSION_ID -u MAESTRO_HOME {BIN / 'maestro'} tag approve {tag_id}; exit $?"],
        env=maestro.env | {"MAESTRO_SESSION_ID": "sess_x"}, cwd=maestro.cwd,
    )  # fmt: skip
    assert hidden.returncode == Refused.exit_code
    assert notes.read_text() == TEXT


def test_claims_need_a_name_and_one_thing(maestro: Maestro, notes: Path) -> None:
    for words in (
        ["claim", "--next"],
        ["claim", "--as", "ann"],
        ["claim", "x", "--next", "--as", "ann"],
        ["claim", "--next", "--as", ""],
        ["claim", "--next", "--as", "ann", "--lease", "0"],
        ["done", "x"],
    ):
        code = maestro("tag", *words).returncode
        assert code in {InvalidInput.exit_code, NotFound.exit_code}, words
    assert maestro("tag", "done", "nothing", "--as", "ann").returncode == NotFound.exit_code


def test_texts_of_anybody_in_a_terminal(maestro: Maestro) -> None:
    data = b"- \x1b[31mred\x07 \xff #needs-fix\n"
    (maestro.cwd / "a.md").write_bytes(data)
    done = maestro("tag", "list")
    assert done.returncode == 0, done.stderr
    assert not set(done.stdout) & {"\x1b", "\x07"}
    [tag_id] = ids(maestro)
    assert maestro("tag", "approve", tag_id).returncode == 0
    assert (maestro.cwd / "a.md").read_bytes() == data.replace(b"#needs", b"#delegated")


def test_as_json_for_programs(maestro: Maestro, notes: Path) -> None:
    [first, _] = maestro.json("tag", "list")
    assert first["record"] is None
    assert set(first["tag"]) == {"id", "file", "kind", "state", "line", "start", "end", "text", "heading"}
    failed = maestro("tag", "claim", "nothing", "--as", "ann", "--json")
    assert json.loads(failed.stderr)["code"] == "not_found"
