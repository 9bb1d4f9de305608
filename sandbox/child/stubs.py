"""Stand-ins for objects of the other process: every operation is asked of their owner.

A stub has no state and no code of the owner's class, only its name, its place in the hierarchy of classes and
the special methods that it has too.
"""

from __future__ import annotations

import copyreg
import operator
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

from sandbox.child import subclasses

_SPECIAL_NAMES = (
    "abs add aenter aexit aiter and anext await bool bytes call ceil complex contains delitem divmod "
    "enter exit float floor floordiv format fspath ge getitem gt hash iadd iand ifloordiv ilshift "
    "imatmul imod imul index int invert ior ipow irshift isub iter itruediv ixor le len length_hint "
    "lshift lt matmul missing mod mul neg next or pos pow radd rand rdivmod repr reversed rfloordiv "
    "rlshift rmatmul rmod rmul ror round rpow rrshift rshift rsub rtruediv rxor setitem str sub "
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
_KEPT_ON_PLAIN = frozenset({"__str__", "__repr__", "__format__", "__call__", "__enter__", "__exit__"})
"""Special methods that a subclass of a plain type may change; all others are those of its real value."""

PLAIN_BASES = (int, float, complex, str, bytes, tuple, frozenset)
Ask = Callable[..., Any]


class UnsupportedTestsError(BaseException):
    """The test code does what cannot be carried to the other process; no `except Exception` may hide it."""


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

    def refuse(self, why: str) -> UnsupportedTestsError:
        """Note that the test code does what cannot be carried across."""
        ...

    def uses_processes(self) -> bool:
        """Whether the test code starts processes, which cannot ask."""
        ...

    def means_class(self, kind: type) -> bool:
        """Whether its own methods may stand for the operations of plain values."""
        ...


class Description(NamedTuple):
    """What is told of a class. specials, methods: names; plain: the mutable type it is a subclass of."""

    name: str
    module: str
    bases: tuple[type, ...]
    specials: frozenset[str]
    methods: tuple[str, ...]
    hashable: bool
    plain: type | None
    real: type | None


class RemoteType(type):
    """The class of stub classes; what is done to the class itself is asked of its owner too."""

    __owner__: Owner

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **_: Any) -> RemoteType:
        """Only reached by a `class` statement of the test code."""
        why = f"{name}: a subclass of a class of the program"
        if any(map(cls.__owner__.means_class, bases)):
            raise cls.__owner__.refuse(why)
        raise TypeError(why)  # the test did not name the class: it was the program's choice to return one

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls.__owner__.ask("call", cls, *args, **kwargs)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__") and name not in ("__doc__", "__annotations__", "__members__"):
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        return cls.__owner__.ask("get", cls, name)

    def __setattr__(cls, name: str, value: Any) -> None:
        cls.__owner__.ask("set", cls, name, value)

    def __delattr__(cls, name: str) -> None:
        cls.__owner__.ask("delete", cls, name)

    def __iter__(cls) -> Iterator[Any]:
        found: Iterator[Any] = cls.__owner__.ask("special", cls, "__iter__")
        return found

    def __len__(cls) -> int:
        return int(cls.__owner__.ask("special", cls, "__len__"))

    def __bool__(cls) -> bool:
        return True

    def __getitem__(cls, key: Any) -> Any:
        return cls.__owner__.ask("special", cls, "__getitem__", key)

    def __contains__(cls, item: Any) -> bool:
        return bool(cls.__owner__.ask("special", cls, "__contains__", item))


def make_roots(owner: Owner) -> tuple[type, type]:
    """The base classes of all stubs and of all exceptions that belong to `owner`."""
    mixin = {
        "__getattr__": lambda self, name: owner.ask("get", self, name),
        "__copy__": lambda self: owner.ask("copy", self),
        "__deepcopy__": lambda self, memo: owner.ask("deepcopy", self),
        "__reduce_ex__": _pickled(owner),
        "__slots__": (),
    }
    plain = {
        "__setattr__": lambda self, name, value: owner.ask("set", self, name, value),
        "__delattr__": lambda self, name: owner.ask("delete", self, name),
        "__eq__": _equality(owner, operator.eq),
        "__ne__": _equality(owner, operator.ne),
        "__hash__": object.__hash__,
        "__repr__": lambda self: owner.ask("special", self, "__repr__"),
        "__dir__": lambda self: owner.ask("dir", self),
    }
    meta = type.__new__(type, "RemoteType", (RemoteType,), {"__owner__": owner})
    return type.__new__(meta, "RemoteObject", (), mixin | plain), type.__new__(meta, "RemoteError", (), mixin)


def _pickled(owner: Owner) -> Callable[[Any, Any], Any]:
    """Pickling keeps a deep copy over there, and unpickling gives a copy of that one."""
    copies: list[Any] = []

    def unpickled(number: int) -> Any:
        return owner.ask("deepcopy", copies[number])

    def reduce(self: Any, _: Any) -> Any:
        if owner.uses_processes():
            raise owner.refuse(f"{type(self).__name__}: an object of the program goes to another process")
        copies.append(owner.ask("deepcopy", self))
        return unpickled, (len(copies) - 1,)

    unpickled.__module__, unpickled.__name__, unpickled.__qualname__ = (
        copyreg.__name__,
        "unpickled",
        "unpickled",
    )
    setattr(copyreg, "unpickled", unpickled)  # noqa: B010 - where `pickle` finds it, which goes by names
    return reduce


def _equality(owner: Owner, compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Equality with what the same owner has; nothing else is ever equal to one of its objects."""
    name = compare.__name__

    def equality(self: Any, other: Any) -> Any:
        if self is other or owner.is_foreign(other):
            return owner.ask(name, self, other)
        return NotImplemented

    return equality


def _plain_equality(owner: Owner, compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Equality of what really is in a subclass of list, dict or set."""

    def equality(self: Any, other: Any) -> Any:
        if owner.is_foreign(other) and type(other).__eq__ is type(self).__eq__:
            other = owner.ask("real", other)
        return compare(owner.ask("real", self), other)

    return equality


def build(owner: Owner, roots: tuple[type, type], description: Description) -> type:
    """The stub class for a class of the owner's."""
    root, error_root = roots
    bases = tuple(base for base in description.bases if base is not object)
    is_error = any(issubclass(base, BaseException) for base in bases)
    own_root = error_root if is_error else root
    if not any(issubclass(base, own_root) for base in bases):
        bases = (*bases, own_root)
    namespace = _namespace(owner, description, bases)
    meta = type(root)
    try:
        return type.__new__(meta, description.name, bases, namespace)
    except TypeError:  # bases that only the owner can combine
        return type.__new__(meta, description.name, (*([Exception] if is_error else []), own_root), namespace)


def _namespace(owner: Owner, description: Description, bases: tuple[type, ...]) -> dict[str, Any]:
    namespace: dict[str, Any] = {
        "__slots__": (),
        "__doc__": property(lambda self: owner.ask("get", self, "__doc__")),
        "__module__": description.module,
        "__qualname__": description.name,
    }
    immutable = next((base for plain in PLAIN_BASES for base in bases if issubclass(base, plain)), None)
    for name in description.methods:
        method = _method(owner, name)
        namespace[name] = method if immutable is None else subclasses.kept(owner, immutable, name, method)
    specials = description.specials & SPECIALS
    if immutable is not None:
        specials &= _KEPT_ON_PLAIN
    for name in specials:
        namespace[name] = _SPECIALS.get(name, _special)(owner, name)
    if immutable is not None and issubclass(immutable, str):
        for name in specials & {"__str__", "__repr__", "__format__"}:
            namespace[name] = subclasses.kept(owner, immutable, name, namespace[name])
    if description.plain is not None:
        namespace |= subclasses.operations(owner, description.plain, SPECIALS)
    if any(issubclass(base, BaseException) for base in bases):
        namespace["__str__"] = lambda self: owner.text_of(self) or BaseException.__str__(self)
    if not description.hashable:
        namespace["__hash__"] = None
    if description.plain is not None:
        namespace["__eq__"] = _plain_equality(owner, operator.eq)
        namespace["__ne__"] = _plain_equality(owner, operator.ne)
    if description.real is not None:
        namespace["__class__"] = _class_of(description.real)
    if "__await__" in specials:
        namespace |= {"__await__": _awaited(owner), "send": _sent(owner), "throw": _thrown, "close": _closed}
    return namespace


def _class_of(real: type) -> property:
    """What `isinstance` is told of an object whose class is in the library."""
    return property(lambda _: real)


def _method(owner: Owner, name: str) -> Callable[..., Any]:
    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        return owner.ask("method", self, name, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    return method


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


_SPECIALS = (
    dict.fromkeys(_ORDERING, _ordering)
    | dict.fromkeys(_ARITHMETIC, _arithmetic)
    | {"__contains__": _membership}
)


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
