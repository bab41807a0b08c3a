from __future__ import annotations

import re

import pytest

from maestro import errors
from maestro.errors import MaestroError, from_wire


def tree(root: type[MaestroError] = MaestroError) -> list[type[MaestroError]]:
    return [root, *(found for child in root.__subclasses__() for found in tree(child))]


@pytest.mark.parametrize("kind", tree())
def test_every_error_is_drawn_with_its_numbers(kind: type[MaestroError]) -> None:
    assert errors.__doc__
    line = next(line for line in errors.__doc__.splitlines() if re.search(rf"\b{kind.__name__}\b", line))
    numbers = re.findall(r"(?<= )\d+(?= )", line)
    parent = kind.__mro__[1]
    if kind is not MaestroError and numbers:
        assert str(kind.http_status) == numbers[-1]
    if len(numbers) == 2:
        assert str(kind.exit_code) == numbers[0]
    elif issubclass(parent, MaestroError):
        assert kind.exit_code == parent.exit_code


@pytest.mark.parametrize("kind", tree())
def test_every_error_survives_the_wire(kind: type[MaestroError]) -> None:
    sent = kind("What happened.", hint="What to do.", task="t")
    back = from_wire(kind.http_status, sent.to_wire())
    assert (type(back), back.message, back.hint, back.context) == (
        kind,
        "What happened.",
        "What to do.",
        {"task": "t"},
    )


def test_codes_are_unique() -> None:
    codes = [kind.code for kind in tree()]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("body", [None, [], {}, {"error": 3}, "text"])
def test_an_answer_without_explanation_is_an_error_all_the_same(body: object) -> None:
    assert "HTTP 502" in from_wire(502, body).message


def test_a_newer_daemons_unknown_code_falls_back_to_its_status() -> None:
    assert isinstance(from_wire(404, {"error": "No.", "code": "from_the_future"}), errors.NotFound)
