"""Bytes of a JSON document -> values that keep what was written: exact integers, decimal literals, any text.

The standard library's parser is the only one here: the faster ones refuse lone surrogates, which a model
may well produce.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from verifiers.literals import FloatLiteral, read_integer

REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"

# Lone surrogates as bytes, as Python's "surrogatepass" writes them: not UTF-8, but the text of some model.
_ENCODED_SURROGATE: Final = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
_ESCAPED_SURROGATE: Final = rb"\\ud800"

# Apart from those, NUL and surrogates enter a JSON text as escapes only: raw control characters are refused.
_UNSTORABLE_ESCAPE: Final = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")
_ESCAPED: Final = re.compile(f"[\0\ud800-\udfff{REPLACEMENT}]")


class MalformedJSONError(ValueError):
    """The text is not JSON (RFC 8259). `reason` is a stable word for the kind of fault."""

    def __init__(self, message: str, reason: str = "malformed_json") -> None:
        super().__init__(message)
        self.reason = reason


class HugeInteger:
    """Stands for an integer of more digits than `read_integer` reads; `text` is its literal."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON document, and which of the rarer checks its content may need."""

    value: Any
    size: int
    """Bytes of the document."""
    may_hold_unstorable: bool
    """Some text may hold NUL or a lone surrogate."""
    may_hold_huge: bool
    """Some integer may be a `HugeInteger`."""


def parse_json(body: bytearray) -> Document:
    """Parse UTF-8 JSON, and empty `body`. Floats become `FloatLiteral`, too long integers `HugeInteger`.

    Raises MalformedJSONError: not UTF-8, not JSON, `NaN` or `Infinity`, nested too deeply to be read.
    """
    size = len(body)
    may_hold_unstorable = _UNSTORABLE_ESCAPE.search(body) is not None
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if _ENCODED_SURROGATE.search(body) is None:
            raise MalformedJSONError(f"the body is not UTF-8 (byte {error.start})") from None
        return parse_json(bytearray(_ENCODED_SURROGATE.sub(_ESCAPED_SURROGATE, body)))
    body.clear()  # a large one should not stay in memory beside its text and its values
    try:
        value, may_hold_huge = _load(text)
    except RecursionError:
        raise MalformedJSONError("the JSON is nested too deeply", "json_too_deep") from None
    except json.JSONDecodeError as error:
        message = f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        raise MalformedJSONError(message) from None
    return Document(value, size, may_hold_unstorable, may_hold_huge)


def _load(text: str) -> tuple[Any, bool]:
    try:
        return _decode(text), False
    except (MalformedJSONError, json.JSONDecodeError):
        raise
    except ValueError:  # an integer longer than Python converts in one step
        return _decode_long_integers(text), True


def _refuse_constant(name: str) -> NoReturn:
    raise MalformedJSONError(f"not JSON: {name} is no JSON number")


def _parse_int(digits: str) -> int | HugeInteger:
    try:
        return read_integer(digits)
    except ValueError:
        return HugeInteger(digits)


_decode: Final = json.JSONDecoder(parse_float=FloatLiteral, parse_constant=_refuse_constant).decode
_decode_long_integers: Final = json.JSONDecoder(
    parse_float=FloatLiteral, parse_constant=_refuse_constant, parse_int=_parse_int
).decode


def replace_unstorable(value: Any) -> tuple[Any, bool]:
    """Replace NUL and lone surrogates in all texts of a JSON value by U+FFFD; say whether there were any.

    Lists and objects are changed in place.
    """
    root = [value]
    changed = False
    pending: list[list[Any] | dict[Any, Any]] = [root]
    while pending:
        container = pending.pop()
        if isinstance(container, dict) and any(_UNSTORABLE.search(key) for key in container):
            renamed = {_UNSTORABLE.sub(REPLACEMENT, key): item for key, item in container.items()}
            container.clear()
            container.update(renamed)
            changed = True
        for key, item in container.items() if isinstance(container, dict) else enumerate(container):
            if isinstance(item, list | dict):
                pending.append(item)
            elif isinstance(item, str) and _UNSTORABLE.search(item):
                container[key] = _UNSTORABLE.sub(REPLACEMENT, item)
                changed = True
    return root[0], changed


def escape_unstorable(name: str) -> str:
    """A name without NUL and lone surrogates that differs wherever names differ."""
    return _ESCAPED.sub(lambda found: f"{REPLACEMENT}{ord(found[0]):04x}", name)


def holds_huge_integer(value: Any) -> bool:
    """Whether a JSON value holds an integer that was too long to be read."""
    return any(isinstance(item, HugeInteger) for item in _walk(value))


def _walk(value: Any) -> Iterator[Any]:
    """All leaves of a JSON value, without recursion."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, list):
            pending.extend(item)
        elif isinstance(item, dict):
            pending.extend(item.values())
        else:
            yield item


def deeper_than(value: Any, levels: int) -> bool:
    """Whether lists and objects are nested more than `levels` deep in a JSON value."""
    layer = [value]
    for _ in range(levels + 1):
        containers = [item for item in layer if isinstance(item, list | dict)]
        if not containers:
            return False
        layer = [
            child for item in containers for child in (item if isinstance(item, list) else item.values())
        ]
    return True
