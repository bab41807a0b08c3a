"""Step prompts and arguments: filled once, with data, or refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.chains.support import package, project_at

from maestro.chains import Context, Project, ResultBlock, Route
from maestro.chains.catalogue.catalogue_file import step_template
from maestro.chains.context import after, begin, phase_folder, slug, told, work_folder
from maestro.chains.project import phase_of
from maestro.chains.template import (
    STEP_PLACEHOLDERS,
    fill_args,
    fill_template,
    fill_text,
    placeholders_in,
    prompt_of,
    result_format,
    values_of,
)
from maestro.errors import InvalidInput

VALUES = dict.fromkeys(STEP_PLACEHOLDERS, "x")
CONTEXT = Context(
    description='say "hi" {phase}',
    phase=2,
    issue_id="ISSUE-1",
    spec_session_id="SPEC-a",
    scratch_dir=".maestro/scratch/a",
)
KNOWN = values_of(CONTEXT, ".maestro", ".maestro/phases/02-checkout")


def test_the_step_template_has_every_placeholder_once() -> None:
    found = [name for name in STEP_PLACEHOLDERS if step_template().count("{{" + name + "}}") == 1]
    assert found == list(STEP_PLACEHOLDERS)


def test_a_value_that_looks_like_a_placeholder_stays_as_it_is() -> None:
    filled = fill_template(
        "{{ARGS}} {{PROMPT}}", VALUES | {"ARGS": "{{PROMPT}}", "PROMPT": "{{ARGS}} {phase}"}
    )
    assert filled == "{{PROMPT}} {{ARGS}} {phase}"


@pytest.mark.parametrize(
    ("template", "values", "words"),
    [
        ("{{OTHER}}", VALUES, "unknown placeholder {{OTHER}}"),
        ("{{args}}", VALUES, "unknown placeholder {{args}}"),
        ("{{ARGS}}", {}, "Nothing was given for {{ARGS}}"),
        ("text", VALUES | {"OTHER": "x"}, "knows no placeholder {{OTHER}}"),
    ],
)
def test_an_unknown_or_unfilled_placeholder_is_refused(
    template: str, values: dict[str, str], words: str
) -> None:
    with pytest.raises(InvalidInput, match=words.replace("{", r"\{")):
        fill_template(template, values)


def test_arguments_are_filled_and_cannot_close_their_quotes() -> None:
    assert fill_args('"{description}" {phase} {issue_id}', KNOWN) == '"say \\"hi\\" {phase}" 2 ISSUE-1'
    assert fill_args('"{description}"', KNOWN | {"description": "two\nlines"}) == '"two lines"'


def test_an_unfilled_argument_is_named_with_a_remedy() -> None:
    with pytest.raises(InvalidInput) as caught:
        fill_args("{phase}", values_of(Context(), ".maestro", ""))
    assert "{phase} is needed here and not known" in caught.value.message
    assert "roadmap" in caught.value.hint
    with pytest.raises(InvalidInput, match="no placeholder"):
        fill_text("{other}", KNOWN)


def test_the_auto_flag_is_added_once() -> None:
    assert fill_args("{phase}", KNOWN, auto_flag="--auto") == "2 --auto"
    assert fill_args("{phase} --auto", KNOWN, auto_flag="--auto") == "2 --auto"
    assert fill_args("", KNOWN, auto_flag="-y") == "-y"
    # What a person wrote is no flag of ours.
    assert (
        fill_args('"{description}"', KNOWN | {"description": "use -y here"}, auto_flag="-y")
        == '"use -y here" -y'
    )


@given(st.text())
def test_any_description_is_data(text: str) -> None:
    words = text if text.split() else "x"
    values = KNOWN | {"description": words}
    assert fill_text("a {description} b", values) == f"a {words} b"
    filled = fill_args('"{description}"', values)
    assert "\n" not in filled
    assert filled.startswith('"')


def test_every_command_becomes_a_whole_prompt() -> None:
    catalogue = package()
    for command in catalogue.commands.values():
        prompt = prompt_of(command, catalogue.formats, KNOWN | {"description": "the wish"})
        assert placeholders_in(prompt) == [], command.name
        for name in command.formats:
            assert f"### Format: {name}" in prompt
        end = result_format(command)
        assert all(f"\n{field}:" in end for field in ("STATUS", "ARTIFACTS", "SUMMARY", *command.result))


def project() -> Project:
    found = project_at("planned")
    assert found is not None
    return found


def test_a_chain_of_a_phase_begins_with_the_current_one_and_beside_the_roadmap_with_none() -> None:
    route = Route(chain="x", clarity=2, description="Add a cart")
    chains = package().chains
    started = begin(chains["execute-verify"], route, project(), state=".maestro", stamp="0131")
    assert started.phase == 1
    assert work_folder(started, project(), ".maestro") == ".maestro/phases/01-catalogue"
    beside = begin(chains["analyze-plan-execute"], route, project(), state=".maestro", stamp="0131")
    assert beside.phase is None
    assert work_folder(beside, project(), ".maestro") == ".maestro/scratch/0131-add-a-cart"
    plan = begin(chains["plan"], route, project(), state=".maestro", stamp="0131")
    assert plan.scratch_dir


def test_a_phase_that_is_not_there_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no phase 7"):
        begin(
            package().chains["plan"], Route(chain="plan", clarity=3, phase=7), project(), state="s", stamp="1"
        )


def test_results_travel_to_the_next_step() -> None:
    block = ResultBlock(status="SUCCESS", summary="x", phase=2, issue="ISSUE-3", spec="SPEC-b", scratch="s/x")
    later = after(Context(work="phase", phase=1, description="d"), block)
    assert (later.phase, later.issue_id, later.spec_session_id, later.scratch_dir) == (
        2,
        "ISSUE-3",
        "SPEC-b",
        "s/x",
    )
    assert after(Context(work="scratch"), block).phase is None
    assert after(later, ResultBlock(status="SUCCESS", summary="y")) == later


def test_the_context_is_told_on_single_lines() -> None:
    text = told(Context(description="two\n- lines", phase=1, work="phase"), project(), ".maestro")
    assert "- Wanted: two - lines" in text
    assert "- Phase: 1, Catalogue (planned)" in text
    assert "not initialised" in told(Context(), None, ".maestro")


@given(st.text())
def test_a_slug_is_always_the_name_of_a_folder(text: str) -> None:
    name = slug(text)
    assert name
    assert name.strip("-") == name
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


def test_a_phase_has_a_folder_of_its_number_and_title() -> None:
    phase = phase_of(project(), 2)
    assert phase is not None
    assert phase_folder(phase) == "phases/02-checkout"
