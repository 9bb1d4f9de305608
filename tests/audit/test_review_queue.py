"""The order in which samples are labelled."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.review_queue import (
    SECOND_LOOK_EVERY,
    Candidate,
    Entry,
    QueueStratum,
    is_second_look,
    plan,
)
from audit.types import Stratum

NAMES = ("accept/plain", "accept/edge", "accept/second-rejects", "reject/plain", "reject/boxes")


@dataclass
class Stock:
    """Strata with candidates."""

    strata: list[QueueStratum]

    @property
    def group_of(self) -> dict[str, str]:
        """By id."""
        return {one.id: one.group for stratum in self.strata for one in stratum.candidates}


@st.composite
def stocks(draw: st.DrawFn) -> Stock:
    """A few strata of one or two verifiers; groups that reach across them."""
    strata = []
    keys = draw(
        st.lists(
            st.tuples(st.sampled_from(("numeric", "math")), st.sampled_from(NAMES)), unique=True, max_size=7
        )
    )
    for verifier, name in keys:
        labels = draw(st.integers(0, 60))
        groups = draw(st.lists(st.integers(0, 25), max_size=25))
        candidates = [
            Candidate(f"{verifier} {name} {place}", f"g{group}", place / 100)
            for place, group in enumerate(groups)
        ]
        strata.append(
            QueueStratum(
                Stratum(verifier, "1", "gsm8k", name),
                draw(st.integers(0, 10_000)),
                labels,
                draw(st.integers(0, labels)),
                candidates,
            )
        )
    return Stock(strata)


@given(stocks(), st.integers(0, 60), st.sets(st.integers(0, 25).map(lambda n: f"g{n}")))
def test_what_every_queue_keeps_to(stock: Stock, limit: int, done: set[str]) -> None:
    """One response per group, ascending draws within strata, at most so many, nothing that is left out."""
    queue = plan(stock.strata, limit, groups_done=done)
    groups = [stock.group_of[entry.id] for entry in queue]
    assert len(queue) <= limit
    assert len(set(groups)) == len(groups)
    assert not done.intersection(groups)
    for stratum in {entry.stratum for entry in queue}:
        places = [int(entry.id.split()[-1]) for entry in queue if entry.stratum == stratum]
        assert places == sorted(places)
    if len(queue) < limit:  # nothing that could have been taken was left
        left = {
            one.group
            for stratum in stock.strata
            if stratum.verdicts
            for one in stratum.candidates
            if one.group not in done
        }
        assert left == set(groups)


@given(stocks(), st.integers(0, 60))
def test_half_of_it_is_unflagged(stock: Stock, limit: int) -> None:
    """Of every beginning, until no unflagged sample is left that could be taken."""
    queue = plan(stock.strata, limit)
    plain = [entry.stratum.name.endswith("/plain") for entry in queue]
    last_plain = max((place for place, is_plain in enumerate(plain) if is_plain), default=-1)
    for length in range(1, last_plain + 2):
        assert sum(plain[:length]) * 2 >= length


@given(stocks(), st.integers(0, 60), st.randoms())
def test_the_same_facts_give_the_same_queue(stock: Stock, limit: int, order: object) -> None:
    """In whatever order the strata come; and a shorter queue is the beginning of a longer one."""
    queue = plan(stock.strata, limit)
    shuffled = list(stock.strata)
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    assert plan(shuffled, limit) == queue
    assert plan(stock.strata, limit // 2) == queue[: limit // 2]


def one_stratum(name: str, verdicts: int, labels: int = 0, errors: int = 0, count: int = 400) -> QueueStratum:
    """A stratum with candidates of different groups."""
    candidates = [Candidate(f"{name} {place}", f"{name} {place}", place / count) for place in range(count)]
    return QueueStratum(Stratum("numeric", "1", "gsm8k", name), verdicts, labels, errors, candidates)


def taken(queue: list[Entry]) -> Counter[str]:
    """How many of each stratum."""
    return Counter(entry.stratum.name for entry in queue)


def test_strata_without_any_label_come_early() -> None:
    """Each widens the interval by its whole weight; with one label of each the heavy one is ahead."""
    strata = [
        one_stratum("accept/plain", 9_000),
        one_stratum("accept/edge", 600),
        one_stratum("accept/boxes", 400),
    ]
    queue = plan(strata, 60)
    assert taken(queue[:24]).keys() == {"accept/plain", "accept/edge", "accept/boxes"}
    assert taken(queue)["accept/plain"] > 40


def test_labels_go_where_weight_and_uncertainty_are() -> None:
    """As Neyman's allocation does: more to a heavy stratum, and more to one whose rate is near a half."""
    uneven = plan([one_stratum("accept/plain", 8_000, 50), one_stratum("reject/plain", 8_000, 50, 20)], 60)
    assert taken(uneven)["reject/plain"] > 2 * taken(uneven)["accept/plain"]
    strata = [one_stratum("accept/plain", 5_000, 300, 1), one_stratum("accept/edge", 5_000, 300, 120)]
    assert taken(plan(strata, 60)) == {"accept/plain": 30, "accept/edge": 30}  # half, but no more than half


def test_sides_and_verifiers_are_weighed_by_themselves() -> None:
    """A rarely used verifier is not forgotten beside a busy one: each has intervals of its own."""
    small = one_stratum("accept/plain", 100)
    small = small._replace(key=small.key._replace(verifier="math"))
    queue = plan([one_stratum("accept/plain", 1_000_000), small], 40)
    assert Counter(entry.stratum.verifier for entry in queue) == {"numeric": 20, "math": 20}


def test_second_looks_are_every_tenth() -> None:
    """And follow at the end when nothing else is left."""
    key = Stratum("numeric", "1", "gsm8k", "accept/plain")
    looks = [Entry(f"look {n}", key, second_look=True) for n in range(4)]
    queue = plan([one_stratum("accept/plain", 9_000, count=25)], 100, second_looks=looks)
    places = [place for place, entry in enumerate(queue) if entry.second_look]
    assert places == [SECOND_LOOK_EVERY - 1, 2 * SECOND_LOOK_EVERY - 1, 27, 28]


def test_a_tenth_is_labelled_twice() -> None:
    """Chosen by the id alone."""
    chosen = [is_second_look(f"0197f0c4-5b1e-7c3a-9d52-{n:012x}") for n in range(5_000)]
    assert sum(chosen) / len(chosen) == pytest.approx(0.1, abs=0.02)
