"""What a validator found, with a JSON pointer to each place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["Violation", "Violations"]

_LISTED = 100


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that is wrong. pointer: RFC 6901, into the record or batch."""

    pointer: str
    message: str


@dataclass(slots=True)
class Violations:
    """The first hundred violations, and how many there are."""

    listed: list[Violation] = field(default_factory=list)
    count: int = 0

    def add(self, message: str, *path: str | int) -> None:
        """Note one violation at `path`."""
        self.count += 1
        if len(self.listed) < _LISTED:
            parts = (str(part).replace("~", "~0").replace("/", "~1") for part in path)
            self.listed.append(Violation("".join(f"/{part}" for part in parts), message))

    def add_where(
        self, bad: np.ndarray[Any, np.dtype[np.bool_]], message: str, name: str, row: int = 0
    ) -> None:
        """Note one violation for each true element of `bad`, whose first axis starts at `row`."""
        found = int(np.count_nonzero(bad))
        if not found:
            return
        room = max(_LISTED - len(self.listed), 0)
        # Only the first bad rows are searched: of a large array that is all bad, every place would be a list.
        rows = np.flatnonzero(bad.reshape(len(bad), -1).any(axis=1))[:room]
        for place in np.argwhere(bad[rows])[:room].tolist():
            self.add(message, name, int(rows[place[0]]) + row, *place[1:])
        self.count += found - min(found, room)

    def raise_first(self) -> None:
        """ValueError with the first violation, if there is any."""
        if self.listed:
            first = self.listed[0]
            more = f" (and {self.count - 1} more)" if self.count > 1 else ""
            raise ValueError(f"{first.pointer.lstrip('/') or 'value'} {first.message}{more}")
