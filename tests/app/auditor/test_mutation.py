"""Mutated expected values are told from the right ones, by every way of comparing."""

from __future__ import annotations

import contextlib
import io
from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st

from app.auditor.mutation import changed, mutated_texts, mutated_values, right_program
from sandbox.types import Call
from verifiers.code.compare import text_matches, value_matches
from verifiers.code.tests import FunctionCase, StdinCase, TextCompare

VALUES: Any = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False, width=32),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
TEXTS = st.text("0123456789 .-+eYESxé\n", max_size=30)


@given(VALUES)
def test_a_changed_value_is_another(value: Any) -> None:
    """The original does not pass for it, exactly or within the tolerance of floats; its type stays."""
    (mutation,) = mutated_values(FunctionCase(Call(()), value))
    assert not value_matches(value, mutation.expected)
    assert not value_matches(value, mutation.expected, tolerant=True)
    if value is not None and value not in ([], {}):
        assert type(changed(value)) is type(value)


@given(st.lists(TEXTS, min_size=1, max_size=3), st.sampled_from(get_args(TextCompare)))
def test_some_changed_output_is_another(accepted: list[str], compare: TextCompare) -> None:
    """None of the accepted outputs passes for at least one mutation, however outputs are compared."""
    mutations = list(mutated_texts(StdinCase("", tuple(accepted))))
    noticed = [
        mutation
        for mutation in mutations
        if not any(text_matches(text.encode(), mutation.accepted, compare) for text in accepted)
    ]
    assert noticed


@given(VALUES, TEXTS)
def test_a_right_program_gives_what_is_expected(value: Any, text: str) -> None:
    """Run, it returns the value or prints the text, whatever it is given."""
    scope: dict[str, Any] = {}
    exec(right_program(FunctionCase(Call(()), value), "f").texts[0], scope)
    returned = scope["f"](1, 2, key=3)
    assert value_matches(returned, value)
    source = right_program(StdinCase("", (text,)), "").texts[0]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(source.replace("sys.stdin.read()", ""), {})
    assert printed.getvalue() == text
