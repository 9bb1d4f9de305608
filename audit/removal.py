"""Taking stored verdicts out again, with all that belongs to them, and documents that nobody needs then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, bindparam, delete, update

from audit.schema import document, payload, second_opinion, verdict, verdict_flag
from audit.types import CANARY_ACCEPT

CHUNK = 500
"""Ids in one statement."""

# Written once, as what `trim` asks for the same reason.
# In one statement, so that a label which comes meanwhile is either seen or finds no verdict.
_REMOVE: Final = (
    delete(verdict)
    .where(
        verdict.c.id.in_(bindparam("ids", expanding=True)),
        verdict.c.labelled.is_(False),
        verdict.c.stratum != CANARY_ACCEPT,
    )
    .returning(verdict.c.id, verdict.c.prompt_hash, verdict.c.ground_truth_hash)
)
_REMOVE_PARTS: Final = [
    delete(table).where(table.c.verdict_id.in_(bindparam("ids", expanding=True)))
    for table in (payload, verdict_flag, second_opinion)
]
_USE_LESS: Final = (
    update(document)
    .where(document.c.hash == bindparam("key"))
    .values(uses=document.c.uses - bindparam("less"))
)
_REMOVE_UNUSED: Final = delete(document).where(
    document.c.hash.in_(bindparam("hashes", expanding=True)), document.c.uses <= 0
)


def remove(connection: Connection, ids: Sequence[str]) -> list[str]:
    """Remove stored verdicts, but none that is labelled or an accepted canary; returns which were removed."""
    removed: list[str] = []
    for start in range(0, len(ids), CHUNK):
        removed += _remove(connection, ids[start : start + CHUNK])
    return removed


def _remove(connection: Connection, ids: Sequence[str]) -> list[str]:
    rows = connection.execute(_REMOVE, {"ids": ids}).all()
    removed = [row.id for row in rows]
    if removed:
        for remove_part in _REMOVE_PARTS:
            connection.execute(remove_part, {"ids": removed})
        _release(connection, Counter(key for row in rows for key in row[1:] if key is not None))
    return removed


def _release(connection: Connection, uses: Counter[str]) -> None:
    """Documents that are used so many times less; those not used any more go."""
    if uses:
        # In one order everywhere, as the counts.
        less = [{"key": key, "less": n} for key, n in sorted(uses.items())]
        connection.execute(_USE_LESS, less)
        connection.execute(_REMOVE_UNUSED, {"hashes": list(uses)})
