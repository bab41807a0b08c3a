"""The scripted agent's script: JSON text → frozen steps, every fault found before anything is played.

The format is described in `scripted_agent`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from maestro.errors import InvalidInput
from maestro.testing.scripted_agent.fields import (
    Fields,
    read_list,
    read_seconds,
    read_text,
    read_whole_number,
)
from maestro.testing.scripted_agent.imitation import check_imitation
from maestro.testing.scripted_agent.steps import (
    ANY_ANSWER,
    COMPACT_TRIGGERS,
    DECLINED,
    GATES,
    IMITATED,
    PERMISSION_ANSWERS,
    PLAN_ANSWERS,
    ApiError,
    Ask,
    AskSeveral,
    Background,
    Compact,
    Exit,
    Imitated,
    Limit,
    Option,
    OwnDialog,
    Permission,
    Plan,
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
MOST_QUESTIONS = 4
MOST_OPTIONS = 7  # two more rows follow the options, and a row is picked by one digit
MOST_TOKENS = 10**12
MOST_CALLS = 10_000

_PLACE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_UNQUOTED_KEY = re.compile(r"[A-Za-z_]\w*")


def parse_script(text: str, known_names: Collection[str] = (), imitate: str = "") -> Script:
    """The script in `text`; `known_names` are those that `${name}` may use beside the play's own.

    `imitate` says which CLI to imitate, whatever the script says.
    """
    try:
        whole = json.loads(text, parse_constant=_refuse_constant)
        fields = Fields("", whole, what="the script")
        script = Script(
            name=fields.text("name", default="scripted agent"),
            steps=_steps(fields.path_of("steps"), fields.take("steps")),
            on_prompt=_steps(fields.path_of("on_prompt"), fields.take("on_prompt", default=[])),
            model=fields.text("model", default="scripted"),
            placeholder=fields.text("placeholder", default=Script.placeholder, empty=True),
            imitate=_imitated("imitate", imitate or fields.take("imitate", default=Script.imitate)),
            notify_after=fields.seconds("notify_after", default=Script.notify_after),
            idle_after=fields.seconds("idle_after", default=Script.idle_after),
            hookless=fields.flag("hookless"),
        )
        fields.drop("imitate")
        fields.done()
        check_imitation(script)
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


def _steps(path: str, value: Any) -> tuple[Step, ...]:
    return tuple(_step(f"{path}[{index}]", step) for index, step in enumerate(read_list(path, value)))


def _step(path: str, value: Any) -> Step:
    if not isinstance(value, dict) or len(value) != 1:
        raise InvalidInput(f"{path} must be an object with one key that names the kind of step.")
    ((kind, content),) = value.items()
    reader = _READERS.get(kind)
    if reader is None:
        raise InvalidInput(f"{path}.{kind} is not a kind of step; there are {', '.join(_READERS)}.")
    return reader(f"{path}.{kind}", content)


def _imitated(path: str, value: Any) -> Imitated:
    for name in IMITATED:
        if value == name:
            return name
    raise InvalidInput(f"{path} must be {', '.join(IMITATED[:-1])} or {IMITATED[-1]}.")


def _tool(path: str, value: Any) -> Tool:
    fields = Fields(path, value)
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
        read_text(f"{path}[{index}]", word, empty=index > 0)
        for index, word in enumerate(read_list(path, value))
    )
    if not argv:
        raise InvalidInput(f"{path} must name a command to run.")
    for index, word in enumerate(argv):
        if "\0" in word:
            raise InvalidInput(f"{path}[{index}] holds a NUL character, which no command can take.")
    return Run(argv)


def _ask(path: str, value: Any) -> Ask | AskSeveral:
    fields = Fields(path, value)
    if isinstance(value, dict) and "questions" in value:
        return _ask_several(fields)
    question = fields.text("question")
    header = fields.text("header", default="Question")
    is_words_only = fields.flag("free_text")
    options = () if is_words_only else _options(fields.path_of("options"), fields.take("options"))
    multi = fields.flag("multi")
    answers = _branches(fields.path_of("answers"), fields.take("answers", default={}))
    fields.done()
    known = {option.label for option in options} | {ANY_ANSWER, DECLINED}
    for label in answers:
        if label not in known and not multi:
            raise InvalidInput(f"{_key(fields.path_of('answers'), label)} is no option of this question.")
    return Ask(question, header, options, multi, answers)


def _ask_several(fields: Fields) -> AskSeveral:
    path = fields.path_of("questions")
    parts = tuple(
        _ask(f"{path}[{index}]", part) for index, part in enumerate(read_list(path, fields.take("questions")))
    )
    answers = _branches(fields.path_of("answers"), fields.take("answers", default={}))
    fields.done()
    single = tuple(part for part in parts if isinstance(part, Ask))
    if len(single) < len(parts) or not 2 <= len(parts) <= MOST_QUESTIONS:
        raise InvalidInput(f"{path} must hold 2 to {MOST_QUESTIONS} questions.")
    for index, part in enumerate(single):
        if part.answers:
            raise InvalidInput(f"{path}[{index}].answers is not known here: the answers are those of all.")
    return AskSeveral(single, answers)


def _options(path: str, value: Any) -> tuple[Option, ...]:
    options = tuple(
        _option(f"{path}[{index}]", option) for index, option in enumerate(read_list(path, value))
    )
    if not 1 <= len(options) <= MOST_OPTIONS:
        raise InvalidInput(f"{path} must hold 1 to {MOST_OPTIONS} options.")
    if len({option.label for option in options}) < len(options):
        raise InvalidInput(f"{path} holds the same label twice.")
    return options


def _option(path: str, value: Any) -> Option:
    if isinstance(value, str):
        return Option(read_text(path, value))
    fields = Fields(path, value)
    option = Option(
        fields.text("label"), fields.text("description", default=""), fields.text("preview", default="")
    )
    fields.done()
    return option


def _permission(path: str, value: Any) -> Permission:
    fields = Fields(path, value)
    offered = fields.take("options", default=[])
    permission = Permission(
        command=fields.text("command"),
        description=fields.text("description", default=""),
        result=fields.text("result", default=""),
        seconds=fields.seconds("seconds", default=0.0),
        answers=_branches(fields.path_of("answers"), fields.take("answers", default={})),
        options=_options(fields.path_of("options"), offered) if offered != [] else (),
        file=fields.text("file", default=""),
    )
    fields.done()
    labels = {option.label for option in permission.options}
    for answer in permission.answers:
        if answer not in {*PERMISSION_ANSWERS, *labels, ANY_ANSWER}:
            raise InvalidInput(
                f"{_key(fields.path_of('answers'), answer)} must be yes, always, no or {ANY_ANSWER}."
            )
    return permission


def _plan(path: str, value: Any) -> Plan:
    fields = Fields(path, value)
    plan = Plan(
        plan=fields.text("plan", default=""),
        answers=_branches(fields.path_of("answers"), fields.take("answers", default={})),
    )
    fields.done()
    for answer in plan.answers:
        if answer not in {*PLAN_ANSWERS, ANY_ANSWER, DECLINED}:
            raise InvalidInput(f"{_key(fields.path_of('answers'), answer)} must be yes, no or {ANY_ANSWER}.")
    return plan


def _background(path: str, value: Any) -> Background:
    fields = Fields(path, value)
    background = Background(
        description=fields.text("description", default="Look around"),
        seconds=fields.seconds("seconds", default=1.0),
        result=fields.text("result", default="Done."),
    )
    fields.done()
    return background


def _own_dialog(path: str, value: Any) -> OwnDialog:
    for kind in GATES:
        if value == kind:
            return OwnDialog(kind)
    raise InvalidInput(f"{path} must be {', '.join(GATES[:-1])} or {GATES[-1]}.")


def _compact(path: str, value: Any) -> Compact:
    for trigger in COMPACT_TRIGGERS:
        if value == trigger:
            return Compact(trigger)
    raise InvalidInput(f"{path} must be manual or auto.")


def _branches(path: str, value: Any) -> dict[str, tuple[Step, ...]]:
    if not isinstance(value, dict):
        raise InvalidInput(f"{path} must be a JSON object of step lists.")
    return {label: _steps(_key(path, label), steps) for label, steps in value.items()}


def _key(path: str, key: str) -> str:
    return f"{path}.{key}" if _UNQUOTED_KEY.fullmatch(key) else f"{path}[{json.dumps(key)}]"


def _api_error(path: str, value: Any) -> ApiError:
    fields = Fields(path, value)
    error = ApiError(
        status=fields.whole_number("status", default=500, least=400, most=599),
        text=fields.text("text", default="scripted error"),
        retrying=fields.seconds("retrying", default=0.0),
    )
    fields.done()
    return error


def _limit(path: str, value: Any) -> Limit:
    fields = Fields(path, value)
    limit = Limit(fields.text("text", default="Usage limit reached"), fields.text("resets", default=""))
    fields.done()
    return limit


def _wait(path: str, value: Any) -> Wait:
    if value is not True:
        raise InvalidInput(f"{path} must be true.")
    return Wait()


def _silent(path: str, value: Any) -> Silent:
    fields = Fields(path, value)
    silent = Silent(
        calls=fields.whole_number("calls", default=None, least=1, most=MOST_CALLS),
        seconds=fields.seconds("seconds", default=0.0),
        tool=fields.text("tool", default="Read"),
    )
    fields.done()
    return silent


def _usage(path: str, value: Any) -> SetUsage:
    fields = Fields(path, value)
    numbers = {
        name: fields.whole_number(name, default=0, least=0, most=MOST_TOKENS)
        for name in Usage.__dataclass_fields__
    }
    fields.done()
    return SetUsage(Usage(**numbers))


_READERS: dict[str, Callable[[str, Any], Step]] = {
    "say": lambda path, value: Say(read_text(path, value)),
    "think": lambda path, value: Think(read_text(path, value)),
    "tool": _tool,
    "work": lambda path, value: Work(read_seconds(path, value)),
    "run": _run,
    "ask": _ask,
    "permission": _permission,
    "plan": _plan,
    "background": _background,
    "dialog": _own_dialog,
    "api_error": _api_error,
    "limit": _limit,
    "wait": _wait,
    "silent": _silent,
    "usage": _usage,
    "compact": _compact,
    "exit": lambda path, value: Exit(read_whole_number(path, value, 0, 255)),
}


def _check_places(path: str, steps: tuple[Step, ...], known: frozenset[str]) -> None:
    for index, step in enumerate(steps):
        here = f"{path}[{index}]"
        if isinstance(step, Ask | AskSeveral | Permission | Plan):
            kind = {Permission: "permission", Plan: "plan"}.get(type(step), "ask")
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
