"""What the owner of an object does with it when the other side asks."""

from __future__ import annotations

import builtins
import copy
import importlib
import operator
import sys
import warnings
from collections.abc import Callable
from typing import Any

from sandbox.child import followed, introspection
from sandbox.child.describe import is_of_program, mutable_base, real_value
from sandbox.child.objects import Objects
from sandbox.child.shared import KINDS
from sandbox.child.stub_methods import SPECIALS
from sandbox.child.stubs import PLAIN_BASES

_NATURAL: dict[str, Callable[..., Any]] = {
    "__iter__": iter,
    "__next__": next,
    "__len__": len,
    "__hash__": hash,
    "__bool__": bool,
    "__repr__": repr,
    "__str__": str,
    "__getitem__": operator.getitem,
    "__setitem__": operator.setitem,
    "__delitem__": operator.delitem,
    "__contains__": operator.contains,
}
"""Special methods that have a function: it also works on classes, by their metaclass."""

_INSIDE = ("gi_", "cr_", "ag_", "f_", "tb_", "co_")
"""Attributes of generators, frames and code that lead inside a process."""

_OF_NOTHING = frozenset({"input", "read", "warn"})
"""Operations that are of no object and always served."""
_HARMLESS = ("__name__", "__qualname__", "__doc__", "__new__")


class Operations:
    """Operations of one side. guarded: this is the test code's side, and the candidate asks."""

    def __init__(self, objects: Objects, *, guarded: bool) -> None:
        self._objects = objects
        self._guarded = guarded
        self.follow: Callable[[str], None] = lambda _: None
        self.decorated: frozenset[str] = frozenset()
        self.of_nothing = _OF_NOTHING
        self.names: Callable[[list[str]], dict[str, Any]] = lambda _: {}

    def do(self, operation: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Do one operation on unpacked arguments; raises what it raises."""
        function = _OPERATIONS.get(operation)
        if function is None:
            raise TypeError(f"unknown operation {operation!r}")
        if (
            self._guarded
            and operation not in self.of_nothing
            and not (args and self._objects.is_own(args[0]))
        ):
            raise TypeError(f"{operation!r} of what was never handed over")
        return function(self, *args, **kwargs)

    def _call(self, target: Any, /, *args: Any, **kwargs: Any) -> Any:
        return target(*args, **kwargs)

    def _method(self, target: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
        self._check_name(target, name)
        return getattr(target, name)(*args, **kwargs)

    def _get(self, target: Any, name: str) -> Any:
        self._check_name(target, name)
        return getattr(target, name)

    def _set(self, target: Any, name: str, value: Any) -> None:
        self._check_change(target, name)
        setattr(target, name, value)

    def _delete(self, target: Any, name: str) -> None:
        self._check_change(target, name)
        delattr(target, name)

    def _special(self, target: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
        if name not in SPECIALS:
            raise TypeError(f"unknown operation {name!r}")
        natural = _NATURAL.get(name)
        if natural is not None:
            return natural(target, *args)
        return getattr(type(target), name)(target, *args, **kwargs)

    def _base(self, target: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
        if name not in SPECIALS:
            self._check_name(target, name)
        return getattr(mutable_base(type(target)), name)(target, *args, **kwargs)

    def _await(self, target: Any) -> Any:
        """Wait in a loop of its own; around it another may be running, which has asked for this."""
        import asyncio

        async def result() -> Any:
            return await target

        around = asyncio._get_running_loop()  # noqa: SLF001
        asyncio._set_running_loop(None)  # noqa: SLF001
        try:
            return asyncio.run(result())
        finally:
            asyncio._set_running_loop(around)  # noqa: SLF001

    def _read(self, method: str, *args: Any) -> Any:
        """What the test code has for standard input."""
        if method not in ("read", "readline", "buffer.read", "buffer.readline"):
            raise TypeError(f"unknown operation {method!r}")
        return operator.attrgetter(method)(sys.stdin)(*args)

    def _seed(self, module: str, *args: Any, **kwargs: Any) -> None:
        generator = importlib.import_module("numpy.random" if module == "numpy.random" else "random")
        generator.seed(*args, **kwargs)

    def _names(self, *names: str) -> Any:
        return self.names(list(names))

    def _check_name(self, target: Any, name: str) -> None:
        if not self._guarded or name in _HARMLESS or self._is_decorated(target):
            return
        if name.startswith(_INSIDE) or (name.startswith("_") and not _is_of_data(target, name)):
            raise AttributeError(f"{name!r} is not to be seen from here")

    def _check_change(self, target: Any, name: str) -> None:
        self._check_name(target, name)
        is_of_code = isinstance(target, type) or callable(target)
        if self._guarded and is_of_code and not self._is_decorated(target):
            raise AttributeError(f"{name!r} cannot be changed from here")

    def _is_decorated(self, target: Any) -> bool:
        """Whether the test code hands its class to a decorator of the program, which may change it."""
        return isinstance(target, type) and target.__name__ in self.decorated and is_of_program(target)


def _is_of_data(target: Any, name: str) -> bool:
    """Whether a name with an underscore leads to no more than what an object of the test code's class holds.

    Those of classes and functions lead to other code; classes of the library have their own secrets.
    """
    kind = type(target)
    if isinstance(target, type) or callable(target) or (name.startswith("__") and name != "__dict__"):
        return False
    return all(is_of_program(base) or base in _DATA for base in kind.__mro__)


_DATA = (object, *PLAIN_BASES, *KINDS.values())


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "call": Operations._call,  # noqa: SLF001
    "method": Operations._method,  # noqa: SLF001
    "get": Operations._get,  # noqa: SLF001
    "set": Operations._set,  # noqa: SLF001
    "delete": Operations._delete,  # noqa: SLF001
    "special": Operations._special,  # noqa: SLF001
    "base": Operations._base,  # noqa: SLF001
    "await": Operations._await,  # noqa: SLF001
    "names": Operations._names,  # noqa: SLF001
    "eq": lambda _, a, b: a == b,
    "ne": lambda _, a, b: a != b,
    "real": lambda _, target: real_value(target),
    "copy": lambda _, target: copy.copy(target),
    "deepcopy": lambda _, target: copy.deepcopy(target),
    "signature": lambda _, target: introspection.tell_signature(target),
    "fields": lambda _, target: introspection.tell_fields(target),
    "variables": lambda _, name, value: followed.set_variable(name, value),
    "seed": Operations._seed,  # noqa: SLF001
    "read": Operations._read,  # noqa: SLF001
    "isinstance": lambda _, kind, value: isinstance(value, kind),
    "issubclass": lambda _, kind, other: issubclass(other, kind),
    "dir": lambda _, target: dir(target),
    "warn": lambda _, message, category: warnings.warn(message, category, stacklevel=2),
    "follow": lambda self, what: self.follow(what),
    "print": lambda _, *values, **how: builtins.print(*values, **how),  # noqa: T201
    "stderr": lambda _, text: sys.stderr.write(str(text)),
    "logging": lambda _, *record: followed.log(*record),
    "input": lambda _, prompt="": builtins.input(prompt),
}
