"""Numpy arrays and scalars between processes, by type, shape and bytes; loaded only where one arrives."""

from __future__ import annotations

import importlib
import sys
from typing import Any

_PLAIN_KINDS = "biufcmMSU"


def is_plain(value: Any) -> bool:
    """Whether it is exactly an array, of plain items."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and type(value) is numpy.ndarray and value.dtype.kind in _PLAIN_KINDS


def _coder() -> Any:
    """Seldom needed, and the more there is in a zygote the more each child costs."""
    return importlib.import_module("base64")


def _told(value: Any) -> str:
    told: str = _coder().b64encode(value.tobytes()).decode()
    return told


def contents(array: Any) -> list[Any]:
    """Bytes and [type, shape] of an array."""
    return [_told(array), [array.dtype.str, list(array.shape)]]


def new(text: str, form: list[Any]) -> Any:
    """A new array with these contents."""
    numpy = importlib.import_module("numpy")
    kind = numpy.dtype(form[0])
    if kind.kind not in _PLAIN_KINDS:
        raise ValueError("an array of objects")
    return numpy.frombuffer(_coder().b64decode(text), kind).reshape(form[1]).copy()


def fill(array: Any, text: str, form: list[Any]) -> None:
    """Give an array new contents, in place."""
    fresh = new(text, form)
    if (fresh.dtype, fresh.shape) != (array.dtype, array.shape):
        raise ValueError("an array has changed its form")
    if array.size and array.tobytes() != fresh.tobytes():
        array[...] = fresh


def scalar_contents(value: Any) -> list[Any] | None:
    """Bytes and type of a numpy scalar; None for every other value."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, numpy.generic) or value.dtype.kind not in _PLAIN_KINDS:
        return None
    return [_told(value), value.dtype.str]


def scalar(text: str, kind: str) -> Any:
    """The scalar of these contents."""
    return new(text, [kind, []])[()]
