"""Plain data as text: how arguments reach a program and how its results come back. Never pickle.

A value is JSON, except that what JSON cannot hold is an object with one key that names the kind:
`{"d": {..}}` a dict, `{"i": "-ff"}` an integer beyond 64 bits, in hexadecimal (so that neither side meets
Python's limit on decimal digits). Tuples travel as lists, keys of dicts as their JSON text (RULES R5).
`encode` runs beside the candidate and `decode` in the service, so `decode` trusts nothing.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

MAX_DEPTH = 200
MAX_ITEMS = 1_000_000
MAX_TEXT = 16 << 20
MAX_INTEGER_BITS = 332_193
"""The longest integer of 100,000 decimal digits (RULES R12)."""

_SMALL = 1 << 63
_HEXADECIMAL = re.compile(rf"-?[0-9a-f]{{1,{MAX_INTEGER_BITS // 4 + 1}}}")
_to_text = json.JSONEncoder(ensure_ascii=True, check_circular=False, separators=(",", ":")).encode
_FLAT = ({str}, {float}, {bool})
_SCALARS = {str, float, bool, int, type(None)}


class NotPlainError(ValueError):
    """The value is not plain data, or too large: it cannot equal any expected value."""


class MalformedError(ValueError):
    """The bytes are nothing that `encode` can have written."""


def encode(value: Any) -> str:
    """Take `value` by value, subclasses of plain types as what they really hold; linear in its size.

    Raises NotPlainError for sets, bytes, generators, objects and whatever is too deep or too large;
    nothing is ever iterated that is not a real list, tuple or dict.
    """
    return _to_text(_Encoder().wrap(value, 0))


def weight(data: bytes) -> int:
    """About how many lists, dicts and items there are in JSON, told without parsing it."""
    return data.count(b",") + data.count(b"[") + data.count(b"{")


MAX_WEIGHT = 3 * MAX_ITEMS + 10
"""More than `encode` ever writes: a flood of empty lists takes fifty times its text once it is parsed."""


def decode(text: bytes) -> Any:
    """The value that `encode` wrote; raises MalformedError for anything else."""
    if weight(text) > MAX_WEIGHT:
        raise MalformedError("too many items")
    try:
        return unwrap(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise MalformedError(str(error)) from None


class _Encoder:
    def __init__(self) -> None:
        self.items = 0
        self.text = 0

    def wrap(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is str:
            return self.counted(value)
        if value is None or kind is bool or kind is float:
            return value
        if kind is int:
            return _wrap_integer(value)
        if kind is list or kind is tuple:
            return self.wrap_items(value, depth)
        if kind is dict:
            return self.wrap_dict(value.items(), depth)
        return self.wrap_subclass(value, kind, depth)

    def wrap_subclass(self, value: Any, kind: type, depth: int) -> Any:
        """The real value of an instance of a subclass, read past every method it may override."""
        if issubclass(kind, numpy_scalars()):
            value = value.item()
            if type(value) in _SCALARS:
                return self.wrap(value, depth)
        for base in (str, list, tuple):
            if issubclass(kind, base):
                return self.wrap(base.__getitem__(value, slice(None)), depth)
        if issubclass(kind, int):
            return _wrap_integer(int.__index__(value))
        if issubclass(kind, float):
            return float.__float__(value)
        if issubclass(kind, dict):
            return self.wrap_dict(dict.items(value), depth)
        raise NotPlainError(f"{kind.__name__} is not plain data")

    def wrap_items(self, items: Any, depth: int) -> Any:
        self.count(len(items), depth)
        kinds = set(map(type, items))
        if kinds == {int}:
            if min(items) >= -_SMALL and max(items) < _SMALL:
                return items
        elif kinds in _FLAT:
            if str in kinds:
                self.counted("", sum(map(len, items)))
            return items
        return [self.wrap(item, depth + 1) for item in items]

    def wrap_dict(self, items: Any, depth: int) -> Any:
        self.count(len(items), depth)
        wrapped = {}
        for key, value in items:
            text = key_text(key)
            if text in wrapped:
                raise NotPlainError("two keys of a dict have the same JSON text")
            wrapped[self.counted(text)] = self.wrap(value, depth + 1)
        return {"d": wrapped}

    def count(self, items: int, depth: int) -> None:
        self.items += items
        if self.items > MAX_ITEMS:
            raise NotPlainError("too many items")
        if depth >= MAX_DEPTH:
            raise NotPlainError("nested too deeply")

    def counted(self, text: str, length: int = 0) -> str:
        self.text += length or len(text)
        if self.text > MAX_TEXT:
            raise NotPlainError("too much text")
        return text


def numpy_scalars() -> tuple[type, ...]:
    """The base class of numpy's scalars, if numpy is loaded here."""
    generic = getattr(sys.modules.get("numpy"), "generic", None)
    return (generic,) if isinstance(generic, type) else ()


def key_text(key: Any) -> str:
    """The JSON text of a dict key; raises NotPlainError if it has none."""
    if issubclass(type(key), numpy_scalars()):
        key = key.item()
    kind = type(key)
    if issubclass(kind, str):
        return str.__getitem__(key, slice(None))
    if issubclass(kind, (int, float, tuple)) or key is None:
        try:
            return json.dumps(key)
        except (TypeError, ValueError, RecursionError):
            pass
    raise NotPlainError(f"a dict key of type {kind.__name__} has no JSON text")


def _wrap_integer(value: int) -> Any:
    if -_SMALL <= value < _SMALL:
        return value
    if value.bit_length() > MAX_INTEGER_BITS:
        raise NotPlainError("an integer of more than 100,000 digits")
    return {"i": format(value, "x")}


def unwrap(wrapped: Any, depth: int = 0) -> Any:
    """The value in JSON that is already parsed; raises MalformedError."""
    if depth > MAX_DEPTH:
        raise MalformedError("nested too deeply")
    if type(wrapped) is list:
        if not set(map(type, wrapped)) <= _SCALARS:
            return [unwrap(item, depth + 1) for item in wrapped]
    elif type(wrapped) is dict:
        if len(wrapped) != 1:
            raise MalformedError("an object without a kind")
        ((kind, content),) = wrapped.items()
        if kind == "d" and type(content) is dict:
            return {key: unwrap(item, depth + 1) for key, item in content.items()}
        if kind == "i" and type(content) is str and _HEXADECIMAL.fullmatch(content):
            return int(content, 16)
        raise MalformedError(f"an unknown kind of value: {kind!r:.20}")
    return wrapped
