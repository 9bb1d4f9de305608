"""Immutable values of the standard library that cross between processes by their constructor's arguments."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from typing import Any

_Fields = Callable[[Any], list[Any]]

_CLASSES: dict[str, _Fields] = {
    "decimal.Decimal": lambda v: [str(v)],
    "fractions.Fraction": lambda v: [v.numerator, v.denominator],
    "datetime.date": lambda v: [v.year, v.month, v.day],
    "datetime.time": lambda v: [v.hour, v.minute, v.second, v.microsecond, v.tzinfo],
    "datetime.datetime": lambda v: [*v.timetuple()[:6], v.microsecond, v.tzinfo],
    "datetime.timedelta": lambda v: [v.days, v.seconds, v.microseconds],
    "datetime.timezone": lambda v: list(v.__getinitargs__()),
    "zoneinfo.ZoneInfo": lambda v: [v.key],
    "uuid.UUID": lambda v: [str(v)],
    "pathlib.PosixPath": lambda v: [str(v)],
    "pathlib.PurePosixPath": lambda v: [str(v)],
    "builtins.range": lambda v: [v.start, v.stop, v.step],
    "builtins.slice": lambda v: [v.start, v.stop, v.step],
    "builtins.complex": lambda v: [v.real, v.imag],
}
_FUNCTIONS: dict[str, tuple[Callable[..., Any], _Fields]] = {
    "re.Pattern": (re.compile, lambda v: [v.pattern, v.flags]),
    "builtins.dict_keys": (lambda *keys: dict.fromkeys(keys).keys(), list),
    "builtins.dict_values": (lambda *values: dict(enumerate(values)).values(), list),
    "builtins.dict_items": (lambda *pairs: dict(pairs).items(), list),
}


def fields(value: Any) -> tuple[str, list[Any]] | None:
    """Name of the class and arguments that make the value again; None for every other value."""
    kind = type(value)
    module = kind.__module__
    name = f"{'pathlib' if module == 'pathlib._local' else module}.{kind.__name__}"
    if name in _FUNCTIONS and _is_real(kind, name):
        return name, _FUNCTIONS[name][1](value)
    if name in _CLASSES and _is_real(kind, name) and _has_plain_zone(value):
        return name, _CLASSES[name](value)
    return None


def _has_plain_zone(value: Any) -> bool:
    """Whether a time is in no zone of a class that only its process has; so is everything else."""
    zone = getattr(value, "tzinfo", None)
    return zone is None or fields(zone) is not None


def make(name: str, args: list[Any]) -> Any:
    """The value again; raises KeyError for an unknown name, and what its class raises."""
    if name in _FUNCTIONS:
        return _FUNCTIONS[name][0](*args)
    if name not in _CLASSES:
        raise KeyError(name)
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)(*args)


def _is_real(kind: type, name: str) -> bool:
    """Not a class of the program's own that only calls itself so."""
    module, _, attribute = name.rpartition(".")
    if attribute.startswith("dict_"):
        return kind in _VIEWS
    return getattr(importlib.import_module(module), attribute) is kind


_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
