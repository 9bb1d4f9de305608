"""Working in pieces: nothing left out, nothing twice, nothing large."""

from __future__ import annotations

import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import rollouts as r
from rollouts._pieces import row_pieces


@given(st.integers(1, 40), st.integers(1, 40), st.sampled_from([1, 1_000, 30_000, 300_000, 1_000_000]))
def test_pieces_cover_every_row_once(batch, length, vocabulary):
    """Each position is in one piece, and no piece is larger than its share, its least size or one row."""
    pieces = row_pieces((batch, length, vocabulary), whole=False)
    seen = np.zeros((batch, length), dtype=int)
    for rows, steps in pieces:
        seen[rows, steps] += 1
        size = (rows.stop - rows.start) * (steps.stop - steps.start) * vocabulary
        assert size <= max(2**18, batch * length * vocabulary // 256, vocabulary)
    assert (seen == 1).all()
    assert len(pieces) <= 2 * 256 + batch + length
    assert row_pieces((batch, length, vocabulary), whole=True) == [(slice(0, batch), slice(0, length))]


def test_log_probs_make_no_second_array_of_logits():
    """Half-precision logits of 134 MB are read with less than a tenth of that beside them."""
    logits = np.zeros((2, 256, 131_072), dtype=np.float16)
    ids = np.zeros(logits.shape[:2], dtype=int)
    tracemalloc.start()
    try:
        r.causal_response_logprobs(logits, ids, np.ones(ids.shape))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < logits.nbytes / 10
