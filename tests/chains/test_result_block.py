"""The block that ends a step: what counts as a result, and what does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maestro.chains import FIELDS, ResultBlock
from maestro.chains.result_block import BEGIN, END, BlockFault, parse_result

WHOLE = f"""I have planned it.

{BEGIN}
STATUS: SUCCESS
PHASE: 2
ARTIFACTS:
- .maestro/phases/02-login/plan.md
- `src/login.py`
SUMMARY: Planned in four tasks.
VERIFICATION: every file was looked up
VERDICT: GAPS
ISSUE: ISSUE-20260131-002
SPEC: SPEC-login-20260131
SCRATCH: .maestro/scratch/0131-login/
{END}
"""
SHORT = f"{BEGIN}\nSTATUS: SUCCESS\nARTIFACTS: none\nSUMMARY: Done.\n{END}"


def fault(output: str, *required: str) -> str:
    found = parse_result(output, required)  # type: ignore[arg-type]  # fields are words here
    assert isinstance(found, BlockFault), found
    return found.words


def test_a_whole_block_is_read() -> None:
    assert parse_result(WHOLE, FIELDS) == ResultBlock(
        status="SUCCESS",
        summary="Planned in four tasks.",
        artifacts=(".maestro/phases/02-login/plan.md", "src/login.py"),
        phase=2,
        verification="every file was looked up",
        verdict="GAPS",
        issue="ISSUE-20260131-002",
        spec="SPEC-login-20260131",
        scratch=".maestro/scratch/0131-login",
    )


@pytest.mark.parametrize("wrapped", [f"```\n{SHORT}\n```", f"```text\n{SHORT}\n```\n\n", f"  {SHORT}  \n"])
def test_a_code_fence_around_it_is_forgiven(wrapped: str) -> None:
    assert parse_result(wrapped) == ResultBlock(status="SUCCESS", summary="Done.")


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("All done, everything works.\nSTATUS: SUCCESS", "There is no result block"),
        ("", "There is no result block"),
        (f"{SHORT}\n{SHORT}", "There are 2 result blocks"),
        (SHORT.removesuffix(END), "is not closed"),
        (f"{SHORT}\nBy the way, one test fails.", "text after the result block"),
        (SHORT.replace("STATUS: SUCCESS\n", ""), "has no STATUS"),
        (SHORT.replace("SUCCESS", "DONE"), "STATUS is “DONE”; it is one of SUCCESS, FAILURE, BLOCKED"),
        (SHORT.replace("SUCCESS", "success"), "STATUS is “success”"),
        (SHORT.replace("ARTIFACTS: none", "ARTIFACTS:"), "ARTIFACTS of the result block is empty"),
        (SHORT.replace("ARTIFACTS: none", "ARTIFACTS: a.md, b.md"), "one line for each path"),
        (SHORT.replace("ARTIFACTS: none", "ARTIFACTS:\n- /etc/passwd"), "start at the project's root"),
        (SHORT.replace("ARTIFACTS: none", "ARTIFACTS:\n- a/../../b"), "start at the project's root"),
        (SHORT.replace("SUMMARY: Done.", "SUMMARY:"), "SUMMARY of the result block is empty"),
        (SHORT.replace("SUMMARY: Done.", "SUMMARY: a\nSUMMARY: b"), "SUMMARY stands twice"),
        (SHORT.replace("SUMMARY: Done.", "SUMMARY: a\nand more"), "“and more” is no field"),
        (SHORT.replace(END, f"PHASE: two\n{END}"), "PHASE is “two”"),
        (SHORT.replace(END, f"PHASE: 0\n{END}"), "PHASE is “0”"),
        (SHORT.replace(END, f"ISSUE: 12\n{END}"), "ISSUE is “12”"),
        (SHORT.replace(END, f"ISSUE: ISSUE-../x\n{END}"), "it looks like ISSUE-12"),
        (SHORT.replace(END, f"VERDICT: OK\n{END}"), "VERDICT is “OK”"),
        (SHORT.replace(END, f"SCRATCH: ../up\n{END}"), "SCRATCH has “../up”"),
        (SHORT.replace("Done.", "x" * 3000), "over 2000 characters"),
    ],
)
def test_anything_else_is_a_fault_with_a_sentence(output: str, words: str) -> None:
    assert words in fault(output)


def test_what_the_command_wants_must_be_there_if_the_step_succeeded() -> None:
    assert fault(SHORT, "VERDICT", "ISSUE") == "The result block has no VERDICT and no ISSUE."
    failed = parse_result(SHORT.replace("SUCCESS", "FAILURE"), ("VERDICT",))
    assert isinstance(failed, ResultBlock)
    assert failed.status == "FAILURE"


LINES = st.one_of(
    st.sampled_from([BEGIN, END, "```", "", "ARTIFACTS:", "- a/b.md", "- none", "ARTIFACTS: none"]),
    st.builds("{}: {}".format, st.sampled_from([*FIELDS, "OTHER"]), st.text(max_size=30)),
    st.text(max_size=30),
)


@given(st.one_of(st.text(), st.lists(LINES, max_size=20).map("\n".join)))
def test_any_output_is_a_block_or_a_fault(output: str) -> None:
    found = parse_result(output, ("VERDICT",))
    if isinstance(found, BlockFault):
        assert found.words
    else:
        assert found.summary
        assert output.count(BEGIN) >= 1
        assert not any(path.startswith("/") or ".." in path.split("/") for path in found.artifacts)
