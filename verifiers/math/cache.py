"""What a worker keeps of earlier items, bounded by entries and by bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

MOST_ENTRIES = 4_096
MOST_BYTES = 32 << 20
"""By estimate. A worker holds three caches, and its address space is limited to 1 GiB."""
BYTES_OF_ENTRY, BYTES_OF_CHARACTER = 1_024, 64
"""What is charged for an entry and each character it was read from. Trees are measured to hold 20 to 40 bytes
a character (`tests/verifiers/math/test_math_cache.py` keeps the estimate above that)."""


class BoundedCache(Generic[Key, Value]):
    """Keeps the entries used last. Not for threads: a worker judges one item at a time."""

    def __init__(self, most_entries: int = MOST_ENTRIES, most_bytes: int = MOST_BYTES) -> None:
        self._most_entries = most_entries
        self._most_bytes = most_bytes
        self._entries: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self.bytes = 0
        """Estimated bytes of all entries."""

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Key) -> Value | None:
        """The value kept for `key`, or None."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: Key, value: Value, characters: int) -> None:
        """Keep `value`, read from that many characters. One that alone is over the bound is not kept."""
        size = BYTES_OF_ENTRY + BYTES_OF_CHARACTER * characters
        if size > self._most_bytes:
            return
        if key in self._entries:
            self.bytes -= self._entries.pop(key)[1]
        self._entries[key] = (value, size)
        self.bytes += size
        while self.bytes > self._most_bytes or len(self._entries) > self._most_entries:
            _, (_, dropped) = self._entries.popitem(last=False)
            self.bytes -= dropped
