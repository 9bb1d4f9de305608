"""Values between the two processes of an assert run: by value where Python values are plain, else as objects.

An element of a message is JSON; what JSON cannot hold is an object with one key, its tag:
  i integer beyond 64 bits, in hexadecimal    b bytes    t tuple    z frozenset    v value of the library
  a numpy scalar    y expression of sympy    @ number of a shared container
  n module and name of what both processes have
and, made by `objects`:  p an object of the sender    o an object of the receiver    k a class of the sender
  w an instance of a subclass of an immutable plain type    e an exception
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from sandbox.child import arrays, known, library_values, symbols
from sandbox.child.shared import Element, Shared, kind_of

_SMALL = 1 << 63
_ATOMS = {str, float, bool, type(None)}
_MAX_DEPTH = 400


class Foreign(Protocol):
    """Packs and unpacks what is not plain."""

    def is_foreign(self, value: Any) -> bool:
        """Whether a value stands for an object of the other side."""
        ...

    def pack(self, value: Any) -> Element:
        """The element of an object, a class or an exception."""
        ...

    def unpack(self, tag: str, content: Any) -> Any:
        """What an element of one of its tags stands for; raises KeyError for other tags."""
        ...


class Wire:
    """Packs and unpacks values for one side.

    trusts: whether the other side may name anything of the library; False where the other is the candidate.
    """

    def __init__(self, first_number: int, foreign: Foreign, *, trusts: bool) -> None:
        self.shared = Shared(first_number, self.pack, self.unpack)
        self._foreign = foreign
        self._trusts = trusts
        self._depth = 0

    def pack(self, value: Any) -> Element:
        """The element of a value; mutable containers are entered as shared, their contents follow later."""
        kind = type(value)
        if kind in _ATOMS:
            return value
        if kind is int and -_SMALL <= value < _SMALL:
            return value
        packer = self._PACKERS.get(kind)
        if packer is not None:
            return packer(self, value)
        if kind_of(value) is not None:
            return {"@": self.shared.number(value)}
        return self._pack_other(value)

    _PACKERS: ClassVar[dict[type, Callable[[Wire, Any], Element]]] = {
        int: lambda _, value: {"i": format(value, "x")},
        bytes: lambda _, value: {"b": value.decode("latin-1")},
        tuple: lambda self, value: {"t": self._nested(self._pack_all, value)},
        frozenset: lambda self, value: {"z": self._nested(self._pack_all, value)},
    }

    def _pack_other(self, value: Any) -> Element:
        if self._foreign.is_foreign(value):  # first: to look at a stub is to ask its owner
            return self._foreign.pack(value)
        name = known.name_of(value, not self._trusts)
        if name is not None:
            return {"n": name}
        fields = library_values.fields(value)
        if fields is not None:
            return {"v": [fields[0], self._nested(self._pack_all, fields[1])]}
        scalar = arrays.scalar_contents(value)
        if scalar is not None:
            return {"a": scalar}
        expression = symbols.contents(value)
        if expression is not None:
            return {"y": expression}
        return self._foreign.pack(value)

    def unpack(self, element: Element) -> Any:
        """The value of an element; raises KeyError, TypeError or ValueError if nobody packed it."""
        if type(element) is not dict:
            if type(element) is list:
                raise TypeError("a bare list")
            return element
        ((tag, content),) = element.items()
        unpacker = self._UNPACKERS.get(tag)
        if unpacker is None:
            return self._nested(self._foreign.unpack, tag, content)
        return unpacker(self, content)

    def _nested(self, function: Callable[..., Any], *args: Any) -> Any:
        if self._depth >= _MAX_DEPTH:
            raise ValueError("nested too deeply")
        self._depth += 1
        try:
            return function(*args)
        finally:
            self._depth -= 1

    def _pack_all(self, values: Any) -> list[Element]:
        return [self.pack(value) for value in values]

    def unpack_all(self, elements: list[Element]) -> list[Any]:
        """The values of several elements."""
        return [self.unpack(element) for element in elements]

    def _find(self, content: list[Any]) -> Any:
        module, name = content
        return known.find(module, name, self._trusts)

    def _make(self, content: list[Any]) -> Any:
        return library_values.make(content[0], self._nested(self.unpack_all, content[1]))

    _UNPACKERS: ClassVar[dict[str, Callable[[Wire, Any], Any]]] = {
        "i": lambda _, content: int(content, 16),
        "b": lambda _, content: content.encode("latin-1"),
        "t": lambda self, content: tuple(self._nested(self.unpack_all, content)),
        "z": lambda self, content: frozenset(self._nested(self.unpack_all, content)),
        "@": lambda self, content: self.shared.get(content),
        "n": _find,
        "v": _make,
        "a": lambda _, content: arrays.scalar(*content),
        "y": lambda _, content: symbols.make(content),
    }
