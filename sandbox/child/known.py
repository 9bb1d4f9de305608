"""Objects that both processes of an assert run have: named when they cross, never carried.

What the candidate may name is narrow, so that nothing it returns is a way to do something in the process that
decides: types and exceptions, and functions of modules that only compute.
"""

from __future__ import annotations

import builtins
import sys
import types
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

_TYPE_MODULES = frozenset({"builtins", "types"})
_PURE = (
    "bisect cmath collections collections.abc copy datetime decimal fractions functools heapq itertools json "
    "math numbers operator random re statistics string typing"
)
_PURE_MODULES = frozenset(_PURE.split())
_IN_C = {
    "_bisect": "bisect",
    "_collections": "collections",
    "_datetime": "datetime",
    "_decimal": "decimal",
    "_functools": "functools",
    "_heapq": "heapq",
    "_operator": "operator",
    "_random": "random",
    "_statistics": "statistics",
}
_CONTROL = frozenset({"unittest", "doctest", "pytest", "_pytest", "sandbox"})
"""Packages whose exceptions steer a test run (`SkipTest`): the candidate's are not the real ones."""
_PACKAGES = frozenset({"numpy", "sympy", "scipy", "pandas", "mpmath"})
_ALIASES = frozenset({"np", "sp", "pd", "plt"})
_SINGLETONS = {"Ellipsis": Ellipsis, "NotImplemented": NotImplemented, "NoneType": type(None)}
_HIDDEN_TYPES: dict[Any, str] = {
    kind: name
    for name, kind in vars(types).items()
    if isinstance(kind, type) and kind.__module__ == "builtins" and not hasattr(builtins, kind.__name__)
}
"""Types that are found in `types` only: generators, functions ..."""


def name_of(thing: Any, trusted: bool) -> list[str] | None:
    """Module and name under which the other process finds the same object, or None.

    trusted: this is the side of the test code, which may name anything of the library.
    """
    if thing is Ellipsis or thing is NotImplemented:
        return ["builtins", "Ellipsis" if thing is Ellipsis else "NotImplemented"]
    if isinstance(thing, ModuleType):
        name = thing.__name__
        return [name, ""] if sys.modules.get(name) is thing and _is_importable(name) else None
    if isinstance(thing, type | FunctionType | BuiltinFunctionType):
        module, name = _told_name(thing)
        if is_library(module) and _look_up(module, name) is thing:
            return [module, name] if trusted or _may_be_named(module, thing) else None
    return None


def _told_name(thing: Any) -> tuple[str, str]:
    """Where a class or a function says it is from; no place at all for exceptions that steer a test run."""
    if isinstance(thing, type):
        if thing in _HIDDEN_TYPES:
            return "types", _HIDDEN_TYPES[thing]
        if issubclass(thing, BaseException) and _steers(str(thing.__module__)):
            return "", ""
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return "", ""
    return _IN_C.get(module, module), name


def find(module: Any, name: Any, trusted: bool) -> Any:
    """The object of that name here; raises KeyError. trusted: False for what the candidate names."""
    if not isinstance(module, str) or not isinstance(name, str):
        raise KeyError(str(module))
    if module not in sys.modules and _is_importable(module):
        try:
            __import__(module)
        except ImportError:
            raise KeyError(module) from None
    found = _look_up(module, name)
    if found is None or not (trusted or _may_be_named(module, found)):
        raise KeyError(f"{module}.{name}")
    return found


def is_module_word(word: str) -> bool:
    """Whether a name usually stands for a module that programs import."""
    return word in sys.stdlib_module_names or word in _PACKAGES or word in _ALIASES


def _look_up(module: str, name: str) -> Any:
    if module == "builtins" and name in _SINGLETONS:
        return _SINGLETONS[name]
    found: Any = sys.modules.get(module)
    for part in name.split(".") if name else ():
        found = vars(found).get(part) if isinstance(found, type | ModuleType) else None
    return found


def _is_importable(module: str) -> bool:
    package = module.partition(".")[0]
    return not _steers(module) and (is_library(module) or package in _PACKAGES)


def is_library(module: str) -> bool:
    """Whether a module belongs to the standard library."""
    return module.partition(".")[0] in sys.stdlib_module_names


def _steers(module: str) -> bool:
    return module.partition(".")[0] in _CONTROL


def _may_be_named(module: str, found: Any) -> bool:
    if isinstance(found, ModuleType):
        return not _steers(module)
    if isinstance(found, type) and issubclass(found, BaseException):
        return not _steers(module)
    if module in _TYPE_MODULES:
        return isinstance(found, type) or found is Ellipsis or found is NotImplemented
    return module in _PURE_MODULES
