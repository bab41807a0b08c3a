"""The input box of each CLI: first characters, haste, and what is sent."""

from __future__ import annotations

import pytest
from tests.testing.imitated import Imitation, typed

from maestro.agents import claude, codex, gemini, scripted
from maestro.agents.terminal import Terminal
from maestro.testing.scripted_agent.box import Sent
from maestro.testing.scripted_agent.keys import Key
from maestro.testing.scripted_agent.steps import IMITATED, Imitated

ADAPTERS: dict[Imitated, Terminal] = {
    "claude": claude.ADAPTER,
    "codex": codex.ADAPTER,
    "gemini": gemini.ADAPTER,
}
ENTER = Key("enter")


def box(imitate: Imitated) -> Imitation:
    return Imitation(imitate, ADAPTERS[imitate])


@pytest.mark.parametrize(
    ("imitate", "text", "sent"),
    [
        ("claude", "!rm x", Sent("rm x", "shell")),
        ("claude", " !rm x", Sent(" !rm x")),
        ("claude", "/nosuch words", Sent("/nosuch words", "command")),
        ("claude", "/tmp/x is a path", Sent("/tmp/x is a path")),
        ("claude", " /nosuch words", Sent(" /nosuch words")),
        ("claude", " /cost", Sent("/cost", "command")),
        ("claude", "\n/exit", Sent("/exit", "quit")),
        ("codex", " /exit", Sent("/exit")),
        ("gemini", " /exit", Sent("/exit", "quit")),
        ("gemini", "\u2060/exit", Sent("\u2060/exit")),
        ("codex", "\u2060!rm x", Sent("\u2060!rm x")),
        ("codex", "!rm x", Sent("rm x", "shell")),
        ("codex", " !rm x", Sent("rm x", "shell")),
        ("codex", "/nosuch words", Sent("/nosuch words", "command")),
        ("codex", " /nosuch words", Sent("/nosuch words")),
        ("gemini", "!rm x", Sent("!rm x")),
        ("gemini", "/nosuch words", Sent("/nosuch words")),
        *((imitate, text, Sent(text)) for imitate in IMITATED for text in ("#note", "@file", "1 digit")),
        *((imitate, "/exit", Sent("/exit", "quit")) for imitate in IMITATED),
    ],
)
def test_what_a_pasted_first_character_does(imitate: Imitated, text: str, sent: Sent) -> None:
    imitation = box(imitate)
    imitation.press(Key("paste", text), ENTER)
    assert imitation.sent == [sent]


def test_claude_code_takes_invisible_characters_out_and_waits_for_another_enter() -> None:
    imitation = box("claude")
    imitation.press(Key("paste", "\u2060!rm x"), ENTER)
    assert imitation.sent == []
    assert imitation.state.box.draft.text == "!rm x"
    imitation.press(ENTER)
    assert imitation.sent == [Sent("!rm x")]


@pytest.mark.parametrize("imitate", IMITATED)
def test_a_typed_exclamation_mark_switches_to_the_shell_and_back(imitate: Imitated) -> None:
    imitation = box(imitate)
    imitation.press(*typed("!"))
    assert imitation.state.box.is_shell
    imitation.press(Key("backspace"))
    assert not imitation.state.box.is_shell
    imitation.press(*typed("!ls"), ENTER)
    assert imitation.sent == [Sent("ls", "shell")]
    assert imitation.read().state == "idle"


def test_only_codex_keeps_a_command_that_it_does_not_know() -> None:
    left_over: tuple[tuple[Imitated, str], ...] = (("claude", ""), ("codex", "/nosuch words"))
    for imitate, left in left_over:
        imitation = box(imitate)
        imitation.press(Key("paste", "/nosuch words"), ENTER)
        assert imitation.state.box.draft.text == left


@pytest.mark.parametrize(
    ("imitate", "keys", "gap", "texts"),
    [
        ("claude", [*typed("text"), ENTER], 0.0, ["text"]),
        ("claude", [Key("paste", "a\nb"), ENTER], 0.0, ["a\nb"]),
        # Without brackets every line end submits.
        ("claude", [*typed("one"), ENTER, *typed("two"), ENTER, *typed("three")], 0.0, ["one", "two"]),
        ("codex", [*typed("text"), ENTER], 0.0, []),
        ("codex", [*typed("text"), ENTER], 0.2, ["text"]),
        ("codex", [Key("paste", "a\nb"), ENTER], 0.0, ["a\nb"]),
        ("codex", [*typed("one"), ENTER, *typed("two"), ENTER], 0.0, []),
        ("gemini", [*typed("text"), ENTER], 0.0, []),
        ("gemini", [Key("paste", "a\nb"), ENTER], 0.01, []),
        ("gemini", [Key("paste", "a\nb"), ENTER], 0.05, ["a\nb"]),
        ("gemini", [*typed("text"), ENTER], 0.05, ["text"]),
    ],
)
def test_a_hasty_enter(imitate: Imitated, keys: list[Key], gap: float, texts: list[str]) -> None:
    imitation = box(imitate)
    imitation.press(*keys, gap=gap)
    assert [sent.text for sent in imitation.sent] == texts


def test_a_hasty_enter_is_a_new_line_in_the_box() -> None:
    names: tuple[Imitated, ...] = ("codex", "gemini")
    for imitate in names:
        imitation = box(imitate)
        imitation.press(*typed("text"), ENTER, gap=0.0)
        assert imitation.state.box.draft.text == "text\n"
        imitation.press(ENTER)
        assert imitation.sent == [Sent("text")]


@pytest.mark.parametrize(
    ("imitate", "shown"),
    [
        ("claude", "[Pasted text #1 +399 lines]"),
        ("codex", "[Pasted Content 11889 chars]"),
        ("gemini", "[Pasted Text: 400 lines]"),
    ],
)
def test_a_long_paste_is_shown_folded_and_sent_whole(imitate: Imitated, shown: str) -> None:
    text = "\n".join(f"row {number} with some words in it" for number in range(400))
    imitation = box(imitate)
    imitation.press(Key("paste", text))
    screen = imitation.read()
    assert screen.draft == shown
    assert imitation.adapter.box_holds(screen.draft, text)
    imitation.press(ENTER)
    assert imitation.sent == [Sent(text)]


@pytest.mark.parametrize("imitate", IMITATED)
@pytest.mark.parametrize(
    "text", ["!rm x", "/nosuch words", "#note", "@file", "1 digit", "/exit", "look at @file"]
)
def test_a_prompt_as_text_is_sent_as_a_prompt(imitate: Imitated, text: str) -> None:
    imitation = box(imitate)
    imitation.press(Key("paste", imitation.adapter.as_text(text)), ENTER)
    (sent,) = imitation.sent
    assert sent.kind == "prompt"
    assert sent.text.endswith(text)


@pytest.mark.parametrize("imitate", IMITATED)
@pytest.mark.parametrize("text", ["!rm x", "/nosuch words", "#note", "@file", "1 digit", "/exit"])
def test_what_the_scripted_agent_is_told_is_a_prompt_whomever_it_imitates(
    imitate: Imitated, text: str
) -> None:
    imitation = Imitation(imitate, scripted.ADAPTER)
    imitation.press(Key("paste", imitation.adapter.as_text(text)), ENTER)
    (sent,) = imitation.sent
    assert sent.kind == "prompt"
    assert text in sent.text
