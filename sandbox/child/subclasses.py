"""Operations of instances of subclasses of plain types: those of their real value (RULES R15).

Only where the test code itself names the class do its own methods count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

_COMPARING = (
    "__contains__ count index __lt__ __le__ __gt__ __ge__ __and__ __or__ __sub__ __xor__ __rand__ __ror__ "
    "__rsub__ __rxor__ issubset issuperset isdisjoint union difference intersection symmetric_difference"
)
_ON_COPY = frozenset(_COMPARING.split())
"""What compares items: done here, for over there items may say that they equal anything."""


class Owner(Protocol):
    """What is needed of the link to the process that owns the instances."""

    def ask(self, operation: str, target: Any, *args: Any, **kwargs: Any) -> Any:
        """Have an operation done over there; raises what it raised."""
        ...

    def means_class(self, kind: type) -> bool:
        """Whether its own methods may stand for the operations of plain values."""
        ...


def kept(owner: Owner, base: type, name: str, own: Callable[..., Any]) -> Callable[..., Any]:
    """The method `name` of a subclass of an immutable plain type, which has its value here."""
    real = getattr(base, name, None)
    if real is None:
        return own

    def operation(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        return (own if owner.means_class(type(self)) else real)(self, *args, **kwargs)

    operation.__name__ = operation.__qualname__ = name
    return operation


def operations(owner: Owner, plain: type, specials: Iterable[str]) -> dict[str, Callable[..., Any]]:
    """Methods and special methods of a subclass of a mutable plain type."""
    methods = {name for name in dir(plain) if not name.startswith("_") and callable(getattr(plain, name))}
    found = methods | (set(specials) & {*dir(plain), "__bool__"}) - {
        "__hash__",
        "__str__",
        "__repr__",
        "__format__",
    }
    return {name: _operation(owner, name) for name in found}


def _operation(owner: Owner, name: str) -> Callable[..., Any]:
    ask_own = "special" if name.startswith("__") else "method"

    def operation(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        if owner.means_class(type(self)):
            return owner.ask(ask_own, self, name, *args, **kwargs)
        if name == "__bool__":
            return bool(owner.ask("real", self))
        if name in _ON_COPY:
            return getattr(owner.ask("real", self), name)(*args, **kwargs)
        return owner.ask("base", self, name, *args, **kwargs)

    operation.__name__ = operation.__qualname__ = name
    return operation
