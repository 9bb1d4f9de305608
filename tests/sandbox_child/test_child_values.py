"""Plain data as text: exact, bounded, and safe to read whatever wrote it."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter, OrderedDict, defaultdict, namedtuple
from enum import IntEnum
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.values import MAX_DEPTH, MAX_ITEMS, MalformedError, NotPlainError, decode, encode

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=15,
)


def _typed(value: Any) -> Any:
    if isinstance(value, list):
        return [_typed(item) for item in value]
    if isinstance(value, dict):
        return {key: _typed(item) for key, item in value.items()}
    return (type(value), value, math.copysign(1, value) if isinstance(value, float) else 0)


def _sent(value: Any) -> bytes:
    return encode(value).encode("ascii")


@given(PLAIN)
@settings(max_examples=50)
def test_plain_data_survives(value: Any) -> None:
    """Types, signs of zero and lone surrogates included."""
    assert _typed(decode(_sent(value))) == _typed(value)


class Text(str):
    """A text that lies about itself."""

    def __eq__(self, other: object) -> bool:
        return True

    def __getitem__(self, index: Any) -> str:
        return "lie"

    def __str__(self) -> str:
        return "lie"

    __hash__ = str.__hash__


class Items(list[int]):
    """A list that lies about its items."""

    def __iter__(self) -> Any:
        return itertools.count()

    def __len__(self) -> int:
        return 0


class Colour(IntEnum):
    """An integer with a name."""

    RED = 1


class Share(float):
    """A float that lies about its value."""

    def __float__(self) -> float:
        return 7.0


REAL = [
    (Text("x"), "x"),
    (Items([1, 2]), [1, 2]),
    (Colour.RED, 1),
    (Share(0.5), 0.5),
    ((1, (2, [3])), [1, [2, [3]]]),
    (namedtuple("Pair", "a b")(1, 2), [1, 2]),
    (Counter("aab"), {"a": 2, "b": 1}),
    (OrderedDict(b=1), {"b": 1}),
    (defaultdict(list, a=[1]), {"a": [1]}),
    (
        {Colour.RED: 1, 2.5: 2, None: 3, False: 4, (1, "a"): 5},
        {"1": 1, "2.5": 2, "null": 3, "false": 4, '[1, "a"]': 5},
    ),
    ({Text("k"): Text("v")}, {"k": "v"}),
    (np.int64(3), 3),
    (np.float32(0.5), 0.5),
    (np.bool_(True), True),
    (np.str_("x"), "x"),
    ([np.int8(1), {np.int8(2): 1}], [1, {"2": 1}]),
    (-(2**63), -(2**63)),
    (2**63, 2**63),
    (-(3**5000), -(3**5000)),
]


@pytest.mark.parametrize(("value", "real"), REAL, ids=[type(value).__name__ for value, _ in REAL])
def test_real_value_counts(value: Any, real: Any) -> None:
    """Subclasses are what they really hold, numpy scalars are numbers, keys their JSON text."""
    assert _typed(decode(_sent(value))) == _typed(real)


def _deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


NOT_PLAIN: list[Any] = [
    {1},
    b"x",
    1j,
    object(),
    int,
    itertools.count(),
    (x for x in [1]),
    [[np.array([1])]],
    {"a": frozenset()},
    {1: 1, "1": 2},
    {b"x": 1},
    _deep(MAX_DEPTH + 1),
    "x" * (17 << 20),
    [0] * (MAX_ITEMS + 1),
    10**100_010,
    np.datetime64("2020-01-01"),
]


@pytest.mark.parametrize("value", NOT_PLAIN, ids=range(len(NOT_PLAIN)))
def test_the_rest_is_not_plain(value: Any) -> None:
    """Refused by its type or size, never iterated."""
    with pytest.raises(NotPlainError):
        encode(value)


def test_a_value_that_holds_itself_is_refused() -> None:
    """By its depth."""
    value: list[Any] = []
    value.append(value)
    with pytest.raises(NotPlainError):
        encode(value)


TAGGED = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["d", "i", "x", ""]), inner, max_size=2)
    ),
    max_leaves=10,
)


@given(st.binary() | st.builds(lambda tagged: json.dumps(tagged).encode(), TAGGED))
@settings(max_examples=50)
def test_any_bytes_are_a_value_or_one_error(data: bytes) -> None:
    """Reading what a program wrote raises nothing else; what it gives is plain."""
    try:
        value = decode(data)
    except MalformedError:
        return
    assert decode(_sent(value)) == value or value != value


HOSTILE = {
    "deep lists": "[" * 100_000,
    "deep dicts": '{"d":' * 5_000,
    "hexadecimal": '{"i":"' + "f" * 100_000 + '"}',
    "decimal": "9" * 5_000,
    "no kind": "{}",
    "flood": "[" + "[]," * 2_000_000 + "0]",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_refused(text: str) -> None:
    """Depth, long integers in either notation, objects without a kind, a flood of lists."""
    with pytest.raises(MalformedError):
        decode(text.encode())
