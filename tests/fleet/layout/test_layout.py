"""fleet.yml: what loads, and how its faults are told."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.errors import InvalidInput
from maestro.fleet.layout import FleetPlan, parse_fleet

AGENTS = ("claude", "codex", "gemini", "scripted")


def parsed(text: str, **options: Any) -> FleetPlan:
    given_ = {"source": "fleet.yml", "folder": "/work place/shop", "home": "/home/me", "agents": AGENTS}
    return parse_fleet(text, **given_ | options)


def faults(text: str) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        parsed(text)
    return caught.value.message.split("\n")


def test_the_smallest_fleet() -> None:
    fleet = parsed("panes:\n  - label: Main\n    agent: claude\n")
    assert fleet.name == "shop"
    (pane,) = fleet.panes
    assert (pane.label, pane.cli, pane.persona, pane.role, pane.mode) == (
        "Main", "claude", None, "worker", "default",
    )  # fmt: skip
    assert fleet.notes == ()


def test_everything_that_can_be_said() -> None:
    fleet = parsed(
        """\
name: shop-front
panes:
- {label: Lead, agent: architect, cli: codex, manages: [Main, "Tests"], window: lead}
- label: Main
  agent: claude
  role: worker
  project: ../other
  cwd: ~/src/ü b
  task: task_7X2K9Q
  prompt: |
    Begin with the login.
  model: opus
  mode: edits
  worktree: true
  network: true
- label: Tests
  cli: gemini
  project: shop
  cwd: sub/../tests
"""
    )
    lead, main, tests = fleet.panes
    assert fleet.name == "shop-front"
    assert (lead.cli, lead.persona, lead.role) == ("codex", "architect", "coordinator")
    assert (lead.manages, lead.window) == (("Main", "Tests"), "lead")
    assert (main.project, main.cwd) == ("/work place/other", "/home/me/src/ü b")
    assert (main.prompt, main.mode, main.worktree, main.network) == (
        "Begin with the login.\n",
        "edits",
        True,
        True,
    )
    assert (tests.cli, tests.persona) == ("gemini", None)
    assert (tests.project, tests.cwd) == ("shop", "/work place/shop/tests")
    assert [pane.line for pane in fleet.panes] == [3, 4, 16]


def test_a_coordinator_whose_panes_are_not_in_the_file_waits_for_them() -> None:
    fleet = parsed(
        """\
panes:
  - label: "Coordinator"
    agent: operator
    manages: ["Main", "Research", "SDK"]  # sets @pane_manages
"""
    )
    (pane,) = fleet.panes
    assert (pane.cli, pane.persona, pane.role) == ("claude", "operator", "coordinator")
    assert pane.manages == ("Main", "Research", "SDK")
    assert len(fleet.notes) == 3
    assert fleet.notes[0].startswith("fleet.yml:4: pane “Coordinator” manages “Main”, which is no pane here")


def test_a_name_that_is_nearly_a_cli_is_a_persona_with_a_note() -> None:
    fleet = parsed("panes:\n  - label: A\n    agent: cluade\n")
    assert fleet.panes[0].persona == "cluade"
    assert fleet.notes[0].startswith("fleet.yml:3: ")
    assert fleet.notes[0].endswith("Did you mean “claude”?")


def test_what_looks_like_no_in_older_yaml_is_text() -> None:
    assert parsed("panes: [{label: no, agent: claude, task: 0777a}]").panes[0].label == "no"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ["fleet.yml:1: a fleet has `panes:`"]),
        ("- a\n", ["fleet.yml:1: a fleet has `panes:`"]),
        ("name: x\n\npanes: []\n", ["fleet.yml:3: `panes` must be a list with at least one pane"]),
        ("name: x\n", ["fleet.yml:1: `panes` must be a list"]),
        ("panes:\n  - Main\n", ["fleet.yml:2: a pane is written as `- label: Main`, not as “Main”."]),
        ("panes:\n  - agent: claude\n", ["fleet.yml:2: pane 1 has no label. Add a name: label: Main"]),
        ("panes:\n  - label: A\n", ["fleet.yml:2: pane “A” has no agent. Add the CLI that runs it: agent: claude"]),
        ("panes:\n  - label: A|B\n    agent: claude\n", ["fleet.yml:2: a label has at most 80 characters"]),
        ('panes:\n  - label: "%3"\n    agent: claude\n', ["fleet.yml:2: a label has at most 80 characters"]),
        (
            "panes:\n  - label: A\n    agent: claude\n\n  - agent: codex\n    # c\n    label: A\n",
            ["fleet.yml:5: a pane on line 2 is called “A” too. Give this one another label."],
        ),
        (
            "panes:\n  - label: A\n    agent: claude\n    promt: hi\n",
            ["fleet.yml:4: pane “A” has the unknown key “promt”. Did you mean “prompt”?"],
        ),
        ("pane:\n  - x\n", ["fleet.yml:1: a fleet has the unknown key “pane”. Did you mean “panes”?", "fleet.yml:1: `panes`"]),
        (
            "panes:\n  - label: A\n    agent: claude\n    task: 12\n    worktree: 1\n    prompt: ''\n",
            [
                "fleet.yml:4: pane “A”: `task` must be text, not “12”. Put it in quotes.",
                "fleet.yml:6: pane “A”: `prompt` must not be empty. Mend it or leave it out.",
                "fleet.yml:5: pane “A”: `worktree` is true or false, not “1”.",
            ],
        ),
        (
            "panes:\n  - label: A\n    agent: claude\n    role: boss\n    mode: cautius\n",
            [
                "fleet.yml:4: pane “A” has the role “boss”, which is none of worker, coordinator.",
                "fleet.yml:5: pane “A” has the mode “cautius”, which is none of default, plan,",
            ],
        ),
        (
            "panes:\n  - label: A\n    agent: writer\n    cli: gemni\n",
            ["fleet.yml:4: pane “A”: there is no CLI “gemni”. Did you mean “gemini”?"],
        ),
        ("panes:\n  - label: A\n    agent: claude\n    cli: codex\n", ["fleet.yml:4: pane “A”: `agent` and `cli` name two CLIs"]),
        (
            "panes:\n  - label: Research\n    agent: claude\n  - label: Main\n    agent: claude\n    manages:\n      - Reserch\n",
            ["fleet.yml:7: pane “Main” manages “Reserch”, which is no pane. Did you mean “Research”?"],
        ),
        ("panes:\n  - {label: A, agent: claude, manages: [A]}\n", ["fleet.yml:2: pane “A” manages itself."]),
        ("panes:\n  - label: A\n    agent: claude\n    manages: B\n", ["fleet.yml:4: pane “A”: `manages` is a list of labels: manages: [B]"]),
        ("name: a b\npanes: [{label: A, agent: claude}]\n", ["fleet.yml:1: a fleet's name has 1 to 40 letters"]),
        ("panes:\n  - label: A\n    agent: claude\n    label: B\n", ["fleet.yml:4: “label” is there twice. Remove one."]),
        ("panes:\n\t- label: A\n", ["fleet.yml:2: this line is indented with a tab. YAML takes spaces only."]),
        ("panes:\n  - label: [A\n", ["fleet.yml:3: this is not YAML: "]),
        ("panes: []\n---\npanes: []\n", ["fleet.yml:1: a fleet's file is one document."]),
        ("? [a]\n: 1\n", ["fleet.yml:1: this is not YAML: "]),
    ],
)  # fmt: skip
def test_faults_name_the_line_and_what_to_do(text: str, told: list[str]) -> None:
    found = faults(text)
    assert len(found) == len(told), found
    for fault, beginning in zip(found, told, strict=True):
        assert fault.startswith(beginning)


def test_a_thousand_faults_are_told_in_twenty_lines() -> None:
    text = "panes:\n" + "  - x\n" * 1000
    assert len(faults(text)) == 21
    assert faults(text)[-1] == "… and 980 more."


def test_a_fault_shows_no_control_characters() -> None:
    assert "\x1b" not in "".join(faults('panes: [{label: "a\\e[2J", agent: claude, "k\\e]0;x\\a": 1}]'))


@given(
    st.one_of(
        st.text(max_size=80),
        st.lists(
            st.sampled_from(["panes:\n", "  - label: A\n", "    agent: claude\n", "  - ", "[", "}", "&a ", "*a", "\t", "label: x\n", "manages: [A, B]\n", "\u2028", "\ud800", "!!binary x\n"]),
            max_size=12,
        ).map("".join),
    )
)  # fmt: skip
def test_any_text_is_a_fleet_or_a_told_fault(text: str) -> None:
    try:
        assert parsed(text).panes
    except InvalidInput as error:
        assert all(line.startswith(("fleet.yml:", "…")) for line in error.message.split("\n"))  # noqa: PT017 - both ends are right
