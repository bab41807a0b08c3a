"""The play: effects out, replies in, no I/O."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from maestro.testing.scripted_agent import effects
from maestro.testing.scripted_agent.dialog import Answer
from maestro.testing.scripted_agent.play import Play
from maestro.testing.scripted_agent.script import parse_script
from maestro.testing.scripted_agent.transcript import SessionFacts, Transcript

BEGIN = datetime(2030, 1, 1, tzinfo=UTC)


class Stage:
    """Plays a script to its end; each effect that waits takes the next of `replies`."""

    def __init__(
        self,
        *steps: dict[str, Any],
        replies: tuple[effects.Reply, ...] = (),
        prompt: str | None = None,
        **rest: Any,
    ) -> None:
        numbers, seconds = count(1), count()
        script = parse_script(json.dumps({"steps": steps, **rest}))

        def now() -> datetime:
            return BEGIN + timedelta(seconds=next(seconds))

        facts = SessionFacts("session", "/project", "main", "model", interactive=True)
        transcript = Transcript(facts, new_id=lambda: f"id-{next(numbers)}", now=now)
        play = Play(script, transcript, now=now, values={}, interactive=True)
        self.effects: list[effects.Effect] = []
        left = list(replies)
        scene = play.run(prompt)
        reply: effects.Reply = None
        while True:
            try:
                effect = scene.send(reply)
            except StopIteration as end:
                self.code = end.value
                break
            self.effects.append(effect)
            waits = isinstance(
                effect, effects.Busy | effects.Execute | effects.PutQuestion | effects.AwaitPrompt
            )
            reply = left.pop(0) if waits and left else None
        assert not left

    @property
    def shown(self) -> list[str]:
        return [effect.block.text for effect in self.effects if isinstance(effect, effects.Show)]

    @property
    def records(self) -> list[dict[str, Any]]:
        return [effect.record for effect in self.effects if isinstance(effect, effects.Write)]


def test_without_steps_nothing_is_written_before_a_prompt_comes() -> None:
    assert Stage().effects == [effects.AwaitPrompt()]


def test_the_message_that_ends_with_a_tool_says_so_from_its_first_block() -> None:
    stage = Stage({"think": "hm"}, {"say": "a"}, {"work": 1}, {"tool": {"name": "Read"}}, {"say": "b"})
    messages = [record["message"] for record in stage.records if record["type"] == "assistant"]
    assert [message["stop_reason"] for message in messages] == ["tool_use"] * 3 + ["end_turn"]
    assert len({message["id"] for message in messages}) == 2


def test_an_answer_plays_its_branch_before_what_follows() -> None:
    question = {
        "question": "Which?",
        "options": ["A", "B"],
        "answers": {
            "A": [{"say": "took A"}],
            "*": [{"say": "took ${answer}"}],
            "(declined)": [{"say": "took none"}],
        },
    }

    def said(answer: Answer) -> list[str]:
        stage = Stage({"ask": question}, {"say": "after"}, replies=(answer,))
        return [text for text in stage.shown if "?" not in text]

    assert said(Answer(("A",))) == ["took A", "after"]
    assert said(Answer(("B",))) == ["took B", "after"]
    assert said(Answer(("C",))) == ["took C", "after"]
    assert said(Answer()) == ["took none", "after"]
    assert said(Answer(ends_turn=True)) == []


def test_an_interrupted_play_goes_on_with_its_next_step_at_the_next_prompt() -> None:
    stage = Stage(
        {"say": "a"}, {"work": 9}, {"say": "b"}, replies=(True, effects.Prompt("go on")), prompt="begin"
    )
    assert stage.shown == ["begin", "a", "go on", "b"]
    kinds = [record["type"] for record in stage.records if "uuid" in record]
    assert kinds == ["user", "assistant", "user", "system", "user", "assistant", "system"]
    assert "[Request interrupted by user]" in str(stage.records)


def test_a_prompt_without_a_reply_returns_to_the_box() -> None:
    stage = Stage({"work": 9}, replies=(True,), prompt="begin")
    assert effects.PutBack("begin") in stage.effects
    assert not [effect for effect in stage.effects if isinstance(effect, effects.EndTurn)]


def test_a_command_is_recorded_with_its_outcome() -> None:
    stage = Stage(
        {"run": ["ls", "a b"]},
        {"run": ["false"]},
        replies=(effects.Outcome(0, "one\n", "warn\n"), effects.Outcome(3, "", "bad\n")),
    )
    uses = [r["message"]["content"][0] for r in stage.records if r["type"] == "assistant"]
    assert [use["input"]["command"] for use in uses] == ["ls 'a b'", "false"]
    results = [r["message"]["content"][0] for r in stage.records if r["type"] == "user"]
    assert [(result["content"], result["is_error"]) for result in results] == [
        ("one\nwarn", False),
        ("Exit code 3\nbad", True),
    ]


def test_errors_end_their_turn() -> None:
    stage = Stage({"api_error": {"status": 529, "text": "busy", "retrying": 4}}, {"limit": {"resets": "3pm"}})
    errors = [record for record in stage.records if record.get("isApiErrorMessage")]
    assert [(error["apiErrorStatus"], error["apiErrorType"], error["error"]) for error in errors] == [
        (529, "overloaded_error", "unknown"),
        (429, "rate_limit_error", "rate_limit"),
    ]
    assert [error["message"]["model"] for error in errors] == ["<synthetic>"] * 2
    assert stage.shown == ["API Error: 529 busy", "Usage limit reached · resets 3pm"]
    assert len([effect for effect in stage.effects if isinstance(effect, effects.EndTurn)]) == 2
    assert effects.Busy(4.0, "529 busy · Retrying in 4s · attempt 1/10") in stage.effects


def test_further_prompts_play_their_own_steps_and_exit_ends_all() -> None:
    stage = Stage(
        replies=(effects.Prompt("one"), effects.Prompt("two", was_queued=True)),
        on_prompt=[{"say": "heard ${prompt}"}],
    )
    assert stage.shown == ["one", "heard one", "two", "heard two"]
    assert [r["operation"] for r in stage.records if r["type"] == "queue-operation"] == ["dequeue"]
    assert stage.code == 0
    assert Stage({"exit": 7}, {"say": "never"}).code == 7


def test_silent_calls_say_nothing() -> None:
    stage = Stage({"usage": {"input_tokens": 9}}, {"silent": {"calls": 3, "seconds": 2, "tool": "Grep"}})
    blocks = [r["message"]["content"][0] for r in stage.records if r["type"] == "assistant"]
    assert [block["name"] for block in blocks] == ["Grep"] * 3
    assert [r["message"]["usage"]["input_tokens"] for r in stage.records if r["type"] == "assistant"] == [
        9
    ] * 3
    assert [effect for effect in stage.effects if isinstance(effect, effects.Busy)] == [effects.Busy(2.0)] * 3
