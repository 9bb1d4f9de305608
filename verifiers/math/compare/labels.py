"""What an answer is called: `x = 5`, `f(x) = 2x`, `x in [1, 2]` -> the name and the value."""

from __future__ import annotations

import re
from string import ascii_letters
from typing import NamedTuple

from verifiers.math.traverse import free_symbols, substitute, walk
from verifiers.math.tree import (
    Apply,
    Call,
    Listing,
    NamedSet,
    Node,
    Product,
    Quotient,
    Ratio,
    Relation,
    SetOperation,
    Sum,
    Symbol,
    Tuple,
)

_COORDINATE = re.compile(r"[A-Za-z](?:_?\d+)?")
_CONSTANT = re.compile(r"[CcK](?:_\w+)?|const")


class Named(NamedTuple):
    """A value with its name; `label` is None for a bare value."""

    label: Node | None
    value: Node


def named(node: Node) -> Named:
    """Split off the name. A chain counts by its last exact side: `x = 6/3 = 2 ~ 2.0` is 2."""
    match node:
        case Product((Symbol(name), Tuple() as point)) if name[0].isupper():  # A(3, -2)
            return Named(Symbol(name), point)
    if not isinstance(node, Relation):
        return Named(None, node)
    if node.operators[-1] == "in" and len(node.sides) == 2:
        return Named(*node.sides) if is_label(node.sides[0]) else Named(None, node)
    if set(node.operators) - {"=", "~"}:
        return Named(None, node)
    sides = list(node.sides)
    if "~" in node.operators:
        exact = node.operators.index("~") + 1
        sides = sides[: exact + 1] if exact == 1 and free_symbols(sides[0]) else sides[:exact]
        if len(sides) == 1:
            return Named(None, sides[0])
    label, value = sides[0], sides[-1]
    if is_label(label) and not _mentions(value, label):
        if is_letter(label) and is_letter(value) and len(sides) == 2:
            return Named(None, node)
        return Named(label, value)
    if is_letter(value) and not free_symbols(label):
        return Named(value, label)
    if not any(free_symbols(side) for side in sides) and len(set(sides)) > 1:  # not `5 = 5`
        return Named(None, value)
    return Named(None, node)


def is_letter(node: Node) -> bool:
    """A variable by itself."""
    return isinstance(node, Symbol)


def is_label(node: Node) -> bool:
    """Whether a left side only names what stands on the right: `x`, `f(x)`, `(x, y)`, `|AB|`, `S_1 : S_2`."""
    match node:
        case Symbol() | NamedSet():
            return True
        case Apply():
            return True
        case Tuple(parts) | Ratio(parts):
            return all(is_label(part) for part in parts)
        case Quotient(a, b):
            return is_label(a) and is_label(b)
        # dy/dx, P(X > 2), P(A \cap B)
        case Product((Symbol("d" | "partial" | "nabla"), Symbol())) | Product(
            (Symbol(), Relation() | SetOperation() | Apply("|"))
        ):
            return True
        case Product((Symbol("m"), Symbol(name))) if name.startswith("angle "):  # m\\angle ABC
            return True
        case Product(factors):
            return _is_name(factors)
        case Call("abs" | "norm", (Symbol(name),)) if name.startswith("vec "):
            return True
        case Call("norm", (Symbol(),)):
            return True
        case Call("abs", (inner,)):
            return (
                is_label(inner) and isinstance(inner, Product | Symbol) and not str(_first(inner)).islower()
            )
        case Call(("sin" | "cos" | "tan"), (Symbol(),)):
            return True
    return False


def _first(node: Node) -> str:
    match node:
        case Symbol(name):
            return name[0]
        case Product((Symbol(name), *_)):
            return name[0]
    return ""


def _is_name(factors: tuple[Node, ...]) -> bool:
    """Capital letters side by side (a segment), or one letter applied to letters or numbers: `W(n)`."""
    letters = [factor.name for factor in factors if isinstance(factor, Symbol)]
    if len(letters) != len(factors):
        return False
    capitals = all(letter[0].isupper() for letter in letters)
    applied = len(factors) == 2 and letters[0][0].isupper() and letters[1][0].islower()
    return capitals or applied


def _mentions(value: Node, label: Node) -> bool:
    return isinstance(label, Symbol) and label.name in free_symbols(value)


def same_label(a: Node, b: Node) -> bool:
    """Whether two names are one, up to the letters of a function's arguments (see `align`)."""
    if a == b:
        return True
    match a, b:
        case (Symbol(name), Apply(other)) | (Apply(name), Symbol(other)):  # v and v(t)
            return name == other
    return _shape(a) is not None and _shape(a) == _shape(b)


def _shape(label: Node) -> tuple[str, int] | None:
    match label:
        case Apply(name, arguments) if all(isinstance(part, Symbol) for part in arguments):
            return name, len(arguments)
        case Product((Symbol(name), Symbol())) if name.isupper():
            return name, 1
    return None


def parameters(label: Node) -> tuple[Node, ...]:
    """The letters that a function's definition binds."""
    match label:
        case Apply(_, arguments):
            return arguments
        case Product((Symbol(), argument)):
            return (argument,)
    return ()


def align(truth: Node, response: Node, value: Node) -> Node:
    """`value` with the response's argument letters renamed to those of the truth: f(t) = 2t -> f(x) = 2x."""
    for new, old in zip(parameters(truth), parameters(response), strict=False):
        value = substitute(value, old, new)
    return value


def assignments(node: Node) -> list[Named] | None:
    """`x = 1, y = 2` or `(x, y) = (1, 2)` as names and values; None when some part has no name."""
    if isinstance(node, Relation):
        label, value = named(node)
        if isinstance(label, Tuple) and isinstance(value, Tuple) and len(label.items) == len(value.items):
            return [Named(*pair) for pair in zip(label.items, value.items, strict=True)]
        *letters, value = node.sides
        if set(node.operators) == {"="} and len(letters) > 1 and all(map(is_letter, letters)):
            return None if is_letter(value) else [Named(letter, value) for letter in letters]
    if not isinstance(node, Listing | Tuple):
        return None
    parts = [named(item) for item in node.items]
    if any(part.label is None for part in parts):
        return None
    alternatives = isinstance(node, Listing) and node.joined_by == "or"
    if alternatives and not all(
        same_label(parts[0].label or part.value, part.label or part.value) for part in parts
    ):
        return None  # x = 3 or y = 2x: two lines
    return parts


def in_order_of_names(parts: list[Named]) -> list[Named]:
    """Assignments as the entries of a tuple: `y = 2, x = 1` is (1, 2). Other names stay as they stand."""
    names = [part.label.name if isinstance(part.label, Symbol) else "" for part in parts]
    by_name = sorted(range(len(parts)), key=lambda at: (len(names[at]), names[at]))
    return [parts[at] for at in by_name] if _are_coordinates([names[at] for at in by_name]) else parts


def _are_coordinates(names: list[str]) -> bool:
    """Whether sorted names say an order by themselves: x, y, z or x_1, x_2, but not p, x."""
    if not all(_COORDINATE.fullmatch(name) for name in names):
        return False
    letters = "".join(name[0] for name in names)
    return len(set(letters)) == 1 or letters in ascii_letters


def spread_label(node: Node) -> Node:
    """`x = 1, 2, 3` read as one name for all: the values; other nodes as they are."""
    if not isinstance(node, Listing) or len(node.items) < 2:
        return node
    first, *rest = (named(item) for item in node.items)
    if first.label is None:
        return node
    alike = all(part.label is None or same_label(first.label, part.label) for part in rest)
    if not alike or any(isinstance(part.value, Relation) for part in rest):
        return node
    if all(part.label is None for part in rest) or all(part.label is not None for part in rest):
        return Listing(
            (first.value, *(align(first.label, part.label or first.label, part.value) for part in rest)),
            node.joined_by,
        )
    return node


def integration_constant(node: Node) -> str | None:
    """The name of the constant in `... + C`; None without exactly one."""
    if not isinstance(node, Sum):
        return None
    names = [term.name for term in node.terms if isinstance(term, Symbol) and _CONSTANT.fullmatch(term.name)]
    if len(names) != 1 or sum(part == Symbol(names[0]) for part in walk(node)) != 1:
        return None
    return names[0]
