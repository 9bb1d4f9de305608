"""One case of a ground truth with another expected value, and a program that is right about the first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from audit import exact_json
from sandbox.types import Program
from verifiers.code.tests import FunctionCase, StdinCase

_INTEGER: Final = re.compile(r"\d+")


def mutated_texts(case: StdinCase) -> Iterator[StdinCase]:
    """The case with every accepted output changed: its last number, else a word more."""
    if all(_INTEGER.search(text) for text in case.accepted):
        yield StdinCase(case.stdin, tuple(map(_next_number, case.accepted)))
    yield StdinCase(case.stdin, tuple(f"{text.rstrip()} mutated" for text in case.accepted))


def _next_number(text: str) -> str:
    last = list(_INTEGER.finditer(text))[-1]
    digit = str((int(last[0][0]) + 1) % 10 or 1)  # the first digit: no tolerance takes it for the same
    return text[: last.start()] + digit + last[0][1:] + text[last.end() :]


def mutated_values(case: FunctionCase) -> Iterator[FunctionCase]:
    """The case with another expected value of the same shape."""
    yield FunctionCase(case.call, changed(case.expected))


def changed(value: Any) -> Any:  # noqa: PLR0911 - one for each type
    """Another JSON value of the same type, where there is one."""
    match value:
        case bool():
            return not value
        case None:
            return 0
        case int():
            return value + 1
        case float():
            return 2 * float(value) + 1.0
        case str():
            return value + "x"
        case [first, *rest]:
            return [changed(first), *rest]
        case dict() if value:
            key = next(iter(value))
            return {**value, key: changed(value[key])}
    return [value]


def right_program(case: StdinCase | FunctionCase, entry_point: str) -> Program:
    """A program that gives what the case expects, whatever it is given."""
    if isinstance(case, StdinCase):
        text = f"import sys\nsys.stdin.read()\nsys.stdout.write({case.accepted[0]!a})\n"
    else:
        value = exact_json.dump(case.expected).decode("utf-8", "surrogatepass")
        text = f"import json\ndef {entry_point}(*_, **__):\n    return json.loads({value!a})\n"
    return Program("python", (text,))
