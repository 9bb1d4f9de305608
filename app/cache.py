"""Verdicts of the sandbox and of worker processes, kept for equal tasks; bounded in bytes."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b
from typing import Final

import pydantic_core

from audit import exact_json
from verifiers.base import Verifier
from verifiers.types import MISSING, Task, Verdict

_OVERHEAD_BYTES: Final = 512
_MAX_SHARE: Final = 8  # no single verdict takes more than this part of the cache


def task_key(verifier: Verifier, task: Task) -> bytes:
    """Equal for tasks that must get equal verdicts: verifier, version, response, ground truth and options.

    The rest of a request's key (stop, shaping, canary) acts on the verdict afterwards, and is applied to each
    request anew. Order of keys inside a ground truth counts: a program may see it.
    """
    parts = (
        verifier.name,
        verifier.version,
        task.response,
        None if task.ground_truth is MISSING else [task.ground_truth],
        task.options.model_dump_json(),
    )
    return blake2b(exact_json.dump(parts), digest_size=20).digest()


class VerdictCache:
    """Least recently used verdicts by task key."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._entries: OrderedDict[bytes, tuple[Verdict, int]] = OrderedDict()
        self._bytes = 0

    def get(self, key: bytes) -> Verdict | None:
        """The verdict kept under `key`."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: bytes, verdict: Verdict) -> None:
        """Keep a verdict, unless it is too large, and forget the longest unused ones beyond the bound.

        Raises what encoding raises when the detail is no JSON value.
        """
        size = len(pydantic_core.to_json(verdict.detail)) + _OVERHEAD_BYTES
        if key in self._entries or size > self._max_bytes // _MAX_SHARE:
            return
        self._entries[key] = verdict, size
        self._bytes += size
        while self._bytes > self._max_bytes:
            _, (_, freed) = self._entries.popitem(last=False)
            self._bytes -= freed
