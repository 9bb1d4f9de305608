"""Runs of all workers share the slots of a host, and its memory."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest
from hosts import script, started

from sandbox.layers import cgroups
from sandbox.supervisor.slots import Slots
from sandbox.types import Limits

MIB = 1 << 20


def slots(folder: Path, count: int = 4, memory: int | None = 1000) -> Slots:
    return Slots(str(folder), count, memory)


def test_no_more_runs_than_slots(tmp_path: Path) -> None:
    """Over all workers."""
    one, other = slots(tmp_path, 2, None), slots(tmp_path, 2, None)
    first, second = one.take(10**12), other.take(10**12)
    assert {first, second} == {0, 1}
    assert one.take(0) is other.take(0) is None
    one.release(first or 0)
    assert other.take(0) == first


def test_no_more_memory_than_there_is(tmp_path: Path) -> None:
    """What runs of all workers may use together stays within the bound; what is released is free again."""
    one, other = slots(tmp_path), slots(tmp_path)
    first = one.take(600)
    assert first is not None
    assert other.take(600) is None
    second = other.take(400)
    assert second is not None
    assert one.take(1) is None
    other.release(second)
    assert one.take(400) is not None


def test_a_run_greater_than_the_memory_goes_alone(tmp_path: Path) -> None:
    """It is not refused, and nothing goes on beside it."""
    one, other = slots(tmp_path), slots(tmp_path)
    large = one.take(5000)
    assert large is not None
    assert other.take(1) is None
    one.release(large)
    small = other.take(1)
    assert one.take(5000) is None
    other.release(small or 0)
    assert one.take(5000) is not None


def _take_and_die(folder: str) -> None:
    Slots(folder, 4, 1000).take(900)


def test_what_a_dead_worker_held_is_free(tmp_path: Path) -> None:
    """Its slot and its share of the memory, though the file still tells of it."""
    worker = multiprocessing.get_context("spawn").Process(target=_take_and_die, args=(str(tmp_path),))
    worker.start()
    worker.join()
    assert slots(tmp_path).take(900) is not None


def test_room_is_within_every_limit() -> None:
    """Of the host and of the groups that we are in."""
    room = cgroups.memory_room()
    assert 0 < room <= cgroups._host_room() + 64 * MIB


@pytest.mark.parametrize(("memory_mb", "together"), [(1000, True), (300, False)])
async def test_runs_wait_for_memory(tmp_path: Path, memory_mb: int, together: bool) -> None:
    """Two runs go on at once if the host has room for the limits of both, else one after the other."""
    source = "import time\nprint(time.time())\ntime.sleep(0.3)\nprint(time.time())"
    limits = Limits(cpu_time_s=5, memory_bytes=200 * MIB)
    async with started(tmp_path, f"memory {memory_mb * MIB}", slots=2) as sandbox:
        cases = [result async for result in sandbox.run(script(source, b"", b"", limits=limits))]
    (_, first_end), (second_begin, _) = sorted([*map(float, case.stdout.split())] for case in cases)
    assert (second_begin < first_end) == together
