"""A channel whose every byte after the first message was written by the program."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.languages import python
from sandbox.run import ChildResult, RunResult
from sandbox.types import Call, CallCase, CaseResult, RunStatus

READY = {"state": "ready"}
TWO_CALLS = CallCase("f", (Call((1,)), Call((2,))))


def frame(message: Any) -> bytes:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return len(body).to_bytes(4, "big") + body


def read(channel: bytes) -> CaseResult:
    """What a run of two calls says that ended well and left this channel."""
    child = ChildResult(0, None, b"", b"", channel)
    return python.from_run(0, TWO_CALLS, RunResult(RunStatus.EXITED, (child,), 0.0, 0.0, 0))


@pytest.mark.parametrize(
    "value",
    [
        {"i": "zz"},
        {"i": "0x1f"},
        {"i": " 1f"},
        {"i": "1_f"},
        {"i": "+1"},
        {"i": "-"},
        {"i": ""},
        {"i": 5},
        {"i": "f" * 200_000},
        {"d": []},
        {"x": 1},
        {"d": {}, "i": "1"},
        [[{"i": "g"}]],
    ],
)
def test_forged_values_are_no_plain_values(value: Any) -> None:
    """Tags that the harness would never write give a result that equals nothing, and no exception."""
    [result] = read(frame(READY) + frame({"index": 0, "value": value})).calls
    assert not result.plain


@given(
    st.lists(
        st.binary(max_size=40)
        | st.dictionaries(
            st.sampled_from(["index", "value", "error", "not_plain", "state", "message"]),
            st.recursive(
                st.none() | st.integers() | st.floats() | st.text(max_size=5),
                lambda inner: (
                    st.lists(inner, max_size=2)
                    | st.dictionaries(st.sampled_from(["i", "d", "x"]), inner, max_size=2)
                ),
                max_leaves=5,
            ),
        ),
        max_size=4,
    )
)
@settings(max_examples=50)
def test_any_messages_are_at_most_the_calls_asked_for(messages: list[Any]) -> None:
    """Whatever the program writes, the service reads it without an exception and gains no call by it."""
    assert len(read(frame(READY) + b"".join(map(frame, messages))).calls) <= len(TWO_CALLS.calls)


def test_a_flood_of_messages_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more is parsed than could be an answer."""
    parsed = []
    loads = json.loads
    monkeypatch.setattr(python.json, "loads", lambda body: parsed.append(1) or loads(body))
    read(frame(READY) + b"\0\0\0\2{}" * 1_000_000)
    assert len(parsed) <= 1 + len(TWO_CALLS.calls)
