"""What is told about the classes of one's own objects, and about one's exceptions."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from sandbox.child import known
from sandbox.child.shared import KINDS, Element
from sandbox.child.stub_methods import SPECIALS
from sandbox.child.stubs import PLAIN_BASES

NEVER_SENT = (types.FrameType, types.CodeType, types.ModuleType)
"""Objects that would show the candidate the inside of the process that decides."""

Pack = Callable[[Any], Element]
_MUTABLE_BASES = tuple(KINDS.values())
_MAX_CAUSES = 5


def is_of_program(kind: type) -> bool:
    """Whether a class was made by the program or the test code, not by the library or in C."""
    module = getattr(kind, "__module__", None)
    return bool(kind.__flags__ & _HEAP_TYPE) and known.name_of(kind, True) is None and not _in_library(module)


_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE


def _in_library(module: Any) -> bool:
    return isinstance(module, str) and known.is_library(module)


def describe_class(kind: type, pack_class: Pack) -> Element:
    """Name, bases, special methods, methods; of a class of the library, all that it inherits too."""
    of_program = is_of_program(kind)
    by_bases = of_program or issubclass(kind, BaseException)
    classes = [kind] if by_bases else [c for c in kind.__mro__ if c is not object]
    names = {name for c in classes for name in vars(c)}
    plain = next((name for name, base in KINDS.items() if issubclass(kind, base)), None)
    if plain is not None:
        names |= set(dir(KINDS[plain]))
    bases = kind.__bases__ if by_bases else [base for base in PLAIN_BASES if issubclass(kind, base)]
    return {
        "name": kind.__name__,
        "qualified_name": kind.__qualname__,
        "module": str(getattr(kind, "__module__", "")),
        "bases": [pack_class(base) for base in bases if base not in _MUTABLE_BASES],
        "specials": sorted(names & SPECIALS),
        "methods": [name for name in vars(kind) if _is_method(kind, name)],
        "hashable": getattr(kind, "__hash__", None) is not None,
        "plain": plain,
        "real": None if of_program else known.name_of(kind, True),
        "checks": of_program and type(kind).__instancecheck__ is not type.__instancecheck__,
    }


def carries(kind: type) -> bool:
    """Whether the other process uses the class itself: instances hold a plain value, or are exceptions."""
    is_error = issubclass(kind, BaseException) and known.name_of(kind, True) is not None
    return kind is object or kind in PLAIN_BASES or is_error


def _is_method(kind: type, name: str) -> bool:
    """Functions in a class; a stub has them itself, so that a call is asked in one go."""
    if kind is types.GeneratorType:
        return name in ("send", "throw", "close")
    is_function = type(vars(kind)[name]) is types.FunctionType
    return is_function and (name == "__init__" or not (name.startswith("__") and name.endswith("__")))


def real_value(value: Any) -> Any:
    """What really is in an instance of a subclass of a plain type, past every method it may override."""
    kind = type(value)
    for sequence in (str, bytes, tuple):
        if issubclass(kind, sequence):
            return sequence.__getitem__(value, slice(None))
    if issubclass(kind, int):
        return int.__index__(value)
    if issubclass(kind, float):
        return float.__float__(value)
    if issubclass(kind, complex):
        return complex.__add__(value, 0)
    base: Any = next(base for base in (frozenset, *_MUTABLE_BASES) if issubclass(kind, base))
    return base.copy(value)


def mutable_base(kind: type) -> type:
    """The mutable plain type that a class is a subclass of; raises TypeError if there is none."""
    for base in kind.__mro__:
        if base in _MUTABLE_BASES:
            return base
    raise TypeError(f"{kind.__name__} is no subclass of a plain type")


def is_plain_subclass(kind: type) -> bool:
    """Whether instances carry an immutable plain value."""
    return issubclass(kind, PLAIN_BASES)


def describe_error(error: BaseException, pack: Pack, causes: int = 0) -> Element:
    """Class, arguments, attributes and text of an exception, and what it was raised from or amid."""
    near = causes < _MAX_CAUSES
    cause = error.__cause__ if near else None
    context = error.__context__ if near and error.__context__ is not cause else None
    return {
        "class": pack(type(error)),
        "args": [pack(argument) for argument in error.args],
        "attributes": _attributes(error, pack),
        "text": _text(error) if is_of_program(type(error)) else None,
        "cause": None if cause is None else describe_error(cause, pack, causes + 1),
        "quiet": error.__suppress_context__,
        "context": None if context is None else describe_error(context, pack, causes + 1),
    }


OF_MISSING = (AttributeError, NameError)
"""Exceptions that have a name which is no argument of theirs.

Those of imports do too, but by that name one that the test code raises is told from the program's.
"""


def _attributes(error: BaseException, pack: Pack) -> dict[str, Element]:
    attributes = {}
    missing = {"name": error.name} if isinstance(error, OF_MISSING) else {}
    for name, value in (missing | vars(error)).items():
        try:
            attributes[name] = pack(value)
        except (TypeError, ValueError):
            continue  # asked for by name, if anybody does
    return attributes


def _text(error: BaseException) -> str | None:
    try:
        return str(error)
    except Exception:
        return None
