"""Matrices and vectors, with the arithmetic that models leave undone: sums, products, transposes."""

from __future__ import annotations

from collections.abc import Callable

from verifiers.math.compare.collections import COUNT_DIFFERS, all_equal
from verifiers.math.compare.errors import NotComparable
from verifiers.math.compare.policy import Outcome
from verifiers.math.traverse import rebuild, walk
from verifiers.math.tree import Call, Matrix, Node, Number, Power, Product, Quotient, Sum, Symbol, Tuple

Compare = Callable[[Node, Node], Outcome]
MAX_ENTRIES = 400


def has_matrix(node: Node) -> bool:
    """Whether a matrix occurs, or a tuple that is turned into a column."""
    return any(
        isinstance(part, Matrix) or (isinstance(part, Power) and isinstance(part.base, Tuple))
        for part in walk(node)
    )


def compare_matrices(truth: Node, response: Node, compare: Compare) -> Outcome:
    """Entry by entry, whatever the brackets; a row or column may be written as a tuple."""
    left, right = _rows(_evaluated(truth)), _rows(_evaluated(response))
    if isinstance(left, Tuple) != isinstance(right, Tuple):
        left, right = _flat(left), _flat(right)
    if not (isinstance(left, Matrix) and isinstance(right, Matrix)):
        return Outcome(equal=False, route="entries", reason="kind_differs")
    if [len(row) for row in left.rows] != [len(row) for row in right.rows]:
        return COUNT_DIFFERS
    pairs = ((a, b) for p, q in zip(left.rows, right.rows, strict=True) for a, b in zip(p, q, strict=True))
    return all_equal(pairs, compare)


def expand_determinants(node: Node) -> Node:
    """`node` with determinants up to 4 x 4 and traces written out."""
    node = rebuild(node, expand_determinants)
    match node:
        case Call("det", (Matrix(rows),)) if len(rows) == len(rows[0]) <= 4:
            return _determinant(rows)
        case Call("trace", (Matrix(rows),)) if len(rows) == len(rows[0]):
            return Sum((Number(0), *(row[index] for index, row in enumerate(rows))))
    return node


def _determinant(rows: tuple[tuple[Node, ...], ...]) -> Node:
    if len(rows) == 1:
        return rows[0][0]
    terms = []
    for column, entry in enumerate(rows[0]):
        minor = tuple(row[:column] + row[column + 1 :] for row in rows[1:])
        terms.append(Product((Number(-1 if column % 2 else 1), entry, _determinant(minor))))
    return Sum(tuple(terms))


def _rows(node: Node) -> Node:
    """`[[1, 2], [3, 4]]` as a matrix."""
    match node:
        case Tuple(items) if all(isinstance(item, Tuple) for item in items):
            rows = tuple(item.items for item in items if isinstance(item, Tuple))
            return Matrix(rows) if len({len(row) for row in rows}) == 1 else node
    return node


def _flat(node: Node) -> Node:
    """A vector as one row."""
    match node:
        case Tuple(items):
            return Matrix((items,))
        case Matrix(rows) if len(rows) == 1:
            return node
        case Matrix(rows) if all(len(row) == 1 for row in rows):
            return Matrix((tuple(row[0] for row in rows),))
    return node


def _evaluated(node: Node) -> Node:
    match node:
        case Matrix(rows):
            if sum(map(len, rows)) > MAX_ENTRIES:
                raise NotComparable("a matrix of too many entries")
            return node
        case Sum(terms):
            total = _evaluated(terms[0])
            for term in terms[1:]:
                total = _plus(total, _evaluated(term))
            return total
        case Product(factors):
            total = _evaluated(factors[0])
            for factor in factors[1:]:
                total = _times(total, _evaluated(factor))
            return total
        case Quotient(top, bottom) if has_matrix(top):
            return _times(Quotient(Number(1), bottom), _evaluated(top))
        case Power(Matrix() as base, Symbol("T" | "top")):
            return Matrix(tuple(zip(*base.rows, strict=True)))
        case Power(Tuple(items), Symbol("T" | "top")):
            return Matrix(tuple((item,) for item in items))
    return node


def _plus(a: Node, b: Node) -> Node:
    if isinstance(a, Matrix) and isinstance(b, Matrix):
        if [len(row) for row in a.rows] != [len(row) for row in b.rows]:
            raise NotComparable("a sum of matrices of different sizes")
        return Matrix(
            tuple(
                tuple(Sum(pair) for pair in zip(p, q, strict=True))
                for p, q in zip(a.rows, b.rows, strict=True)
            )
        )
    return Sum((a, b))


def _times(a: Node, b: Node) -> Node:
    match a, b:
        case Matrix(left), Matrix(right):
            if len(left[0]) != len(right):
                raise NotComparable("a product of matrices that do not fit")
            if len(left) * len(right) * len(right[0]) > MAX_ENTRIES:
                raise NotComparable("a product of matrices of too many entries")
            columns = list(zip(*right, strict=True))
            return Matrix(
                tuple(
                    tuple(
                        Sum(tuple(Product((x, y)) for x, y in zip(row, column, strict=True)))
                        for column in columns
                    )
                    for row in left
                )
            )
        case Matrix(rows), _:
            return Matrix(tuple(tuple(Product((b, entry)) for entry in row) for row in rows))
        case _, Matrix(rows):
            return Matrix(tuple(tuple(Product((a, entry)) for entry in row) for row in rows))
    return Product((a, b))
