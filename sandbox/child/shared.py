"""Mutable containers that both processes of an assert run hold: each has a copy, changes go with messages.

Only one side runs at a time, so whoever sends has the newest contents. A container that one side no longer
holds is forgotten by both: nothing can change it there any more. Most arguments and results go at once.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from sandbox.child import arrays

Element = Any
"""A value as it stands in a message: JSON (see `wire`)."""
Pack = Callable[[Any], Element]
Unpack = Callable[[Element], Any]

KINDS: dict[str, type] = {
    "list": list,
    "dict": dict,
    "set": set,
    "bytearray": bytearray,
    "deque": deque,
    "Counter": Counter,
    "OrderedDict": OrderedDict,
    "defaultdict": defaultdict,
}
ARRAY = "ndarray"
_NAMES = {kind: name for name, kind in KINDS.items()}
_SCALARS = {str, float, bool, type(None)}
_SMALL = 1 << 63

_to_text = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode


class Shared:
    """The table of shared containers of one process.

    first: the first number this side gives out; the other side starts at another parity.
    """

    def __init__(self, first: int, pack: Pack, unpack: Unpack) -> None:
        self._next = first
        self._pack = pack
        self._unpack = unpack
        self._containers: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        self._seen: dict[int, str] = {}
        self._entered: list[int] = []
        self._filling: frozenset[int] = frozenset()

    def number(self, container: Any) -> int:
        """The number of a container, given now if it has none."""
        number = self._numbers.get(id(container))
        if number is None:
            number = self._next
            self._next += 2
            self._enter(number, container)
        return number

    def get(self, number: Any) -> Any:
        """The container of that number; raises KeyError."""
        return self._containers[number]

    def collect(self) -> str:
        """The part of a message for what is new or has changed, as JSON text; may number more containers."""
        changed: list[str] = []
        pending = [number for number in self._containers if number not in self._filling]
        self._entered.clear()
        while pending:
            for number in pending:
                text = _to_text(self._contents(self._containers[number]))
                if self._seen.get(number) != text:
                    self._seen[number] = text
                    changed.append(f'"{number}":{text}')
            pending = self._entered.copy()  # packing one container may enter others
            self._entered.clear()
        gone = self._unreferenced()
        self.forget(gone)
        return f'"shared":{{{",".join(changed)}}},"gone":{_to_text(gone)}'

    @contextmanager
    def taken(self, entries: dict[str, list[Element]]) -> Iterator[None]:
        """Take over what the other side says has changed; raises KeyError, TypeError or ValueError.

        None of it is forgotten or sent back while the rest of the message is read: to hash what goes into a
        set, its owner is asked in between.
        """
        found = {int(number): entry for number, entry in entries.items()}
        for number, entry in found.items():
            if number not in self._containers:
                self._enter(number, _new(*entry))
        around, self._filling = self._filling, self._filling | found.keys()
        try:
            values = {number: self._values(*entry) for number, entry in found.items()}
            for number, entry in found.items():
                self._fill(self._containers[number], entry[0], *values[number])
                self._seen[number] = _to_text(entry)
            yield
        finally:
            self._filling = around

    def forget(self, numbers: Iterable[int]) -> None:
        """Drop containers that this side or the other no longer holds."""
        for number in numbers:
            if number in self._containers:
                del self._numbers[id(self._containers.pop(number))]
                self._seen.pop(number, None)

    def _enter(self, number: int, container: Any) -> None:
        self._containers[number] = container
        self._numbers[id(container)] = number
        self._entered.append(number)

    def _contents(self, container: Any) -> list[Element]:
        kind = type(container)
        name = kind_of(container)
        if kind is bytearray:
            return [name, container.decode("latin-1")]
        if name == ARRAY:
            return [name, *arrays.contents(container)]
        extra = None
        if kind is deque:
            extra = container.maxlen
        elif kind is defaultdict:
            extra = self._pack(container.default_factory)
        items = list(_children(container))
        if not _stand_for_themselves(items):
            items = [self._pack(item) for item in items]
        return [name, items, extra]

    def _values(self, name: str, items: Any, extra: Any = None) -> tuple[Any, Any]:
        """What goes into a container, and what else belongs to it."""
        if name not in (ARRAY, "bytearray") and not {dict, list}.isdisjoint(map(type, items)):
            items = [self._unpack(item) for item in items]
        return items, self._unpack(extra) if name == "defaultdict" else extra

    def _fill(self, container: Any, name: str, values: Any, extra: Any) -> None:
        if kind_of(container) != name:
            raise TypeError("a container has changed its kind")
        if name == ARRAY:
            arrays.fill(container, values, extra)
            return
        if isinstance(container, bytearray):
            container[:] = values.encode("latin-1")
            return
        if isinstance(container, list):
            container[:] = values
            return
        container.clear()
        if isinstance(container, deque):
            container.extend(values)
        elif isinstance(container, set):
            container.update(values)
        else:
            if isinstance(container, defaultdict):
                container.default_factory = extra
            for key, value in zip(values[::2], values[1::2], strict=True):
                container[key] = value

    def _unreferenced(self) -> list[int]:
        """Containers that nothing here holds but this table, and containers of that sort."""
        within: Counter[int] = Counter()
        for number in self._containers:
            within.update(self._inner(self._containers[number]))
        held = [
            number
            for number in self._containers
            if _references(self._containers, number) > _UNHELD + within.get(number, 0)
        ]
        reached = set(held)
        while held:
            for number in self._inner(self._containers[held.pop()]):
                if number not in reached:
                    reached.add(number)
                    held.append(number)
        return [number for number in self._containers if number not in reached | self._filling]

    def _inner(self, container: Any) -> list[int]:
        """Numbers of the shared containers that stand directly in this one."""
        children = _children(container)
        if set(map(type, children)).isdisjoint(_NAMES):
            return []
        numbers = self._numbers
        return [numbers[id(item)] for item in children if id(item) in numbers]


def kind_of(value: Any) -> str | None:
    """The kind of shared container that a value is; None for everything else."""
    name = _NAMES.get(type(value))
    return ARRAY if name is None and arrays.is_plain(value) else name


def _stand_for_themselves(items: list[Any]) -> bool:
    """Whether all are atoms that JSON holds as they are; lists of numbers and texts are by far the most."""
    kinds = set(map(type, items))
    if int not in kinds:
        return kinds <= _SCALARS
    integers = items if len(kinds) == 1 else [item for item in items if type(item) is int]
    return kinds <= _SCALARS | {int} and min(integers) >= -_SMALL and max(integers) < _SMALL


def _new(name: str, items: Any, extra: Any = None) -> Any:
    if name == ARRAY:
        return arrays.new(items, extra)
    return deque(maxlen=extra) if name == "deque" else KINDS[name]()


def _children(container: Any) -> Any:
    """Items of a container; keys and values in turn for a dict."""
    if isinstance(container, dict):
        return [part for pair in container.items() for part in pair]
    return container if isinstance(container, list | set | deque) else ()


def _references(table: dict[int, Any], number: int) -> int:
    return sys.getrefcount(table[number])


_UNHELD = _references({0: []}, 0)
"""What is counted for a container that only the table holds."""
