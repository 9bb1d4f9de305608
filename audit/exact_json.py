"""JSON that gives back what was judged: numbers as they were written, texts with every code point."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from json.encoder import encode_basestring as _text
from typing import Any


class _Raw(str):
    """Text that is JSON already."""

    __slots__ = ()


_CLOSE_LIST, _CLOSE_OBJECT, _COMMA = _Raw("]"), _Raw("}"), _Raw(",")


def dump(value: Any) -> bytes:
    """Write a JSON value as compact UTF-8.

    A number that keeps its literal in an attribute `text` is written with it, and integers of any length in
    full. Nesting costs no stack. Lone surrogates are kept (as WTF-8); `TypeError` for what is not JSON.
    """
    parts: list[str] = []
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, _Raw):
            parts.append(item)
        elif isinstance(item, str):
            parts.append(_text(item))
        elif isinstance(item, list | tuple):
            parts.append("[")
            stack.append(_CLOSE_LIST)
            _push(stack, [(member,) for member in item])
        elif isinstance(item, Mapping):
            parts.append("{")
            stack.append(_CLOSE_OBJECT)
            _push(stack, [(member, _Raw(_text(str(key)) + ":")) for key, member in item.items()])
        else:
            parts.append(_scalar(item))
    return "".join(parts).encode("utf-8", "surrogatepass")


def _push(stack: list[Any], members: list[tuple[Any, ...]]) -> None:
    """Put the members of a container on the stack, last first, with commas between them."""
    for position in range(len(members) - 1, -1, -1):
        stack.extend(members[position])
        if position:
            stack.append(_COMMA)


def _scalar(item: Any) -> str:
    text = getattr(item, "text", None)
    if isinstance(text, str):
        return text
    if item is None:
        return "null"
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, int):
        # str() of an int stops at sys.get_int_max_str_digits(); Decimal does not.
        return str(item) if item.bit_length() < 10_000 else str(Decimal(item))
    if isinstance(item, float):
        return json.dumps(item)
    raise TypeError(f"{type(item).__name__} is not a JSON value")


def weight(value: Any) -> int:
    """Roughly how many bytes `value` holds in memory, for bounding a queue."""
    total = 0
    stack = [value]
    while stack:
        item = stack.pop()
        total += 64
        if isinstance(item, str):
            total += len(item)
        elif isinstance(item, Mapping):
            stack.extend(item.values())
            total += 64 * len(item)
        elif isinstance(item, list | tuple):
            stack.extend(item)
        elif isinstance(item, int):
            total += item.bit_length() >> 3
    return total
