"""JSON as it was judged."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit import exact_json

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)
ANY_TEXT = st.text(st.characters(codec=None))


class Literal(float):
    """A number that keeps its literal, as the service's JSON reader makes them."""

    def __new__(cls, text: str) -> Literal:
        made = super().__new__(cls, text)
        made.text = text  # type: ignore[attr-defined]
        return made


@given(VALUES)
def test_agrees_with_the_standard_library(value: Any) -> None:
    """What is written is what json.dumps writes, in its compact form."""
    expected = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert exact_json.dump(value) == expected.encode("utf-8", "surrogatepass")


@given(ANY_TEXT)
def test_every_text_comes_back(text: str) -> None:
    """Any code points, lone surrogates and NUL among them, survive as value and as key."""
    written = exact_json.dump({text: text})
    assert json.loads(written.decode("utf-8", "surrogatepass")) == {text: text}


@pytest.mark.parametrize("literal", ["0.1000", "1e400", "1E-07", "-0.0", "3.14159265358979323846264338"])
def test_numbers_keep_their_literal(literal: str) -> None:
    """A number that knows how it was written is written so again, at any place."""
    assert exact_json.dump([Literal(literal), {"a": Literal(literal)}]).decode() == (
        f'[{literal},{{"a":{literal}}}]'
    )


@pytest.mark.parametrize("digits", [10, 4_300, 4_301, 100_000])
def test_integers_of_any_length(digits: int) -> None:
    """Integers beyond the length that Python prints by default are written in full."""
    number = 10 ** (digits - 1) + 7
    expected = "1" + "0" * (digits - 2) + "7"
    assert exact_json.dump(number).decode() == expected
    assert exact_json.dump(-number).decode() == "-" + expected


def test_nesting_costs_no_stack() -> None:
    """Depth is bounded by memory only."""
    value: Any = 0
    for _ in range(50_000):
        value = [value]
    assert exact_json.dump(value) == b"[" * 50_000 + b"0" + b"]" * 50_000
    assert exact_json.weight(value) >= 50_000


def test_what_is_not_json_is_refused() -> None:
    """An object of no JSON type is an error, not a guess."""
    with pytest.raises(TypeError, match="set is not a JSON value"):
        exact_json.dump({"a": {1, 2}})


@given(VALUES)
def test_weight_grows_with_content(value: Any) -> None:
    """A container weighs more than what it holds."""
    assert exact_json.weight([value]) > exact_json.weight(value) > 0
