"""Second opinions: which stored verdicts have none yet, and keeping what another way of judging said.

Nothing here judges. Whoever does hands in `Opinion`s and `LateFlag`s; a reward is never changed by them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from sqlalchemy import Connection, bindparam, func, select, update

from audit.connections import Database
from audit.database import insert_into
from audit.late_flags import LateFlag
from audit.schema import second_opinion, verdict, verdict_flag

Outcome = Literal["agrees", "accepts", "rejects", "unknown"]
"""Of a second opinion. `accepts` and `rejects` contradict the verdict; `unknown`: none could be had."""

Method = Literal["math", "sympy", "hidden_cases", "shuffled", "mutated", "rerun"]

MAX_BACKLOG: Final = 100_000
"""Verdicts without an opinion are counted up to here."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one other way of judging said about a verdict. detail: JSON, shown to people."""

    method: Method
    outcome: Outcome
    detail: dict[str, Any] = field(default_factory=dict)


class Findings(NamedTuple):
    """All that was found about a stored verdict after the reply."""

    opinions: tuple[Opinion, ...] = ()
    flags: tuple[LateFlag, ...] = ()


def opinion_of(method: Method, first: bool | None, second: bool | None, **detail: Any) -> Opinion:
    """An opinion from whether the response was accepted, first and now; None: there was no verdict."""
    if second is None:
        return Opinion(method, "unknown", detail)
    if first is second:
        return Opinion(method, "agrees", detail)
    return Opinion(method, "accepts" if second else "rejects", detail)


def combined(opinions: Sequence[Opinion]) -> Outcome:
    """What several opinions on one verdict come to: one that contradicts counts, else one that agrees."""
    outcomes = {opinion.outcome for opinion in opinions}
    order: tuple[Outcome, ...] = ("rejects", "accepts", "agrees")
    return next((outcome for outcome in order if outcome in outcomes), "unknown")


def shown_stratum(stratum: str, second: str | None) -> str:
    """The stratum as shown: `accept/second-rejects`, `reject/second-accepts` where opinions differ."""
    side = stratum.partition("/")[0]
    if (side, second) in (("accept", "rejects"), ("reject", "accepts")):
        return f"{side}/second-{second}"
    return stratum


_OPINIONS: Final = (
    select(second_opinion)
    .where(second_opinion.c.verdict_id == bindparam("verdict_id"))
    .order_by(second_opinion.c.method)
)


def opinions_of(connection: Connection, verdict_id: str) -> list[dict[str, Any]]:
    """The second opinions on one verdict, as they are told over HTTP."""
    return [
        {"method": row.method, "outcome": row.outcome, "detail": json.loads(row.detail)}
        for row in connection.execute(_OPINIONS, {"verdict_id": verdict_id})
    ]


class OpinionStore:
    """Reads what is to be looked at and writes what was found; from any thread, a connection per call.

    All methods block and raise `LogUnavailableError`.
    """

    def __init__(self, url: str) -> None:
        self._reading = Database(url)
        self._writing = Database(url, "enqueue")

    def due(self, limit: int, skip: Sequence[str] = ()) -> list[str]:
        """Ids of sampled verdicts without an opinion: those of the newest window first, by ascending draw.

        The draw is a hash of the id, so within a cell those that have an opinion are a fair sample of it.
        skip: ids that are not to be among them.
        """
        query = (
            select(verdict.c.id)
            .where(verdict.c.second.is_(None), verdict.c.sampled, verdict.c.id.not_in(skip))
            .order_by(verdict.c.window_start_s.desc(), verdict.c.draw)
            .limit(limit)
        )
        with self._reading.transaction() as connection:
            return list(connection.scalars(query))

    def backlog(self) -> int:
        """How many sampled verdicts have no opinion yet; `MAX_BACKLOG` stands for that many or more."""
        missing = select(verdict.c.id).where(verdict.c.second.is_(None), verdict.c.sampled).limit(MAX_BACKLOG)
        with self._reading.transaction() as connection:
            return connection.scalar(select(func.count()).select_from(missing.subquery())) or 0

    def keep(self, verdict_id: str, findings: Findings) -> bool:
        """Store opinions and flags of a verdict, all or nothing; False if it is gone or has some already."""
        second = combined(findings.opinions)
        now_ms = time.time_ns() // 1_000_000
        opinions = [
            (verdict_id, one.method, one.outcome, json.dumps(one.detail), now_ms) for one in findings.opinions
        ]
        flags = [(verdict_id, flag.name, flag.evidence_json(), True) for flag in findings.flags]
        claim = update(verdict).where(verdict.c.id == verdict_id, verdict.c.second.is_(None))
        with self._writing.transaction() as connection:
            if connection.execute(claim.values(second=second)).rowcount != 1:
                return False
            for table, rows in ((second_opinion, opinions), (verdict_flag, flags)):
                named = [dict(zip(table.c.keys(), row, strict=True)) for row in rows]
                if named:
                    unless_there = insert_into(table, connection.dialect).on_conflict_do_nothing()
                    connection.execute(unless_there, named)
        return True
