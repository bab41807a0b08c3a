from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support import some_in_test

from maestro.coordinate.gate.effects import effects_of
from maestro.coordinate.gate.shell import parse_shell


def run(text: str) -> list[str]:
    """The commands that it would run, wrappers aside."""
    return [" ".join((each.name, *each.arguments)) for each in parse_shell(text).commands]


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("ls | rm x", "rm x"),
        ("ls && rm x", "rm x"),
        ("ls; rm x", "rm x"),
        ("(cd a; rm x)", "rm x"),
        ("echo $(rm x)", "rm x"),
        ("echo `rm x`", "rm x"),
        ("cat <(rm x)", "rm x"),
        ("if true; then rm x; fi", "rm x"),
        ("for f in a; do rm x; done", "rm x"),
        ("while true; do rm x; done", "rm x"),
        ("case a in a) rm x;; esac", "rm x"),
        ("f() { rm x; }", "rm x"),
        ("A=$(rm x)", "rm x"),
        ("bash <<EOF\nrm x\nEOF", "rm x"),
        ("bash <<< 'rm x'", "rm x"),
        ("echo 'rm x' | sh", "rm x"),
        ("bash -c 'rm x'", "rm x"),
        ("bash -lc 'rm x'", "rm x"),
        ("sh -c \"bash -c 'rm x'\"", "rm x"),
        ("eval 'rm x'", "rm x"),
        ("sudo -u root rm x", "rm x"),
        ("env A=1 rm x", "rm x"),
        ("timeout 5 rm x", "rm x"),
        ("nice -n 5 nohup rm x", "rm x"),
        ("find . -exec rm x ;", "rm x"),
        ("find . -exec rm x \\;", "rm x"),
        ("ssh host 'rm x'", "rm x"),
        ("docker exec -it c rm x", "rm x"),
        ("docker compose exec web rm x", "rm x"),
        ("kubectl exec pod -- rm x", "rm x"),
        ("uv run rm x", "rm x"),
        ("r''m x", "rm x"),
        ("\\rm x", "rm x"),
        ("/bin/rm x", "rm x"),
        ("$'\\x72m' x", "rm x"),
        ('"r"m "x"', "rm x"),
        ("trap 'rm x' EXIT", "rm x"),
        ("xargs rm x", "rm x {}"),
    ],
)
def test_every_command_is_found(text: str, inner: str) -> None:
    assert inner in run(text)
    assert not parse_shell(text).unreadable


@pytest.mark.parametrize(
    "text",
    ["$X a", "$(echo rm) a", "{rm,a}", "rm (", "'unclosed", 'eval "$(x)"', "r?m a", 'bash -c "$(x)"', "a\0b"],
)
def test_what_is_known_only_when_it_runs_is_unreadable(text: str) -> None:
    assert parse_shell(text).unreadable
    assert any(effect.category == "unreadable" for effect in effects_of(text))


def test_redirects_have_their_target() -> None:
    line = parse_shell("a > out.txt 2>&1 < in.txt")
    assert [(each.target.text, each.writes) for each in line.redirects] == [
        ("out.txt", True),
        ("1", False),
        ("in.txt", False),
    ]


def test_depth_has_an_end() -> None:
    assert parse_shell("(" * 20_000 + "ls" + ")" * 20_000).unreadable
    assert parse_shell("eval " * 30 + "ls").unreadable
    assert parse_shell("sudo " * 30 + "ls").unreadable


# Where the table lies is another place in every process, and so is what stands behind it.
@pytest.mark.parametrize("_process", some_in_test(range(4)))
def test_letters_behind_the_scanners_table_do_not_end_the_process(_process: int) -> None:
    parsing = (
        "from maestro.coordinate.gate.shell import parse_shell\n"
        "for _ in range(300):\n"
        "    for letter in (0xA0, 0x4603, 0xBA29, 0x9D8DC, 0xB268C, 0xF268E, 0x10FFFF):\n"
        "        for before in ('', '{', '$', '${', '<<', '#', '[[ '):\n"
        "            parse_shell(before + chr(letter) * 2)\n"
    )
    assert subprocess.run([sys.executable, "-c", parsing], check=False).returncode == 0


def test_words_of_other_letters_stay_as_they_are() -> None:
    [removed] = parse_shell("rm -rf übung/中文 \U0001f600").commands
    assert (removed.name, removed.arguments) == ("rm", ("-rf", "übung/中文", "\U0001f600"))
    assert [one.name for one in parse_shell("é=1 rm -rf x; 中文 | sh").commands] == ["é=1", "中文", "sh"]


@given(st.text() | st.text(alphabet="rm -$(){}[]'\"`|;&<>\\\n!#=*~"))
def test_any_text_is_parsed(text: str) -> None:
    assert parse_shell(text) is not None
    assert effects_of(text)
