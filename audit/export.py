"""Stored verdicts going out: whole documents a line each, rows of a table, and rewards by prompt."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

from sqlalchemy import func, select

from audit import exact_json
from audit.connections import Database
from audit.labels import labels_from_json, standing, truth
from audit.reader import Reader, matching
from audit.schema import verdict
from audit.types import VerdictFilter

PAGE: Final = 100
"""Verdicts that are read at once."""

COLUMNS: Final[dict[str, type]] = {
    "id": str, "created_at": str, "verifier": str, "version": str, "environment": str, "data_source": str,
    "run": str, "step": int, "split": str, "prompt_id": str, "group_id": str, "rollout_id": str,
    "stratum": str, "flags": list, "inclusion_probability": float, "status": str, "correct": bool,
    "reward": float, "reason": str, "stop_reason": str, "truncated": bool, "canary": bool, "second": str,
    "label": str, "cause": str, "labeler": str, "labelled_at": str, "prompt": str, "ground_truth": str,
    "response": str, "request": str, "second_opinions": str, "labels": str,
}  # fmt: skip
"""Columns of `table_row` and what they hold, or null. `list`: of texts. What is no scalar is JSON."""


class Exporter:
    """Gives out what is stored, newest first, in constant memory. Blocks; raises `LogUnavailableError`."""

    def __init__(self, url: str) -> None:
        self._database = Database(url)
        self._reader = Reader(url)

    def pages(self, wanted: VerdictFilter) -> Iterator[list[bytes]]:
        """The verdicts that match, some at a time, each a JSON document as `VerdictLog.get` gives it.

        A page at a time is read, each in a transaction of its own: what is stored meanwhile is not among
        them, what is removed meanwhile may be missing.
        """
        cursor: str | None = None
        while True:
            page = self._reader.search(wanted, cursor, PAGE)
            yield self._reader.whole([item["id"] for item in page.items])
            cursor = page.next
            if cursor is None:
                return

    def count(self, wanted: VerdictFilter) -> int:
        """How many match, the text search left aside."""
        query = matching(select(verdict.c.id), wanted)
        counted = select(func.count()).select_from(query.subquery())
        with self._database.transaction() as connection:
            return connection.scalar(counted) or 0

    def rewards(self, wanted: VerdictFilter) -> Iterator[dict[str, Any]]:
        """Rewards of the responses to one prompt in one step: `{"prompt_id", "rewards"}`, oldest first.

        A prompt goes by its group where that is named. Verdicts that name neither, unscorable ones and
        canaries, which no loss holds, are left out, and so are those that were not stored: these are samples
        of groups.
        """
        group = func.coalesce(verdict.c.group_id, verdict.c.prompt_id)
        query = (
            matching(select(verdict.c.run, verdict.c.step, group.label("group"), verdict.c.prompt_id), wanted)
            .add_columns(verdict.c.reward)
            .where(group.is_not(None), verdict.c.reward.is_not(None), ~verdict.c.canary)
            .order_by(verdict.c.run, verdict.c.step, group, verdict.c.id)
        )
        with self._database.transaction() as connection:
            rows = connection.execute(query).all()
        for _, members in groupby(rows, key=lambda row: (row.run, row.step, row.group)):
            found = list(members)
            yield {
                "prompt_id": found[0].prompt_id or found[0].group,
                "rewards": [row.reward for row in found],
            }


def table_row(document: bytes) -> dict[str, Any]:
    """A document as a flat row of `COLUMNS`."""
    fields = json.loads(document.decode("utf-8", "surrogatepass"), parse_int=_Literal, parse_float=_Literal)
    verifier = fields["verifier"]
    fields |= {"verifier": verifier["name"], "version": verifier["version"]}
    fields |= {"environment": verifier["environment"], **_label_columns(fields["labels"])}
    return {name: _value(fields.get(name), kind) for name, kind in COLUMNS.items()}


class _Literal:
    """A number as it is written, which `exact_json` writes so again."""

    def __init__(self, text: str) -> None:
        self.text = text


def _label_columns(labels: list[dict[str, Any]]) -> dict[str, str | None]:
    """What labels come to; cause, labeler and time of the latest that stands."""
    read = labels_from_json(labels)
    found = truth(read)
    if found is None:
        return {}
    latest = max(standing(read).values(), key=lambda one: one.created_at_ms)
    told = next(one for one in labels if one["id"] == latest.id)
    return {
        "label": found.answer,
        "cause": latest.cause,
        "labeler": latest.labeler,
        "labelled_at": told["created_at"],
    }


def _value(value: Any, kind: type) -> Any:
    if value is None or kind is list:
        return value
    if kind is int:
        return int(value.text)
    if kind is float:
        return float(value.text)
    if kind is bool or isinstance(value, str):
        return value if not isinstance(value, str) else value.encode("utf-8", "replace").decode()
    return exact_json.dump(value).decode("utf-8", "replace")
