"""Trees as short plain text, for `verdict.detail`."""

from __future__ import annotations

from verifiers.math.tree import (
    Apply,
    Bounded,
    Call,
    Choice,
    ClockTime,
    Conditioned,
    Congruence,
    Constant,
    Counted,
    Date,
    Labelled,
    Listing,
    Matrix,
    NamedSet,
    Node,
    Number,
    Piecewise,
    PlusMinus,
    Power,
    Product,
    Quantity,
    Quotient,
    Ratio,
    Relation,
    Sequence,
    Set,
    SetBuilder,
    SetOperation,
    Special,
    Sum,
    Symbol,
    Text,
    Tuple,
)

LONGEST = 400
"""Characters of a description; the rest is cut."""


def describe(node: Node) -> str:
    """`node` in plain text, at most `LONGEST` characters."""
    text = _text(node)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def _join(parts: tuple[Node, ...], separator: str) -> str:
    return separator.join(map(_text, parts))


def _text(node: Node) -> str:  # noqa: C901 - one line for each kind
    match node:
        case Number(numerator, denominator):
            top = str(numerator) if abs(numerator) < 10**60 else f"<{numerator.bit_length()} bits>"
            bottom = str(denominator) if denominator < 10**60 else f"<{denominator.bit_length()} bits>"
            return top if denominator == 1 else f"{top}/{bottom}"
        case Symbol(name) | Constant(name) | NamedSet(name) | Special(name):
            return name
        case Sum(terms):
            return "(" + _join(terms, " + ") + ")"
        case Product(factors):
            return _join(factors, "*")
        case Quotient(top, bottom):
            return f"({_text(top)})/({_text(bottom)})"
        case Power(base, exponent):
            return f"({_text(base)})^({_text(exponent)})"
        case Call(name, arguments) | Apply(name, arguments):
            return f"{name}({_join(arguments, ', ')})"
        case Bounded(kind, variable, lower, upper, body):
            bounds = ", ".join(_text(part) for part in (lower, upper) if part is not None)
            return f"{kind}({variable}: {bounds}; {_text(body)})"
        case PlusMinus(value, minus_first):
            return f"{'-+' if minus_first else '+-'}{_text(value)}"
        case Quantity(value, unit):
            return f"{_text(value)} " + " ".join(
                name if power == 1 else f"{name}^{power}" for name, power in unit
            )
        case Counted(value, words):
            return f"{_text(value)} {' '.join(words)}"
        case Tuple(items, opening, closing):
            return f"{opening}{_join(items, ', ')}{closing}"
        case Set(items):
            return "{" + _join(items, ", ") + "}"
        case Listing(items):
            return _join(items, ", ")
        case Sequence(items):
            return ", ".join("..." if item is None else _text(item) for item in items)
        case SetOperation(operator, parts):
            return _join(parts, f" {operator} ")
        case SetBuilder(element, condition):
            return f"{{{_text(element)} | {_text(condition)}}}"
        case Matrix(rows):
            return "[" + "; ".join(_join(row, ", ") for row in rows) + "]"
        case Relation(sides, operators):
            return _text(sides[0]) + "".join(
                f" {sign} {_text(side)}" for sign, side in zip(operators, sides[1:], strict=True)
            )
        case Congruence(left, right, modulus):
            return f"{_text(left)} = {_text(right)} mod {_text(modulus)}"
        case Ratio(parts):
            return _join(parts, ":")
        case Piecewise(cases):
            return "; ".join(
                f"{_text(value)} if {_text(when) if when else 'otherwise'}" for value, when in cases
            )
        case Conditioned(body, conditions):
            return f"{_text(body)} where {_join(conditions, ', ')}"
        case Labelled(parts):
            return " ".join(f"({label}) {_text(part)}" for label, part in parts)
        case Choice(letter, content):
            return letter if content is None else f"({letter}) {_text(content)}"
        case ClockTime(seconds):
            return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        case Date(year, month, day):
            return f"{year:04}-{month:02}-{day:02}"
        case Text(words):
            return words
