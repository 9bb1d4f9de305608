"""The typed tree that every answer is read into. Plain immutable data; nothing here computes."""

from __future__ import annotations

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

    name: Literal["pi", "e", "i", "oo"]


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
    """A sum, product, integral or limit: an operator that binds `variable` in `body`."""

    kind: Literal["sum", "prod", "int", "lim"]
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
