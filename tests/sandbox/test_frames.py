"""Frames survive any cutting of the stream."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sandbox import frames

HEADERS = st.dictionaries(
    st.text(max_size=5).filter(lambda key: key != "blobs"), st.integers() | st.text(max_size=5)
)
FRAMES = st.lists(st.tuples(HEADERS, st.lists(st.binary(max_size=50), max_size=4)), max_size=5)


@given(FRAMES, st.lists(st.integers(1, 40), min_size=1))
def test_frames_come_back_whole(sent: list, cuts: list[int]) -> None:
    """However the bytes arrive, the same frames come out, once and in order."""
    stream = b"".join(frames.encode(header, blobs) for header, blobs in sent)
    decoder, got = frames.Decoder(), []
    while stream:
        for cut in cuts:
            got += decoder.feed(stream[:cut])
            stream = stream[cut:]
    assert got == sent
