"""Relations, lists, conditions and units: everything above a single expression."""

from __future__ import annotations

from typing import Literal, cast

from verifiers.math.read.errors import ReadError
from verifiers.math.read.names import (
    CONDITION_WORDS,
    CONNECTIVES,
    DOMAIN_WORDS,
    FILLER_WORDS,
    FUNCTIONS,
    GREEK,
)
from verifiers.math.read.quantities import MAX_WORDS, Quantities
from verifiers.math.tree import (
    Conditioned,
    Congruence,
    Counted,
    Listing,
    NamedSet,
    Node,
    Quotient,
    Ratio,
    Relation,
    Sequence,
    SetOperation,
    Symbol,
    Tuple,
)

_RELATIONS = ("=", "~", "<", "<=", ">", ">=", "!=", "in", "notin")
_SET_OPERATORS = ("union", "intersection", "difference")
_DOTS = Symbol("...")
_SEPARATORS = (",", ";", "quad", "\\\\", "and", "or")


class Statements(Quantities):
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
        sides = [self._name_in_words() or self.setwise()]
        operators: list[str] = []
        while True:
            operator = self._relation_sign()
            if not operator:
                break
            if operator == "equiv":
                return self._congruence(sides[-1])
            operators.append(operator)
            sides.append(self.setwise())
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
        right = self.setwise()
        node = self._modulus(Relation((left, right), ("equiv",)))
        if not isinstance(node, Congruence):
            raise self.unexpected("a congruence without its modulus")
        return node

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
        node = self.ratio()
        while operator := self.accept(*_SET_OPERATORS):
            right = self.ratio()
            name = cast("Literal['union', 'intersection', 'difference']", operator)
            if isinstance(node, SetOperation) and node.operator == operator != "difference":
                node = SetOperation(name, (*node.parts, right))
            else:
                node = SetOperation(name, (node, right))
        return node

    def ratio(self) -> Node:
        """`a : b : c`, or an expression with its unit."""
        first = self.quantity()
        if self.builder or not self.at(":"):
            return first
        parts = [first]
        while self.accept(":"):
            parts.append(self.quantity())
        return Ratio(tuple(parts))

    # units and words

    # lists

    def listing(self) -> Node:
        """Statements side by side, with the conditions behind them."""
        items: list[Node] = []
        groups: list[list[Node]] = [[]]
        joined_by = "comma"
        conditions: list[Node] = []
        while self.token.kind != "stop" and not self.at("}", "."):
            if conditions or self._at_condition():
                conditions.append(self._condition())
            else:
                item = self.relation()
                groups[-1].append(item)
                items.append(item)
            separator = self._separator()
            if separator == ";":
                groups.append([])
            elif separator in {"and", "or"}:
                joined_by = separator
            elif not separator and not self._at_condition():
                break
        if not items:
            raise self.unexpected("no answer")
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

    def _at_condition(self) -> bool:
        if self.at("(") and self.ahead().kind == "word" and self.ahead().text in CONDITION_WORDS:
            return True
        letter_with_domain = len(self.token.text) == 1 and self.ahead().text in FILLER_WORDS | set(
            DOMAIN_WORDS
        )
        if self.token.kind == "word" and self.ahead().kind == "word" and letter_with_domain:
            return True
        return (self.token.kind == "word" and self.token.text in CONDITION_WORDS) or (
            self.token.kind == "command" and self.token.text in {"forall", "quad"}
        )

    def _condition(self) -> Node:
        """`where x > 0`, `for all n in Z`, `n an integer`."""
        bracket = self.accept("(")
        while (self.token.kind == "word" and self.token.text in CONDITION_WORDS | FILLER_WORDS) or (
            self.token.kind == "command" and self.token.text == "forall"
        ):
            self.take()
        if self.token.kind == "word" and self.token.text in DOMAIN_WORDS:  # for real x
            domain = self._domain()
            node: Node = Relation((self.expression(), domain), ("in",))
        else:
            node = self.relation()
            if isinstance(node, Counted):
                node = Relation((node.value, _domain_of(node.words)), ("in",))
            elif self.token.kind == "word" and self.token.text in FILLER_WORDS | set(DOMAIN_WORDS):
                node = Relation((node, self._domain()), ("in",))
        if bracket:
            self.expect(")")
        if not isinstance(node, Relation | Congruence):
            raise self.unexpected("no condition")
        return node

    def _domain(self) -> Node:
        words: list[str] = []
        while self.token.kind == "word" and self.token.text in FILLER_WORDS | set(DOMAIN_WORDS):
            words.append(self.take().text)
            self.accept("-")
        return _domain_of(tuple(words))


def _domain_of(words: tuple[str, ...]) -> Node:
    marks = [DOMAIN_WORDS[word] for word in words if word in DOMAIN_WORDS]
    unknown = [word for word in words if word not in DOMAIN_WORDS and word not in FILLER_WORDS]
    if unknown or not marks:
        raise ReadError("a condition in words")
    letter = next((mark for mark in marks if mark in {"Z", "R", "Q", "N", "C"}), "R")
    sign = "".join(mark for mark in marks if mark in {"+", "-", "0+", "*", "odd", "even"})
    if "non" in marks:
        sign = {"-": "0+", "+": "0-"}.get(sign, sign)
    return NamedSet(letter + sign)


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


def _is_condition(body: Node, condition: Relation) -> bool:
    """Whether the relation behind a comma restricts what stands before it."""
    if isinstance(body, Relation):
        return body.operators == ("=",) and condition.operators != ("=",)
    return not isinstance(body, Quotient) or condition.operators != ("=",)
