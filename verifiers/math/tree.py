"""The typed tree that every answer is read into. Plain immutable data; nothing here computes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Number:
    """An exact rational literal. `places` counts the digits after the point of a decimal, else None."""

    numerator: int
    denominator: int = 1
    places: int | None = None


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable; subscripts and primes belong to its name (`a_1`, `x'`)."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """`pi`, `e`, `i` (the imaginary unit) or `oo` (infinity)."""

    name: Literal["pi", "e", "i", "oo", "phi", "gamma"]


@dataclass(frozen=True, slots=True)
class Sum:
    terms: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Product:
    factors: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Quotient:
    numerator: Node
    denominator: Node


@dataclass(frozen=True, slots=True)
class Power:
    base: Node
    exponent: Node


@dataclass(frozen=True, slots=True)
class Call:
    """A known function: `sin`, `root` (radicand, index), `log` (argument, base), `factorial`, ..."""

    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Apply:
    """A function known by name only, as the f of f(x)."""

    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Bounded:
    """A sum, product, integral, limit or derivative: an operator that binds `variable` in `body`."""

    kind: Literal["sum", "prod", "int", "lim", "diff"]
    variable: str
    lower: Node | None
    upper: Node | None
    body: Node


@dataclass(frozen=True, slots=True)
class PlusMinus:
    """Both signs of `value`; all upper signs of an answer go together (`minus_first` for the other sign)."""

    value: Node
    minus_first: bool = False


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value with a unit as written: factors (name, power); `%` and `deg` are units too."""

    value: Node
    unit: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Counted:
    """A value with words behind it that are no unit: `5 apples`."""

    value: Node
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tuple:
    """Entries in brackets, in order. With two entries it may as well be an interval."""

    items: tuple[Node, ...]
    opening: Literal["(", "[", "<"] = "("
    closing: Literal[")", "]", ">"] = ")"


@dataclass(frozen=True, slots=True)
class Set:
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """Entries side by side without brackets."""

    items: tuple[Node, ...]
    joined_by: Literal["comma", "and", "or"] = "comma"


@dataclass(frozen=True, slots=True)
class Sequence:
    """Entries with dots: `1, 3, 5, ..., 2n-1`. A gap is `None`."""

    items: tuple[Node | None, ...]


@dataclass(frozen=True, slots=True)
class SetOperation:
    operator: Literal["union", "intersection", "difference"]
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class SetBuilder:
    """`{ element | condition }`."""

    element: Node
    condition: Node


@dataclass(frozen=True, slots=True)
class NamedSet:
    """`R`, `Z`, `N`, `Q`, `C`, or one of them with a sign (`R+`)."""

    name: str


@dataclass(frozen=True, slots=True)
class Matrix:
    rows: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True, slots=True)
class Relation:
    """A chain: `sides[0] operators[0] sides[1] ...`; operators: = ~ < <= > >= != in notin."""

    sides: tuple[Node, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Congruence:
    left: Node
    right: Node
    modulus: Node


@dataclass(frozen=True, slots=True)
class Ratio:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Piecewise:
    """(value, condition) pairs; the condition None means otherwise."""

    cases: tuple[tuple[Node, Node | None], ...]


@dataclass(frozen=True, slots=True)
class Conditioned:
    """An answer with a condition behind it: `x^2 where x > 0`, `k pi, k in Z`."""

    body: Node
    conditions: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Labelled:
    """Parts by name: `(a) 3 (b) 5`."""

    parts: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A letter of a multiple choice, with the text behind it if any was given."""

    letter: str
    content: Node | None = None


@dataclass(frozen=True, slots=True)
class ClockTime:
    """Seconds after midnight; `half` is set when the text says am or pm."""

    seconds: int
    half: bool = False


@dataclass(frozen=True, slots=True)
class Date:
    year: int
    month: int
    day: int


@dataclass(frozen=True, slots=True)
class Special:
    """An answer that is a statement by itself."""

    name: Literal["empty", "does_not_exist", "true", "false", "infinitely_many", "undefined"]


@dataclass(frozen=True, slots=True)
class Text:
    """Words, lower case, single spaces."""

    words: str


Node = (
    Number
    | Symbol
    | Constant
    | Sum
    | Product
    | Quotient
    | Power
    | Call
    | Apply
    | Bounded
    | PlusMinus
    | Quantity
    | Counted
    | Tuple
    | Set
    | Listing
    | Sequence
    | SetOperation
    | SetBuilder
    | NamedSet
    | Matrix
    | Relation
    | Congruence
    | Ratio
    | Piecewise
    | Conditioned
    | Labelled
    | Choice
    | ClockTime
    | Date
    | Special
    | Text
)

EXPRESSIONS = (
    Number,
    Symbol,
    Constant,
    Sum,
    Product,
    Quotient,
    Power,
    Call,
    Apply,
    Bounded,
    PlusMinus,
)
"""The kinds that stand for one value (or, with a plus-minus, a few)."""


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below `node`."""
    match node:
        case Sum(parts) | Product(parts) | Call(_, parts) | Apply(_, parts) | Ratio(parts):
            return parts
        case Tuple(parts) | Set(parts) | Listing(parts) | SetOperation(_, parts) | Relation(parts):
            return parts
        case Quotient(a, b) | Power(a, b) | SetBuilder(a, b):
            return (a, b)
        case PlusMinus(value) | Quantity(value) | Counted(value):
            return (value,)
        case Bounded(_, _, lower, upper, body):
            return tuple(part for part in (lower, upper, body) if part is not None)
        case Sequence(items):
            return tuple(item for item in items if item is not None)
        case Matrix(rows):
            return tuple(entry for row in rows for entry in row)
        case Congruence(a, b, c):
            return (a, b, c)
        case Piecewise(cases):
            return tuple(part for case in cases for part in case if part is not None)
        case Conditioned(body, conditions):
            return (body, *conditions)
        case Labelled(parts):
            return tuple(node for _, node in parts)
        case Choice(_, content):
            return () if content is None else (content,)
        case _:
            return ()


def walk(node: Node) -> list[Node]:
    """`node` and everything below it."""
    found = [node]
    for seen in found:
        found.extend(children(seen))
    return found


def free_symbols(node: Node) -> frozenset[str]:
    """Names of the variables in `node` that no operator binds."""
    if isinstance(node, Symbol):
        return frozenset((node.name,))
    names: frozenset[str] = frozenset().union(*(free_symbols(child) for child in children(node)))
    if isinstance(node, Bounded) and node.kind != "diff":
        bounds = [free_symbols(part) for part in (node.lower, node.upper) if part is not None]
        return frozenset((free_symbols(node.body) - {node.variable}).union(*bounds))
    return names


def rebuild(node: Node, change: Callable[[Node], Node]) -> Node:
    """A copy of `node` in which every direct child is replaced by `change(child)`."""
    match node:
        case Sum(parts):
            return Sum(tuple(map(change, parts)))
        case Product(parts):
            return Product(tuple(map(change, parts)))
        case Call(name, parts):
            return Call(name, tuple(map(change, parts)))
        case Apply(name, parts):
            return Apply(name, tuple(map(change, parts)))
        case Ratio(parts):
            return Ratio(tuple(map(change, parts)))
        case Tuple(parts, opening, closing):
            return Tuple(tuple(map(change, parts)), opening, closing)
        case Set(parts):
            return Set(tuple(map(change, parts)))
        case Listing(parts, joined_by):
            return Listing(tuple(map(change, parts)), joined_by)
        case SetOperation(operator, parts):
            return SetOperation(operator, tuple(map(change, parts)))
        case Relation(parts, operators):
            return Relation(tuple(map(change, parts)), operators)
        case Quotient(a, b):
            return Quotient(change(a), change(b))
        case Power(a, b):
            return Power(change(a), change(b))
        case SetBuilder(a, b):
            return SetBuilder(change(a), change(b))
        case PlusMinus(value, minus_first):
            return PlusMinus(change(value), minus_first)
        case Quantity(value, unit):
            return Quantity(change(value), unit)
        case Counted(value, words):
            return Counted(change(value), words)
        case Bounded(kind, variable, lower, upper, body):
            return Bounded(kind, variable, lower and change(lower), upper and change(upper), change(body))
        case Sequence(items):
            return Sequence(tuple(item and change(item) for item in items))
        case Matrix(rows):
            return Matrix(tuple(tuple(map(change, row)) for row in rows))
        case Congruence(a, b, c):
            return Congruence(change(a), change(b), change(c))
        case Piecewise(cases):
            return Piecewise(tuple((change(value), when and change(when)) for value, when in cases))
        case Conditioned(body, conditions):
            return Conditioned(change(body), tuple(map(change, conditions)))
        case Labelled(parts):
            return Labelled(tuple((label, change(part)) for label, part in parts))
        case Choice(letter, content):
            return Choice(letter, content and change(content))
        case _:
            return node


def name_applications(node: Node) -> Node:
    """`node` with every f(x) of an unknown f as a variable of that name."""
    if isinstance(node, Apply):
        arguments = ", ".join(str(name_applications(argument)) for argument in node.arguments)
        return Symbol(f"{node.name}({arguments})")
    return rebuild(node, name_applications)


def substitute(node: Node, old: Node, new: Node) -> Node:
    """`node` with `new` wherever `old` stands."""
    return new if node == old else rebuild(node, lambda child: substitute(child, old, new))
