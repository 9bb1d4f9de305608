"""Checks on single fields of a ground truth; a fault names its place and what stands there."""

from __future__ import annotations

import keyword
import math
import unicodedata
from collections.abc import Sequence
from typing import Any, TypeVar

from sandbox import values
from sandbox.types import Call
from verifiers.code.tests import Fields, FunctionCase, InvalidTestsError, UnsupportedTestsError

MAX_CASES = 10_000
MAX_DEPTH = values.MAX_DEPTH - 10  # arguments travel inside a few lists more

CHECKERS = frozenset({"checker", "special_judge", "interactive", "interactor", "grader", "output_checker"})
"""Fields, types and comparisons that stand for judging by a program of the task's own."""


def function_case(args: Any, kwargs: dict[str, Any], expected: Any, where: str) -> FunctionCase:
    """A case of checked plain data."""
    if not isinstance(args, list):
        raise InvalidTestsError(f"{where}.args: {shown(args)} is not a list")
    check_plain([args, kwargs], f"{where}.args")
    check_plain(expected, f"{where}.expected")
    return FunctionCase(Call(tuple(args), kwargs), expected)


def read_code(code: Any, where: str) -> tuple[str, ...]:
    """Test code as one or several texts, not all of them blank."""
    texts = [code] if isinstance(code, str) else code
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InvalidTestsError(f"{where}: {shown(code)} is neither a text nor a list of texts")
    if not any(text.strip() for text in texts):
        raise InvalidTestsError(f"{where}: holds no test")
    return tuple(texts)


def read_entry_point(name: Any, where: str) -> str:
    """A name that a program can define."""
    if isinstance(name, str):
        normal = unicodedata.normalize("NFKC", name)  # as Python reads names
        if normal.isidentifier() and not keyword.iskeyword(normal):
            return normal
    raise InvalidTestsError(f"{where}: {shown(name)} is no name of a function")


def check_count(count: int, where: str) -> None:
    """At least one case, at most MAX_CASES."""
    if count == 0:
        raise InvalidTestsError(f"{where}: there is no case")
    if count > MAX_CASES:
        raise InvalidTestsError(f"{where}: {count} cases are more than {MAX_CASES}")


def check_plain(value: Any, where: str) -> None:
    """Finite, not too deep or too large, no integer over the cap; raises InvalidTestsError."""
    layer, items, text = [value], 0, 0
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for item in layer:
            if isinstance(item, list):
                below.extend(item)
            elif isinstance(item, dict):
                below.extend(item.values())
                text += sum(map(len, item))
            elif isinstance(item, str):
                text += len(item)
            elif not _is_number_or_null(item):
                raise InvalidTestsError(f"{where}: holds {shown(item)}")
        items += len(below)
        if items > values.MAX_ITEMS or text > values.MAX_TEXT:
            raise InvalidTestsError(
                f"{where}: more than {values.MAX_ITEMS} items or {values.MAX_TEXT} characters"
            )
        if not below:
            return
        layer = below
    raise InvalidTestsError(f"{where}: nested more than {MAX_DEPTH} deep")


def _is_number_or_null(item: Any) -> bool:
    if isinstance(item, float):
        return math.isfinite(item)
    if isinstance(item, int):
        return item.bit_length() <= values.MAX_INTEGER_BITS
    return item is None


def as_object(item: Any, where: str) -> Fields:
    """An object."""
    if not isinstance(item, dict):
        raise InvalidTestsError(f"{where}: {shown(item)} is not an object")
    return item


def allow_only(fields: Fields, where: str, *names: str) -> None:
    """No field but these: a misspelt one would silently change the tests."""
    unknown = sorted(set(fields) - set(names))
    if unknown:
        raise InvalidTestsError(f"{where + '.' if where else ''}{unknown[0]}: unknown field")


def text_field(fields: Fields, name: str, where: str = "", default: str | None = None) -> str:
    """The text in a field; with a default it may be missing or null."""
    path = f"{where}.{name}" if where else name
    value = fields.get(name, default)
    return default if value is None and default is not None else as_text(value, path)


def as_text(value: Any, where: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise InvalidTestsError(f"{where}: {shown(value)} is not a text")
    return value


ChoiceT = TypeVar("ChoiceT", bound=str)


def choice_field(fields: Fields, name: str, choices: Sequence[ChoiceT]) -> ChoiceT:
    """One of `choices`, the first if the field is missing or null."""
    value = fields.get(name)
    if value is None:
        return choices[0]
    for choice in choices:
        if value == choice:
            return choice
    if isinstance(value, str) and value in CHECKERS:
        raise UnsupportedTestsError(f"{name}: {value!r} is not supported")
    raise InvalidTestsError(f"{name}: {shown(value)} is none of {', '.join(choices)}")


def shown(value: Any) -> str:
    """A value in a message: its kind, and a little of a text."""
    if isinstance(value, str):
        return f"{value[:40]!r}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "a number"
    names = {list: "a list", dict: "an object", bool: "a truth value", type(None): "null"}
    return names.get(type(value), f"a {type(value).__name__}")
