"""Walking over trees and changing them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from operator import attrgetter
from typing import Any, get_args

from verifiers.math.tree import Apply, Bounded, Node, Number, Product, Quantity, Quotient, Symbol

_TYPES = get_args(Node)
_FIELDS = {kind: tuple(field.name for field in fields(kind)) for kind in _TYPES}


def _reader(kind: type[Node]) -> Callable[[Any], tuple[Node, ...]]:
    """What gives the children of a node of this kind, made once because trees are walked often."""
    kept = [(field.name, str(field.type)) for field in fields(kind) if "Node" in str(field.type)]
    names = [name for name, _ in kept]
    match [annotation for _, annotation in kept]:
        case []:
            return lambda node: ()
        case ["tuple[Node, ...]"]:
            return attrgetter(names[0])
        case ["Node"]:
            get = attrgetter(names[0])
            return lambda node: (get(node),)
        case [*annotations] if set(annotations) == {"Node"}:
            return attrgetter(*names)
    return lambda node: tuple(child for name in names for child in _nodes(getattr(node, name)))


def _nodes(value: Any) -> Iterator[Node]:
    if isinstance(value, tuple):
        for part in value:
            yield from _nodes(part)
    elif isinstance(value, _TYPES):
        yield value


_READERS = {kind: _reader(kind) for kind in _TYPES}
_LEAVES = frozenset(kind for kind in _TYPES if not any("Node" in str(field.type) for field in fields(kind)))


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below `node`."""
    return _READERS[type(node)](node)


def rebuild(node: Node, change: Callable[[Node], Node]) -> Node:
    """A copy of `node` in which every direct child is replaced by `change(child)`."""
    kind = type(node)
    if kind in _LEAVES:
        return node
    return kind(*(_changed(getattr(node, name), change) for name in _FIELDS[kind]))


def _changed(value: Any, change: Callable[[Node], Node]) -> Any:
    if isinstance(value, tuple):
        return tuple(_changed(part, change) for part in value)
    return change(value) if isinstance(value, _TYPES) else value


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
    names = frozenset[str]().union(*map(free_symbols, children(node)))
    if isinstance(node, Bounded):
        bounds = (free_symbols(part) for part in (node.lower, node.upper) if part is not None)
        return (free_symbols(node.body) - {node.variable}).union(*bounds)
    return names


def substitute(node: Node, old: Node, new: Node) -> Node:
    """`node` with `new` wherever `old` stands."""
    return new if node == old else rebuild(node, lambda child: substitute(child, old, new))


def name_applications(node: Node) -> Node:
    """`node` with every f(x) of an unknown f as a variable of that name.

    A sum or integral over such an f is one as well: its value is no function of f(x) at one x.
    """
    match node:
        case Apply(name, parts):
            arguments = ", ".join(str(name_applications(argument)) for argument in parts)
            return Symbol(f"{name}({arguments})")
        case Bounded() if any(isinstance(part, Apply) for part in walk(node.body)):
            return Symbol(str(_with_plain_dummies(node)))
    return rebuild(node, name_applications)


def _with_plain_dummies(node: Node, depth: int = 0) -> Node:
    """`node` with every bound variable named after how deep it stands."""
    inner = rebuild(node, lambda child: _with_plain_dummies(child, depth + isinstance(node, Bounded)))
    if not isinstance(inner, Bounded):
        return inner
    name = f"#{depth}"
    body = substitute(inner.body, Symbol(inner.variable), Symbol(name))
    return Bounded(inner.kind, name, inner.lower, inner.upper, body)


def negated(node: Node) -> Node:
    """-node, with the sign in the leading number where there is one."""
    if isinstance(node, Number):
        return Number(-node.numerator, node.denominator, node.places)
    if isinstance(node, Quotient) and isinstance(node.numerator, Number | Product | Quotient):
        return Quotient(negated(node.numerator), node.denominator)
    if isinstance(node, Quantity):
        return Quantity(negated(node.value), node.unit)
    if isinstance(node, Product) and isinstance(node.factors[0], Number):
        return Product((negated(node.factors[0]), *node.factors[1:]))
    return Product((Number(-1), *(node.factors if isinstance(node, Product) else (node,))))
