"""What people who label need from the log: the queue, what is known of one verdict, how far they are."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, select

from audit.comparisons import cohen_kappa
from audit.connections import Database
from audit.labels import ANSWERS, Label, Truth, as_label, labels_of, truths
from audit.review_queue import Entry, plan
from audit.review_strata import ReviewStrata
from audit.schema import label, stratum_count, verdict, verdict_flag
from audit.second_opinions import opinions_of
from audit.types import Stratum, VerdictFilter

MAX_WORDS: Final = 200


class QueueItem(NamedTuple):
    """A sample to be labelled and where it comes from; only the stratum gives its verdict away."""

    id: str
    stratum: Stratum
    second_look: bool
    created_at_ms: int
    run: str | None
    step: int | None


@dataclass(frozen=True, slots=True)
class Queue:
    """What to label next, and how far the labels have come within the filter."""

    items: list[QueueItem]
    waiting: int
    """Samples without a label, those included that are left out because of their group."""
    labelled: int


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag of a verdict. evidence: `[start, end]` pairs in code points of the response, or a short text."""

    name: str
    evidence: Any
    late: bool


@dataclass(frozen=True, slots=True)
class About:
    """What was found about a verdict after it was given."""

    labels: list[Label] = field(default_factory=list)
    flags: list[Flag] = field(default_factory=list)
    opinions: list[dict[str, Any]] = field(default_factory=list)
    """`method`, `outcome`, `detail`."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two labelers of the same samples agree."""

    samples: int
    agreeing: int
    kappa: float | None
    """None: too few, or chance alone would agree everywhere."""


class ReviewReader:
    """Queries, from any thread; a connection for each. All raise `LogUnavailableError`."""

    def __init__(self, url: str) -> None:
        self._database = Database(url)

    def queue(
        self, wanted: VerdictFilter, labeler: str, limit: int, among: Iterable[str] | None = None
    ) -> Queue:
        """The queue of one labeler, within a filter.

        Without a version in the filter: of the newest version of each verifier. among: no other ids than
        these. The filter's text and `labelled` are not looked at.
        """
        wanted = replace(wanted, labelled=None, status="scored")
        with self._database.transaction() as connection:
            strata = ReviewStrata(connection, wanted, among if among is None else list(among))
            entries = plan(
                strata.to_label(connection, 2 * limit),
                limit,
                groups_done=strata.groups_done,
                second_looks=strata.second_looks(labeler),
            )
            rows = _rows(connection, [entry.id for entry in entries])
            waiting = strata.waiting(connection)
        items = [_item(entry, rows[entry.id]) for entry in entries]
        return Queue(items, waiting, len(strata.labelled))

    def about(self, verdict_id: str) -> About:
        """What was found about a verdict; nothing for one that is not there."""
        flags = select(verdict_flag).where(verdict_flag.c.verdict_id == verdict_id)
        with self._database.transaction() as connection:
            return About(
                labels_of(connection, verdict_id),
                [
                    Flag(row.flag, None if row.evidence is None else json.loads(row.evidence), row.late)
                    for row in connection.execute(flags.order_by(verdict_flag.c.flag))
                ],
                opinions_of(connection, verdict_id),
            )

    def last_label(self, labeler: str, since_ms: int) -> tuple[Label, bool | None] | None:
        """The newest label that somebody gave since then and did not take back; `correct` of its verdict."""
        query = select(label).where(label.c.labeler == labeler, label.c.created_at_ms >= since_ms)
        withdrawn: set[str] = set()
        with self._database.transaction() as connection:
            for row in connection.execute(query.order_by(label.c.id.desc())).all():
                if row.withdraws is not None:
                    withdrawn.add(row.withdraws)
                elif row.id not in withdrawn:
                    judged = select(verdict.c.correct).where(verdict.c.id == row.verdict_id)
                    return as_label(row), connection.scalar(judged)
        return None

    def vocabulary(self) -> dict[str, list[str]]:
        """Values that filters may have, for people to choose from: at most `MAX_WORDS` of each, sorted."""
        columns = {
            **{name: stratum_count.c[name] for name in ("verifier", "version", "data_source", "stratum")},
            "run": verdict.c.run,
            "flag": verdict_flag.c.flag,
            "labeler": label.c.labeler,
        }
        with self._database.transaction() as connection:
            return {
                name: [
                    word
                    for word in connection.scalars(
                        select(column).distinct().where(column.is_not(None)).order_by(column).limit(MAX_WORDS)
                    )
                    if word
                ]
                for name, column in columns.items()
            }

    def agreement(self) -> Agreement:
        """Of the first two labelers of each sample that several have labelled."""
        with self._database.transaction() as connection:
            return agreement(truths(connection).values())


def agreement(found: Iterable[Truth]) -> Agreement:
    """Of two labelers of each sample that several have labelled: the first two by name."""
    pairs = [
        tuple(answer for _, answer in sorted(one.by_labeler.items())[:2])
        for one in found
        if len(one.by_labeler) > 1
    ]
    counts = Counter(pairs)
    table = [[counts[first, second] for second in ANSWERS] for first in ANSWERS]
    agreeing = sum(n for (first, second), n in counts.items() if first == second)
    return Agreement(len(pairs), agreeing, cohen_kappa(table))


def _rows(connection: Connection, ids: Sequence[str]) -> dict[str, Any]:
    query = select(verdict.c.id, verdict.c.created_at_ms, verdict.c.run, verdict.c.step)
    return {row.id: row for row in connection.execute(query.where(verdict.c.id.in_(ids)))}


def _item(entry: Entry, row: Any) -> QueueItem:
    return QueueItem(entry.id, entry.stratum, entry.second_look, row.created_at_ms, row.run, row.step)
