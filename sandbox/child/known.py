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
    "math numbers operator random re statistics string"
)
_PURE_MODULES = frozenset(_PURE.split())
_BUILTINS = (
    "abs all any ascii bin callable chr divmod format hash hex isinstance issubclass len max min oct ord pow "
    "repr round sorted sum"
)
_PURE_BUILTINS = frozenset(_BUILTINS.split())
_EVALUATING = frozenset({"namedtuple", "singledispatch"})
"""Functions that turn texts into code."""
_ACTING = frozenset(
    {
        "antigravity",
        "ensurepip",
        "idlelib",
        "lib2to3",
        "test",
        "this",
        "tkinter",
        "turtle",
        "turtledemo",
        "venv",
    }
)
"""Modules that do something when they are imported, or have parts that do."""
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
_ALIASES = {"np": "numpy", "sp": "sympy", "pd": "pandas", "plt": "matplotlib.pyplot"}
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
        is_there = sys.modules.get(name) is thing and _is_importable(name)
        return [name, ""] if is_there and (trusted or _is_harmless(name, "")) else None
    if isinstance(thing, type | FunctionType | BuiltinFunctionType):
        module, name = _told_name(thing)
        if is_library(module) and _look_up(module, name) is thing:
            is_taken = trusted or (_is_harmless(module, name) and _may_be_named(thing))
            return [module, name] if is_taken else None
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
    if not trusted and not _is_harmless(module, name):
        raise KeyError(f"{module}.{name}")
    if module not in sys.modules and _is_importable(module):
        try:
            __import__(module)
        except BaseException as error:  # of the candidate's choice, so an exit would be its word
            raise KeyError(module) from error
    found = _look_up(module, name)
    if found is None or not (trusted or _may_be_named(found)):
        raise KeyError(f"{module}.{name}")
    return found


def _is_harmless(module: str, name: str) -> bool:
    """Whether a candidate's name leads straight to what is public, in a module that does not act."""
    parts = [*module.split("."), *name.split(".")]
    return parts[0] not in _ACTING and not any(part.startswith("_") for part in parts)


def is_module_word(word: str) -> bool:
    """Whether a name usually stands for a module that programs import."""
    return word in sys.stdlib_module_names or word in _PACKAGES or word in _ALIASES


def is_meant(word: str, module: ModuleType) -> bool:
    """Whether a module is the one that a name stands for, if it stands for any."""
    return not is_module_word(word) or module.__name__ in (word, _ALIASES.get(word))


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


def _may_be_named(found: Any) -> bool:
    """Whether a candidate may name this object: it goes by where the object itself says it is from."""
    if found is Ellipsis or found is NotImplemented:
        return True
    if isinstance(found, ModuleType):
        return not _steers(found.__name__)
    if not isinstance(found, type | FunctionType | BuiltinFunctionType):
        return False
    module, name = _told_name(found)
    if isinstance(found, type):
        return module in _TYPE_MODULES or module in _PURE_MODULES or _is_plain_error(found, module)
    if module == "builtins":
        return name in _PURE_BUILTINS
    return module in _PURE_MODULES and name not in _EVALUATING


def _is_plain_error(found: type, module: str) -> bool:
    return issubclass(found, BaseException) and bool(module) and not _steers(module)
