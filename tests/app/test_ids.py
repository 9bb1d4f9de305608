"""UUIDv7: valid, ordered, unique."""

from __future__ import annotations

import time
import uuid

from app.ids import IdMaker


def test_ids_are_uuids_of_version_7() -> None:
    """Version, variant, and the time inside."""
    make = IdMaker()
    before = time.time_ns() // 1_000_000
    made = uuid.UUID(make())
    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    assert before <= made.int >> 80 <= time.time_ns() // 1_000_000
    assert make.milliseconds >= before


def test_ids_rise_and_never_repeat() -> None:
    """Even many in one millisecond, and from two processes at once."""
    makers = IdMaker(), IdMaker()
    made = [[make() for _ in range(20_000)] for make in makers]
    for ids in made:
        assert ids == sorted(ids)
        assert all(len(one) == 36 for one in ids)
    assert len({*made[0], *made[1]}) == 40_000
