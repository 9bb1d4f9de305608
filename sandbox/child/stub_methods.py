"""Methods of stubs: each asks the owner of the object, where a lie cannot decide a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import MethodType
from typing import Any, Protocol

_SPECIAL_NAMES = (
    "abs add aenter aexit aiter and anext await bool bytes call ceil complex contains delete delitem divmod "
    "enter exit float floor floordiv format fspath ge get getitem gt hash iadd iand ifloordiv ilshift "
    "imatmul imod imul index int invert ior ipow irshift isub iter itruediv ixor le len length_hint "
    "lshift lt matmul missing mod mul neg next or pos pow radd rand rdivmod repr reversed rfloordiv "
    "rlshift rmatmul rmod rmul ror round rpow rrshift rshift rsub rtruediv rxor set set_name setitem str sub "
    "truediv trunc xor"
)
SPECIALS = frozenset(f"__{name}__" for name in _SPECIAL_NAMES.split())
"""Special methods that a stub has if its class has them. Equality is apart (RULES R15)."""

_CONVERSION_NAMES = "abs ceil complex float floor index int invert neg pos round trunc"
_CONVERSIONS = frozenset(f"__{name}__" for name in _CONVERSION_NAMES.split())
_BINARY_NAMES = "add and divmod floordiv lshift matmul mod mul or pow rshift sub truediv xor"
_ARITHMETIC = _CONVERSIONS.union(
    f"__{prefix}{name}__" for name in _BINARY_NAMES.split() for prefix in ("", "r", "i")
)
_ORDERING = frozenset({"__lt__", "__le__", "__gt__", "__ge__"})


class Owner(Protocol):
    """What stubs need of the link to the process that owns their objects."""

    def ask(self, operation: str, target: Any, *args: Any, **kwargs: Any) -> Any:
        """Have an operation done over there; raises what it raised."""
        ...

    def is_foreign(self, value: Any) -> bool:
        """Whether a value stands for an object over there."""
        ...

    def text_of(self, error: BaseException) -> str | None:
        """What `str` gave for an exception over there."""
        ...

    def asks_for(self, word: str) -> bool:
        """Whether the text of the test code has this word."""
        ...

    def means_class(self, kind: type) -> bool:
        """Whether its own methods may stand for the operations of plain values."""
        ...


def method(owner: Owner, name: str) -> Callable[..., Any]:
    """A method that is asked by its name."""

    def asked(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        return owner.ask("method", self, name, *args, **kwargs)

    asked.__name__ = asked.__qualname__ = name
    return asked


class Method:
    """A method in a stub class: of an instance it is asked by its name, of the class it is what is there."""

    def __init__(self, owner: Owner, name: str) -> None:
        self._owner = owner
        self._name = name
        self._asked = method(owner, name)

    def __get__(self, instance: Any, kind: type) -> Any:
        if instance is None:
            return self._owner.ask("get", kind, self._name)
        return MethodType(self._asked, instance)


def special(owner: Owner, name: str) -> Callable[..., Any]:
    """A special method, which may not stand for one of a plain value."""
    return _MAKERS.get(name, _special)(owner, name)


def _special(owner: Owner, name: str) -> Callable[..., Any]:
    def special(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        return owner.ask("special", self, name, *args, **kwargs)

    special.__name__ = special.__qualname__ = name
    return special


def _ordering(owner: Owner, name: str) -> Callable[..., Any]:
    """Order among the owner's objects; against plain values only where the test itself names the class."""

    def ordering(self: Any, other: Any) -> Any:
        if owner.is_foreign(other) or owner.means_class(type(self)):
            return owner.ask("special", self, name, other)
        return NotImplemented

    return ordering


def _arithmetic(owner: Owner, name: str) -> Callable[..., Any]:
    """Arithmetic that stays among the owner's objects; others only where the test itself names the class.

    A plain result says what the program likes: `abs(f(1) - 5) < 1e-9` would hold for any `__sub__`.
    """

    def arithmetic(self: Any, /, *args: Any) -> Any:
        result = owner.ask("special", self, name, *args)
        if result is self or owner.is_foreign(result) or owner.means_class(type(self)):
            return result
        if args and owner.is_foreign(args[0]):
            return result
        if name in _CONVERSIONS:
            raise TypeError(f"bad operand type for {name}: {type(self).__name__!r}")
        return NotImplemented

    arithmetic.__name__ = arithmetic.__qualname__ = name
    return arithmetic


def _membership(owner: Owner, name: str) -> Callable[..., Any]:
    """A plain value is in an object if it equals one of its items, unless the test itself names the class."""

    def contains(self: Any, item: Any) -> Any:
        if owner.is_foreign(item) or owner.means_class(type(self)):
            return owner.ask("special", self, name, item)
        return any(item is found or item == found for found in self)

    return contains


_MAKERS = (
    dict.fromkeys(_ORDERING, _ordering)
    | dict.fromkeys(_ARITHMETIC, _arithmetic)
    | {"__contains__": _membership}
)


def of_awaitables(owner: Owner) -> dict[str, Any]:
    """Methods of what can be awaited."""
    return {"__await__": _awaited(owner), "send": _sent(owner), "throw": _thrown, "close": _closed}


def _awaited(owner: Owner) -> Callable[[Any], Iterator[Any]]:
    def awaited(self: Any) -> Any:
        yield from ()
        return owner.ask("await", self)

    return awaited


def _sent(owner: Owner) -> Callable[[Any, Any], Any]:
    def sent(self: Any, _: Any) -> Any:
        raise StopIteration(owner.ask("await", self))

    return sent


def _thrown(self: Any, error: Any, *_: Any) -> Any:
    raise error


def _closed(self: Any) -> None:
    return None
