"""What a worker keeps is bounded by entries and by bytes, and changes no verdict."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from math_pairs import pairs

from verifiers.math import judge as judging
from verifiers.math.cache import BYTES_OF_CHARACTER, BYTES_OF_ENTRY, BoundedCache
from verifiers.math.options import MathOptions


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 200)), max_size=80))
def test_bounds_hold_after_every_entry(steps: list[tuple[int, int]]) -> None:
    """Neither bound is passed, bytes are the sum over the entries kept, and the last one is kept."""
    cache = BoundedCache[int, int](most_entries=6, most_bytes=4 * BYTES_OF_ENTRY + 50 * BYTES_OF_CHARACTER)
    sizes: dict[int, int] = {}
    for key, characters in steps:
        cache.put(key, -key, characters)
        size = BYTES_OF_ENTRY + BYTES_OF_CHARACTER * characters
        fits = size <= 4 * BYTES_OF_ENTRY + 50 * BYTES_OF_CHARACTER
        if fits:
            sizes[key] = size
            assert cache.get(key) == -key
        kept = [known for known in sizes if cache.get(known) is not None]
        assert len(kept) == len(cache) <= 6
        assert cache.bytes == sum(sizes[known] for known in kept)
        assert cache.bytes <= 4 * BYTES_OF_ENTRY + 50 * BYTES_OF_CHARACTER


def test_entries_used_last_stay() -> None:
    """The entry that nobody asked for longest goes first."""
    cache = BoundedCache[str, int](most_entries=2)
    cache.put("a", 1, 1)
    cache.put("b", 2, 1)
    assert cache.get("a") == 1
    cache.put("c", 3, 1)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)


@pytest.mark.parametrize(
    "texts",
    [
        [pair.truth for pair in pairs(300, 7)],
        ["+".join(f"{i + j}x^{{{i % 9}}}" for i in range(100)) for j in range(10)],
        ["1," * 400 + str(j) for j in range(10)],
        ["x y z a b c " * 80 + str(j + 2) for j in range(10)],
        [",".join(f"\\{{{i},{i + j}\\}}" for i in range(150)) for j in range(10)],
        ["(1,2)" + "\\cup(3,4)" * 100 + f"\\cup({5 + j},100)" for j in range(10)],
    ],
    ids=["pairs", "polynomials", "lists", "letters", "sets", "unions"],
)
def test_estimate_is_above_what_trees_hold(texts: list[str]) -> None:
    """The bytes that are charged cover what ground truths of every kind hold as read."""
    judging.read_truth("1", "auto")
    tracemalloc.start()
    held = [judging._read_truth(text, "auto") for text in texts]
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(held) == len(texts)
    assert used < sum(BYTES_OF_ENTRY + BYTES_OF_CHARACTER * len(text) for text in texts)


def test_long_answers_push_each_other_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long ground truths and answers fill the caches by their bytes, and verdicts stay what they were."""
    most = 200_000
    for name in ("_kept", "_truths", "_outcomes"):
        monkeypatch.setattr(judging, name, BoundedCache(most_bytes=most))
    for _ in range(2):
        for j in range(20):
            truth = "+".join(f"{i + 2}x^{{{i}}}" for i in range(80)) + f"+{j}"
            for answer, correct in ((truth, True), (truth + "+1", False)):
                outcome = judging.judge(f"\\boxed{{{answer}}}", truth, MathOptions())
                assert getattr(outcome, "correct", None) is correct
    for cache in (judging._kept, judging._truths, judging._outcomes):
        assert 0 < len(cache) < 20
        assert cache.bytes <= most
