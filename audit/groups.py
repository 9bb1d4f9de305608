"""Groups counted: what became of the responses to one prompt, by run, data source, split and step.

A row holds the number of groups that are alike in everything that is asked for, so sums are exact.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from sqlalchemy import Column, Row, Select, func, select

from audit.connections import Database
from audit.errors import BadCursorError
from audit.keys import index_key
from audit.schema import group_count

REASONS: Final = ("all_correct", "all_wrong", "equal_partial", "too_few_valid")
BINS: Final = 12
"""Bins of pass rates: exactly 0, the ten tenths between, exactly 1."""

NO_STEP: Final = -(2**63)
"""Stands for a step that was not named; callers cannot name it."""
NO_BIN: Final = -1
"""Stands for the pass rate of no responses."""

_MAX_TOKENS: Final = 1 << 36  # of a group: beyond it the caller is wrong, and sums must not overflow

GroupField = Literal["run", "data_source", "split", "step"]


class GroupCell(NamedTuple):
    """What groups have in common when they are counted. Texts are empty when the caller named none."""

    run: str
    data_source: str
    split: str
    step: int
    reject_reason: str
    """Empty: accepted."""
    bin_all: int
    """Of the share solved, unscorable responses not solved."""
    bin_valid: int
    """Of the share solved of the scored responses."""


@dataclass(slots=True)
class GroupCount:
    """How many groups; how many of them with known lengths, and the tokens of those."""

    groups: int = 0
    measured: int = 0
    tokens: int = 0

    def add(self, other: GroupCount) -> None:
        """Add another count."""
        self.groups += other.groups
        self.measured += other.measured
        self.tokens += other.tokens


@dataclass(frozen=True, slots=True)
class GroupFilter:
    """Which groups to sum up; None does not filter."""

    run: str | None = None
    data_source: str | None = None
    split: str | None = None


def group_cell(
    meta: Mapping[str, Any], reject_reason: str | None, bin_all: int, bin_valid: int | None
) -> GroupCell:
    """The cell of a group. meta: the request's; reject_reason: None when accepted; bins: see `GroupCell`."""
    step = meta.get("step")
    return GroupCell(
        run=index_key(meta.get("run") or ""),
        data_source=index_key(meta.get("data_source") or ""),
        split=index_key(meta.get("split") or ""),
        step=NO_STEP if step is None else step,
        reject_reason=reject_reason or "",
        bin_all=bin_all,
        bin_valid=NO_BIN if bin_valid is None else bin_valid,
    )


def one_group(tokens: int | None) -> GroupCount:
    """The count of one group. tokens: of all its responses; None if some are not known."""
    if tokens is None or tokens > _MAX_TOKENS:
        return GroupCount(1)
    return GroupCount(1, 1, tokens)


class GroupReader:
    """Sums of what was counted, from any thread; a fresh connection for each call."""

    def __init__(self, url: str) -> None:
        self._database = Database(url)

    def metrics(
        self, wanted: GroupFilter, by: GroupField | None, cursor: str | None, limit: int
    ) -> dict[str, Any]:
        """See `VerdictLog.group_metrics`."""
        after = None if cursor is None else _read_cursor(cursor, by)
        rows: Sequence[Row[Any]] = []
        with self._database.transaction() as connection:
            total = connection.execute(_sums(wanted)).all()
            if by is not None:
                rows = connection.execute(_sums_by(wanted, group_count.c[by], after, limit + 1)).all()
        by_key: dict[Any, list[Row[Any]]] = {}
        for row in rows:
            by_key.setdefault(row.key, []).append(row)
        keys = list(by_key)
        return {
            "total": _metrics(total),
            "by": by,
            "items": [{"key": _shown(key), **_metrics(by_key[key])} for key in keys[:limit]],
            "next": _write_cursor(keys[limit - 1]) if len(keys) > limit else None,
        }


def _sums(wanted: GroupFilter) -> Select[Any]:
    cells = group_count.c.reject_reason, group_count.c.bin_all, group_count.c.bin_valid
    counts = (func.sum(group_count.c[name]).label(name) for name in ("groups", "measured", "tokens"))
    query = select(*cells, *counts).group_by(*cells)
    for name in ("run", "data_source", "split"):
        value = getattr(wanted, name)
        if value is not None:
            query = query.where(group_count.c[name] == index_key(value))
    return query


def _sums_by(wanted: GroupFilter, column: Column[Any], after: str | int | None, limit: int) -> Select[Any]:
    """The sums for each of the next `limit` values of a column."""
    keys = select(column).distinct().order_by(column).limit(limit)
    if after is not None:
        keys = keys.where(column > after)
    for name in ("run", "data_source", "split"):
        value = getattr(wanted, name)
        if value is not None:
            keys = keys.where(group_count.c[name] == index_key(value))
    query = _sums(wanted).add_columns(column.label("key")).group_by(column).order_by(column)
    return query.where(column.in_(keys))


@dataclass(slots=True)
class _Sum:
    """Rows added up."""

    seen: GroupCount = field(default_factory=GroupCount)
    accepted: GroupCount = field(default_factory=GroupCount)
    rejected: dict[str, int] = field(default_factory=lambda: dict.fromkeys(REASONS, 0))
    all: list[int] = field(default_factory=lambda: [0] * BINS)
    valid: list[int] = field(default_factory=lambda: [0] * BINS)


def _metrics(rows: Sequence[Row[Any]]) -> dict[str, Any]:
    found = _Sum()
    for row in rows:
        count = GroupCount(int(row.groups), int(row.measured), int(row.tokens))
        found.seen.add(count)
        if row.reject_reason:
            found.rejected[row.reject_reason] += count.groups
        else:
            found.accepted.add(count)
        found.all[row.bin_all] += count.groups
        if row.bin_valid != NO_BIN:
            found.valid[row.bin_valid] += count.groups
    seen, accepted = found.seen, found.accepted
    return {
        "groups": seen.groups,
        "accepted": accepted.groups,
        "rejected": found.rejected,
        "rejected_fraction": _share(seen.groups - accepted.groups, seen.groups),
        "rejected_fraction_by_reason": {
            reason: _share(n, seen.groups) for reason, n in found.rejected.items()
        },
        "groups_with_tokens": seen.measured,
        "tokens": seen.tokens,
        "tokens_per_accepted_group": _share(seen.tokens, accepted.measured),
        "pass_rate_hist": {"all": found.all, "valid": found.valid},
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _shown(key: str | int) -> str | int | None:
    return None if key in ("", NO_STEP) else key


def _write_cursor(key: str | int) -> str:
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode().rstrip("=")


def _read_cursor(cursor: str, by: GroupField | None) -> str | int:
    try:
        key = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        key = None
    kind = int if by == "step" else str
    if by is None or type(key) is not kind or (isinstance(key, int) and not NO_STEP <= key < -NO_STEP):
        raise BadCursorError("the cursor is not one that a page by this field gave out")
    return key.replace("\0", "") if isinstance(key, str) else key
