"""Conditions behind an answer: `where x > 0`, `for all n in Z`, `n an integer`."""

from __future__ import annotations

from verifiers.math.read.errors import ReadError
from verifiers.math.read.names import CONDITION_WORDS, DOMAIN_WORDS, FILLER_WORDS
from verifiers.math.read.quantities import Quantities
from verifiers.math.tree import Congruence, Counted, NamedSet, Node, Relation, Symbol

_EVERY = frozenset(("all", "any", "every", "each", "forall"))


class Conditions(Quantities):
    """Reads one condition."""

    def at_condition(self) -> bool:
        """Whether a condition begins here."""
        if self.at("(") and self.ahead().kind == "word" and self.ahead().text in CONDITION_WORDS:
            return True
        if self.at_bracketed_condition():
            return True
        letter_with_domain = len(self.token.text) == 1 and self.ahead().text in FILLER_WORDS | set(
            DOMAIN_WORDS
        )
        if self.token.kind == "word" and self.ahead().kind == "word" and letter_with_domain:
            return True
        return (self.token.kind == "word" and self.token.text in CONDITION_WORDS) or (
            self.token.kind == "command" and self.token.text in {"forall", "quad"}
        )

    def condition(self) -> Node:
        """`where x > 0`, `for all n in Z`, `n an integer`."""
        bracket = self.accept("(")
        everywhere = False
        while (self.token.kind == "word" and self.token.text in CONDITION_WORDS | FILLER_WORDS) or (
            self.token.kind == "command" and self.token.text == "forall"
        ):
            everywhere |= self.take().text in _EVERY
        if self.token.kind == "word" and self.token.text in DOMAIN_WORDS:  # for real x
            domain = self._domain()
            node: Node = Relation((self.expression(), domain), ("in",))
        else:
            node = self.relation()
            if isinstance(node, Counted):
                node = Relation((node.value, _domain_of(node.words)), ("in",))
            elif self.token.kind == "word" and self.token.text in FILLER_WORDS | set(DOMAIN_WORDS):
                node = Relation((node, self._domain()), ("in",))
            elif everywhere and isinstance(node, Symbol):  # for all x
                node = Relation((node, NamedSet("R")), ("in",))
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
