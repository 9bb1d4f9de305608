"""The form of stored bodies, which must stay readable for as long as there are databases."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from audit.payload import CODEC_ZSTD, DICTIONARY, compress, decompress

WRITTEN = bytes.fromhex("28b52ffd2043050100687b736f205c5c7b332f377d227d0500ec4bd01c7217b4e509a36501a6e3f215")


@given(st.binary(max_size=5_000))
def test_compression_loses_nothing(text: bytes) -> None:
    """Whatever was compressed comes back."""
    assert decompress(compress(text)) == text


def test_stored_bodies_stay_readable() -> None:
    """A body written by an earlier version is read, and its codec and dictionary are what they were."""
    assert decompress(WRITTEN) == b'{"request":{"stop":{"reason":"stop"}},"response":"so \\\\boxed{3/7}"}'
    assert CODEC_ZSTD == 1
    assert (
        hashlib.sha256(DICTIONARY).hexdigest()
        == "d3f88a3f66295371f5980f14dbad411e7d8bce188405d47b53988d7bdf2167b2"
    )
