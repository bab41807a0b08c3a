"""Which commands of a project become rules, by the texts of its files."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maestro.agents.questions import Option, Question
from maestro.coordinate import ALLOWED, AnswerRule, Case, Policy
from maestro.coordinate.brains.rules import by_rules
from maestro.coordinate.policy.config import DEFAULT, as_json, parse_policy
from maestro.coordinate.policy.makefile_text import Makefile, NotTold
from maestro.coordinate.policy.project_commands import (
    LARGEST,
    Commands,
    ProjectCommand,
    project_commands,
    rule_of,
    still_as_confirmed,
)
from maestro.coordinate.policy.proposed_rules import MOST_RULES, proposals

CI = ".github/workflows/ci.yml"


def commands(**files: str) -> Commands:
    """Of files by their names, with `_` in place of the dot."""
    names = {"Makefile": "Makefile", "ci": CI, "gitlab": ".gitlab-ci.yml"}
    return project_commands(
        {names.get(name, name.replace("_", ".")): text.encode() for name, text in files.items()}
    )


def told(found: Commands) -> dict[str, str]:
    return {f"{one.kind}: {one.command}": one.text for one in found.found}


def package(scripts: dict[str, Any], **fields: Any) -> str:
    return json.dumps({"scripts": scripts, **fields})


# Scripts of package.json.


def test_scripts_of_npm() -> None:
    scripts = {
        "test": "npm run lint && vitest run",
        "pretest": "node generate.js",
        "lint": "eslint .",
        "lint:fix": "run-p lint:css lint:js*",
        "lint:js-all": "eslint src",
        "lint:css": "stylelint css",
        "typeCheck": "tsc --noEmit",
        "check-types": "tsc -b",
        "build": "rimraf dist && tsc",
        "format": "prettier -w .",
    }
    assert told(commands(package_json=package(scripts))) == {
        "test: npm test": "npm run lint && vitest run\nnode generate.js\neslint .",
        "test: npm run test": "npm run lint && vitest run\nnode generate.js\neslint .",
        "lint: npm run lint": "eslint .",
        "lint: npm run lint:fix": "run-p lint:css lint:js*\nstylelint css\neslint src",
        "lint: npm run lint:js-all": "eslint src",
        "lint: npm run lint:css": "stylelint css",
        "type: npm run typeCheck": "tsc --noEmit",
        "type: npm run check-types": "tsc -b",
        "build: npm run build": "rimraf dist && tsc",
        "format: npm run format": "prettier -w .",
    }


@pytest.mark.parametrize(
    "name",
    [
        "dev", "start", "deploy", "publish", "release", "clean", "install", "prepare", "test:watch", "test-server",
        "build:docker", "lint-and-deploy", "build-release", "test e2e", "-test", "../test", "te\nst", "tést", "",
        "postinstall", "testing", "x" * 99, "build:prod", "format;rm", "$(x)",
    ],
)  # fmt: skip
def test_names_that_are_left_out(name: str) -> None:
    assert commands(package_json=package({name: "x"})).found == ()


@pytest.mark.parametrize(
    "text",
    [
        'echo "Error: no test specified" && exit 1', "jest --watch", "vitest -w", "a\nb", "", "  ", 7, None, ["x"],
        "x" * 9000, "jest \x1b[2J", "jest \u202e", "jest \ud800",
    ],
)  # fmt: skip
def test_texts_that_are_left_out(text: Any) -> None:
    assert commands(package_json=package({"test": text})).found == ()


@pytest.mark.parametrize(
    ("fields", "lock", "lines"),
    [
        ({"packageManager": "pnpm@9.1.0"}, "", ["pnpm lint", "pnpm run lint"]),
        ({}, "pnpm-lock.yaml", ["pnpm lint", "pnpm run lint"]),
        ({}, "yarn.lock", ["yarn lint", "yarn run lint"]),
        ({}, "bun.lock", ["bun run lint"]),
        ({"packageManager": "evil; rm@1"}, "", ["npm run lint"]),
        ({"packageManager": 3}, "package-lock.json", ["npm run lint"]),
    ],
)
def test_the_package_manager_of_the_project(fields: dict[str, Any], lock: str, lines: list[str]) -> None:
    files = {"package.json": package({"lint": "eslint ."}, **fields).encode()} | (
        {lock: b"\xff"} if lock else {}
    )
    assert [one.command for one in project_commands(files).found] == lines


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"scripts": {"test": "a", "test": "b"}}', "a key stands twice in it"),
        ("{", "it cannot be parsed"),
        ("[" * 100_000, "it cannot be parsed"),
        ("[]", "it cannot be parsed"),
        (" " * (LARGEST + 1), f"it has over {LARGEST:,} bytes"),
    ],
)
def test_a_file_that_is_left_out_is_told(text: str, why: str) -> None:
    assert commands(package_json=text) == ((), (f"package.json is left out: {why}.",))


def test_very_many_patterns_and_scripts_take_no_time() -> None:
    stars = {f"test:{n}": "npm-run-all " + " ".join(f"{m}*" for m in range(50)) for n in range(300)}
    assert commands(package_json=package(stars)).found == ()
    assert commands(package_json=package({f"test:{n}": "jest" for n in range(1000)})).found == ()
    circle = {f"test:{n}": f"run-s test:{(n + 1) % 300} *" for n in range(300)}
    assert commands(package_json=package(circle)).found == ()
    small = {name: circle[name] for name in ("test:0", "test:1", "test:299")}
    assert len(commands(package_json=package(small)).found) == 3


# Makefile.


def recipe(text: str, target: str = "test") -> str:
    return Makefile(text).recipe(target)


def test_targets_with_everything_that_runs_on_the_way() -> None:
    makefile = (
        "PY := python3\nARGS ?=\nVERSION := $(shell git describe)\nexport MODE = a b\n"
        ".PHONY: test\n"
        "test: deps out.o | lint  # all of it\n\t@$(PY) -m pytest \\\n\t    -q $(ARGS) $$HOME\n\n\t-echo $@ $<\n"
        "deps:\n\tpip install .\n"
        "lint fmt: ; ruff check $(EXTRA)\n"
        "%.o: %.c\n\t$(CC) -c $<\n"
        "build:\n\t$(MAKE) lint\n"
        "clean:\n\trm -rf build\n"
    )  # fmt: skip
    everywhere = "git describe\nMODE='a b'\n"
    assert told(commands(Makefile=makefile)) == {
        "test: make test": everywhere
        + "pip install .\ncc -c %.c\nruff check $(EXTRA)\npython3 -m pytest  -q  $HOME\necho test deps",
        "lint: make lint": everywhere + "ruff check $(EXTRA)",
        "build: make build": everywhere + "ruff check $(EXTRA)\nmake lint",
        "format: make fmt": everywhere + "ruff check $(EXTRA)",
    }


@pytest.mark.parametrize(
    "text",
    [
        "include other.mk\ntest:\n\tpytest\n",
        "-include .env\ntest:\n\tpytest\n",
        "define x\ntest:\n\tpytest\nendef\n",
        "$(eval test: ; evil)\ntest:\n\tpytest\n",
        "$(call rules)\ntest:\n\tpytest\n",
        "SHELL := ./evil\ntest:\n\tpytest\n",
        "MAKEFLAGS += -f evil.mk\ntest:\n\tpytest\n",
        ".RECIPEPREFIX = >\ntest:\n>pytest\n",
        ".EXTRA_PREREQS = evil\ntest:\n\tpytest\n",
        "$(X): a\n\tevil\ntest:\n\tpytest\n",
        "$(X) := ./evil\ntest:\n\tpytest\n",
        "\tpytest\n",
        "A = $(B\ntest: $(A\n\tpytest\n",
        "A = " + "x" * 9000 + "\ntest:\n\tpytest\n",
    ],
)
def test_a_makefile_whose_text_does_not_say_what_runs(text: str) -> None:
    with pytest.raises(NotTold):
        recipe(text)
    found = commands(Makefile=text)
    assert found.found == ()
    assert len(found.notes) == 1


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("A = x\nA = y\ntest:\n\t$(A)\n", "$(A)"),
        ("A = x\nA += y\ntest:\n\tpytest $(A)\n", "pytest x y"),
        ("ifdef CI\nA = x\nendif\nA += y\ntest:\n\tpytest ${A}\n", "pytest $(A)"),
        ("test: A = x\ntest:\n\t$(A)\n", "A=x\nA=''\n$(A)"),
        ("PATH := ./evil:$(PATH)\ntest:\n\tpytest\n", None),
        ("A != curl x\ntest:\n\tpytest $(A)\n", "curl x\npytest $(A)"),
        ("test: $(shell curl x)\n\tpytest\n", None),
        ("other: $(shell curl x)\ntest:\n\tpytest\n", "curl x\npytest"),
        ("Makefile:\n\tevil\ntest:\n\tpytest\n", "evil\npytest"),
        ("%:\n\tevil\ntest:\n\tpytest\n", "evil\npytest"),
        ("test: test\n\tmake test\n", "make test"),
        ("test:\n\tmake -C sub test\n", None),
        ("test::\n\tpytest\ntest::\n\tgit push\n", "pytest\ngit push"),
        ("test:\r\n\tpytest\r\n", "pytest"),
    ],
)
def test_what_a_target_runs(text: str, runs: str | None) -> None:
    if runs is None:
        with pytest.raises(NotTold):
            recipe(text)
    else:
        assert recipe(text) == runs


def test_variables_that_never_end_are_refused() -> None:
    lines = [f"A{n} = " + f"$(A{n + 1})" * 300 for n in range(9)]
    with pytest.raises(NotTold):
        recipe("\n".join([*lines, "A9 =", "test:", "\t$(A0)"]))
    with pytest.raises(NotTold):
        recipe("A = $(A)\ntest:\n\t$(A)\n")


# Python, Rust, Go.


def test_tools_and_scripts_of_pyproject() -> None:
    text = """
        [tool.pytest.ini_options]
        addopts = ["-q", "-ra"]
        [tool.ruff]
        [tool.mypy]
        [tool.black]
        [tool.nox]
        [tool.poetry]
        [tool.hatch.envs.default.scripts]
        test = "pytest {args}"
        serve = "x"
        [tool.hatch.envs.lint.scripts]
        style = ["ruff check .", "- black --check ."]
        [tool.pdm.scripts]
        test = {cmd = ["pytest", "-x"]}
        lint = {composite = ["style", "test"]}
        pre_test = "echo first"
        format = {call = "tools:format"}
        [tool.tox]
        legacy_tox_ini = '''
        [testenv:lint]
        commands = ruff check .
        [testenv:py]
        commands = {[testenv]commands}
        '''
    """.replace("        ", "")
    assert told(commands(pyproject_toml=text)) == {
        "test: hatch run test": "pytest {args}",
        "test: pdm run test": "pytest -x\necho first",
        "test: pytest": "pytest -q -ra",
        "test: python -m pytest": "python -m pytest -q -ra",
        "test: poetry run pytest": "poetry run pytest -q -ra",
        "test: nox": "nox",
        "test: poetry run nox": "poetry run nox",
        "lint: hatch run lint:style": "ruff check .\nblack --check .",
        "lint: pdm run lint": "style\ntest\npytest -x\necho first",
        "lint: tox -e lint": "ruff check .",
        "lint: ruff check": "ruff check",
        "lint: ruff check .": "ruff check .",
        "lint: poetry run ruff check": "poetry run ruff check",
        "type: mypy": "mypy",
        "type: mypy .": "mypy .",
        "type: poetry run mypy": "poetry run mypy",
        "format: ruff format": "ruff format",
        "format: ruff format .": "ruff format .",
        "format: poetry run ruff format": "poetry run ruff format",
        "format: black .": "black .",
        "format: black --check .": "black --check .",
        "format: poetry run black .": "poetry run black .",
    }


def test_a_key_of_very_many_parts_takes_no_time() -> None:
    found = commands(pyproject_toml=".".join(["a"] * 50_000) + " = 1\n")
    assert found.notes == ("pyproject.toml is left out: a line is too long.",)


def test_rust_and_go() -> None:
    found = commands(Cargo_toml='[package]\nname = "x"\n', go_mod="module example.com/x\n\ngo 1.22\n")
    assert [one.command for one in found.found] == [
        "cargo test", "go test ./...", "cargo clippy", "go vet ./...", "cargo check", "cargo build",
        "go build ./...", "cargo fmt", "cargo fmt --check", "go fmt ./...",
    ]  # fmt: skip
    assert commands(Cargo_toml="x = 1", go_mod="# module").found == ()


# CI.


def test_lines_of_github() -> None:
    workflow = r"""
        on: push
        jobs:
          here:
            steps:
              - uses: actions/checkout@v4
              - run: npm ci
              - run: npm test
              - run: pytest -x "tests/a b"
              - run: |
                  npx tsc --noEmit
                  golangci-lint run

              - run: pytest ${{ matrix.args }}
              - run: pytest $ARGS
              - run: pytest `id`
              - run: pytest && git push
              - run: pytest | tee log
              - run: "ruff check . # all"
              - run: python -c "import x"
              - run: pytest \
                  -q
              - run: |
                  cd web
                  jest
              - {run: mypy src, working-directory: web}
              - {run: mypy lib, shell: pwsh}
              - run: [pytest]
              - 7
          elsewhere:
            defaults: {run: {working-directory: web}}
            steps: [{run: mypy app}]
    """
    assert told(commands(ci=workflow)) == {
        'test: pytest -x "tests/a b"': 'pytest -x "tests/a b"',
        "lint: golangci-lint run": "golangci-lint run",
        "type: npx tsc --noEmit": "npx tsc --noEmit",
    }


def test_lines_of_gitlab() -> None:
    text = "t:\n  script:\n    - pip install .\n    - [ruff check src, mypy src]\nb: {script: cargo build}\nc: {script: [cd x, jest]}\n"
    assert [one.command for one in commands(gitlab=text).found] == [
        "ruff check src",
        "mypy src",
        "cargo build",
    ]
    added = '[tool.pytest.ini_options]\naddopts = "-p mine"\n'
    assert (
        told(commands(gitlab="t: {script: pytest a}", pyproject_toml=added))["test: pytest a"]
        == "pytest a -p mine"
    )


def test_very_many_brackets_take_no_time() -> None:
    assert commands(ci="a: " + "[" * 100_000).notes == (f"{CI} is left out: it has too many brackets.",)
    assert commands(ci="a: 1\na: 2\n").notes == (f"{CI} is left out: it cannot be parsed.",)


# Rules.


def test_a_rule_answers_its_command_and_no_other() -> None:
    [found] = commands(package_json=package({"lint": "eslint ."})).found
    rule = rule_of(found)
    assert (rule.name, rule.kinds, rule.answer) == (
        "lint: npm run lint (package.json)",
        ("permission",),
        "Choose 1",
    )
    policy = Policy(rules=(rule,))
    assert parse_policy(as_json(policy), "it").rules == (rule,)

    def answer(detail: str, tool: str = "Bash") -> str:
        asked = Question("permission", "May I?", (Option("Yes"), Option("No")), tool=tool, detail=detail)
        return by_rules(Case("s", "n", "claude", "q", 1, asked, ALLOWED), policy).answer

    assert answer("npm run lint") == answer("npm run lint", "run_shell_command") == "Choose 1"
    assert answer("npm run lint", "Write") == ""
    for other in ("npm run lint; id", "npm run lint2", "NPM run lint", "npm run lint\nid", "npm  run lint"):
        assert answer(other) == ""


def test_a_rule_stands_for_the_text_that_was_confirmed() -> None:
    rule = rule_of(ProjectCommand("test", "npm test", "package.json", "jest"))
    assert still_as_confirmed(rule, "jest")
    assert not still_as_confirmed(rule, "jest; id")
    assert not still_as_confirmed(rule, None)
    assert still_as_confirmed(AnswerRule("a", "b"), None), "a rule of the person's own words"


def test_the_gate_has_its_word_on_each() -> None:
    found = commands(
        package_json=package({"test": "jest", "build": "rm -rf dist && tsc", "lint": "eslint . && git push"}),
        gitlab="a: {script: 'eslint -o /etc/passwd .'}",
    )
    proposed = {one.found.command: one.stopped for one in proposals(found.found, DEFAULT)}
    assert proposed["npm test"] == ()
    assert "It pushes to a remote. (git push)" in proposed["npm run lint"]
    assert proposed["npm run build"]
    assert not [name for name in proposed if "passwd" in name], "what the gate stops by itself is no rule"
    many = {f"test:{n}": "jest" for n in range(300)}
    assert len(proposals(commands(package_json=package(many)).found, DEFAULT)) == MOST_RULES


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(
            ["package.json", "Makefile", "pyproject.toml", "Cargo.toml", "go.mod", CI, ".gitlab-ci.yml"]
        ),
        st.binary(max_size=400)
        | st.text(max_size=400).map(lambda text: text.encode("utf-8", "surrogatepass")),
    )
)
def test_any_bytes(files: dict[str, bytes]) -> None:
    for one in project_commands(files).found:
        assert re.fullmatch(rule_of(one).pattern, one.command)


_MAKE_PARTS = ["test", "lint", ":", ";", "\n", "\n\t", "=", ":=", "!=", "$(", "${", ")", "}", "$@", "$", "A", " ", "%",
               "make", "shell x", "\\\n", "#", "export ", "ifdef A", "endif", "define", "|", "+="]  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(_MAKE_PARTS), max_size=60).map("".join))
def test_any_makefile(text: str) -> None:
    for one in commands(Makefile=text).found:
        assert one.command.startswith("make ")
        assert "\n" not in one.command


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["test", "pretest", "lint", "lint:a", "build"]) | st.text(max_size=9),
        st.lists(st.sampled_from(["npm run", "lint", "test", "lint:*", "jest", "&&", "make", "\n", "*"])).map(
            " ".join
        )
        | st.none(),
    ),
)
def test_any_scripts(scripts: dict[str, str | None]) -> None:
    for one in commands(package_json=package(scripts), Makefile="lint:\n\tnpm run test\n").found:
        rule = rule_of(one)
        assert parse_policy(as_json(Policy(rules=(rule,))), "it").rules == (rule,)
