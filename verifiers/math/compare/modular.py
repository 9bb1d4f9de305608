"""The zero test where expanding costs too much: both trees at drawn points over large prime fields.

A residue that is not zero proves that the difference is no zero of the field of rational functions. Residues
that are all zero prove nothing, but chance explains them with probability below 2**-300 (Schwartz-Zippel), as
long as degree and coefficients of the difference are far smaller than the primes; `MAX_DEGREE` and `MAX_BITS`
see to that. Primes and points are drawn from a hash of the two trees: the same pair always meets the same
ones, and no answer can be written so that its own primes divide what it is off by.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from flint import fmpz

from verifiers.math.compare import budget
from verifiers.math.compare.errors import TooCostly, Undefined
from verifiers.math.compare.rational import NotRational, exact
from verifiers.math.traverse import free_symbols, walk
from verifiers.math.tree import Node, Number, Power, Product, Quotient, Sum, Symbol

PRIMES, POINTS = 3, 4
LOWEST_PRIME = 1 << 61
MAX_DEGREE = 1 << 24
"""Total degree of numerator and denominator of the difference, at most."""
MAX_BITS = 1 << 24
"""Bits of the coefficients of numerator and denominator, at most."""

Residues = list[int | None]
"""One residue for every prime and point; None where a divisor is zero."""
Operation = Callable[[int, int, int], int | None]
"""Two residues and their prime to the residue of the result."""


class _TooLarge(Exception):
    """The difference may have a degree or coefficients that the primes are not far above."""


@dataclass(frozen=True, slots=True)
class _Size:
    """Upper bounds of the degree, and of the bits of the sum of all coefficients."""

    degree: int = 0
    bits: int = 0

    def __add__(self, other: _Size) -> _Size:
        return _Size(self.degree + other.degree, self.bits + other.bits)

    def __mul__(self, times: int) -> _Size:
        return _Size(self.degree * times, self.bits * times)

    def __or__(self, other: _Size) -> _Size:
        return _Size(max(self.degree, other.degree), max(self.bits, other.bits) + 1)


def modular_difference(truth: Node, response: Node) -> bool | None:
    """Whether the two rational functions differ: True is proven, False is not; None when this cannot say.

    What is no rational operation (a root, sin x) is one more letter. Such letters may be related, so that
    only trees without them are ever found to differ. Raises `TooCostly`.
    """
    if not free_symbols(truth) | free_symbols(response):
        return None
    difference = _Difference(truth, response)
    try:
        residues = difference.residues()
    except (_TooLarge, TooCostly, Undefined):
        return None
    met = [residue for residue in residues if residue is not None]
    if any(met):
        return True if difference.only_letters else None
    return False if 2 * len(met) > len(residues) else None


class _Difference:
    """truth - response at the points of all primes."""

    def __init__(self, truth: Node, response: Node) -> None:
        self.trees = (truth, response)
        self.only_letters = True
        self._seed = hashlib.blake2b("\n".join(sorted(map(repr, self.trees))).encode()).digest()
        self._letters: dict[Node, Residues] = {}
        self._exponents: dict[Node, int | None] = {}

    def residues(self) -> Residues:
        """The residues of the difference. Raises `_TooLarge`, `TooCostly`, `Undefined`."""
        nodes = sum(len(walk(tree)) for tree in self.trees)
        budget.spend(20 + nodes * PRIMES * POINTS // 8)
        sizes = [self._size(tree) for tree in self.trees]
        _within((sizes[0][0] + sizes[1][1]) | (sizes[1][0] + sizes[0][1]))
        _within(sizes[0][1] + sizes[1][1])
        self._primes = [self._prime(index // POINTS) for index in range(PRIMES * POINTS)]
        left, right = (self._at(tree) for tree in self.trees)
        return self._each(left, right, lambda a, b, prime: (a - b) % prime)

    # bounds of degree and coefficients

    def _size(self, node: Node) -> tuple[_Size, _Size]:
        """Sizes of numerator and denominator, neither reduced nor cancelled."""
        top, bottom = self._size_of_parts(node)
        return _within(top), _within(bottom)

    def _size_of_parts(self, node: Node) -> tuple[_Size, _Size]:
        match node:
            case Number(numerator, denominator):
                return _Size(0, numerator.bit_length()), _Size(0, denominator.bit_length() - 1)
            case Sum(terms):
                top, bottom = self._size(terms[0])
                for term in terms[1:]:
                    other_top, other_bottom = self._size(term)
                    same = bottom.degree == other_bottom.degree == bottom.bits == other_bottom.bits == 0
                    top = top | other_top if same else (top + other_bottom) | (other_top + bottom)
                    bottom = bottom + other_bottom
                return top, bottom
            case Product(factors):
                sizes = [self._size(factor) for factor in factors]
                return _total([top for top, _ in sizes]), _total([bottom for _, bottom in sizes])
            case Quotient(numerator, denominator):
                (top, bottom), (other_top, other_bottom) = self._size(numerator), self._size(denominator)
                return top + other_bottom, bottom + other_top
            case Power(base, exponent) if (times := self._exponent(exponent)) is not None:
                top, bottom = self._size(base)
                return (top * times, bottom * times) if times >= 0 else (bottom * -times, top * -times)
        return _Size(1, 0), _Size()

    def _exponent(self, node: Node) -> int | None:
        """A whole exponent; None when it is none."""
        if node not in self._exponents:
            try:
                value = exact(node)
            except NotRational:
                self._exponents[node] = None
            else:
                self._exponents[node] = int(value) if value.q == 1 else None
        return self._exponents[node]

    # values

    def _at(self, node: Node) -> Residues:
        match node:
            case Number(numerator, denominator):
                return self._divided(self._whole(numerator), self._whole(denominator))
            case Sum(terms):
                total = self._at(terms[0])
                for term in terms[1:]:
                    total = self._each(total, self._at(term), lambda a, b, prime: (a + b) % prime)
                return total
            case Product(factors):
                total = self._at(factors[0])
                for factor in factors[1:]:
                    total = self._each(total, self._at(factor), lambda a, b, prime: a * b % prime)
                return total
            case Quotient(numerator, denominator):
                return self._divided(self._at(numerator), self._at(denominator))
            case Power(base, exponent) if (times := self._exponent(exponent)) is not None:
                powers = self._each(
                    self._at(base), self._whole(1), lambda a, _, prime: pow(a, abs(times), prime)
                )
                return powers if times >= 0 else self._divided(self._whole(1), powers)
        if node not in self._letters:
            self._letters[node] = self._letter(node)
        return self._letters[node]

    def _letter(self, node: Node) -> Residues:
        """The value that a letter, or what stands for one, takes at every point."""
        try:
            value = exact(node)
        except NotRational:
            self.only_letters = self.only_letters and isinstance(node, Symbol)
            return [self._drawn(index, node) % prime for index, prime in enumerate(self._primes)]
        return self._divided(self._whole(int(value.p)), self._whole(int(value.q)))

    def _whole(self, value: int) -> Residues:
        return [value % prime for prime in self._primes]

    def _divided(self, top: Residues, bottom: Residues) -> Residues:
        return self._each(top, bottom, lambda a, b, prime: a * pow(b, -1, prime) % prime if b else None)

    def _each(self, left: Residues, right: Residues, operation: Operation) -> Residues:
        return [
            None if a is None or b is None else operation(a, b, prime)
            for a, b, prime in zip(left, right, self._primes, strict=True)
        ]

    # draws

    def _prime(self, index: int) -> int:
        """The first prime from a drawn number between 2**61 and 2**62 on."""
        candidate = LOWEST_PRIME + self._drawn("prime", index) % LOWEST_PRIME | 1
        while not fmpz(candidate).is_prime():
            candidate += 2
        return candidate

    def _drawn(self, *what: object) -> int:
        return int.from_bytes(hashlib.blake2b(repr(what).encode(), key=self._seed, digest_size=16).digest())


def _within(size: _Size) -> _Size:
    if size.degree > MAX_DEGREE or size.bits > MAX_BITS:
        raise _TooLarge
    return size


def _total(sizes: list[_Size]) -> _Size:
    return _Size(sum(size.degree for size in sizes), sum(size.bits for size in sizes))
