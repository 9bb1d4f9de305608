"""The budget of sympy holds whatever sympy does with the exception that ends it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import pytest

from verifiers.math.compare.closed_forms import _limited
from verifiers.math.compare.errors import TooCostly


def _nothing() -> None:
    pass


def _call_for_ever() -> None:
    while True:
        _nothing()


def _closed_generator() -> None:
    """The exception comes while a generator is closed, where Python only reports it."""

    def busy() -> Iterator[None]:
        try:
            yield
        finally:
            _call_for_ever()

    generator = busy()
    next(generator)
    del generator
    _call_for_ever()


def _built_in_for_ever() -> None:
    table: dict[int, int] = {}
    while True:
        table.get(1)


@pytest.mark.parametrize("run", [_call_for_ever, _closed_generator, _built_in_for_ever])
def test_no_run_goes_on_without_a_budget(run: Callable[[], None]) -> None:
    """However the work is spent, it ends; and the interpreter is as it was before."""
    before = sys.getprofile(), sys.unraisablehook
    with pytest.raises(TooCostly):
        _limited(run)
    assert (sys.getprofile(), sys.unraisablehook) == before
