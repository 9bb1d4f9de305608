"""Two answers of any kind. The first rule that knows the pair of kinds decides."""

from __future__ import annotations

from dataclasses import replace

from verifiers.math.compare.collections import (
    compare_assignments,
    compare_tuples,
    entries,
    has_signs,
    in_any_order,
    in_order,
)
from verifiers.math.compare.families import NotAFamily, as_family, compare_families, parameter
from verifiers.math.compare.labels import (
    align,
    assignments,
    integration_constant,
    named,
    same_label,
    spread_label,
)
from verifiers.math.compare.matrices import compare_matrices, expand_determinants, has_matrix
from verifiers.math.compare.policy import Outcome, Policy
from verifiers.math.compare.quantities import compare_quantities
from verifiers.math.compare.real_sets import NotASet, compare_real_sets, looks_like_set
from verifiers.math.compare.relations import (
    compare_congruences,
    compare_ratios,
    compare_relations,
    ratio_as_value,
)
from verifiers.math.compare.values import compare_values
from verifiers.math.tree import (
    EXPRESSIONS,
    Choice,
    ClockTime,
    Conditioned,
    Congruence,
    Constant,
    Counted,
    Labelled,
    Listing,
    NamedSet,
    Node,
    Number,
    Piecewise,
    Product,
    Quantity,
    Ratio,
    Relation,
    Sequence,
    Set,
    SetBuilder,
    SetOperation,
    Special,
    Symbol,
    Text,
    Tuple,
    free_symbols,
    substitute,
)

KIND_DIFFERS = Outcome(equal=False, route="kinds", reason="kind_differs")
_VALUES = (*EXPRESSIONS, Quantity, Counted)
_NO_VALUE = frozenset(("does_not_exist", "undefined"))


class Comparer:
    """Compares answers under one policy. Raises `ComparisonError` when nothing decides."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._rules = (
            self._choices,
            self._words,
            self._statements,
            self._conditions,
            self._labelled,
            self._assignments,
            self._named,
            self._ratios,
            self._congruences,
            self._sequences,
            self._cases,
            self._real_sets,
            self._matrices,
            self._collections,
            self._relations,
            self._values,
        )

    def compare(self, truth: Node, response: Node) -> Outcome:
        """Whether `response` gives the answer `truth`."""
        if truth == response:
            return Outcome(equal=True, route="identical")
        for rule in self._rules:
            outcome = rule(truth, response)
            if outcome is not None:
                return outcome
        return KIND_DIFFERS

    def _choices(self, truth: Node, response: Node) -> Outcome | None:
        match truth, response:
            case Choice(a, content), Choice(b, other):
                if a != b:
                    return Outcome(equal=False, route="choice")
                if content is None or other is None:
                    return Outcome(equal=True, route="choice")
                return replace(self.compare(content, other), route="choice")
            case Choice(letter, content), _:
                if isinstance(response, Symbol | Text):
                    name = response.name if isinstance(response, Symbol) else response.words.upper()
                    if name == letter:
                        return Outcome(equal=True, route="choice")
                return KIND_DIFFERS if content is None else self.compare(content, response)
            case _, Choice(letter, content):
                if truth == Symbol(letter):
                    return Outcome(equal=True, route="choice")
                return KIND_DIFFERS if content is None else self.compare(truth, content)
        return None

    def _words(self, truth: Node, response: Node) -> Outcome | None:
        if not isinstance(truth, Text) and not isinstance(response, Text):
            return None
        words = [_as_words(node) for node in (truth, response)]
        if None in words:
            return KIND_DIFFERS
        return Outcome(equal=words[0] == words[1], route="words")

    def _statements(self, truth: Node, response: Node) -> Outcome | None:
        match truth, response:
            case Special(a), Special(b):
                return Outcome(equal=a == b or {a, b} <= _NO_VALUE, route="statement")
            case Special("empty"), _ if looks_like_set(response):
                return None
            case _, Special("empty") if looks_like_set(truth):
                return None
            case (Special(), _) | (_, Special()):
                return KIND_DIFFERS
        return None

    def _conditions(self, truth: Node, response: Node) -> Outcome | None:
        if not isinstance(truth, Conditioned) and not isinstance(response, Conditioned):
            return None
        if (letter := parameter(truth)) or parameter(response):
            return self._families(truth, response, letter or parameter(response))
        if isinstance(truth, Conditioned):
            if not isinstance(response, Conditioned):
                return Outcome(equal=False, route="conditions", reason="condition_missing")
            conditions = in_any_order(
                list(truth.conditions), list(response.conditions), self.compare, as_sets=True
            )
            if not conditions.equal:
                return replace(conditions, reason="condition_differs")
            return self.compare(truth.body, response.body)
        assert isinstance(response, Conditioned)
        outcome = self.compare(truth, response.body)
        return replace(outcome, flags=outcome.flags | {"condition_ignored"})

    def _families(self, truth: Node, response: Node, letter: str | None) -> Outcome:
        try:
            return compare_families(
                as_family(truth, _parameter_of(truth, response)),
                as_family(response, _parameter_of(response, truth)),
                self.policy,
            )
        except NotAFamily:
            bodies = [node.body if isinstance(node, Conditioned) else node for node in (truth, response)]
            return self.compare(*bodies)

    def _labelled(self, truth: Node, response: Node) -> Outcome | None:
        match truth, response:
            case Labelled(parts), Labelled(others):
                if [label for label, _ in parts] != [label for label, _ in others]:
                    return Outcome(equal=False, route="entries", reason="label_differs")
                return in_order([part for _, part in parts], [part for _, part in others], self.compare)
            case Labelled(parts), (Listing(items) | Tuple(items)):
                return in_order([part for _, part in parts], items, self.compare)
            case ((Listing(items) | Tuple(items)), Labelled(parts)):
                return in_order(items, [part for _, part in parts], self.compare)
            case (Labelled(), _) | (_, Labelled()):
                return KIND_DIFFERS
        return None

    def _assignments(self, truth: Node, response: Node) -> Outcome | None:
        """Several names with their values on at least one side."""
        spread = spread_label(truth), spread_label(response)
        if spread != (truth, response):
            return self.compare(*spread)
        left, right = assignments(truth), assignments(response)
        if left and right:
            return compare_assignments(left, right, self.compare)
        if left and isinstance(response, Listing | Tuple | Set):
            return self._as_values([part.value for part in left], truth, response)
        if right and isinstance(truth, Listing | Tuple):
            values = tuple(part.value for part in right)
            return self.compare(truth, Tuple(values) if isinstance(truth, Tuple) else Listing(values))
        return None

    def _as_values(self, values: list[Node], truth: Node, response: Node) -> Outcome | None:
        if isinstance(response, Set) or (
            isinstance(truth, Relation)
            and isinstance(response, Listing)
            and any(isinstance(item, Tuple) for item in response.items)
        ):
            return None
        if not isinstance(response, Listing | Tuple):
            return None
        return in_order(values, response.items, self.compare)

    def _named(self, truth: Node, response: Node) -> Outcome | None:
        (label, value), (other, other_value) = named(truth), named(response)
        if label is None and other is None:
            if value is truth and other_value is response:
                return None
            if isinstance(response, Relation) and not self._consistent(response, other_value):
                return Outcome(equal=False, route="kinds", reason="several_values")
            return self.compare(value, other_value)
        if label is not None and other is not None:
            if same_label(label, other) or _function_of(label, other) or _function_of(other, label):
                return self.compare(value, align(label, other, other_value))
            equations = isinstance(truth, Relation) and isinstance(response, Relation)
            if equations and (free_symbols(value) or free_symbols(other_value)):
                return self._equations(truth, response)
            return Outcome(equal=False, route="kinds", reason="label_differs")
        bare, inner = (response, value) if label is not None else (truth, other_value)
        if isinstance(bare, Relation):
            if bare.operators == ("=",):
                return self._equations(truth, response)
            if not looks_like_set(inner) and not isinstance(inner, Tuple | Set):
                return KIND_DIFFERS
            return None
        return self.compare(value, response) if label is not None else self.compare(truth, other_value)

    def _consistent(self, chain: Relation, value: Node) -> bool:
        """Whether `2 + 3 = 5` holds throughout; what follows an approximation sign need not."""
        exact = [side for side, sign in zip(chain.sides[1:], chain.operators, strict=True) if sign == "="]
        return all(self.compare(value, side).equal for side in (chain.sides[0], *exact))

    def _equations(self, truth: Node, response: Node) -> Outcome:
        assert isinstance(truth, Relation)
        assert isinstance(response, Relation)
        if truth.operators != ("=",) or response.operators != ("=",):
            return KIND_DIFFERS
        return compare_relations(truth, response, self.policy, self.compare)

    def _ratios(self, truth: Node, response: Node) -> Outcome | None:
        match truth, response:
            case Ratio(), Ratio():
                return compare_ratios(truth, response, self.compare)
            case ClockTime(a, half), ClockTime(b, other):
                span = 86_400 if half == other else 43_200
                return Outcome(equal=a % span == b % span, route="time")
            case (ClockTime(), Ratio()) | (Ratio(), ClockTime()):
                times = [_as_time(node) for node in (truth, response)]
                return KIND_DIFFERS if None in times else self._ratios(*times)  # type: ignore[arg-type]
            case Ratio(), _ if isinstance(response, _VALUES):
                value = ratio_as_value(truth)
                return (
                    KIND_DIFFERS
                    if value is None
                    else _flag(self.compare(value, response), "ratio_as_fraction")
                )
            case _, Ratio() if isinstance(truth, _VALUES):
                value = ratio_as_value(response)
                return (
                    KIND_DIFFERS if value is None else _flag(self.compare(truth, value), "ratio_as_fraction")
                )
        return None

    def _congruences(self, truth: Node, response: Node) -> Outcome | None:
        match truth, response:
            case Congruence(), Congruence():
                return compare_congruences(truth, response, self.compare)
            case (Congruence(), _) | (_, Congruence()):
                return KIND_DIFFERS
        return None

    def _sequences(self, truth: Node, response: Node) -> Outcome | None:
        match truth, response:
            case Sequence(items), Sequence(others):
                if [item is None for item in items] != [item is None for item in others]:
                    return Outcome(equal=False, route="entries", reason="count_differs")
                pairs = [
                    (a, b) for a, b in zip(items, others, strict=True) if a is not None and b is not None
                ]
                return in_order([a for a, _ in pairs], [b for _, b in pairs], self.compare)
            case Set((Sequence() as a,)), Sequence():
                return self._sequences(a, response)
            case Sequence(), Set((Sequence() as b,)):
                return self._sequences(truth, b)
            case (Sequence(), _) | (_, Sequence()):
                return KIND_DIFFERS
        return None

    def _cases(self, truth: Node, response: Node) -> Outcome | None:
        match truth, response:
            case Piecewise(cases), Piecewise(others):
                pairs = [[_pair(value, when) for value, when in side] for side in (cases, others)]
                return in_any_order(*pairs, self.compare, as_sets=False)
            case (Piecewise(), _) | (_, Piecewise()):
                return KIND_DIFFERS
        return None

    def _real_sets(self, truth: Node, response: Node) -> Outcome | None:
        if not (looks_like_set(truth) or looks_like_set(response)):
            return None
        try:
            return compare_real_sets(truth, response, self.policy)
        except NotASet:
            return None

    def _matrices(self, truth: Node, response: Node) -> Outcome | None:
        if not (has_matrix(truth) or has_matrix(response)) or isinstance(truth, Listing | Set | Relation):
            return None
        expanded = expand_determinants(truth), expand_determinants(response)
        if expanded != (truth, response):
            return self.compare(*expanded)
        return compare_matrices(truth, response, self.compare)

    def _collections(self, truth: Node, response: Node) -> Outcome | None:
        truth, response = _opened(truth), _opened(response)
        many = (Set, Listing, Tuple, SetOperation)
        if not isinstance(truth, many) and not isinstance(response, many):
            return None
        loose = self.policy.order == "any"
        match truth, response:
            case Tuple(), Tuple():
                if loose:
                    return in_any_order(list(truth.items), list(response.items), self.compare, as_sets=False)
                return compare_tuples(truth, response, self.compare)
            case (Tuple(items), Listing(others)) | (Listing(items), Tuple(others)):
                if loose:
                    return in_any_order(list(items), list(others), self.compare, as_sets=False)
                return in_order(items, others, self.compare)
            case ((Set() | Listing()), (Set() | Listing())):
                if self.policy.order == "strict" and isinstance(truth, Listing):
                    return in_order(entries(truth), entries(response), self.compare)
                solutions = all(isinstance(item, Tuple) for item in truth.items)
                as_sets = solutions or isinstance(truth, Set) or isinstance(response, Set)
                return in_any_order(entries(truth), entries(response), self.compare, as_sets=as_sets)
            case (Set((only,)), _) if isinstance(response, _VALUES):
                return self.compare(only, response)
            case (_, Set((only,))) if isinstance(truth, _VALUES):
                return self.compare(truth, only)
            case (Set() | Listing(), _) if isinstance(response, _VALUES):
                return Outcome(equal=False, route="entries", reason="count_differs")
            case _, Listing(items, "or") if isinstance(truth, _VALUES) and not has_signs(response):
                if all(self.compare(truth, item).equal for item in items):  # `3/4 or 0.75`
                    return Outcome(equal=True, route="entries")
                return Outcome(equal=False, route="entries", reason="several_values")
            case (_, Set() | Listing()) if isinstance(truth, _VALUES):
                return Outcome(equal=False, route="entries", reason="several_values")
            case SetOperation(operator, parts), SetOperation(other, others) if operator == other:
                if operator == "difference":
                    return in_order(parts, others, self.compare)
                return in_any_order(list(parts), list(others), self.compare, as_sets=True)
        return KIND_DIFFERS

    def _relations(self, truth: Node, response: Node) -> Outcome | None:
        match truth, response:
            case Relation(), Relation():
                return compare_relations(truth, response, self.policy, self.compare)
            case (Relation(), _) | (_, Relation()):
                return KIND_DIFFERS
            case SetBuilder(a, b), SetBuilder(c, d):
                return in_order((a, b), (c, d), self.compare)
            case NamedSet(), NamedSet():
                return Outcome(equal=False, route="kinds")
        return None

    def _values(self, truth: Node, response: Node) -> Outcome | None:
        if not isinstance(truth, _VALUES) or not isinstance(response, _VALUES):
            return None
        if isinstance(truth, Quantity | Counted) or isinstance(response, Quantity | Counted):
            return compare_quantities(truth, response, self.policy, self._values_or_kinds)
        if has_signs(truth) or has_signs(response):
            return in_any_order(entries(truth), entries(response), self.compare, as_sets=True)
        if _infinite(truth) or _infinite(response):
            return Outcome(equal=False, route="kinds")
        constants = integration_constant(truth), integration_constant(response)
        if None not in constants and constants[0] != constants[1]:
            response = substitute(response, Symbol(constants[1] or ""), Symbol(constants[0] or ""))
        return compare_values(truth, response, self.policy)

    def _values_or_kinds(self, truth: Node, response: Node) -> Outcome:
        return self.compare(truth, response)


def _flag(outcome: Outcome, flag: str) -> Outcome:
    return replace(outcome, flags=outcome.flags | {flag})


def _as_words(node: Node) -> str | None:
    """Letters side by side as the word they spell."""
    match node:
        case Text(words):
            return words
        case Symbol(name) | Constant(name):
            return name.lower()
        case Product(factors):
            parts = [_as_words(factor) for factor in factors]
            return None if None in parts else "".join(part for part in parts if part)
        case Choice(letter, None):
            return letter.lower()
    return None


def _opened(node: Node) -> Node:
    """A union of finite sets as one set; a plus-minus as the list of both values."""
    if (
        isinstance(node, SetOperation)
        and node.operator == "union"
        and all(isinstance(part, Set) for part in node.parts)
    ):
        return Set(tuple(item for part in node.parts if isinstance(part, Set) for item in part.items))
    if isinstance(node, EXPRESSIONS) and has_signs(node):
        return Listing(tuple(entries(node)))
    return node


def _as_time(node: Node) -> Node | None:
    match node:
        case ClockTime():
            return node
        case Ratio((Number(hour, 1, None), Number(minute, 1, None))) if 0 <= hour < 24 and 0 <= minute < 60:
            return ClockTime(hour * 3600 + minute * 60)
    return None


def _pair(value: Node, when: Node | None) -> Node:
    return Tuple((value, Special("true") if when is None else when), "<", ">")


def _function_of(label: Node, other: Node) -> bool:
    """y and f(x) name the same curve."""
    return label == Symbol("y") and type(other).__name__ == "Apply"


def _parameter_of(node: Node, other: Node) -> str | None:
    """The letter of a family whose `in Z` was left out."""
    if isinstance(node, Conditioned | Congruence):
        return None
    letters = free_symbols(named(spread_label(node)).value)
    return next(iter(letters)) if len(letters) == 1 else None


def _infinite(node: Node) -> bool:
    return node == Constant("oo") or (isinstance(node, Product) and Constant("oo") in node.factors)
