"""`maestro completion bash|zsh|tcsh`: for example `eval "$(maestro completion bash)"`."""

from __future__ import annotations

from maestro.cli.main import COMMANDS, parser_of
from maestro.cli.parser import Parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace


def describe(parser: Parser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"))
    parser.set_defaults(run=_completion)


def _completion(arguments: Namespace) -> None:
    import shtab

    print(shtab.complete(whole_parser(), shell=arguments.shell))


def whole_parser() -> Parser:
    """Every command in one parser: what completion and the documentation need."""
    whole = Parser(prog="maestro")
    nouns = whole.verbs()
    for noun, (_, purpose) in COMMANDS.items():
        nouns.add_parser(
            noun, help=purpose, parents=[parser_of(noun)], add_help=False, conflict_handler="resolve"
        )
    return whole
