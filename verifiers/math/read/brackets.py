"""Whatever has brackets: groups, tuples, intervals, sets, absolute values."""

from __future__ import annotations

from typing import Literal, cast

from verifiers.math.read.commands import Commands, cases
from verifiers.math.read.errors import ReadError
from verifiers.math.tree import (
    Call,
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
        if self.at("|", "||"):
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
        outward, self.outward = self.outward, opening == "]"
        try:
            with self.nested():
                return self._set() if opening == "\\{" else self._tuple(opening)
        finally:
            self.brackets -= 1
            self.bars, self.builder, self.outward = bars, builder, outward

    def _tuple(self, opening: str) -> Node:
        items = [self._item()]
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
        if self.accept("|", ":"):
            conditions = [self.relation()]
            while self.accept(",", "and", ";"):
                conditions.append(self.relation())
            self.expect("\\}")
            return SetBuilder(first, conditions[0] if len(conditions) == 1 else Tuple(tuple(conditions)))
        items = [first]
        while self.accept(",", ";"):
            items.append(self._item())
        self.expect("\\}")
        if _DOTS in items:
            return Set((Sequence(tuple(None if item == _DOTS else item for item in items)),))
        return Set(tuple(items))

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
