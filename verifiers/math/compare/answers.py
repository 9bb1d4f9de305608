"""Two answers of any kind. The first rule that knows the pair of kinds decides."""

from __future__ import annotations

from verifiers.math.compare.collections import (
    compare_assignments,
    compare_tuples,
    entries,
    expand_signs,
    has_signs,
    in_any_order,
    in_order,
)
from verifiers.math.compare.conditioned_kinds import ConditionedKinds
from verifiers.math.compare.inequalities import NotASet
from verifiers.math.compare.labels import (
    align,
    assignments,
    in_order_of_names,
    integration_constant,
    named,
    same_label,
    spread_label,
)
from verifiers.math.compare.matrices import compare_matrices, expand_determinants, has_matrix
from verifiers.math.compare.plain_kinds import KIND_DIFFERS, VALUES
from verifiers.math.compare.policy import Outcome, Policy
from verifiers.math.compare.quantities import compare_quantities, gathered, in_one_spelling
from verifiers.math.compare.real_sets import compare_real_sets, looks_like_set
from verifiers.math.compare.relations import (
    compare_relations,
)
from verifiers.math.compare.simpler import unrounded
from verifiers.math.compare.values import compare_values
from verifiers.math.traverse import free_symbols, substitute
from verifiers.math.tree import (
    EXPRESSIONS,
    Constant,
    Counted,
    Listing,
    NamedSet,
    Node,
    Product,
    Quantity,
    Relation,
    Set,
    SetBuilder,
    SetOperation,
    Symbol,
    Tuple,
)


class Comparer(ConditionedKinds):
    """Compares answers under one policy. Raises `ComparisonError` when nothing decides."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._rules = (
            self.choices,
            self.words,
            self.statements,
            self.conditions,
            self.labelled,
            self._assignments,
            self._named,
            self.ratios,
            self.congruences,
            self.sequences,
            self.cases,
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

    def _assignments(self, truth: Node, response: Node) -> Outcome | None:
        """Several names with their values on at least one side."""
        spread = spread_label(truth), spread_label(response)
        if spread != (truth, response):
            return self.compare(*spread)
        left, right = assignments(truth), assignments(response)
        if left and right:
            return compare_assignments(left, right, self.compare)
        if left and isinstance(response, Listing | Tuple | Set):
            return self._as_values([part.value for part in in_order_of_names(left)], truth, response)
        if right and isinstance(truth, Listing | Tuple):
            values = tuple(part.value for part in in_order_of_names(right))
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
        given = truth, response
        response = self._in_one_spelling(response, truth)
        truth = self._in_one_spelling(truth, response)
        (label, value), (other, other_value) = named(truth), named(response)
        if label is None and other is None:
            if value is truth and other_value is response:
                return None if given == (truth, response) else self.compare(truth, response)
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

    def _in_one_spelling(self, response: Node, truth: Node) -> Node:
        """A chain or choice of spellings, `5/8 = 62.5%` or `5/8 or 62.5%`, without those of another kind."""
        match response:
            case Relation((*sides,), operators) if set(operators) == {"="} and len(sides) > 1:
                kept = in_one_spelling(sides, truth, self.compare)
                if len(kept) < len(sides):
                    return Relation(tuple(kept), ("=",) * (len(kept) - 1)) if len(kept) > 1 else kept[0]
            case Listing(items, "or"):
                kept = in_one_spelling(items, truth, self.compare)
                if len(kept) < len(items):
                    return Listing(tuple(kept), "or") if len(kept) > 1 else kept[0]
        return response

    def _consistent(self, chain: Relation, value: Node) -> bool:
        """Whether `2 + 3 = 5` holds throughout; what follows an approximation sign need not."""
        exact = [side for side, sign in zip(chain.sides[1:], chain.operators, strict=True) if sign == "="]
        return all(self.compare(value, side).equal for side in (chain.sides[0], *exact))

    def _equations(self, truth: Node, response: Node) -> Outcome:
        assert isinstance(truth, Relation)
        assert isinstance(response, Relation)
        if truth.operators != ("=",) or response.operators != ("=",):
            return KIND_DIFFERS
        if has_signs(truth) or has_signs(response):
            pairs = [list(expand_signs(node)) for node in (truth, response)]
            return in_any_order(pairs[0], pairs[1], self.compare, as_sets=True)
        return compare_relations(truth, response, self.policy, self.compare)

    def _real_sets(self, truth: Node, response: Node) -> Outcome | None:
        if not (looks_like_set(truth) or looks_like_set(response)):
            return None
        if self.policy.rounded:
            truth = unrounded(truth, response, self.compare)
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

    def _collections(self, truth: Node, response: Node) -> Outcome | None:  # noqa: C901 - a table of pairs
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
            case (Set((only,)), _) if isinstance(response, VALUES):
                return self.compare(only, response)
            case (_, Set((only,))) if isinstance(truth, VALUES):
                return self.compare(truth, only)
            case (Set() | Listing(), _) if isinstance(response, VALUES):
                return Outcome(equal=False, route="entries", reason="count_differs")
            case _, Listing(items, "or") if isinstance(truth, VALUES) and not has_signs(response):
                if all(self.compare(truth, item).equal for item in items):  # `3/4 or 0.75`
                    return Outcome(equal=True, route="entries")
                return Outcome(equal=False, route="entries", reason="several_values")
            case (_, Set() | Listing()) if isinstance(truth, VALUES):
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
            case (NamedSet(name), Symbol(other)) | (Symbol(other), NamedSet(name)):  # \\mathbf{R}
                return Outcome(equal=name == other, route="kinds")
            case NamedSet(), NamedSet():
                return Outcome(equal=False, route="kinds")
        return None

    def _values(self, truth: Node, response: Node) -> Outcome | None:
        if not isinstance(truth, VALUES) or not isinstance(response, VALUES):
            return None
        truth, response = gathered(truth), gathered(response)
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


def _function_of(label: Node, other: Node) -> bool:
    """y and f(x) name the same curve."""
    return label == Symbol("y") and type(other).__name__ == "Apply"


def _infinite(node: Node) -> bool:
    return node == Constant("oo") or (isinstance(node, Product) and Constant("oo") in node.factors)
