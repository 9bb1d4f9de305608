"""Answers with a condition behind them: solution families, and what holds only where a condition does."""

from __future__ import annotations

from dataclasses import replace

from verifiers.math.compare.collections import in_any_order
from verifiers.math.compare.families import (
    NotAFamily,
    as_conditioned,
    as_family,
    compare_families,
    parameter,
    with_same_letter,
)
from verifiers.math.compare.labels import named, spread_label
from verifiers.math.compare.plain_kinds import KIND_DIFFERS, PlainKinds
from verifiers.math.compare.policy import Outcome, Policy
from verifiers.math.compare.simpler import without_real_letters
from verifiers.math.traverse import free_symbols
from verifiers.math.tree import Conditioned, Congruence, Listing, Node


class ConditionedKinds(PlainKinds):
    """The rule for conditions."""

    policy: Policy

    def conditions(self, truth: Node, response: Node) -> Outcome | None:
        if isinstance(truth, Congruence) != isinstance(response, Congruence):
            if _are_residues(truth) or _are_residues(response):
                return self.congruences(truth, response)
            return self._families(truth, response)
        truth, response = as_conditioned(truth), as_conditioned(response)
        if not isinstance(truth, Conditioned) and not isinstance(response, Conditioned):
            return None
        plain = tuple(without_real_letters(node, self.policy) for node in (truth, response))
        if plain != (truth, response):
            return self.compare(*plain)
        aligned = with_same_letter(truth, response)
        if aligned is None:
            return Outcome(equal=False, route="conditions", reason="condition_differs")
        response = aligned
        if parameter(truth) or parameter(response):
            return self._families(truth, response)
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

    def _families(self, truth: Node, response: Node) -> Outcome:
        families = [as_family(node, _parameter_of(node)) for node in (truth, response)]
        try:
            return compare_families(families[0], families[1], self.policy)
        except NotAFamily:
            if isinstance(truth, Congruence) or isinstance(response, Congruence):
                return KIND_DIFFERS
            bodies = [node.body if isinstance(node, Conditioned) else node for node in (truth, response)]
            return self.compare(bodies[0], bodies[1])


def _are_residues(node: Node) -> bool:
    return isinstance(node, Listing) and all(isinstance(item, Congruence) for item in node.items)


def _parameter_of(node: Node) -> str | None:
    """The letter of a family whose `in Z` was left out."""
    if isinstance(node, Conditioned | Congruence):
        return None
    letters = free_symbols(named(spread_label(node)).value)
    return next(iter(letters)) if len(letters) == 1 else None
