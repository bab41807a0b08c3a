"""argparse with our manners: our errors, near-miss suggestions, `--json` and `--debug` everywhere."""

from __future__ import annotations

import argparse
import sys

from maestro import errors
from maestro.cli.main import near_miss

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    default_verb = ""  # the command that is meant where the first word is none

    def __init__(self, *args: Any, **options: Any) -> None:
        if sys.stdout.isatty() and ("-h" in sys.argv or "--help" in sys.argv):
            from rich_argparse import RichHelpFormatter

            options.setdefault("formatter_class", RichHelpFormatter)
        super().__init__(*args, **(options | {"allow_abbrev": False}))
        self.add_argument(
            "--json", action="store_true", default=argparse.SUPPRESS, help="answer as JSON, for programs"
        )
        self.add_argument(
            "--debug", action="store_true", default=argparse.SUPPRESS, help="show where an error came from"
        )
        self.add_argument(
            "--trust-once",
            action="store_true",
            default=argparse.SUPPRESS,
            help="let what the project brings act for this one command; for scripts",
        )

    def verbs(self) -> argparse._SubParsersAction[Parser]:
        return self.add_subparsers(
            title="commands", metavar="COMMAND", required=True, parser_class=type(self)
        )

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        words = list(sys.argv[1:] if args is None else args)
        first = next((word for word in words if word not in {"--json", "--debug", "--trust-once"}), "-h")
        if self.default_verb and first not in {"-h", "--help", *self._verb_names()}:
            words.insert(0, self.default_verb)
        return super().parse_known_args(words, namespace)

    def _verb_names(self) -> set[str]:
        return {
            name
            for action in self._actions
            if isinstance(action, argparse._SubParsersAction)  # noqa: SLF001 - the class has no other name
            for name in action.choices
        }

    def error(self, message: str) -> NoReturn:
        raise errors.InvalidInput(
            f"{message[:1].upper()}{message[1:]}.", hint=f"`{self.prog} --help` shows how it goes."
        )

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            what = "command" if isinstance(action, argparse._SubParsersAction) else action.dest  # noqa: SLF001 - likewise
            raise errors.InvalidInput(
                f"There is no {what} “{value}”: choose from {', '.join(known)}.",
                hint=near_miss(str(value), known, f"{self.prog} --help"),
            )


def add_verb(
    verbs: argparse._SubParsersAction[Parser],
    name: str,
    run: Callable[[argparse.Namespace], int | None],
    purpose: str,
) -> Parser:
    parser = verbs.add_parser(name, help=purpose, description=purpose[:1].upper() + purpose[1:] + ".")
    parser.set_defaults(run=run)
    return parser


def wants_json(arguments: argparse.Namespace) -> bool:
    return bool(getattr(arguments, "json", False))
