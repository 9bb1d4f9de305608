"""JSON in: exact numbers, any text, nothing that is not JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.parsing import (
    HugeInteger,
    MalformedJSONError,
    deeper_than,
    escape_unstorable,
    holds_huge_integer,
    parse_json,
    replace_unstorable,
)
from audit import exact_json
from verifiers.literals import FloatLiteral

any_text = st.text(st.characters(categories=["L", "N", "P", "S", "Z", "C"]))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | any_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=50)
@given(values)
def test_what_was_written_is_read(value: Any) -> None:
    """Escaped or as UTF-8, lone surrogates included."""
    assert parse_json(bytearray(json.dumps(value).encode())).value == value
    document = parse_json(bytearray(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")))
    assert replace_unstorable(document.value)[0] == replace_unstorable(value)[0]


@settings(max_examples=50)
@given(values)
def test_replaced_values_can_be_stored(value: Any) -> None:
    """No NUL and no surrogate is left, and nothing else changes."""
    text = json.dumps(value, ensure_ascii=False)
    expected = [ch for ch in text if ch != "\0" and not "\ud800" <= ch <= "\udfff"]
    document = parse_json(bytearray(json.dumps(value).encode()))
    clean, changed = replace_unstorable(document.value)
    written = json.dumps(clean, ensure_ascii=False)
    written.encode()
    assert "\\u0000" not in written
    if not changed:
        assert clean == value
        assert written == "".join(expected)
    else:
        assert document.may_hold_unstorable


@settings(max_examples=50)
@given(st.binary(max_size=200))
def test_any_bytes_are_json_or_refused(body: bytes) -> None:
    """Nothing else is raised."""
    try:
        document = parse_json(bytearray(body))
    except MalformedJSONError:
        return
    assert document.size == len(body)


@pytest.mark.parametrize("literal", ["0.1", "-0.0", "1e-6", "1E400", "0.10", "123456789.123456789123456789"])
def test_decimals_keep_their_literal(literal: str) -> None:
    """The text that was written is there to be read exactly."""
    value = parse_json(bytearray(f"[{literal}]".encode())).value[0]
    assert isinstance(value, FloatLiteral)
    assert value.text == literal
    assert exact_json.dump([value]) == f"[{literal}]".encode()


@pytest.mark.parametrize("digits", [1, 4_300, 4_301, 50_000, 100_000])
@pytest.mark.parametrize("sign", ["", "-"])
def test_integers_are_exact(digits: int, sign: str) -> None:
    """Up to 100,000 digits, among others that are short."""
    text = sign + ("123456789" * (digits // 9 + 1))[:digits]
    document = parse_json(bytearray(f"[7, {text}, -7]".encode()))
    assert document.value[0] == 7
    assert exact_json.dump(document.value[1]) == text.encode()
    assert not holds_huge_integer(document.value)


def test_longer_integers_are_marked_and_keep_their_literal() -> None:
    """They can be told, and written back."""
    text = "-" + "9" * 100_001
    document = parse_json(bytearray(f'{{"a": [{text}]}}'.encode()))
    assert document.may_hold_huge
    assert isinstance(document.value["a"][0], HugeInteger)
    assert holds_huge_integer(document.value)
    assert exact_json.dump(document.value["a"]) == f"[{text}]".encode()


def test_depth_is_counted_by_containers() -> None:
    """A list in a list is two levels."""
    assert not deeper_than("x", 0)
    assert deeper_than([], 0)
    nested: Any = []
    for _ in range(99):
        nested = {"a": nested}
    assert not deeper_than(nested, 100)
    assert deeper_than(nested, 99)


def test_the_body_is_let_go_when_it_has_been_read() -> None:
    """A large one should not stay in memory beside its values."""
    body = bytearray(b"[1]")
    parse_json(body)
    assert not body


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    """Some clients write one."""
    assert parse_json(bytearray(b"\xef\xbb\xbf[1]")).value == [1]


@given(st.lists(st.text("\0\ud800\udfff\ufffd0d8f", max_size=6), unique=True))
def test_escaped_names_stay_apart(names: list[str]) -> None:
    """Names that differ still do, and all of them can be stored."""
    escaped = [escape_unstorable(name) for name in names]
    assert len(set(escaped)) == len(names)
    assert "\0" not in "".join(escaped).encode().decode()
