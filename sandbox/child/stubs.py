"""Stand-ins for objects of the other process: every operation is asked of their owner.

A stub has no state and no code of the owner's class, only its name, its place in the hierarchy of classes and
the special methods that it has too.
"""

from __future__ import annotations

import copyreg
import operator
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType, MethodType
from typing import Any, NamedTuple

from sandbox.child import introspection, stub_methods, subclasses
from sandbox.child.stub_methods import SPECIALS, Owner

_KEPT_ON_PLAIN = frozenset({"__str__", "__repr__", "__format__", "__call__", "__enter__", "__exit__"})
"""Special methods that a subclass of a plain type may change; all others are those of its real value."""

PLAIN_BASES = (int, float, complex, str, bytes, tuple, frozenset)


class Description(NamedTuple):
    """What is told of a class. specials, methods: names; plain: the mutable type it is a subclass of.

    checks: whether its own class says what its instances are, as those of protocols and abstract classes do.
    """

    name: str
    qualified_name: str
    module: str
    bases: tuple[type, ...]
    specials: frozenset[str]
    methods: tuple[str, ...]
    hashable: bool
    plain: type | None
    real: type | None
    checks: bool


_MRO: Callable[[type], tuple[type, ...]] = type.__dict__["__mro__"].__get__
_BASES: Callable[[type], tuple[type, ...]] = type.__dict__["__bases__"].__get__
_NAMESPACE: Callable[[type], Mapping[str, Any]] = type.__dict__["__dict__"].__get__


class RemoteType(type):
    """The class of stub classes; what is done to the class itself is asked of its owner too."""

    __owner__: Owner

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **_: Any) -> RemoteType:
        """Only reached by test code whose text does not show that it does so: see `elsewhere`."""
        raise TypeError(f"{name}: a subclass of a class of the program")

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls.__owner__.ask("call", cls, *args, **kwargs)

    def __instancecheck__(cls, instance: Any) -> bool:
        return type.__instancecheck__(cls, instance) or (
            "__checks__" in _NAMESPACE(cls) and bool(cls.__owner__.ask("isinstance", cls, instance))
        )

    def __subclasscheck__(cls, kind: Any) -> bool:
        return type.__subclasscheck__(cls, kind) or (
            "__checks__" in _NAMESPACE(cls) and bool(cls.__owner__.ask("issubclass", cls, kind))
        )

    def __subclasses__(cls) -> list[type]:
        return list(cls.__owner__.ask("method", cls, "__subclasses__"))

    @property
    def __mro__(cls) -> tuple[type, ...]:
        """Without the roots, as the owner's class has it."""
        return tuple(kind for kind in _MRO(cls) if "__root__" not in _NAMESPACE(kind))

    @property
    def __bases__(cls) -> tuple[type, ...]:  # type: ignore[override]
        """Without the roots, as the owner's class has them."""
        return tuple(kind for kind in _BASES(cls) if "__root__" not in _NAMESPACE(kind)) or (object,)

    def __getattr__(cls, name: str) -> Any:
        if name in introspection.NAMES:
            return _introspected(cls.__owner__, cls, name)
        if name.startswith("__") and name not in _OF_CLASSES:
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
        "__getattr__": _attribute(owner),
        "__copy__": lambda self: owner.ask("copy", self),
        "__deepcopy__": lambda self, memo: owner.ask("deepcopy", self),
        "__reduce_ex__": _pickled(owner),
        "__root__": True,
    }
    plain = {
        "__new__": lambda cls, *args, **kwargs: owner.ask("method", cls, "__new__", cls, *args, **kwargs),
        "__setattr__": lambda self, name, value: owner.ask("set", self, name, value),
        "__delattr__": lambda self, name: owner.ask("delete", self, name),
        "__eq__": _equality(owner, operator.eq),
        "__ne__": _equality(owner, operator.ne),
        "__hash__": object.__hash__,
        "__repr__": lambda self: owner.ask("special", self, "__repr__"),
        "__dir__": lambda self: owner.ask("dir", self),
    }
    told = {name: _told(owner, name) for name in _TOLD_OF_CLASSES}
    meta = type.__new__(type, "RemoteType", (RemoteType,), {"__owner__": owner} | told)
    return _made(meta, "RemoteObject", (), mixin | plain), _made(meta, "RemoteError", (), mixin)


_TOLD_OF_CLASSES = ("__dict__", "__doc__", "__annotations__", "__base__", "__flags__")
"""Attributes that every class has, so that its stub has others of its own."""
_OF_CLASSES = frozenset({"__members__", "__match_args__", "__wrapped__", "__slots__", "__abstractmethods__"})
"""Attributes with such names that a class may have besides its special methods."""
_OF_NUMPY = "__array_"
"""How attributes begin by which an object takes part in what numpy does, or names addresses to it."""


def _attribute(owner: Owner) -> Callable[[Any, str], Any]:
    def attribute(self: Any, name: str) -> Any:
        if name in introspection.NAMES:
            return _introspected(owner, self, name)
        if name.startswith(_OF_NUMPY):
            raise AttributeError(name)
        return owner.ask("get", self, name)

    return attribute


def _told(owner: Owner, name: str) -> property:
    """An attribute of a class as its owner tells it; of the stub's own where the owner does not."""
    own: Callable[[type], Any] = type.__dict__[name].__get__

    def told(cls: type) -> Any:
        try:
            return owner.ask("get", cls, name)
        except AttributeError:
            return own(cls)

    return property(told)


def _introspected(owner: Owner, target: Any, name: str) -> Any:
    told = owner.ask(introspection.NAMES[name], target)
    try:
        return introspection.make(name, told)
    except (TypeError, ValueError) as error:
        raise AttributeError(name) from error


def _pickled(owner: Owner) -> Callable[[Any, Any], Any]:
    """Pickling keeps a deep copy over there, and unpickling gives a copy of that one."""
    copies: list[Any] = []

    def unpickled(number: int) -> Any:
        return owner.ask("deepcopy", copies[number])

    def reduce(self: Any, _: Any) -> Any:
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
    try:
        return _made(type(root), description.name, bases, namespace)
    except TypeError:  # bases that only the owner can combine
        return _made(type(root), description.name, (*([Exception] if is_error else []), own_root), namespace)


def _made(meta: type, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
    """A class without slots of its own, though it is made with none: those of the owner's class are asked."""
    made: type = type.__new__(meta, name, bases, {**namespace, "__slots__": ()})
    type.__delattr__(made, "__slots__")
    return made


def _namespace(owner: Owner, description: Description, bases: tuple[type, ...]) -> dict[str, Any]:
    namespace: dict[str, Any] = {
        "__doc__": property(lambda self: owner.ask("get", self, "__doc__")),
        "__module__": description.module,
        "__qualname__": description.qualified_name,
    }
    immutable = next((base for plain in PLAIN_BASES for base in bases if issubclass(base, plain)), None)
    namespace |= _methods(owner, description, immutable)
    specials = description.specials & SPECIALS
    if immutable is not None:
        specials &= _KEPT_ON_PLAIN
    for name in specials:
        namespace[name] = stub_methods.special(owner, name)
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
    if description.checks:
        namespace["__checks__"] = True
    if description.real is not None:
        namespace |= _as_of_library(description.real)
    if "__await__" in specials:
        namespace |= stub_methods.of_awaitables(owner)
    return namespace


def _methods(owner: Owner, description: Description, immutable: type | None) -> dict[str, Any]:
    if owner.asks_for("signature"):
        return {}
    if immutable is None:
        return {name: stub_methods.Method(owner, name) for name in description.methods}
    return {
        name: subclasses.kept(owner, immutable, name, stub_methods.method(owner, name))
        for name in description.methods
    }


def _as_of_library(real: type) -> dict[str, Any]:
    """What `isinstance` is told of an object whose class is in the library, and how functions bind."""
    seen: dict[str, Any] = {"__class__": property(lambda _: real)}
    return seen | {"__get__": _bound} if real is FunctionType else seen


def _bound(function: Any, instance: Any, _: Any = None) -> Any:
    """A function that is an attribute of a class is a method of its instances."""
    return function if instance is None else MethodType(function, instance)
