"""The token stream under the parser, with the limits on depth."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

from verifiers.math.read.errors import ReadError, TooLarge
from verifiers.math.read.tokens import Token
from verifiers.math.tree import Node

_RESTRICTING = frozenset(("in", "<", "<=", ">", ">=", "!="))

MAX_DEPTH = 100
"""Nesting of brackets, groups and arguments that is read."""


class Cursor:
    """A position in the tokens. The grammar is spread over the subclasses, one level each."""

    def __init__(self, tokens: list[Token], *, grouped: bool = True) -> None:
        """`grouped`: read `1,000` outside brackets as one number."""
        self.tokens = tokens
        self.index = 0
        self.grouped = grouped
        self.depth = 0
        self.bars = 0
        """Open absolute values; within one, the next bar closes it."""
        self.brackets = 0
        """Open brackets; within one, a comma never groups digits."""
        self.integrals = 0
        """Open integrals; within one, `dx` ends the argument of a function."""
        self.outward = False
        """Within brackets that open with `]`, where `[` closes."""
        self.builder = False
        """Reading the first element of a set, where `|` and `:` start the condition."""

    def expression(self) -> Node:
        """A sum; defined by `Operators`."""
        raise NotImplementedError

    def relation(self) -> Node:
        """A chain of relations; defined by `Statements`."""
        raise NotImplementedError

    def fraction(self) -> Node:
        """`\\frac` with its arguments; defined by `Atoms`."""
        raise NotImplementedError

    def listing(self) -> Node:
        """Statements side by side; defined by `Statements`."""
        raise NotImplementedError

    def bracketed(self) -> Node:
        """Whatever an opening bracket starts; defined by `Brackets`."""
        raise NotImplementedError

    def at_unit_fraction(self) -> bool:
        """Whether a fraction of units follows; defined by `Quantities`."""
        raise NotImplementedError

    def at_letter_union(self) -> bool:
        """Whether the letter U stands between two sets, as their union."""
        token = self.tokens[self.index]
        return (
            token.text == "U"
            and self.tokens[self.index - 1].text in {")", "]", "\\}"}
            and self.ahead().text in {"(", "[", "\\{"}
        )

    def at_bracketed_condition(self) -> bool:
        """Whether a bracket says what holds for a letter: `2k (k \\in Z)`, but not `P(X > 2) = ...`."""
        before = self.tokens[self.index - 1].text
        if (
            not self.at("(")
            or self.brackets
            or not (self.token.space or before.islower() or before.isdigit())
        ):
            return False
        relations = False
        for token, following in pairwise(self.tokens[self.index + 1 :]):
            if token.text == ")":
                return relations and following.text not in {"=", "~"}
            if token.text in {"(", ","}:
                return False
            relations |= token.text in _RESTRICTING
        return False

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.index]

    def ahead(self, distance: int = 1) -> Token:
        """The token `distance` after the next."""
        return self.tokens[min(self.index + distance, len(self.tokens) - 1)]

    def take(self) -> Token:
        """The next token, which is then behind."""
        token = self.tokens[self.index]
        if token.kind != "stop":
            self.index += 1
        return token

    def at(self, *operators: str) -> bool:
        """Whether the next token is one of these operators."""
        token = self.tokens[self.index]
        return token.kind == "operator" and token.text in operators

    def accept(self, *operators: str) -> str:
        """Take the next token if it is one of these operators; its text, else the empty string."""
        return self.take().text if self.at(*operators) else ""

    def expect(self, operator: str) -> None:
        """Take this operator or raise `ReadError`."""
        if not self.accept(operator):
            raise self.unexpected(f"expected {operator!r}")

    def unexpected(self, message: str = "unexpected") -> ReadError:
        """The error for the next token."""
        return ReadError(f"{message} at {self.token.text or 'the end'!r}")

    @contextmanager
    def nested(self) -> Iterator[None]:
        """One level deeper; raises `TooLarge` beyond `MAX_DEPTH`."""
        self.descend()
        yield
        self.ascend()

    def descend(self) -> None:
        """One level deeper, for the hot paths; an error ends the whole reading, so `ascend` needs no
        guard."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooLarge(f"nested deeper than {MAX_DEPTH}")

    def ascend(self) -> None:
        """Back from `descend`."""
        self.depth -= 1

    def put_back_rest(self, taken: int) -> None:
        """Leave all but the first `taken` characters of the last token as a token of its own, if any."""
        token = self.tokens[self.index - 1]
        if len(token.text) > taken:
            self.index -= 1
            self.tokens[self.index] = token._replace(text=token.text[taken:], space=False)
