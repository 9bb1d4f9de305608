"""Which payloads are kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recording import ACCEPT, REJECT

from audit import sampling
from audit.sampling import Sampler, unit_interval, window_of
from audit.types import WINDOW_S, Cell

DRAWS = st.lists(st.tuples(st.sampled_from([ACCEPT, REJECT]), st.floats(0, 1, exclude_max=True)))


@pytest.mark.parametrize(
    ("verdict_id", "expected"), [("v-000001", 0.815857427845), ("v-000002", 0.632475668341)]
)
def test_published_vectors(verdict_id: str, expected: float) -> None:
    """The hash is the documented one, so that other programs can repeat the choice."""
    assert unit_interval(verdict_id, "s1") == pytest.approx(expected, abs=5e-13)


def test_draws_are_uniform() -> None:
    """Of 100,000 ids a tenth fall below a tenth: the published share, to its last digit."""
    below = sum(unit_interval(f"v-{n:06d}", "s1") < 0.1 for n in range(1, 100_001))
    assert below / 100_000 == pytest.approx(0.09912, abs=1e-9)


@given(DRAWS, st.integers(0, 5))
def test_nothing_of_the_sample_is_missed(draws: list[tuple[Cell, float]], budget: int) -> None:
    """At any time, the smallest draws of each cell have been admitted, are still held, and no other is."""
    sampler = Sampler(budget)
    admitted: dict[Cell, list[float]] = {}
    seen: dict[Cell, list[float]] = {}
    for cell, draw in draws:
        seen.setdefault(cell, []).append(draw)
        if sampler.admit(cell, draw):
            admitted.setdefault(cell, []).append(draw)
        smallest = sorted(seen[cell])[:budget]
        held = [one for one in admitted.get(cell, []) if sampler.holds(cell, one)]
        assert set(held) == set(smallest)


def test_it_forgets_rather_than_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    """With too many cells it admits more than it must; what it remembers stays bounded."""
    monkeypatch.setattr(sampling, "MOST_DRAWS", 100)
    sampler = Sampler(3)
    for n in range(500):
        cell = Cell(ACCEPT.stratum._replace(data_source=str(n % 150)), 0)
        assert sampler.admit(cell, 0.5)
        assert sum(map(len, sampler._draws.values())) <= 100 + 3


def test_windows_that_are_over_are_forgotten() -> None:
    """A new window forgets all but the one before it, which late verdicts may still belong to."""
    sampler = Sampler(1)
    windows = [Cell(ACCEPT.stratum, n * WINDOW_S) for n in range(4)]
    for cell in windows:
        assert sampler.admit(cell, 0.5)
    assert [sampler.admit(cell, 0.6) for cell in windows] == [True, True, False, False]


@given(st.floats(0, 4e9))
def test_windows_tile_time(time_s: float) -> None:
    """Every moment lies in the window that begins at a whole multiple of its length."""
    start = window_of(time_s)
    assert start % WINDOW_S == 0
    assert start <= time_s < start + WINDOW_S
