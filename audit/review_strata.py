"""The strata that a review queue is planned from: how large they are, what was labelled, what waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Select, func, select

from audit.estimate_queries import group_of
from audit.keys import index_key
from audit.labels import truths
from audit.reader import matching
from audit.review_queue import Candidate, Entry, QueueStratum, is_second_look
from audit.schema import stratum_count, verdict
from audit.second_opinions import shown_stratum
from audit.types import Stratum, VerdictFilter

_CELL: Final = tuple(verdict.c[name] for name in ("verifier", "version", "data_source", "stratum"))
_CANDIDATE: Final = (
    verdict.c.id,
    *_CELL,
    *(verdict.c[name] for name in ("second", "draw", "run", "step", "group_id", "prompt_id", "prompt_hash")),
)
_SIDES: Final = {"accept": "incorrect", "reject": "correct"}
"""The answer that contradicts a verdict, by its side."""


class ReviewStrata:
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


def _key(row: Any) -> Stratum:
    return Stratum(row.verifier, row.version, row.data_source, shown_stratum(row.stratum, row.second))
