"""What people who label need from the log: the queue, what is known of one verdict, how far they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, bindparam, exists, select

from audit.comparisons import cohen_kappa
from audit.connections import Database
from audit.labels import ANSWERS, Label, Truth, as_label, truths
from audit.review_queue import Entry, plan
from audit.review_strata import ReviewStrata
from audit.schema import label, stratum_count, verdict, verdict_flag
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
class Agreement:
    """How far two labelers of the same samples agree."""

    samples: int
    agreeing: int
    kappa: float | None
    """None: too few, or chance alone would agree everywhere."""


_withdrawal = label.alias()
_LAST: Final = (
    select(label, verdict.c.correct)
    .outerjoin_from(label, verdict, verdict.c.id == label.c.verdict_id)
    .where(
        label.c.labeler == bindparam("labeler"),
        label.c.created_at_ms >= bindparam("since_ms"),
        label.c.withdraws.is_(None),
        ~exists().where(
            _withdrawal.c.verdict_id == label.c.verdict_id, _withdrawal.c.withdraws == label.c.id
        ),
    )
    .order_by(label.c.id.desc())
    .limit(1)
)


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

    def last_label(self, labeler: str, since_ms: int) -> tuple[Label, bool | None] | None:
        """The newest label that somebody gave since then and did not take back; `correct` of its verdict."""
        with self._database.transaction() as connection:
            row = connection.execute(_LAST, {"labeler": labeler, "since_ms": since_ms}).first()
        return None if row is None else (as_label(row), row.correct)

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
