"""Documents that cannot rot: every path, command, dependency and exit code that they name is real."""

from __future__ import annotations

import re
import tomllib
from argparse import ArgumentParser, _SubParsersAction
from pathlib import Path

import pytest
from tests.test_errors import tree

from maestro.cli.completion import whole_parser
from maestro.cli.main import parser_of

ROOT = Path(__file__).parent.parent
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text()
README = (ROOT / "README.md").read_text()


def folders() -> list[str]:
    package = ROOT / "src" / "maestro"
    return sorted(p.name for p in package.iterdir() if p.is_dir() and (p / "__init__.py").exists())


def test_every_path_of_the_architecture_exists() -> None:
    named = re.findall(r"`([\w./-]+/[\w./-]*|[\w-]+\.(?:py|md|toml|json))`", ARCHITECTURE)
    missing = [
        name
        for name in named
        if not any((base / name).exists() for base in (ROOT, ROOT / "src" / "maestro", ROOT / "tests"))
    ]
    assert len(named) > 30
    assert missing == []


@pytest.mark.parametrize("folder", folders())
def test_every_folder_is_on_the_map(folder: str) -> None:
    assert re.search(rf"^  {folder}/ +\S", ARCHITECTURE, re.MULTILINE), f"{folder}/ has no line on the map"


def test_every_dependency_earns_its_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    wanted += [d for extra in project["project"]["optional-dependencies"].values() for d in extra]
    for requirement in wanted:
        name = re.split(r"[\[>=<]", requirement)[0]
        assert re.search(rf"^\| [^|]*`{name}`", ARCHITECTURE, re.MULTILINE), f"{name} is not explained"


def verbs_of(parser: ArgumentParser) -> dict[str, ArgumentParser]:
    found = [a for a in parser._actions if isinstance(a, _SubParsersAction)]
    return dict(found[0].choices) if found else {}


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"])
def test_every_command_of_the_documents_exists(document: str) -> None:
    text = (ROOT / document).read_text()
    blocks = "\n".join(re.findall(r"```(?:sh|console)\n(.*?)```", text, re.DOTALL))
    nouns = verbs_of(whole_parser())
    for line in re.findall(r"^\$? ?maestro (.+)$", blocks, re.MULTILINE):
        words = line.split("#")[0].split()
        if words[0].startswith("-"):
            continue
        assert words[0] in nouns, line
        verbs = verbs_of(nouns[words[0]])
        if verbs:
            verb = words[1] if len(words) > 1 and words[1] in verbs else parser_of(words[0]).default_verb
            assert verb in verbs, line
            known = {s for a in verbs[verb]._actions for s in a.option_strings}
            assert [w for w in words if w.startswith("--") and w not in known] == [], line


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_every_make_target_of_the_documents_exists(document: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)\b", (ROOT / document).read_text(), re.MULTILINE)) <= targets


def test_every_exit_code_is_documented() -> None:
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)}
    assert {kind.exit_code for kind in tree()} | {0, 130} == documented
