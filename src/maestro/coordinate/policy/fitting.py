"""Tells whether a rule that the human wrote is about a question. Pure."""

from __future__ import annotations

import re
from typing import Final

from maestro.agents.questions import Question
from maestro.coordinate import AnswerRule
from maestro.coordinate.gate.folding import fold_text
from maestro.coordinate.gate.tools import runs_shell

_LONGEST_TEXT: Final = 4_000  # a longer one is like no rule: patterns may take very long on long texts


def names_dialog(rule: AnswerRule, asked: Question) -> bool:
    """Returns whether a rule is for a CLI's own dialogs, by their kind, and for this one."""
    if asked.kind != "dialog" or "dialog" not in rule.kinds:
        return False
    try:
        return fits_question(rule, asked)
    except re.error:
        return False


def fits_question(rule: AnswerRule, asked: Question) -> bool:
    """Returns whether a rule is about this question. Raises re.error where its pattern cannot be read."""
    pattern = re.compile(rule.pattern, re.DOTALL)
    if rule.kinds and asked.kind not in rule.kinds:
        return False
    if rule.tool and asked.tool != rule.tool:
        return False
    # A script is run by a shell; a file of the same name that is edited or fetched is something else.
    if rule.digest and asked.tool and not runs_shell(asked.tool):
        return False
    if asked.kind == "permission" and asked.detail:
        # The question of a permission is always the same; its command is what is asked. As it is: folded, it would
        # be another command.
        command = asked.detail.strip()
        return len(command) <= _LONGEST_TEXT and pattern.fullmatch(command) is not None
    text = asked.text or "\n".join(part.text for part in asked.parts)
    if len(text) > _LONGEST_TEXT:
        return False
    folded = fold_text(text).strip()
    return re.compile(rule.pattern, re.DOTALL | re.IGNORECASE).fullmatch(folded) is not None
