"""The boundary of work that nobody waits for: a fault in it is told and ends nothing else.

Requests have theirs in `scoring`; nothing besides these two catches everything.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def boundary(tell: Callable[[Exception], None]) -> Iterator[None]:
    """Do the work beneath; whatever it raises goes to `tell`."""
    try:
        yield
    except Exception as error:
        tell(error)
