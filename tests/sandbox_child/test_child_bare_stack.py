"""Calls that see no frame below them."""

# ruff: noqa: E501 - programs as they are
from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from sandbox.child import bare_stack

KNOWN = pytest.mark.skipif(bare_stack._state is None, reason="the layout of this interpreter is not known")
LIMITS = "import sys\ndef depth(n):\n    try: return depth(n + 1)\n    except RecursionError: return n\nfound = depth(0)"


def _deep(levels: int, function: Callable[[], Any]) -> Any:
    return function() if levels == 0 else _deep(levels - 1, function)


@KNOWN
def test_no_frame_lies_below() -> None:
    """Not in a stack, nor as the frame before; and afterwards all are there again."""
    before = len(inspect.stack())
    seen: dict[str, Any] = {}
    code = compile(
        "import inspect, sys\nn = len(inspect.stack())\nback = sys._getframe().f_back", "x", "exec"
    )
    bare_stack.call(exec, code, seen)
    assert (seen["n"], seen["back"]) == (1, None)
    assert bare_stack.call(lambda: sys._getframe().f_back) is None
    assert len(inspect.stack()) == before


@KNOWN
def test_recursion_starts_anew_however_deep_the_call_is_made() -> None:
    """The levels below do not count."""

    def found() -> int:
        namespace: dict[str, Any] = {}
        bare_stack.call(exec, LIMITS, namespace)
        return int(namespace["found"])

    assert found() == _deep(300, found)


@pytest.mark.parametrize("known", [pytest.param(True, marks=KNOWN), False])
def test_values_and_exceptions_come_back(known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also through calls inside of calls, and where nothing is known of the interpreter."""
    if not known:
        monkeypatch.setattr(bare_stack, "_state", None)
    assert bare_stack.call(max, 1, 2) == 2
    assert bare_stack.call(bare_stack.call, bare_stack.call, sorted, [2, 1]) == [1, 2]
    with pytest.raises(ZeroDivisionError) as caught:
        bare_stack.call(exec, "def f(): 1 / 0\nf()", {})
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[-3:] == ["call", "<module>", "f"]
    assert sys._getframe().f_back is not None
