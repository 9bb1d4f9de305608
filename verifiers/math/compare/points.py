"""The reproducible points at which expressions with letters are compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from flint import fmpq

from verifiers.math.compare.policy import Assumption

MOST = 64
"""Candidates; those outside the domain of an expression are passed over."""

Coordinate = fmpq | tuple[fmpq, fmpq]

_SMALL = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)


def points(
    names: Sequence[str], assume: Mapping[str, Assumption], *, complex_letters: bool
) -> Iterator[dict[str, Coordinate]]:
    """Points for the letters `names`, the same for every call: in turn positive, mixed, whole, and below
    1."""
    for index in range(MOST):
        yield {
            name: _coordinate(index, order, assume.get(name, "complex" if complex_letters else "real"))
            for order, name in enumerate(sorted(names))
        }


def _coordinate(index: int, order: int, assumption: Assumption) -> Coordinate:
    seed = 7 * index + 31 * order + index * order
    top = _SMALL[(seed * 5 + order) % len(_SMALL)]
    if assumption == "positive_integer":
        return fmpq(1 + (seed * 3 + order) % 23)
    if assumption == "integer":
        return fmpq((seed * 3 + order) % 23 - 9)
    bottom = _SMALL[(seed * 11 + 3 * index + 1) % 13] * (1 if index % 2 else 10) + 1
    value = fmpq(top, bottom)
    match index % 4:
        case 0:
            value = fmpq(1) + value * 3
        case 1:
            value = (value - 2) if (index + order) % 3 else value + fmpq(order, 3)
        case 2:
            value = fmpq((seed * 3 + 2 * order) % 17 - 3)
        case 3:
            value = value / (1 + value)
    if assumption == "positive":
        value = abs(value) + fmpq(1, 97)
    if assumption == "complex":
        return (value, fmpq(_SMALL[(seed + 3) % 25], _SMALL[(seed + 8) % 25]) - 1)
    return value
