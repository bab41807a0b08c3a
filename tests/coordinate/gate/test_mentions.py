"""What a question only names is not asked for; the same words are, where they are to be run, deleted or sent."""

from __future__ import annotations

import pytest

from maestro.agents.questions import Option, Question
from maestro.coordinate import CategoryRule, Policy
from maestro.coordinate.gate.categories import known_categories
from maestro.coordinate.gate.judge import gate
from maestro.coordinate.gate.mentions import without_mentions
from maestro.coordinate.gate.tools import Text

EVERY_CATEGORY = tuple(category.name for category in known_categories())


def bare(text: str, *options: str) -> list[str]:
    question = Question("choice", text, tuple(Option(option) for option in options))
    texts = [Text("question", text), *(Text(f"option {n}", option) for n, option in enumerate(options, 1))]
    return [each.text for each in without_mentions(question, texts)]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("Label of the button: “Delete account” or “Remove account”?", ("Delete account", "Remove account")),
        ("Should the method be called `rollback` or `undo`?", ("rollback", "undo")),
        ("`df.drop(columns=...)` or a `where`: which reads better?", ("drop", "where")),
        ("`ring_push` or `rb_put`?", ("ring_push", "rb_put")),
        ("How should I word the warning?", ("Deleting this cannot be undone", "There is no undo")),
        ("Which slide should come first: “Deploying” or “Testing”?", ("Deploying", "Testing")),
    ],
)
def test_options_of_a_question_for_a_name_are_names(text: str, options: tuple[str, ...]) -> None:
    asked, *offered = bare(text, *options)
    assert offered == ["this"] * len(options)
    assert not any(option in asked for option in options)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("What should I do with the rows?", ("delete_all", "keep")),
        ("How should I handle the clash of names?", ("Drop the old table", "Keep both")),
        ("`force_push` or `merge_commit`?", ("force_push", "merge_commit")),
        ("Which term fits best? I will run the chosen one.", ("force push", "merge")),
        ("Which name do you prefer?", ("git push --force", "Delete prod_users")),
        ("Which label do you prefer?", ("ok, and now push to main", "yes, delete it")),
    ],
)
def test_options_that_may_be_deeds_stay(text: str, options: tuple[str, ...]) -> None:
    assert bare(text, *options)[1:] == list(options)


@pytest.mark.parametrize(
    "text",
    [
        "In chapter 4, should the explanation of `git rebase` come before or after `git merge`?",
        "Should the parser for `DROP TABLE` share a node with `ALTER TABLE`?",
        "Should the parser for DROP TABLE share a node with ALTER TABLE?",
        "In the README, should “Uninstall” come after “Install”?",
        "Change `next_token()` to return an enum?",
    ],
)
def test_what_a_text_or_a_test_is_about_is_only_named(text: str) -> None:
    (asked,) = bare(text)
    assert "this" in asked.split()
    assert not any(word in asked for word in ("git", "TABLE", "nstall", "token"))


@pytest.mark.parametrize(
    "text",
    [
        "Shall I run `git push`?",
        "Delete `prod_backup`?",
        "Should `git rebase` run before or after `git merge`?",
        "Before I explain it in chapter 4, should I run `git rebase`?",
        "Should the helper named `deploy` be run now?",
        "There is a branch called `wip`. Shall I delete it?",
        "Should the type of instance be upgraded to `p4d.24xlarge`?",
        "Call `reset_db()` now?",
        "Change the `api_token`?",
    ],
)
def test_what_is_to_be_done_stays(text: str) -> None:
    assert bare(text) == [text]


def test_the_words_around_a_name_still_ask() -> None:
    policy = Policy(strictness="sure", always_escalate=EVERY_CATEGORY)
    named = Question("choice", "Which name reads better, `a` or `b`?", (Option("a"), Option("b")))
    pushed = Question(
        "choice", "Which name reads better, `a` or `b`, and shall I push it?", (Option("a"), Option("b"))
    )
    assert gate(named, policy, "a").verdict == "allow"
    assert gate(pushed, policy, "a").verdict == "escalate"


def test_the_words_of_a_policy_are_found_in_names_too() -> None:
    own = CategoryRule(name="brand names", patterns=("acme",))
    policy = Policy(strictness="sure", always_escalate=("brand names",), categories=(own,))
    asked = Question("choice", "Which title is better?", (Option("Acme tools"), Option("Tools")))
    assert gate(asked, policy, "Tools").verdict == "escalate"


@pytest.mark.parametrize(
    ("text", "is_grave"),
    [
        ('Shall I call `shutil.rmtree("/data")`?', True),
        ("Call `User.objects.all().delete()`?", True),
        ("Should the fixture call `shutil.rmtree(path)`?", False),
        ("Shall I call `load_fixture()`?", False),
    ],
)
def test_code_that_is_to_run_is_read_as_code(text: str, is_grave: bool) -> None:  # noqa: FBT001 - a row's verdict
    policy = Policy(strictness="sure", always_escalate=EVERY_CATEGORY)
    asked = Question("choice", text, (Option("Yes"), Option("No")))
    assert (gate(asked, policy, "Yes").verdict == "escalate") == is_grave
