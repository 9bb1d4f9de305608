"""Relations, lists, conditions and units: everything above a single expression."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal, cast

from verifiers.math.read.conditions import Conditions
from verifiers.math.read.names import CONNECTIVES, CONSTANTS, FUNCTIONS, GREEK, SETS
from verifiers.math.read.quantities import MAX_WORDS
from verifiers.math.read.tokens import Token
from verifiers.math.tree import (
    Apply,
    Conditioned,
    Congruence,
    Listing,
    NamedSet,
    Node,
    Number,
    Product,
    Quotient,
    Ratio,
    Relation,
    Sequence,
    Set,
    SetOperation,
    Sum,
    Symbol,
    Tuple,
)

_RELATIONS = ("=", "~", "<", "<=", ">", ">=", "!=", "in", "notin")
_SET_OPERATORS = ("union", "intersection", "difference")
_DOTS = Symbol("...")
_INVERSE = ("^", "{", "-", "1", "}")
_SEPARATORS = (",", ";", "quad", "\\\\", "and", "or")


class Statements(Conditions):
    """Reads a whole answer."""

    def answer(self) -> Node:
        """Everything up to the end."""
        node = self.listing()
        self.accept(".")
        if self.token.kind != "stop":
            raise self.unexpected()
        return node

    # relations

    def relation(self) -> Node:
        """Set expressions joined by relation signs; a congruence; an implication counts by its end."""
        if not self.brackets:
            self.accept("=")  # `= 5`, its left side being outside the box
        sides = [self._name_in_words() or self._function_name() or self.setwise()]
        operators: list[str] = []
        while True:
            operator = self._relation_sign()
            if not operator:
                break
            if operator == "equiv":
                return self._congruence(sides[-1])
            operators.append(operator)
            side = self.setwise()
            sides.append(_as_set(side) if operator in {"in", "notin"} else side)
        node = sides[0] if not operators else Relation(tuple(sides), tuple(operators))
        if self.at("=>") and not self.brackets:
            self.take()
            with self.nested():
                return self.relation()
        return self._modulus(node)

    def _name_in_words(self) -> Node | None:
        """`\\text{Total cost} = ...`: words before an equals sign are one name."""
        end = self.index
        while self.tokens[end].kind == "word":
            end += 1
        words = [token.text for token in self.tokens[self.index : end]]
        if self.tokens[end].text != "=" or len(words) > MAX_WORDS or not any(len(word) > 3 for word in words):
            return None
        if any(word in FUNCTIONS or word in GREEK or word in CONNECTIVES for word in words):
            return None
        self.index = end
        return Symbol(" ".join(words).lower())

    def _function_name(self) -> Node | None:
        """`v(t) = ...`, `f^{-1}(x) = ...`: a letter that an equals sign follows is a function, no factor."""
        if not _is_letter(self.token):
            return None
        inverse = tuple(token.text for token in self.tokens[self.index + 1 : self.index + 6]) == _INVERSE
        end, arguments = self.index + (6 if inverse else 1), list[Node]()
        if self.tokens[end].text != "(":
            return None
        end += 1
        while _is_letter(self.tokens[end]):
            arguments.append(Symbol(self.tokens[end].text))
            end += 1
            if self.tokens[end].text != ",":
                break
            end += 1
        if not arguments or self.tokens[end].text != ")" or self.tokens[end + 1].text != "=":
            return None
        name = self.take().text + "^-1" * inverse
        self.index = end + 1
        return Apply(name, tuple(arguments))

    def _relation_sign(self) -> str:
        if self.token.kind == "command" and self.token.text == "not":
            self.take()
            return {"=": "!=", "in": "notin"}.get(self.take().text, "")
        if (
            self.token.kind == "word"
            and self.token.text == "in"
            and self.ahead().text in {"(", "[", "\\{", "R", "Z"}
        ):
            self.take()
            return "in"
        if self.at("!") and self.ahead().text == "=":
            self.take()
            self.take()
            return "!="
        sign = self.accept(*_RELATIONS, "equiv")
        if sign == "<" and self.accept("="):
            return "<="
        if sign == ">" and self.accept("="):
            return ">="
        return sign

    def _congruence(self, left: Node) -> Node:
        rights = [self.setwise()]
        while not self.brackets and self._separator():  # 1, 4 \\pmod 5
            rights.append(self.setwise())
        node = self._modulus(Relation((left, rights[-1]), ("equiv",)))
        if isinstance(left, Apply) and isinstance(node, Relation) and len(rights) == 1:
            return Relation((left, rights[0]), ("=",))  # f(x) \\equiv 0, identically
        if not isinstance(node, Congruence):
            raise self.unexpected("a congruence without its modulus")
        found = tuple(Congruence(left, right, node.modulus) for right in rights)
        return node if len(found) == 1 else Listing(found)

    def _modulus(self, node: Node) -> Node:
        """`\\pmod m`, `(mod m)` or `mod m` behind `node`."""
        start = self.index
        bracket = self.accept("(")
        token = self.token
        named = token.text in {"pmod", "bmod", "mod"} and token.kind in {"command", "word"}
        if not named:
            self.index = start
            return node
        self.take()
        modulus = self.argument(whole=True) if token.text == "pmod" else self.expression()
        if bracket:
            self.expect(")")
        match node:
            case Relation((left, right), _):
                return Congruence(left, right, modulus)
        return Congruence(Symbol("?"), node, modulus)

    def setwise(self) -> Node:
        """Ratios joined by set operators."""
        node = _as_difference(self.ratio())
        while operator := self.accept(*_SET_OPERATORS) or self._letter_union():
            right = self.ratio()
            name = cast("Literal['union', 'intersection', 'difference']", operator)
            if isinstance(node, SetOperation) and node.operator == operator != "difference":
                node = SetOperation(name, (*node.parts, right))
            else:
                node = SetOperation(name, (node, right))
        return node

    def _letter_union(self) -> str:
        """`(0, 1) U (2, 3)`."""
        if not self.at_letter_union():
            return ""
        self.take()
        return "union"

    def ratio(self) -> Node:
        """`a : b : c`, `3 to 2`, or an expression with its unit."""
        parts = [self.quantity()]
        while not self.builder and (self.accept(":") or self._to()):
            parts.append(self.quantity())
        return parts[0] if len(parts) == 1 else Ratio(tuple(parts))

    def _to(self) -> bool:
        """Take the word between the numbers of a ratio."""
        numbers = {self.tokens[self.index - 1].kind, self.ahead().kind} == {"number"}
        return numbers and self.token.text == "to" and bool(self.take())

    def listing(self) -> Node:
        """Statements side by side, with the conditions behind them."""
        items: list[Node] = []
        groups: list[list[Node]] = [[]]
        joined_by = "comma"
        alternatives: list[int] = []
        conditions: list[Node] = []
        while self.token.kind != "stop" and not self.at("}", "."):
            if conditions or self.at_condition():
                conditions.append(self.condition())
            else:
                item = self.relation()
                groups[-1].append(item)
                items.append(item)
            separator = self._separator()
            if separator == ";":
                groups.append([])
            elif separator in {"and", "or"}:
                joined_by = separator
                alternatives.append(len(items))
            elif not separator and not self.at_condition():
                break
        if not items:
            raise self.unexpected("no answer")
        if len(groups) == 1 and (solutions := _solutions(items, alternatives)) is not None:
            groups = solutions
        node = _assemble(items, groups, cast("Literal['comma', 'and', 'or']", joined_by))
        return Conditioned(node, tuple(conditions)) if conditions else node

    def _separator(self) -> str:
        """The separators up to the next statement: the strongest of them, or the empty string."""
        found = ""
        while True:
            token = self.token
            if token.kind == "word" and token.text in CONNECTIVES:
                found = CONNECTIVES[self.take().text]
            elif self.at(*_SEPARATORS):
                text = self.take().text
                found = text if text in {"and", "or", ";"} or not found else found
            else:
                return found


def _as_set(node: Node) -> Node:
    """A set of numbers by its plain letter: `k \\in \\mathbf{Z}`."""
    match node:
        case Symbol(name) if name[0] in SETS and name[1:] in {"", "_+", "_-", "_*"}:
            return NamedSet(name.replace("_", ""))
    return node


def _is_letter(token: Token) -> bool:
    if token.kind == "word":
        return len(token.text) == 1 and token.text not in CONSTANTS
    return token.kind == "command" and token.text in GREEK


def _as_difference(node: Node) -> Node:
    """A set less a finite set, written with a minus sign."""
    match node:
        case Sum((whole, Product((Number(-1), Set() as part)))):
            return SetOperation("difference", (whole, part))
    return node


def _assemble(items: list[Node], groups: list[list[Node]], joined_by: Literal["comma", "and", "or"]) -> Node:
    """One node for the statements of a list."""
    groups = [group for group in groups if group]
    if _DOTS in items:
        return Sequence(tuple(None if item == _DOTS else item for item in items))
    if len(items) == 1:
        return items[0]
    if len(groups) > 1 and all(len(group) > 1 for group in groups):
        return Listing(tuple(Tuple(tuple(group)) for group in groups), joined_by)
    membership = items[-1]
    if isinstance(membership, Relation) and membership.operators in {
        ("in",),
        ("!=",),
        (">",),
        (">=",),
        ("<",),
        ("<=",),
    }:
        if len(items) == 2 and _is_condition(items[0], membership):
            return Conditioned(items[0], (membership,))
        if membership.operators == ("in",) and not any(
            isinstance(item, Relation) and item.operators == ("in",) for item in items[:-1]
        ):
            return Conditioned(_assemble(items[:-1], [items[:-1]], joined_by), (membership,))
    return Listing(tuple(items), joined_by)


def _solutions(items: list[Node], starts: list[int]) -> list[list[Node]] | None:
    """`x=1, y=1 or x=2, y=3` cut where the names begin again; None when they do not."""
    cuts = [0, *(at for at in starts if at < len(items)), len(items)]
    groups = [items[begin:end] for begin, end in pairwise(cuts)]
    names = [[_name(item) for item in group] for group in groups]
    return (
        groups
        if len(groups) > 1 and len(names[0]) > 1 and all(names[0]) and names == names[:1] * len(names)
        else None
    )


def _name(item: Node) -> str:
    match item:
        case Relation((Symbol(name), _), ("=",)):
            return name
    return ""


def _is_condition(body: Node, condition: Relation) -> bool:
    """Whether the relation behind a comma restricts what stands before it."""
    if isinstance(body, Relation):
        return body.operators == ("=",) and condition.operators != ("=",)
    return not isinstance(body, Quotient) or condition.operators != ("=",)
