"""Whatever has brackets: groups, tuples, intervals, sets, absolute values."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal, cast

from verifiers.math.read.commands import Commands, cases
from verifiers.math.read.errors import ReadError
from verifiers.math.read.names import CONNECTIVES
from verifiers.math.tree import (
    Apply,
    Call,
    Listing,
    Matrix,
    Node,
    Sequence,
    Set,
    SetBuilder,
    Special,
    Symbol,
    Tuple,
)

_CLOSERS = {")": ")", "]": "]", ")>": ">", "[": ")", ">": ">"}
_DOTS = Symbol("...")
_OPENING = frozenset(("(", "{", "\\{", "<("))
_CLOSING = frozenset((")", "}", "\\}", ")>"))


class Brackets(Commands):
    """Reads one atom, brackets and commands included."""

    def atom(self) -> Node:
        """One value without postfix signs."""
        token = self.token
        self.descend()
        match token.kind:
            case "number":
                node = self.numeral()
            case "word":
                node = self.word()
            case "command":
                node = self.command()
            case "begin":
                node = self.environment()
            case "operator":
                node = self._operator()
            case _:
                raise self.unexpected()
        self.ascend()
        return node

    def _operator(self) -> Node:
        if self.at("{"):
            return self._braces()
        if self.at("(", "[", "<(", "<", "\\{", "]"):
            return self.bracketed()
        if self.at("|", "||", "mid"):
            return self._bars()
        if self.accept("..."):
            return _DOTS
        if self.at(".") and self.ahead().kind == "number" and self.ahead().text.isdigit():
            raise self.unexpected()
        raise self.unexpected()

    def _braces(self) -> Node:
        """A TeX group, which groups and shows nothing; outside brackets it may hold a whole list."""
        if self.brackets:
            return self.group()
        self.take()
        with self.nested():
            node = self.listing()
        self.expect("}")
        return node

    def bracketed(self) -> Node:
        """A group, tuple, interval or set."""
        opening = self.take().text
        self.brackets += 1
        bars, self.bars = self.bars, 0
        builder, self.builder = self.builder, False
        outward, self.outward = self.outward, opening == "]" or (opening == "[" and self._closes_outward())
        self.builder = opening == "(" and self._is_conditional()
        try:
            with self.nested():
                return self._set() if opening == "\\{" else self._tuple(opening)
        finally:
            self.brackets -= 1
            self.bars, self.builder, self.outward = bars, builder, outward

    def _closes_outward(self) -> bool:
        """Whether the interval that `[` has just opened is closed by `[` too: `[1, 2[`."""
        depth = commas = 0
        for before, token in pairwise(self.tokens[self.index :]):
            depth += (before.text in _OPENING) - (before.text in _CLOSING)
            if depth == 0:
                commas += before.text in {",", ";"}
                if token.text == "]":
                    return False
                if token.text == "[":
                    return commas == 1 and before.text not in {",", ";"}
        return False

    def _is_conditional(self) -> bool:
        """Whether the one bar in the bracket just opened stands between two events: `P(A | B)`."""
        bars = depth = 0
        for token in self.tokens[self.index :]:
            depth += (token.text in _OPENING) - (token.text in _CLOSING)
            if depth < 0 or token.kind == "stop":
                break
            bars += token.text in {"|", "mid"}
        return bars == 1 and self.tokens[self.index].text not in {"|", "mid"}

    def _tuple(self, opening: str) -> Node:
        items = [self._item()]
        if self.builder and self.accept("|", "mid"):
            items.append(self._item())
            self.expect(")")
            return Apply("|", tuple(items))
        separators = 0
        while self.at(",", ";") or (self.at("\\\\") and opening in "(["):
            self.take()
            separators += 1
            items.append(self._item())
        closing = _CLOSERS.get(self.token.text) if self.token.kind == "operator" else None
        if closing is None:
            raise self.unexpected("an open bracket")
        self.take()
        if not separators:
            plain = (opening, closing) in {("(", ")"), ("[", "]")}
            if not plain and opening != "<(":
                raise ReadError("brackets that do not match")
            return Matrix(((items[0],),)) if opening == "<(" else items[0]
        left = {"]": "(", "<(": "<", "<": "<"}.get(opening, opening)
        if _DOTS in items:
            return Sequence(tuple(None if item == _DOTS else item for item in items))
        return Tuple(
            tuple(items), cast("Literal['(', '[', '<']", left), cast("Literal[')', ']', '>']", closing)
        )

    def _item(self) -> Node:
        return self.relation()

    def _set(self) -> Node:
        if self.accept("\\}"):
            return Special("empty")
        if self.token.kind == "begin":
            return self._system()
        self.builder = True
        first = self._item()
        self.builder = False
        if self.accept("|", ":", "mid"):
            conditions = [self.relation()]
            joints = set[str]()
            while joint := self._joint():
                joints.add(joint)
                conditions.append(self.relation())
            self.expect("\\}")
            if "or" in joints:
                return SetBuilder(first, Listing(tuple(conditions), "or"))
            return SetBuilder(first, conditions[0] if len(conditions) == 1 else Tuple(tuple(conditions)))
        items = [first]
        while self.accept(",", ";"):
            items.append(self._item())
        self.expect("\\}")
        if _DOTS in items:
            return Set((Sequence(tuple(None if item == _DOTS else item for item in items)),))
        return Set(tuple(items))

    def _joint(self) -> str:
        if self.token.kind == "word" and self.token.text in CONNECTIVES:
            return CONNECTIVES[self.take().text]
        return self.accept(",", "and", "or", ";")

    def _system(self) -> Node:
        """A brace before an array, closed or not: a system of relations, or cases."""
        node = self.environment()
        self.accept("\\}")
        if isinstance(node, Matrix):
            return cases([list(row) for row in node.rows])
        return node

    def _bars(self) -> Node:
        bar = self.take().text
        self.bars += 1
        with self.nested():
            content = self.expression()
        self.bars -= 1
        self.expect(bar)
        return Call("abs" if bar == "|" else "norm", (content,))

    # commands

    # environments
