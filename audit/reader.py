"""Reading: pages of stored verdicts, and one of them whole."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, and_, bindparam, exists, select

from audit import timestamps
from audit.connections import Database
from audit.errors import BadCursorError
from audit.exact_json import dump
from audit.keys import index_key
from audit.labels import labels_of
from audit.payload import decompress
from audit.schema import document, label, payload, stratum_count, verdict, verdict_flag
from audit.second_opinions import opinions_of
from audit.types import Page, VerdictFilter

SCAN_ROWS = 2000
"""A text search reads this many payloads per page; where it found too little, `next` goes on from there."""

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_EQUAL = (
    "verifier",
    "version",
    "data_source",
    "run",
    "stratum",
    "correct",
    "status",
    "stop_reason",
    "labelled",
    "second",
)


class Reader:
    """Queries, from any thread; a fresh connection for each."""

    def __init__(self, url: str) -> None:
        self._database = Database(url)

    def search(self, wanted: VerdictFilter, cursor: str | None, limit: int) -> Page:
        """See `VerdictLog.search`."""
        query = matching(stored_verdicts(), wanted).order_by(verdict.c.id.desc())
        if cursor is not None:
            query = query.where(verdict.c.id < _read_cursor(cursor))
        with self._database.transaction() as connection:
            if wanted.q is None:
                rows: Sequence[Row[Any]] = connection.execute(query.limit(limit + 1)).all()
                last = rows[limit - 1].id if len(rows) > limit else None
                rows = rows[:limit]
            else:
                rows, last = _text_search(connection, query, wanted.q, limit)
            flags = _flags(connection, [row.id for row in rows])
        items = [_item(row, flags.get(row.id, [])) for row in rows]
        return Page(items, None if last is None else _write_cursor(last))

    def get(self, verdict_id: str) -> bytes | None:
        """See `VerdictLog.get`."""
        return next(iter(self.whole([verdict_id])), None)

    def whole(self, ids: Sequence[str]) -> list[bytes]:
        """Those of some stored verdicts that are there, each as `VerdictLog.get` gives it, newest first."""
        with self._database.transaction() as connection:
            rows = connection.execute(_WHOLE, {"ids": ids}).all()
            flags = _flags(connection, [row.id for row in rows])
            documents = _documents(connection, rows)
            return [_whole(connection, row, flags.get(row.id, []), documents) for row in rows]


def stored_verdicts() -> Select[Any]:
    """Rows of `verdict`, each with `cell_verdicts` and `cell_sampled`: how many its cell has, and sampled."""
    same_cell = and_(
        *(verdict.c[column.name] == column for column in stratum_count.primary_key),
    )
    counts = stratum_count.c.verdicts.label("cell_verdicts"), stratum_count.c.sampled.label("cell_sampled")
    return select(verdict, *counts).outerjoin_from(verdict, stratum_count, same_cell)


# Written once: to write a query anew takes longer than SQLite takes to answer it.
_WHOLE: Final = (
    stored_verdicts()
    .add_columns(payload.c.body)
    .join(payload, payload.c.verdict_id == verdict.c.id)
    .where(verdict.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(verdict.c.id.desc())
)
_FLAGS: Final = (
    select(verdict_flag)
    .where(verdict_flag.c.verdict_id.in_(bindparam("ids", expanding=True)))
    .order_by(verdict_flag.c.flag)
)
_DOCUMENTS: Final = select(document.c.hash, document.c.body).where(
    document.c.hash.in_(bindparam("hashes", expanding=True))
)


def inclusion_probability(row: Row[Any]) -> float | None:
    """The chance that a row of `stored_verdicts` had of being in the sample; None if it is not in it."""
    if not row.sampled or not row.cell_verdicts:
        return None
    return min(1.0, int(row.cell_sampled) / int(row.cell_verdicts))


def matching(query: Select[Any], wanted: VerdictFilter) -> Select[Any]:
    """A query of `verdict`, restricted to what is wanted, but for the text."""
    for name in _EQUAL:
        value = getattr(wanted, name)
        if isinstance(value, str):
            value = index_key(value)
        if value is not None:
            query = query.where(verdict.c[name] == value)
    if wanted.step_min is not None:
        query = query.where(verdict.c.step >= wanted.step_min)
    if wanted.step_max is not None:
        query = query.where(verdict.c.step <= wanted.step_max)
    if wanted.flag is not None:
        query = query.where(
            exists().where(verdict_flag.c.flag == wanted.flag, verdict_flag.c.verdict_id == verdict.c.id)
        )
    if wanted.labeler is not None:
        query = query.where(
            exists().where(label.c.verdict_id == verdict.c.id, label.c.labeler == wanted.labeler)
        )
    return query


def _text_search(
    connection: Connection, query: Select[Any], text: str, limit: int
) -> tuple[list[Row[Any]], str | None]:
    """Read payloads until `limit` contain `text` or `SCAN_ROWS` are read; and the id to go on from."""
    query = query.add_columns(payload.c.body).join(payload, payload.c.verdict_id == verdict.c.id)
    needle = text.casefold()
    found: list[Row[Any]] = []
    read = 0
    last: str | None = None
    rows = connection.execution_options(yield_per=100).execute(query.limit(SCAN_ROWS + 1))
    for chunk in rows.partitions():
        documents = _documents(connection, chunk)
        for row in chunk:
            if len(found) == limit or read == SCAN_ROWS:
                return found, last
            read += 1
            last = row.id
            if any(needle in part.casefold() for part in _texts(row, documents)):
                found.append(row)
    return found, None


def _texts(row: Row[Any], documents: dict[str, bytes]) -> Iterable[str]:
    """What a text search looks at: response, ground truth and prompt."""
    body = _load(decompress(row.body))
    yield body["response"]
    if "ground_truth" in body:
        yield _plain(body["ground_truth"])
    for key in (row.prompt_hash, row.ground_truth_hash):
        if key in documents:
            yield _plain(_load(documents[key]))


def _load(text: bytes) -> Any:
    """Read our own JSON for its texts; numbers stay as they are written, however long."""
    return json.loads(text.decode("utf-8", "surrogatepass"), parse_int=str, parse_float=str)


def _plain(value: Any) -> str:
    """The texts in a JSON value, one per line."""
    texts: list[str] = []
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    return "\n".join(texts)


def _documents(connection: Connection, rows: Iterable[Row[Any]]) -> dict[str, bytes]:
    keys = {key for row in rows for key in (row.prompt_hash, row.ground_truth_hash) if key is not None}
    if not keys:
        return {}
    found = connection.execute(_DOCUMENTS, {"hashes": list(keys)})
    return {row.hash: decompress(row.body) for row in found}


def _flags(connection: Connection, ids: list[str]) -> dict[str, list[Row[Any]]]:
    """The flags of some verdicts, by verdict and in the order of their names."""
    flags: dict[str, list[Row[Any]]] = {}
    if ids:
        for row in connection.execute(_FLAGS, {"ids": ids}):
            flags.setdefault(row.verdict_id, []).append(row)
    return flags


def _item(row: Row[Any], flags: Iterable[Row[Any]]) -> dict[str, Any]:
    return {
        "id": row.id,
        "created_at": timestamps.from_ms(row.created_at_ms),
        "verifier": {"name": row.verifier, "version": row.version, "environment": row.environment},
        "status": row.status,
        "correct": row.correct,
        "reward": row.reward,
        "reason": row.reason,
        "stratum": row.stratum,
        "flags": [one.flag for one in flags],
        "stop_reason": row.stop_reason,
        "truncated": row.truncated,
        "data_source": row.data_source or None,
        "run": row.run,
        "step": row.step,
        "split": row.split,
        "prompt_id": row.prompt_id,
        "group_id": row.group_id,
        "rollout_id": row.rollout_id,
        "canary": row.canary,
        "labelled": row.labelled,
        "second": row.second,
        "inclusion_probability": inclusion_probability(row),
    }


def _whole(
    connection: Connection, row: Row[Any], flags: list[Row[Any]], documents: dict[str, bytes]
) -> bytes:
    item = _item(row, flags)
    item["flag_evidence"] = [
        {"flag": one.flag, "late": one.late, "evidence": one.evidence and json.loads(one.evidence)}
        for one in flags
    ]
    item["second_opinions"] = opinions_of(connection, row.id) if row.second is not None else []
    item["labels"] = [one.as_json() for one in labels_of(connection, row.id)]
    # The payload is spliced in as text, so that no number is read and written again.
    parts = [dump(item)[:-1]]
    for name, key in (("prompt", row.prompt_hash), ("ground_truth", row.ground_truth_hash)):
        if key is not None:
            parts.append(b'"' + name.encode() + b'":' + documents.get(key, b"null"))
        elif name == "prompt":
            parts.append(b'"prompt":null')
    parts.append(decompress(row.body)[1:])
    return b",".join(parts)


def _write_cursor(verdict_id: str) -> str:
    return base64.urlsafe_b64encode(verdict_id.encode()).decode().rstrip("=")


def _read_cursor(cursor: str) -> str:
    try:
        verdict_id = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
    except (binascii.Error, ValueError):
        verdict_id = ""
    if not _UUID.fullmatch(verdict_id):
        raise BadCursorError("the cursor is not one that a page gave out")
    return verdict_id
