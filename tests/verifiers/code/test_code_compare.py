"""Comparison of texts (RULES R1) and of values (RULES R5)."""

from __future__ import annotations

import copy
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox import values
from verifiers.code.compare import text_matches, value_matches
from verifiers.code.tests import TextCompare
from verifiers.literals import FloatLiteral, read_json

TEXTS: list[tuple[TextCompare, str, str, bool]] = [
    ("tokens", "1  2\n3\n", "1 2 3", True),
    ("tokens", "1 2", "1 2 3", False),
    ("tokens", "1 2 3", "1 2", False),
    ("tokens", "", " \n", True),
    ("tokens", "1.0", "1", False),
    ("tokens", "a\u00a0b", "a b", True),
    ("exact", "a\r\nb\n\n", "a\nb", True),
    ("exact", "a\n", "a", True),
    ("exact", " a", "a", False),
    ("exact", "a \n", "a\n", False),
    ("exact", "a\r", "a", False),
    ("exact", "\na", "a", False),
    ("float", "0.3333333", "0.33333334", True),
    ("float", "0.500001", "0.5", True),
    ("float", "0.5000011", "0.5", False),
    ("float", "1000000.9", "1000000.0", True),
    ("float", "1000002", "1000000.0", False),
    ("float", "1e3", "1000.0", True),
    ("float", "5", "5.0000001", True),
    ("float", "10000000000000001", "10000000000000000", False),
    ("float", "9" * 5000, "9" * 5000, True),
    ("float", "9" * 5000, "9" * 4999 + "8", False),
    ("float", "+7 -0", "7 0", True),
    ("float", "nan", "nan", False),
    ("float", "-inf", "-inf", False),
    ("float", "Infinity", "Infinity", False),
    ("float", "yes 1.0", "yes 1.0000001", True),
    ("float", "1e999999999", "1e999999999", True),
    ("float", "1e999999999999999999999", "1.5", False),
    ("float", "1e999999999", "1.5", False),
    ("float", "1e-999999999", "0.0", True),
    ("float", "-9.9e999999", "9.9e999999", False),
    ("float", "9.9e999999", "9.9000001e999999", True),
    ("float", "9" * 2_000_000 + ".5", "1.5", False),
    ("float", "1_0", "10.0", False),
    ("float", "٣", "3.0", False),
]


@pytest.mark.parametrize(("compare", "found", "expected", "equal"), TEXTS)
def test_texts(compare: TextCompare, found: str, expected: str, equal: bool) -> None:
    """Each comparison accepts what its rule names, and nothing else."""
    assert text_matches(found.encode(), (expected,), compare) is equal


def test_any_of_several_texts() -> None:
    """`stdout_any`: one is enough; output that is not UTF-8 is read with replacement characters."""
    assert text_matches(b"b", ("a", "b"), "tokens")
    assert text_matches(b"\xff", ("\ufffd",), "tokens")
    assert not text_matches(b"c", ("a", "b"), "tokens")


VALUES: list[tuple[Any, str, bool]] = [
    (2, "2.0", True),
    (-0.0, "0", True),
    (0.1 + 0.2, "0.3", False),
    (True, "1", False),
    (1, "true", False),
    (False, "0", False),
    (None, "null", True),
    (None, "[]", False),
    (0, "null", False),
    ("1", "1", False),
    ((1, (2,)), "[1, [2]]", True),
    ([1, True], "[1, 1]", False),
    ([], "{}", False),
    ({1: 2}, '{"1": 2}', True),
    ({"a": 1, "b": 2}, '{"b": 2, "a": 1}', True),
    ({"a": 1}, '{"a": 1, "b": 2}', False),
    ({1.5: None, None: 1, False: 2}, '{"1.5": null, "null": 1, "false": 2}', True),
    (2**70, str(2**70), True),
    (2**70, str(2**70 + 1), False),
    (2**53 + 1, "9007199254740992.0", False),
    ([10**5000], f"[1{'0' * 5000}]", True),
    (float("nan"), "1.0", False),
    ([[0.5, "x"]], '[[0.5, "x"]]', True),
]


def _by_codec(value: Any) -> Any:
    """The value as it comes back from a program."""
    return values.decode(values.encode(value).encode())


@pytest.mark.parametrize(("value", "expected", "equal"), VALUES, ids=[row[1][:20] for row in VALUES])
def test_values(value: Any, expected: str, equal: bool) -> None:
    """A value that came by the codec equals the JSON value or not."""
    assert value_matches(_by_codec(value), read_json(expected)) is equal


@pytest.mark.parametrize(
    ("value", "expected", "equal"),
    [
        (0.1 + 0.2, "0.3", True),
        (1, "1.0000001", True),
        (1, "2", False),
        (10**20, "100000000000000000001", False),
        (10**20, "100000000000000000001.0", True),
        (10**400, "1.5", False),
        (float("inf"), "1e308", False),
        (True, "1.0", False),
        ([{"a": [0.3000001]}], '[{"a": [0.3]}]', True),
        ("0.3000001", '"0.3"', False),
    ],
)
def test_tolerant_values(value: Any, expected: str, equal: bool) -> None:
    """`compare: float` is tolerant where at least one number is a float."""
    assert value_matches(_by_codec(value), read_json(expected), tolerant=True) is equal


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


def _kinds(value: Any) -> Any:
    """A value with its types, so that True, 1 and 1.0 differ: as JSON, but 1.0 and 1 alike."""
    if isinstance(value, list):
        return [_kinds(item) for item in value]
    if isinstance(value, dict):
        return {key: _kinds(item) for key, item in value.items()}
    return (type(value) is bool, value)


@given(JSON, JSON)
@settings(max_examples=50)
def test_value_equality_laws(left: Any, right: Any) -> None:
    """Reflexive, symmetric, what JSON equality with strict booleans says; tolerance only adds."""
    assert value_matches(left, copy.deepcopy(left))
    assert value_matches(left, right) is value_matches(right, left) is (_kinds(left) == _kinds(right))
    assert value_matches(left, right, tolerant=True) or not value_matches(left, right)


@given(JSON)
@settings(max_examples=50)
def test_literals_are_the_numbers_they_write(value: Any) -> None:
    """Floats read as literals compare like floats."""
    assert value_matches(value, read_json(json.dumps(value)))


@given(st.text(), st.text())
@settings(max_examples=50)
def test_text_comparisons_are_ordered(left: str, right: str) -> None:
    """`exact` implies `tokens`; `tokens` is equality of split texts; both are reflexive."""
    exact = text_matches(left.encode("utf-8", "replace"), (right,), "exact")
    tokens = text_matches(left.encode("utf-8", "replace"), (right,), "tokens")
    assert tokens or not exact
    assert tokens is (left.encode("utf-8", "replace").decode().split() == right.split())


@given(st.decimals(-(10**9), 10**9, places=4), st.integers(-3, 3))
@settings(max_examples=50)
def test_float_tolerance_is_exact_at_its_edge(number: Decimal, steps: int) -> None:
    """Within max(1e-6, 1e-6 * larger) as written in decimals, and not a digit further."""
    other = number + Decimal(steps) / 10**6
    tolerance = max(Decimal("1e-6"), max(abs(number), abs(other)) / 10**6)
    equal = text_matches(f"{number:f}".encode(), (f"{other:f}",), "float")
    assert equal is (abs(number - other) <= tolerance)


def test_float_literal_is_read_as_written() -> None:
    """The literal decides, not the nearest double."""
    assert value_matches(0.1, FloatLiteral("0.1000009"), tolerant=True)
    assert not value_matches(0.1, FloatLiteral("0.1000011"), tolerant=True)
