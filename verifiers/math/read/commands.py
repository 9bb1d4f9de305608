"""TeX commands and environments: fractions, sets, sums, integrals, matrices, cases."""

from __future__ import annotations

from typing import Literal, cast

from verifiers.math.read.errors import ReadError, UnsupportedKind
from verifiers.math.read.names import CONSTANTS, FUNCTIONS, GREEK, SETS
from verifiers.math.read.operators import Operators
from verifiers.math.traverse import substitute
from verifiers.math.tree import (
    Bounded,
    Call,
    Constant,
    Listing,
    Matrix,
    NamedSet,
    Node,
    Number,
    Piecewise,
    Product,
    Quotient,
    Special,
    Symbol,
)

_MATRICES = frozenset(
    [
        "matrix",
        "pmatrix",
        "bmatrix",
        "Bmatrix",
        "vmatrix",
        "Vmatrix",
        "smallmatrix",
        "array",
        "psmallmatrix",
        "bsmallmatrix",
    ]
)

_ALIGNED = frozenset(
    ("aligned", "align", "align*", "gathered", "gather", "gather*", "split", "equation", "equation*")
)

_ACCENTS = frozenset(
    [
        "vec",
        "overrightarrow",
        "overleftarrow",
        "overline",
        "bar",
        "hat",
        "widehat",
        "tilde",
        "widetilde",
        "dot",
        "ddot",
        "underline",
        "mathcal",
        "mathscr",
        "mathfrak",
        "overleftrightarrow",
        "stackrel",
    ]
)

_LABELS = frozenset(["angle", "triangle", "measuredangle", "square", "odot", "parallel", "Box"])


class Commands(Operators):
    """Reads what a backslash starts."""

    def command(self) -> Node:
        name = self.token.text
        if name in {"frac", "dfrac", "tfrac", "cfrac"}:
            return self.fraction()
        if name == "sqrt":
            return self.root()
        if name in {"binom", "dbinom", "tbinom"}:
            self.take()
            top = self.argument()
            return Call("binomial", (top, self.argument()))
        if name in {"mathbb", "mathds"}:
            return self._named_set()
        if name in {"lfloor", "lceil"}:
            return self._rounded(name)
        if name in {"sum", "prod", "int", "lim", "iint", "oint"}:
            return self._bounded(name)
        if name in {"emptyset", "varnothing"}:
            self.take()
            return Special("empty")
        if name in {"not"}:
            raise self.unexpected()
        if name in _ACCENTS:
            return self._accent(name)
        if name in _LABELS:
            self.take()
            letters = ""
            while self.token.kind == "word" and len(self.token.text) <= 4:
                letters += self.take().text
            return Symbol(f"{name} {letters}")
        if name in {"ce", "xrightarrow", "rightleftharpoons"}:
            raise UnsupportedKind("a chemical equation")
        if name in FUNCTIONS or name in CONSTANTS or name in GREEK:
            return self.word()
        raise self.unexpected("a command that is not in the grammar")

    def _accent(self, name: str) -> Node:
        self.take()
        content = self.argument()
        letters = "".join(part.name for part in _factors(content) if isinstance(part, Symbol))
        plain = all(isinstance(part, Symbol) for part in _factors(content))
        if not plain and isinstance(content, Symbol | Constant):
            letters, plain = content.name, True
        if not plain:
            if name in {"bar", "overline"}:
                return Call("conjugate", (content,))
            raise self.unexpected("an accent over an expression")
        if name in {"bar", "overline"} and len(letters) == 1:
            return Call("conjugate", (content,))
        return Symbol(letters if name.startswith("math") else f"vec {letters}")

    def _named_set(self) -> Node:
        self.take()
        name = self.argument()
        letter = SETS.get(name.name if isinstance(name, Symbol) else "")
        if letter is None:
            raise self.unexpected("a set of that name")
        sign = ""
        while self.at("^", "_"):
            self.take()
            braces = bool(self.accept("{"))
            while self.at("+", "-", "*") or (self.token.kind == "number" and self.token.text == "0"):
                sign += self.take().text
            if braces:
                if self.accept(">", ">="):
                    sign += "+"
                    self.take()
                self.expect("}")
            if not sign:
                power = self.argument() if not braces else None
                return NamedSet(f"{letter}^{power}")
        return NamedSet(letter + sign)

    def _rounded(self, name: str) -> Node:
        self.take()
        self.brackets += 1
        with self.nested():
            content = self.expression()
        self.brackets -= 1
        closing = self.take()
        if closing.text not in {"rfloor", "rceil"}:
            raise self.unexpected("an open floor or ceiling")
        return Call("floor" if name == "lfloor" else "ceil", (content,))

    def _bounded(self, name: str) -> Node:
        self.take()
        if name in {"iint", "oint"}:
            raise self.unexpected("an integral of that kind")
        lower: Node | None = None
        upper: Node | None = None
        variable = ""
        while self.at("_", "^"):
            if self.take().text == "^":
                upper = self.argument(whole=True)
            elif name == "int":
                lower = self.argument(whole=True)
            else:
                variable, lower = self._lower_bound()
        if name == "int":
            return self._integral(lower, upper)
        body = self.product()
        if variable in {"i", "e"}:
            body = substitute(body, Constant(cast("Literal['i', 'e']", variable)), Symbol(variable))
        kind = cast("Literal['sum', 'prod', 'lim']", name)
        return Bounded(kind, variable, lower, upper, body)

    def _lower_bound(self) -> tuple[str, Node]:
        """`{k=1}` or `{x \\to 0}`."""
        self.expect("{")
        letter = self.atom()
        if not isinstance(letter, Symbol | Constant) or not self.accept("=", "->"):
            raise self.unexpected("no lower bound")
        lower = self.expression()
        self.expect("}")
        return letter.name, lower

    def _integral(self, lower: Node | None, upper: Node | None) -> Node:
        self.integrals += 1
        body = self.expression()
        self.integrals -= 1
        factors = list(_factors(body))
        numerator, rest = factors, []
        if isinstance(body, Quotient):
            numerator, rest = list(_factors(body.numerator)), [body.denominator]
        match numerator[-2:]:
            case [Symbol("d"), Symbol(variable)]:
                inner: Node = _product(numerator[:-2])
                return Bounded("int", variable, lower, upper, Quotient(inner, rest[0]) if rest else inner)
        raise self.unexpected("an integral without its variable")

    def environment(self) -> Node:
        name = self.take().text
        if name in _ALIGNED:
            return self._aligned(name)
        if name in {"cases", "dcases"} or name in _MATRICES:
            if name == "array" and self.at("{"):
                self._skip_group()
            rows = self._rows(name)
            if name in {"cases", "dcases"}:
                return cases(rows)
            if name in {"vmatrix", "Vmatrix"}:
                return Call("det", (Matrix(tuple(tuple(row) for row in rows)),))
            if name in _MATRICES:
                if len({len(row) for row in rows}) != 1:
                    raise ReadError("a matrix with rows of different lengths")
                return Matrix(tuple(tuple(row) for row in rows))
        raise self.unexpected(f"the environment {name!r}")

    def _aligned(self, name: str) -> Node:
        """Statements below each other; `&` only says where they are aligned."""
        end = next(
            at for at in range(self.index, len(self.tokens)) if self.tokens[at].kind in {"end", "stop"}
        )
        rows = [token for token in self.tokens[self.index : end] if token.text != "&"]
        self.tokens[self.index : end] = rows
        with self.nested():
            node = self.listing()
        if self.take().text != name:
            raise ReadError("an environment closed by another name")
        return node

    def _skip_group(self) -> None:
        while not self.accept("}"):
            if self.take().kind == "stop":
                raise self.unexpected("an open group")

    def _rows(self, name: str) -> list[list[Node]]:
        rows: list[list[Node]] = [[]]
        self.brackets += 1
        with self.nested():
            while self.token.kind != "end":
                if self.accept("\\\\"):
                    rows.append([])
                elif self.accept("&"):
                    continue
                else:
                    rows[-1].append(self._cell(name))
                    self.accept(",", ";", ".")
        self.brackets -= 1
        if self.take().text != name:
            raise ReadError("an environment closed by another name")
        return [row for row in rows if row]

    def _cell(self, name: str) -> Node:
        """One entry; in a list of cases the condition may be in words."""
        if name in {"cases", "dcases"}:
            while self.token.kind == "word" and self.token.text in {"if", "for", "when", "where"}:
                self.take()
            if self.token.kind == "word" and self.token.text in {"otherwise", "else"}:
                self.take()
                return Special("true")
        return self.relation()


def _factors(node: Node) -> tuple[Node, ...]:
    return node.factors if isinstance(node, Product) else (node,)


def _product(factors: list[Node]) -> Node:
    if not factors:
        return Number(1)
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


def cases(rows: list[list[Node]]) -> Node:
    if all(len(row) == 2 for row in rows):
        return Piecewise(tuple((value, None if when == Special("true") else when) for value, when in rows))
    if all(len(row) == 1 for row in rows):
        return Listing(tuple(row[0] for row in rows), "and")
    raise ReadError("cases that are neither values with conditions nor a system")
