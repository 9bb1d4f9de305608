"""Estimates from a real database: what counts, what does not, and how it is grouped."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recording import keep, make_id, make_record, until, url_of
from sqlalchemy import update

from audit.database import writing_engine
from audit.errors import LogUnavailableError
from audit.estimate_queries import EstimateFilter
from audit.estimate_reader import By, EstimateReader, GroupEstimates, GroupKey
from audit.labels import LabelBook, NewLabel
from audit.log import VerdictLog
from audit.schema import verdict, writer
from audit.types import Cell, LogConfig, Stratum, VerdictRecord

HOUR = 3_600
FIRST = 1_763_996_400


def made(name: str, n: int = 1, window: int = 0, source: str = "gsm8k", **fields: Any) -> list[VerdictRecord]:
    """Verdicts of one cell."""
    side, _, kind = name.partition("/")
    cell = Cell(Stratum("numeric", fields.pop("version", "1"), source, name), FIRST + window * HOUR)
    correct = {"accept": True, "reject": False}.get(side)
    named = {"cell": cell, "correct": correct, "status": "scored", "meta": {}} | fields
    if correct is None and side != "canary":
        named |= {"status": "unscorable", "reason": kind}
    return [make_record(**named) for _ in range(n)]


class Book:
    """A database with verdicts and labels."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.labels = LabelBook(url, make_id)
        self.reader = EstimateReader(url)

    def keep(self, *records: VerdictRecord, uncounted: int = 0) -> None:
        """Store these; `uncounted` more of the first one's cell are counted only."""

        async def write() -> None:
            log = VerdictLog(LogConfig(self.url, budget=1_000, durability="commit"))
            log.start()
            await until(lambda: not log.status().degraded)
            if uncounted:
                log.count(records[0].cell, uncounted)
            await keep(log, *records)
            await log.close()

        asyncio.run(write())

    def label(self, records: list[VerdictRecord], answer: str, **fields: Any) -> None:
        """The same label for all of them."""
        for record in records:
            self.labels.add(record.id, NewLabel(**({"answer": answer, "labeler": "ada"} | fields)))

    def change(self, records: list[VerdictRecord], **values: Any) -> None:
        """Set columns of these verdicts."""
        ids = [record.id for record in records]
        with writing_engine(self.url, "commit").begin() as connection:
            connection.execute(update(verdict).where(verdict.c.id.in_(ids)).values(**values))

    def one(self, **wanted: Any) -> GroupEstimates:
        """The estimates of everything that matches."""
        [found] = self.reader.estimates("none", EstimateFilter(**wanted))
        return found


@pytest.fixture
def book(new_database: Callable[[], str]) -> Book:
    """An empty one, of either kind."""
    return Book(new_database())


def test_counts_samples_and_labels_meet(book: Book) -> None:
    """Sizes are those counted, not those stored; errors follow from the side; null rates stand apart."""
    accepts, rejects = made("accept/plain", 40), made("reject/plain", 30)
    nulls = made("unscorable/verifier_timeout", 2)
    book.keep(*accepts, *rejects, *nulls, uncounted=960)
    book.label(accepts[:25], "correct")
    book.label(accepts[25:30], "incorrect")
    book.label(rejects[:19], "incorrect")
    book.label(rejects[19:20], "correct")
    found = book.one()
    assert (found.scored, found.sizes_exact, found.canaries) == (1_030, True, None)
    assert found.unscorable == {"verifier_timeout": 2}
    assert found.null_rate == pytest.approx(2 / 1_032)
    accept, reject = found.estimates.sides
    assert (accept.verdicts, accept.labels, accept.errors) == (1_000, 30, 5)
    assert (reject.verdicts, reject.labels, reject.errors) == (30, 20, 1)
    assert accept.rate.estimate == pytest.approx(5 / 30)
    assert found.estimates.accepted.estimate == pytest.approx(1_000 / 1_030)


def test_what_does_not_count(book: Book) -> None:
    """Labels of verdicts that were looked for, are not in the sample, were taken back, or contradict."""
    records = made("accept/plain", 30)
    book.keep(*records)
    book.label(records[:20], "correct")
    book.label(records[20:22], "incorrect", drawn=False)
    book.change(records[22:24], sampled=False)
    book.label(records[22:24], "incorrect")
    taken_back = book.labels.add(records[24].id, NewLabel("incorrect", "ada"))
    book.labels.withdraw(taken_back.id)
    book.label(records[25:26], "incorrect")
    book.label(records[25:26], "correct", labeler="bob")
    book.label(records[26:27], "bad_ground_truth")
    side = book.one().estimates.accepts
    assert (side.labels, side.errors, side.undecided) == (20, 0, 2)


def test_second_opinions_make_parts(book: Book) -> None:
    """A verdict that is contradicted belongs to a part of its own, sized by the sample."""
    records = made("accept/plain", 100)
    book.keep(*records, uncounted=900)
    book.change(records[:90], second="agrees")
    book.change(records[90:], second="rejects")
    book.label(records[:40], "correct")
    book.label(records[90:96], "incorrect")
    book.label(records[96:98], "correct")
    same, differing = book.one().estimates.accepts.parts
    assert (same.labels, same.errors, differing.labels, differing.errors) == (40, 0, 8, 6)
    assert differing.size == pytest.approx(100)
    assert book.one().estimates.accepts.rate.estimate == pytest.approx(0.1 * 0.75)


def test_canaries_need_no_labels(book: Book) -> None:
    """Accepted canaries bound the false-positive rate from below, and touch no other rate."""
    canaries = made("canary/accept", 3, correct=True) + made("canary/reject", 97, correct=False)
    book.keep(*canaries, *made("canary/unscorable", 5, status="unscorable"), *made("accept/plain", 10))
    found = book.one()
    assert found.scored == 10
    assert found.canaries is not None
    assert (found.canaries.verdicts, found.canaries.accepted, found.canaries.unscorable) == (105, 3, 5)
    assert 0 < found.canaries.fpr_lower < 0.03


KEYS: list[tuple[By, dict[GroupKey, float]]] = [
    ("none", {GroupKey(): 26}),
    ("verifier", {GroupKey("numeric"): 26}),
    ("version", {GroupKey("numeric", "1"): 22, GroupKey("numeric", "2"): 4}),
    ("data_source", {GroupKey(data_source="gsm8k"): 21, GroupKey(data_source="math"): 5}),
    ("stratum", {GroupKey(stratum="accept/plain"): 19, GroupKey(stratum="reject/plain"): 7}),
    ("window", {GroupKey(window_start_s=FIRST): 16, GroupKey(window_start_s=FIRST + HOUR): 10}),
    ("step", {GroupKey(): 4, GroupKey(step=0): 17, GroupKey(step=100): 5}),
]


@pytest.fixture
def grouped(book: Book) -> Book:
    """Verdicts that differ in everything that groups are made by."""
    book.keep(
        *made("accept/plain", 10, meta={"step": 5, "run": "r1"}),
        *made("accept/plain", 5, 1, "math", meta={"step": 105, "run": "r2"}),
        *made("reject/plain", 5, 1, meta={"step": 99, "run": "r1"}),
        *made("reject/plain", 2, 0, meta={"step": 0, "run": "r1"}),
        *made("accept/plain", 4, 0, version="2"),
    )
    return book


def test_groups(grouped: Book) -> None:
    """Each verdict is in exactly one group of each kind."""
    for by, expected in KEYS:
        found = grouped.reader.estimates(by, EstimateFilter())
        assert {one.key: pytest.approx(one.scored) for one in found} == expected


FILTERS: list[tuple[dict[str, Any], float | None]] = [
    ({"verifier": "numeric"}, 26),
    ({"verifier": "math"}, None),
    ({"version": "2"}, 4),
    ({"data_source": "math"}, 5),
    ({"stratum": "reject/plain"}, 7),
    ({"since_s": FIRST + HOUR}, 10),
    ({"until_s": FIRST + HOUR}, 16),
    ({"run": "r1"}, 17),
    ({"step_min": 5, "step_max": 100}, 15),
]


def test_filters(grouped: Book) -> None:
    """Only what matches is spoken of."""
    for wanted, scored in FILTERS:
        found = grouped.reader.estimates("none", EstimateFilter(**wanted))
        assert [one.scored for one in found] == ([] if scored is None else [pytest.approx(scored)])


def test_parts_of_windows_have_estimated_sizes(book: Book) -> None:
    """Runs and steps are not counted: their verdicts are estimated from the sample, and said to be."""
    mine = made("accept/plain", 30, meta={"run": "r1", "step": 1})
    others = made("accept/plain", 70, meta={"run": "r2", "step": 250})
    book.keep(*mine, *others, uncounted=900)
    book.label(mine, "correct")
    found = book.one(run="r1")
    assert not found.sizes_exact
    assert found.scored == pytest.approx(300)
    assert found.estimates.accepts.labels == 30
    whole = book.one()
    assert whole.sizes_exact
    assert whole.scored == 1_000
    by_step = book.reader.estimates("step", EstimateFilter(), step_width=250)
    assert [(one.key.step, one.scored) for one in by_step] == [
        (0, pytest.approx(300)),
        (250, pytest.approx(700)),
    ]


def test_responses_to_one_prompt_count_as_one_label(book: Book) -> None:
    """By group, else by prompt, within a step."""
    groups: list[Callable[[int], dict[str, Any]]] = [
        lambda n: {"meta": {"group_id": f"g{n // 10}"}},
        lambda n: {"meta": {"prompt_id": f"p{n // 10}"}, "prompt": None},
        lambda n: {"meta": {}, "prompt": f"question {n // 10}"},
    ]
    records = [record for fields in groups for n in range(30) for record in made("accept/plain", **fields(n))]
    book.keep(*records)
    book.label(records, "correct")
    [part] = book.one().estimates.accepts.parts
    assert (part.labels, part.rate.known_from) == (90, pytest.approx(9))


def test_a_thousand_windows_are_the_newest(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many groups by time the newest are told."""
    monkeypatch.setattr("audit.estimate_reader.MAX_GROUPS", 3)
    book.keep(*(record for window in range(6) for record in made("accept/plain", 1, window)))
    found = book.reader.estimates("window", EstimateFilter())
    assert [one.key.window_start_s for one in found] == [FIRST + n * HOUR for n in (3, 4, 5)]
    assert all(math.isclose(one.scored, 1) for one in found)


def test_windows_that_lost_something_are_named(book: Book) -> None:
    """A writer that died leaves windows whose counts may not be whole; those asked for are named."""
    book.keep(*(record for window in range(3) for record in made("accept/plain", 1, window)))
    assert book.reader.incomplete(EstimateFilter()) == {}
    died_ms = (FIRST + HOUR + 60) * 1_000
    with writing_engine(book.url, "commit").begin() as connection:
        values = {"closed_at_ms": None, "started_at_ms": FIRST * 1_000, "complete_until_ms": died_ms}
        connection.execute(update(writer).values(**values))
    found = book.reader.incomplete(EstimateFilter())
    assert found == {FIRST + HOUR: ["lost_counts"], FIRST + 2 * HOUR: ["lost_counts"]}
    assert list(book.reader.incomplete(EstimateFilter(since_s=FIRST + 2 * HOUR))) == [FIRST + 2 * HOUR]
    assert book.reader.incomplete(EstimateFilter(until_s=FIRST + HOUR)) == {}


def test_no_database(tmp_path: Path) -> None:
    """Where there is nothing to read, that is said."""
    with pytest.raises(LogUnavailableError):
        EstimateReader(url_of(tmp_path / "nowhere" / "log.db")).estimates("none", EstimateFilter())
