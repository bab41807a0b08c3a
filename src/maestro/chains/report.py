"""What a chain has come to, in the seed's words and with what it cost. Pure."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from maestro.chains.state import ChainState, Spent, StepRecord
from maestro.redact import clean, fold, redact

_RULER: Final = "=" * 60
_MARKS: Final = {"completed": "✓", "failed": "✗", "skipped": "-", "running": "…", "pending": " "}
_TITLES: Final = {
    "completed": "COMPLETE",
    "failed": "FAILED",
    "stopped": "STOPPED",
    "paused": "PAUSED",
    "running": "RUNNING",
}


def report(state: ChainState) -> str:
    """The completion report; of a chain that is not over, how far it is."""
    done = sum(step.status == "completed" for step in state.steps)
    lines = [
        _RULER,
        f"MAESTRO-COORDINATE {_TITLES[state.status]}",
        _RULER,
        f"Session: {state.session_id}",
        f"Chain:   {state.chain_name} ({done}/{len(state.steps)})",
    ]
    if state.intent.strip():
        lines.append(f"Intent:  {_one_line(state.intent, 90)}")
    lines += ["", "Steps:", *(line for step in state.steps for line in _step_lines(step))]
    score = average_score(state)
    lines += ["", f"Avg Quality: {'not reviewed' if score is None else f'{score}/100'}"]
    lines.append(f"Spent:       {spent_words(state.spent)}")
    if state.error:
        lines.append(f"Why:         {_one_line(state.error, 400)}")
    lines += [f"Next: {next_words(state)}", _RULER]
    return "\n".join(lines)


def _step_lines(step: StepRecord) -> list[str]:
    line = f"  [{_MARKS[step.status]}] {step.number}. {step.cmd} — {step_words(step)}"
    facts = [step.tool, spent_words(step.spent)] if step.attempts else []
    if len(step.attempts) > 1:
        facts.append(f"{len(step.attempts)} attempts")
    found = [line, *([f"        {' · '.join(fact for fact in facts if fact)}"] if facts else [])]
    told = step.failure if step.status == "failed" else step.summary
    if told:
        found.append(f"        {_one_line(told, 160)}")
    return found


def step_words(step: StepRecord) -> str:
    words: str = step.status
    if step.status == "failed" and step.passed_over:
        words = "failed, and passed over"
    if step.verdict:
        words += f", {step.verdict}"
    if step.status == "completed":
        words += quality_words(step)
    return words


def quality_words(step: StepRecord) -> str:
    if step.analysis is not None:
        critical = sum(issue.severity == "critical" for issue in step.analysis.issues)
        also = f", {critical} critical" if critical else ""
        return f" (quality: {step.analysis.quality_score}/100{also})"
    return " (unreviewed)" if step.review == "unreviewed" else ""


def average_score(state: ChainState) -> int | None:
    scores = [step.analysis.quality_score for step in state.steps if step.analysis is not None]
    return round(sum(scores) / len(scores)) if scores else None


def spent_words(spent: Spent) -> str:
    parts = [_time(spent.duration_ms)]
    if spent.input or spent.output:
        parts.append(f"{_count(spent.input)} in, {_count(spent.output)} out")
    if spent.cost_usd is not None:
        parts.append(f"{'about ' if spent.is_estimate else ''}${spent.cost_usd:.4f}")
    return " · ".join(parts)


def _time(milliseconds: int) -> str:
    seconds = milliseconds / 1000
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds) // 60} min {int(seconds) % 60:02} s"


def _count(tokens: int) -> str:
    return f"{tokens} tokens" if tokens < 10_000 else f"{tokens / 1000:.0f}k tokens"


def next_words(state: ChainState) -> str:
    match state.status:
        case "completed":
            return "maestro chain run continue"
        case "failed" if all(step.status != "failed" or step.passed_over for step in state.steps):
            return "maestro chain run continue"
        case _:
            return f"maestro chain run -c {state.session_id}"


def facts(state: ChainState) -> dict[str, Any]:
    """For --json: the state as its file has it but for secrets, with the sums."""
    told: dict[str, Any] = _without_secrets(msgspec.to_builtins(state))
    told["avg_quality"] = average_score(state)
    told["spent"] = msgspec.to_builtins(state.spent)
    told["done"] = sum(step.status == "completed" for step in state.steps)
    told["next"] = next_words(state)
    return told


def _without_secrets(value: Any) -> Any:
    match value:
        case str():
            return redact(clean(value))
        case list():
            return [_without_secrets(one) for one in value]
        case dict():
            return {name: _without_secrets(one) for name, one in value.items()}
        case _:
            return value


def _one_line(text: str, longest: int) -> str:
    plain = fold(redact(clean(text)))
    return plain if len(plain) <= longest else f"{plain[: longest - 1]}…"
