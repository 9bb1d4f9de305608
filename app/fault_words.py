"""What pydantic finds, in the words of JSON: callers send objects and arrays, not dictionaries and lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_AN_OBJECT: Final = "must be an object"
_AN_ARRAY: Final = "must be an array"
_AN_INTEGER: Final = "must be an integer"
_A_NUMBER: Final = "must be a number"
_A_BOOLEAN: Final = "must be true or false"

_WORDS: Final[Mapping[str, str]] = {
    "missing": "is missing",
    "extra_forbidden": "no such field",
    "dict_type": _AN_OBJECT,
    "mapping_type": _AN_OBJECT,
    "model_type": _AN_OBJECT,
    "model_attributes_type": _AN_OBJECT,
    "dataclass_type": _AN_OBJECT,
    "list_type": _AN_ARRAY,
    "tuple_type": _AN_ARRAY,
    "set_type": _AN_ARRAY,
    "frozen_set_type": _AN_ARRAY,
    "string_type": "must be a string",
    "none_required": "must be null",
    "int_type": _AN_INTEGER,
    "int_parsing": _AN_INTEGER,
    "int_from_float": _AN_INTEGER,
    "int_parsing_size": "must be an integer of fewer digits",
    "float_type": _A_NUMBER,
    "float_parsing": _A_NUMBER,
    "finite_number": "must be a finite number",
    "bool_type": _A_BOOLEAN,
    "bool_parsing": _A_BOOLEAN,
    "recursion_loop": "is nested too deeply",
}
"""By pydantic's type of the error."""

_LIMITS: Final = {
    "too_long": "may hold at most {max_length} items",
    "too_short": "must hold at least {min_length} items",
    "string_too_long": "may have at most {max_length} characters",
    "string_too_short": "must have at least {min_length} characters",
}

_PREFIXES: Final = {"Input should be ": "must be ", "Value error, ": "", "Assertion failed, ": ""}


def describe(error: Mapping[str, Any]) -> str:
    """The message of one error, as `ValidationError.errors()` gives it."""
    known = _WORDS.get(error["type"])
    if known is not None:
        return known
    message: str = error["msg"]
    limit = _LIMITS.get(error["type"])
    if limit is not None:
        return limit.format_map(error["ctx"])
    if "set_int_max_str_digits" in message:  # a validator tried to write out a number of such a length
        return "has too many digits"
    for prefix, ours in _PREFIXES.items():
        if message.startswith(prefix):
            return ours + message.removeprefix(prefix)
    return message
