"""JSON numbers that keep the text they were written as, so that a gold of 0.1 is one tenth exactly."""

from __future__ import annotations

import json
from typing import Any, NoReturn


class FloatLiteral(float):
    """A float that remembers its JSON literal in `text`."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> FloatLiteral:
        """Read `text`, the literal as written in the JSON document."""
        self = super().__new__(cls, text)
        self.text = text
        return self


MAX_INTEGER_DIGITS = 100_000
_CHUNK_DIGITS = 4_000  # below the 4,300 digits that Python converts in one step


def read_json(text: str) -> Any:
    """Read JSON that stands inside a text: floats as `FloatLiteral`, integers exact up to 100,000 digits.

    Raises ValueError for what is not JSON (NaN and Infinity are not), too deep, or longer than that.
    """
    try:
        return json.loads(
            text, parse_float=FloatLiteral, parse_int=read_integer, parse_constant=_refuse_constant
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None


def read_integer(literal: str) -> int:
    """The integer of a JSON literal, past Python's limit on digits; raises ValueError beyond 100,000."""
    digits = literal.removeprefix("-")
    if len(digits) > MAX_INTEGER_DIGITS:
        raise ValueError(f"an integer of more than {MAX_INTEGER_DIGITS} digits")
    return _join_digits(digits) if digits is literal else -_join_digits(digits)


def _join_digits(digits: str) -> int:
    """Convert by halves: exact at any length, and less than quadratic."""
    if len(digits) <= _CHUNK_DIGITS:
        return int(digits)
    low = len(digits) // 2
    return int(_join_digits(digits[:-low]) * 10**low + _join_digits(digits[-low:]))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
