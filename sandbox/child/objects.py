"""Objects, classes and exceptions that cross: who owns which, and the stubs for those of the other side."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any

from sandbox.child import describe, stubs
from sandbox.child.shared import KINDS, Element
from sandbox.child.stub_methods import Owner
from sandbox.child.wire import Wire


class Objects:
    """The tables of one side. Numbers are given by the owner; nothing is ever taken out during a run."""

    def __init__(self, owner: Owner, first_number: int, *, trusts: bool) -> None:
        self._owner = owner
        self._roots = stubs.make_roots(owner)
        self._own: dict[int, Any] = {}
        self._own_numbers: dict[int, int] = {}
        self._foreign: dict[int, Any] = {}
        self._foreign_numbers: dict[int, int] = {}
        self._described: set[int] = set()
        self._to_describe: list[Element] = []
        self._texts: dict[int, str] = {}
        self._trusts = trusts
        self.wire = Wire(first_number, self, trusts=trusts)

    def is_foreign(self, value: Any) -> bool:
        """Whether `value` stands for something of the other side."""
        return id(value) in self._foreign_numbers

    def is_own(self, value: Any) -> bool:
        """Whether `value` is an object that was handed to the other side."""
        return id(value) in self._own_numbers

    def own(self, number: Any) -> Any:
        """One's own object of that number; raises KeyError."""
        return self._own[number]

    def pack(self, value: Any) -> Element:
        """The element of something that is not plain; raises TypeError for what never leaves a process."""
        number = self._foreign_numbers.get(id(value))
        if number is not None:
            return {"o": number}
        if isinstance(value, BaseException):
            return {"e": self._pack_error(value)}
        if isinstance(value, type):
            return {"k": self._pack_class(value)}
        kind = type(value)
        if kind is TracebackType:
            return None
        if issubclass(kind, describe.NEVER_SENT) and not self._trusts:
            raise TypeError(f"a {kind.__name__} never leaves its process")
        pair = [self._number(value), {"k": self._pack_class(kind)}]
        if describe.is_plain_subclass(kind):
            return {"w": [*pair, self.wire.pack(describe.real_value(value))]}
        return {"p": pair}

    def unpack(self, tag: str, content: Any) -> Any:
        """What an element of `pack`'s stands for; raises KeyError, TypeError or ValueError."""
        return _UNPACKERS[tag](self, content)

    def _number(self, value: Any) -> int:
        number = self._own_numbers.get(id(value))
        if number is None:
            number = len(self._own)
            self._own[number] = value
            self._own_numbers[id(value)] = number
        return number

    def _pack_class(self, kind: type) -> Element:
        number = self._number(kind)
        if number not in self._described:
            self._described.add(number)
            self._to_describe.append([number, describe.describe_class(kind, self._class_element)])
        return number

    def take_descriptions(self) -> list[Element]:
        """Classes that were named since the last time and not before, each after its bases."""
        taken, self._to_describe = self._to_describe, []
        return taken

    def learn(self, descriptions: list[Element]) -> None:
        """Build stubs for classes of the other side; raises KeyError, TypeError or ValueError."""
        for number, told in descriptions:
            if number in self._foreign:
                raise ValueError("a class that is described twice")
            self._enter(number, stubs.build(self._owner, self._roots, self._description(told)))

    def _class_element(self, kind: type) -> Element:
        return self.wire.pack(kind) if describe.carries(kind) else {"k": self._pack_class(kind)}

    def _pack_error(self, error: BaseException) -> Element:
        number = self._number(error) if describe.is_of_program(type(error)) else None
        return [number, describe.describe_error(error, self.wire.pack)]

    def _enter(self, number: int, value: Any) -> Any:
        if not isinstance(number, int):
            raise TypeError("a number that is none")
        self._foreign[number] = value
        self._foreign_numbers[id(value)] = number
        return value

    def _unpack_class(self, number: Any) -> type:
        kind = self._foreign[number]
        if not isinstance(kind, type):
            raise TypeError("not a class")
        return kind

    def _description(self, told: dict[str, Any]) -> stubs.Description:
        bases = tuple(self.wire.unpack(base) for base in told["bases"])
        plain = None if told["plain"] is None else KINDS[told["plain"]]
        real = self._real(told["real"]) if plain is None and told["real"] is not None else plain
        return stubs.Description(
            name=str(told["name"]),
            qualified_name=str(told["qualified_name"]),
            module=str(told["module"]),
            bases=tuple(base for base in bases if _may_be_base(base)),
            specials=frozenset(map(str, told["specials"])),
            methods=tuple(name for name in map(str, told["methods"]) if _may_be_method(name)),
            hashable=bool(told["hashable"]),
            plain=plain,
            real=real,
            checks=bool(told["checks"]),
        )

    def _real(self, name: list[Any]) -> type | None:
        """A library class for `isinstance`; never one whose instances would be taken for plain values."""
        try:
            found = self.wire.unpack({"n": name})
        except KeyError:
            return None
        is_class = isinstance(found, type) and not issubclass(found, _VALUE_TYPES)
        is_class = is_class and getattr(found, "__module__", "") not in _NUMBER_MODULES
        return found if is_class else None

    def _unpack_object(self, content: list[Any]) -> Any:
        number, element = content
        kind = self.wire.unpack(element)
        if number in self._foreign:
            return self._foreign[number]
        if not isinstance(kind, stubs.RemoteType):
            raise TypeError("an object of a class that is no stub")
        new: Callable[[type], Any] = object.__new__
        return self._enter(number, new(kind))

    def _unpack_subclass(self, content: list[Any]) -> Any:
        number, element, real = content
        kind = self.wire.unpack(element)
        value = self.wire.unpack(real)
        if number in self._foreign:
            return self._foreign[number]
        if not isinstance(kind, stubs.RemoteType) or not issubclass(kind, type(value)):
            return value
        new: Callable[[type, Any], Any] = type(value).__new__
        return self._enter(number, new(kind, value))

    def _unpack_error(self, content: list[Any]) -> BaseException:
        number, told = content
        if number is not None and number in self._foreign:
            found = self._foreign[number]
            if not isinstance(found, BaseException):
                raise TypeError("not an exception")
            return found
        error = self._make_error(told)
        return error if number is None else self._enter(number, error)

    def _make_error(self, told: dict[str, Any]) -> BaseException:
        kind = self.wire.unpack(told["class"])
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise TypeError("not a class of exceptions")
        args = self.wire.unpack_all(told["args"])
        error = _new_error(kind, args)
        error.args = tuple(args)
        attributes = {str(name): self.wire.unpack(value) for name, value in told["attributes"].items()}
        if isinstance(error, describe.OF_MISSING):
            error.name = attributes.pop("name", None)
        vars(error).update(attributes)
        if isinstance(told["text"], str):
            self._texts[id(error)] = told["text"]
        if told["cause"] is not None:
            error.__cause__ = error.__context__ = self._make_error(told["cause"])
        if told["context"] is not None:
            error.__context__ = self._make_error(told["context"])
        error.__suppress_context__ = bool(told["quiet"])
        return error

    def text_of(self, error: BaseException) -> str | None:
        """What `str` gave for an exception where it was raised."""
        return self._texts.get(id(error))


_NUMBER_MODULES = ("numbers", "fractions", "decimal")
"""Their values take the word of whatever says that it is a number too."""
_VALUE_TYPES = (*stubs.PLAIN_BASES, list, dict, set, bytearray, type(None), BaseException, type)

_UNPACKERS: dict[str, Callable[[Objects, Any], Any]] = {
    "o": Objects.own,
    "p": Objects._unpack_object,  # noqa: SLF001
    "w": Objects._unpack_subclass,  # noqa: SLF001
    "k": Objects._unpack_class,  # noqa: SLF001
    "e": Objects._unpack_error,  # noqa: SLF001
}


def _may_be_method(name: str) -> bool:
    return name == "__init__" or not name.startswith("__")


def _may_be_base(base: Any) -> bool:
    """Stub classes, and real classes that carry a plain value or an exception."""
    if not isinstance(base, type):
        return False
    return isinstance(base, stubs.RemoteType) or describe.carries(base)


def _new_error(kind: type[BaseException], args: list[Any]) -> BaseException:
    if not isinstance(kind, stubs.RemoteType):
        with suppress(Exception):  # a constructor may take other parameters than `args`
            error = kind(*args)
            if type(error) is kind:
                return error
    return kind.__new__(kind, *args)
