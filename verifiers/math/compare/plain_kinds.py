"""The kinds that need no search: letters, words, statements, ratios, times, congruences, sequences, cases."""

from __future__ import annotations

from dataclasses import replace

from verifiers.math.compare.collections import (
    entries,
    in_any_order,
    in_order,
)
from verifiers.math.compare.policy import Outcome
from verifiers.math.compare.real_sets import looks_like_set, variable_of
from verifiers.math.compare.relations import (
    compare_congruences,
    compare_ratios,
    ratio_as_value,
)
from verifiers.math.tree import (
    EXPRESSIONS,
    Choice,
    ClockTime,
    Congruence,
    Constant,
    Counted,
    Date,
    Labelled,
    Listing,
    NamedSet,
    Node,
    Number,
    Piecewise,
    Product,
    Quantity,
    Ratio,
    Sequence,
    Set,
    SetBuilder,
    SetOperation,
    Special,
    Symbol,
    Text,
    Tuple,
)

KIND_DIFFERS = Outcome(equal=False, route="kinds", reason="kind_differs")

VALUES = (*EXPRESSIONS, Quantity, Counted)

_NO_VALUE = frozenset(("does_not_exist", "undefined"))


class PlainKinds:
    """Rules for these kinds; each gives None for kinds it does not know."""

    def compare(self, truth: Node, response: Node) -> Outcome:
        """Any two answers; defined by `Comparer`."""
        raise NotImplementedError

    def choices(self, truth: Node, response: Node) -> Outcome | None:
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

    def words(self, truth: Node, response: Node) -> Outcome | None:
        if not isinstance(truth, Text) and not isinstance(response, Text):
            return None
        words = [_as_words(node) for node in (truth, response)]
        if None in words:
            return KIND_DIFFERS
        return Outcome(equal=words[0] == words[1], route="words")

    def statements(self, truth: Node, response: Node) -> Outcome | None:
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

    def labelled(self, truth: Node, response: Node) -> Outcome | None:
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

    def ratios(self, truth: Node, response: Node) -> Outcome | None:
        match truth, response:
            case Ratio(), Ratio():
                return compare_ratios(truth, response, self.compare)
            case ClockTime(a, half), ClockTime(b, other):
                unmarked = b if half else a
                loose = half != other and 3_600 <= unmarked < 46_800  # 1:00 to 12:59 may leave am or pm out
                span = 43_200 if loose else 86_400
                return Outcome(equal=a % span == b % span, route="time")
            case Date(), Date():
                return Outcome(equal=False, route="time")
            case (ClockTime(), Ratio()) | (Ratio(), ClockTime()):
                times = [_as_time(node) for node in (truth, response)]
                return KIND_DIFFERS if None in times else self.ratios(*times)  # type: ignore[arg-type]
            case Ratio(), _ if isinstance(response, VALUES):
                value = ratio_as_value(truth)
                return (
                    KIND_DIFFERS
                    if value is None
                    else flagged(self.compare(value, response), "ratio_as_fraction")
                )
            case _, Ratio() if isinstance(truth, VALUES):
                value = ratio_as_value(response)
                return (
                    KIND_DIFFERS
                    if value is None
                    else flagged(self.compare(truth, value), "ratio_as_fraction")
                )
        return None

    def congruences(self, truth: Node, response: Node) -> Outcome | None:
        match truth, response:
            case (Congruence(), Listing()) | (Listing(), Congruence()):
                return in_any_order(entries(truth), entries(response), self.compare, as_sets=True)
            case Congruence(), Congruence():
                return compare_congruences(truth, response, self.compare)
            case (Congruence(), _) | (_, Congruence()):
                return KIND_DIFFERS
        return None

    def sequences(self, truth: Node, response: Node) -> Outcome | None:
        match truth, response:
            case Sequence(items), Sequence(others):
                if [item is None for item in items] != [item is None for item in others]:
                    return Outcome(equal=False, route="entries", reason="count_differs")
                pairs = [
                    (a, b) for a, b in zip(items, others, strict=True) if a is not None and b is not None
                ]
                return in_order([a for a, _ in pairs], [b for _, b in pairs], self.compare)
            case Set((Sequence() as a,)), Sequence():
                return self.sequences(a, response)
            case Sequence(), Set((Sequence() as b,)):
                return self.sequences(truth, b)
            case (Sequence(), _) | (_, Sequence()):
                return KIND_DIFFERS
        return None

    def cases(self, truth: Node, response: Node) -> Outcome | None:
        match truth, response:
            case Piecewise(cases), Piecewise(others):
                expected, given = spell_out(cases, others), spell_out(others, cases)
                return in_any_order(expected, given, self.compare, as_sets=False)
            case (Piecewise(), _) | (_, Piecewise()):
                return KIND_DIFFERS
        return None


def flagged(outcome: Outcome, flag: str) -> Outcome:
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


def _as_time(node: Node) -> Node | None:
    match node:
        case ClockTime():
            return node
        case Ratio((Number(hour, 1, None), Number(minute, 1, None))) if 0 <= hour < 24 and 0 <= minute < 60:
            return ClockTime(hour * 3600 + minute * 60)
    return None


Cases = tuple[tuple[Node, Node | None], ...]


def spell_out(cases: Cases, others: Cases) -> list[Node]:
    """Cases as pairs of value and condition; `otherwise` as a set when the other side says where that is."""
    letter = next((name for _, when in cases if when and (name := variable_of(when))), None)
    if letter is None or sum(when is None for _, when in (*cases, *others)) != 1:
        return [Tuple((value, Special("true") if when is None else when), "<", ">") for value, when in cases]
    where = [when and SetBuilder(Symbol(letter), when) for _, when in cases]
    said = SetOperation("union", tuple(part for part in where if part))
    rest = SetOperation("difference", (NamedSet("R"), said))
    return [Tuple((value, part or rest), "<", ">") for (value, _), part in zip(cases, where, strict=True)]
