"""What people who label need from the log: the queue, what is known of one verdict, how far they are."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Engine, Select, func, select

from audit.comparisons import cohen_kappa
from audit.database import DATABASE_ERRORS, fault, reading_engine
from audit.errors import LogUnavailableError
from audit.estimate_queries import group_of
from audit.keys import index_key
from audit.labels import ANSWERS, Label, Truth, as_label, labels_of, truths
from audit.reader import matching
from audit.review_queue import Candidate, Entry, QueueStratum, is_second_look, plan
from audit.schema import label, second_opinion, stratum_count, verdict, verdict_flag
from audit.second_opinions import shown_stratum
from audit.types import Stratum, VerdictFilter

MAX_WORDS: Final = 200

_CELL: Final = tuple(verdict.c[name] for name in ("verifier", "version", "data_source", "stratum"))
_CANDIDATE: Final = (
    verdict.c.id,
    *_CELL,
    *(verdict.c[name] for name in ("second", "draw", "run", "step", "group_id", "prompt_id", "prompt_hash")),
)
_SIDES: Final = {"accept": "incorrect", "reject": "correct"}
"""The answer that contradicts a verdict, by its side."""


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
        self._url = url

    @cached_property
    def _engine(self) -> Engine:
        return reading_engine(self._url)

    def queue(
        self, wanted: VerdictFilter, labeler: str, limit: int, among: Iterable[str] | None = None
    ) -> Queue:
        """The queue of one labeler, within a filter.

        Without a version in the filter: of the newest version of each verifier. among: no other ids than
        these. The filter's text and `labelled` are not looked at.
        """
        wanted = replace(wanted, labelled=None, status="scored")
        with self._reading() as connection:
            strata = _Strata(connection, wanted, among if among is None else list(among))
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
        opinions = select(second_opinion).where(second_opinion.c.verdict_id == verdict_id)
        with self._reading() as connection:
            return About(
                labels_of(connection, verdict_id),
                [
                    Flag(row.flag, None if row.evidence is None else json.loads(row.evidence), row.late)
                    for row in connection.execute(flags.order_by(verdict_flag.c.flag))
                ],
                [
                    {"method": row.method, "outcome": row.outcome, "detail": json.loads(row.detail)}
                    for row in connection.execute(opinions.order_by(second_opinion.c.method))
                ],
            )

    def last_label(self, labeler: str, since_ms: int) -> tuple[Label, bool | None] | None:
        """The newest label that somebody gave since then and did not take back; `correct` of its verdict."""
        query = select(label).where(label.c.labeler == labeler, label.c.created_at_ms >= since_ms)
        withdrawn: set[str] = set()
        with self._reading() as connection:
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
        with self._reading() as connection:
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
        with self._reading() as connection:
            return agreement(truths(connection).values())

    @contextmanager
    def _reading(self) -> Any:
        try:
            with self._engine.begin() as connection:
                yield connection
        except DATABASE_ERRORS as error:
            raise LogUnavailableError(fault(error)[1]) from error


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


class _Strata:
    """The strata within a filter, with their labels."""

    def __init__(self, connection: Connection, wanted: VerdictFilter, among: Sequence[str] | None) -> None:
        self._wanted = wanted
        self._among = among
        self._versions = None if wanted.version else _versions_in_force(connection)
        self._truths = truths(connection)
        query = self._matching(select(*_CANDIDATE, verdict.c.sampled)).where(verdict.c.labelled)
        self.labelled = [row for row in connection.execute(query) if self._counts(row)]
        self.groups_done = {group_of(row) for row in self.labelled}

    def waiting(self, connection: Connection) -> int:
        """How many samples have no label."""
        query = self._matching(select(verdict.c.verifier, verdict.c.version, func.count().label("n"))).where(
            verdict.c.sampled, ~verdict.c.labelled
        )
        rows = connection.execute(query.group_by(verdict.c.verifier, verdict.c.version))
        return sum(int(row.n) for row in rows if self._counts(row))

    def to_label(self, connection: Connection, limit: int) -> list[QueueStratum]:
        """Every stratum, with at most `limit` candidates."""
        candidates = self._candidates(connection, limit)
        labels, errors = self._labels()
        return [
            QueueStratum(key, size, labels[key], errors[key], candidates.get(key, ()))
            for key, size in self._sizes(connection).items()
        ]

    def second_looks(self, labeler: str) -> list[Entry]:
        """Samples that one other person has labelled and this one is to label too."""
        found = []
        for row in sorted(self.labelled, key=lambda row: row.draw):
            known = self._truths.get(row.id)
            others = known is not None and len(known.by_labeler) == 1 and labeler not in known.by_labeler
            if others and is_second_look(row.id):
                found.append(Entry(row.id, _key(row), second_look=True))
        return found

    def _matching(self, query: Select[Any]) -> Select[Any]:
        query = matching(query, self._wanted).where(~verdict.c.canary)
        return query if self._among is None else query.where(verdict.c.id.in_(self._among))

    def _counts(self, row: Any) -> bool:
        """Whether a row is of a version that the queue is about."""
        return self._versions is None or self._versions.get(row.verifier) == row.version

    def _sizes(self, connection: Connection) -> dict[Stratum, float]:
        """How many verdicts each stratum has; of what second opinions contradict, by share of the sample."""
        counts = select(
            *(stratum_count.c[column.name] for column in _CELL), func.sum(stratum_count.c.verdicts).label("n")
        ).group_by(*(stratum_count.c[column.name] for column in _CELL))
        for name in ("verifier", "version", "data_source", "stratum"):
            if (value := getattr(self._wanted, name)) is not None:
                counts = counts.where(stratum_count.c[name] == index_key(value))
        opinions = (
            select(*_CELL, verdict.c.second, func.count().label("n"))
            .where(verdict.c.sampled)
            .group_by(*_CELL, verdict.c.second)
        )
        samples: dict[Stratum, Counter[Stratum]] = {}
        for row in connection.execute(opinions):
            samples.setdefault(Stratum(*row[:4]), Counter())[_key(row)] += row.n
        sizes: dict[Stratum, float] = {}
        for row in connection.execute(counts):
            base = Stratum(*row[:4])
            if base.name.partition("/")[0] in _SIDES and self._counts(row):
                shares = samples.get(base) or Counter({base: 1})
                for key, n in shares.items():
                    sizes[key] = sizes.get(key, 0.0) + int(row.n) * n / shares.total()
        return sizes

    def _labels(self) -> tuple[Counter[Stratum], Counter[Stratum]]:
        """Labels that count in rates, and those of them that contradict their verdict, by stratum."""
        labels: Counter[Stratum] = Counter()
        errors: Counter[Stratum] = Counter()
        for row in self.labelled:
            known = self._truths.get(row.id)
            if row.sampled and known and known.drawn and known.answer in {"correct", "incorrect"}:
                labels[_key(row)] += 1
                errors[_key(row)] += known.answer == _SIDES[row.stratum.partition("/")[0]]
        return labels, errors

    def _candidates(self, connection: Connection, limit: int) -> Mapping[Stratum, list[Candidate]]:
        """Samples without a label, by ascending draw; over several windows these are a sample of all."""
        place = func.row_number().over(partition_by=(*_CELL, verdict.c.second), order_by=verdict.c.draw)
        ranked = self._matching(select(*_CANDIDATE, place.label("place"))).where(
            verdict.c.sampled, ~verdict.c.labelled
        )
        query = ranked.subquery()
        found: dict[Stratum, list[Candidate]] = {}
        for row in connection.execute(select(query).where(query.c.place <= limit).order_by(query.c.draw)):
            if self._counts(row):
                found.setdefault(_key(row), []).append(Candidate(row.id, group_of(row), row.draw))
        return found


def _versions_in_force(connection: Connection) -> dict[str, str]:
    """The version of each verifier that judged last."""
    names = stratum_count.c.verifier, stratum_count.c.version
    query = select(*names).group_by(*names)
    query = query.order_by(func.max(stratum_count.c.window_start_s), stratum_count.c.version)
    return {row.verifier: row.version for row in connection.execute(query)}


def _rows(connection: Connection, ids: Sequence[str]) -> dict[str, Any]:
    query = select(verdict.c.id, verdict.c.created_at_ms, verdict.c.run, verdict.c.step)
    return {row.id: row for row in connection.execute(query.where(verdict.c.id.in_(ids)))}


def _item(entry: Entry, row: Any) -> QueueItem:
    return QueueItem(entry.id, entry.stratum, entry.second_look, row.created_at_ms, row.run, row.step)


def _key(row: Any) -> Stratum:
    return Stratum(row.verifier, row.version, row.data_source, shown_stratum(row.stratum, row.second))
