"""The scripted agent's script: JSON text → frozen steps, every fault found before anything is played.

The format is described in `scripted_agent`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from maestro.errors import InvalidInput
from maestro.testing.scripted_agent.steps import (
    ANY_ANSWER,
    DECLINED,
    PERMISSION_ANSWERS,
    ApiError,
    Ask,
    Exit,
    Limit,
    Option,
    Permission,
    Run,
    Say,
    Script,
    SetUsage,
    Silent,
    Step,
    Think,
    Tool,
    Usage,
    Wait,
    Work,
)

PLAY_TIME_NAMES = frozenset({"prompt", "answer", "session_id", "cwd"})
MOST_OPTIONS = 7  # two more rows follow the options, and a row is picked by one digit
LONGEST_SECONDS = 1_000_000.0
MOST_TOKENS = 10**12
MOST_CALLS = 10_000

_PLACE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_UNQUOTED_KEY = re.compile(r"[A-Za-z_]\w*")


def parse_script(text: str, known_names: Collection[str] = ()) -> Script:
    """The script in `text`; `known_names` are those that `${name}` may use beside the play's own."""
    try:
        whole = json.loads(text, parse_constant=_refuse_constant)
        fields = _Fields("", whole, what="the script")
        script = Script(
            name=fields.text("name", default="scripted agent"),
            steps=_steps(fields.path_of("steps"), fields.take("steps")),
            on_prompt=_steps(fields.path_of("on_prompt"), fields.take("on_prompt", default=[])),
            model=fields.text("model", default="scripted"),
            placeholder=fields.text("placeholder", default=Script.placeholder, empty=True),
        )
        fields.done()
        _check_places("steps", script.steps, frozenset(known_names) | PLAY_TIME_NAMES)
        _check_places("on_prompt", script.on_prompt, frozenset(known_names) | PLAY_TIME_NAMES)
    except json.JSONDecodeError as fault:
        raise InvalidInput(
            f"it is not JSON: {fault.msg} at line {fault.lineno}, column {fault.colno}."
        ) from fault
    except RecursionError as fault:
        raise InvalidInput("its steps are nested too deeply.") from fault
    return script


def fill(text: str, values: Mapping[str, str]) -> str:
    """`text` with every `${name}` replaced; a name without a value stays as it is."""
    return _PLACE.sub(lambda place: values.get(place[1], place[0]), text)


def _refuse_constant(name: str) -> Any:
    raise InvalidInput(f"it is not JSON: {name} is no JSON number.")


class _Fields:
    """One JSON object being read: each field once, by its kind; what is left over is a fault."""

    def __init__(self, path: str, value: Any, *, what: str = "") -> None:
        if not isinstance(value, dict):
            raise InvalidInput(f"{what or path} must be a JSON object.")
        self._path = path
        self._left = dict(value)

    def path_of(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name

    def take(self, name: str, *, default: Any = None) -> Any:
        if name not in self._left and default is None:
            raise InvalidInput(f"{self.path_of(name)} is missing.")
        return self._left.pop(name, default)

    def text(self, name: str, *, default: str | None = None, empty: bool = False) -> str:
        return _text(self.path_of(name), self.take(name, default=default), empty=empty or default == "")

    def seconds(self, name: str, *, default: float) -> float:
        return _seconds(self.path_of(name), self.take(name, default=default))

    def whole_number(self, name: str, *, default: int | None, least: int, most: int) -> int:
        return _whole_number(self.path_of(name), self.take(name, default=default), least, most)

    def flag(self, name: str) -> bool:
        value = self.take(name, default=False)
        if not isinstance(value, bool):
            raise InvalidInput(f"{self.path_of(name)} must be true or false.")
        return value

    def done(self) -> None:
        for name in self._left:
            raise InvalidInput(f"{self.path_of(name)} is not a known field.")


def _text(path: str, value: Any, *, empty: bool = False) -> str:
    if not isinstance(value, str) or not (value or empty):
        raise InvalidInput(f"{path} must be a {'' if empty else 'non-empty '}string.")
    return value


def _seconds(path: str, value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= LONGEST_SECONDS or math.isnan(value):
        raise InvalidInput(f"{path} must be a number of seconds from 0 to {LONGEST_SECONDS:.0f}.")
    return float(value)


def _whole_number(path: str, value: Any, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise InvalidInput(f"{path} must be a whole number from {least} to {most}.")
    return value


def _list(path: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidInput(f"{path} must be a list.")
    return value


def _steps(path: str, value: Any) -> tuple[Step, ...]:
    return tuple(_step(f"{path}[{index}]", step) for index, step in enumerate(_list(path, value)))


def _step(path: str, value: Any) -> Step:
    if not isinstance(value, dict) or len(value) != 1:
        raise InvalidInput(f"{path} must be an object with one key that names the kind of step.")
    ((kind, content),) = value.items()
    reader = _READERS.get(kind)
    if reader is None:
        raise InvalidInput(f"{path}.{kind} is not a kind of step; there are {', '.join(_READERS)}.")
    return reader(f"{path}.{kind}", content)


def _tool(path: str, value: Any) -> Tool:
    fields = _Fields(path, value)
    tool_input = fields.take("input", default={})
    if not isinstance(tool_input, dict):
        raise InvalidInput(f"{fields.path_of('input')} must be a JSON object.")
    tool = Tool(
        name=fields.text("name"),
        input=tool_input,
        result=fields.text("result", default=""),
        seconds=fields.seconds("seconds", default=0.0),
        is_error=fields.flag("is_error"),
    )
    fields.done()
    return tool


def _run(path: str, value: Any) -> Run:
    argv = tuple(
        _text(f"{path}[{index}]", word, empty=index > 0) for index, word in enumerate(_list(path, value))
    )
    if not argv:
        raise InvalidInput(f"{path} must name a command to run.")
    for index, word in enumerate(argv):
        if "\0" in word:
            raise InvalidInput(f"{path}[{index}] holds a NUL character, which no command can take.")
    return Run(argv)


def _ask(path: str, value: Any) -> Ask:
    fields = _Fields(path, value)
    question = fields.text("question")
    header = fields.text("header", default="Question")
    options = _options(fields.path_of("options"), fields.take("options"))
    multi = fields.flag("multi")
    answers = _branches(fields.path_of("answers"), fields.take("answers", default={}))
    fields.done()
    known = {option.label for option in options} | {ANY_ANSWER, DECLINED}
    for label in answers:
        if label not in known and not multi:
            raise InvalidInput(f"{_key(fields.path_of('answers'), label)} is no option of this question.")
    return Ask(question, header, options, multi, answers)


def _options(path: str, value: Any) -> tuple[Option, ...]:
    options = tuple(_option(f"{path}[{index}]", option) for index, option in enumerate(_list(path, value)))
    if not 1 <= len(options) <= MOST_OPTIONS:
        raise InvalidInput(f"{path} must hold 1 to {MOST_OPTIONS} options.")
    if len({option.label for option in options}) < len(options):
        raise InvalidInput(f"{path} holds the same label twice.")
    return options


def _option(path: str, value: Any) -> Option:
    if isinstance(value, str):
        return Option(_text(path, value))
    fields = _Fields(path, value)
    option = Option(fields.text("label"), fields.text("description", default=""))
    fields.done()
    return option


def _permission(path: str, value: Any) -> Permission:
    fields = _Fields(path, value)
    permission = Permission(
        command=fields.text("command"),
        description=fields.text("description", default=""),
        result=fields.text("result", default=""),
        seconds=fields.seconds("seconds", default=0.0),
        answers=_branches(fields.path_of("answers"), fields.take("answers", default={})),
    )
    fields.done()
    for answer in permission.answers:
        if answer not in {*PERMISSION_ANSWERS, ANY_ANSWER}:
            raise InvalidInput(
                f"{_key(fields.path_of('answers'), answer)} must be yes, always, no or {ANY_ANSWER}."
            )
    return permission


def _branches(path: str, value: Any) -> dict[str, tuple[Step, ...]]:
    if not isinstance(value, dict):
        raise InvalidInput(f"{path} must be a JSON object of step lists.")
    return {label: _steps(_key(path, label), steps) for label, steps in value.items()}


def _key(path: str, key: str) -> str:
    return f"{path}.{key}" if _UNQUOTED_KEY.fullmatch(key) else f"{path}[{json.dumps(key)}]"


def _api_error(path: str, value: Any) -> ApiError:
    fields = _Fields(path, value)
    error = ApiError(
        status=fields.whole_number("status", default=500, least=400, most=599),
        text=fields.text("text", default="scripted error"),
        retrying=fields.seconds("retrying", default=0.0),
    )
    fields.done()
    return error


def _limit(path: str, value: Any) -> Limit:
    fields = _Fields(path, value)
    limit = Limit(fields.text("text", default="Usage limit reached"), fields.text("resets", default=""))
    fields.done()
    return limit


def _wait(path: str, value: Any) -> Wait:
    if value is not True:
        raise InvalidInput(f"{path} must be true.")
    return Wait()


def _silent(path: str, value: Any) -> Silent:
    fields = _Fields(path, value)
    silent = Silent(
        calls=fields.whole_number("calls", default=None, least=1, most=MOST_CALLS),
        seconds=fields.seconds("seconds", default=0.0),
        tool=fields.text("tool", default="Read"),
    )
    fields.done()
    return silent


def _usage(path: str, value: Any) -> SetUsage:
    fields = _Fields(path, value)
    numbers = {
        name: fields.whole_number(name, default=0, least=0, most=MOST_TOKENS)
        for name in Usage.__dataclass_fields__
    }
    fields.done()
    return SetUsage(Usage(**numbers))


_READERS: dict[str, Callable[[str, Any], Step]] = {
    "say": lambda path, value: Say(_text(path, value)),
    "think": lambda path, value: Think(_text(path, value)),
    "tool": _tool,
    "work": lambda path, value: Work(_seconds(path, value)),
    "run": _run,
    "ask": _ask,
    "permission": _permission,
    "api_error": _api_error,
    "limit": _limit,
    "wait": _wait,
    "silent": _silent,
    "usage": _usage,
    "exit": lambda path, value: Exit(_whole_number(path, value, 0, 255)),
}


def _check_places(path: str, steps: tuple[Step, ...], known: frozenset[str]) -> None:
    for index, step in enumerate(steps):
        here = f"{path}[{index}]"
        if isinstance(step, Ask | Permission):
            kind = "ask" if isinstance(step, Ask) else "permission"
            for label, branch in step.answers.items():
                _check_places(_key(f"{here}.{kind}.answers", label), branch, known)
        for where, text in _filled_texts(here, step).items():
            for name in _PLACE.findall(text):
                if name not in known:
                    raise InvalidInput(
                        f"{where} uses ${{{name}}}, which neither the environment nor --set names."
                    )


def _filled_texts(path: str, step: Step) -> dict[str, str]:
    match step:
        case Say(text):
            return {f"{path}.say": text}
        case Run(argv):
            return {f"{path}.run[{place}]": word for place, word in enumerate(argv)}
        case _:
            return {}
