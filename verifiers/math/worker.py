"""A worker process: reads items from its socket, judges them, writes one reply each. Imports FLINT."""

from __future__ import annotations

import json
import resource
import socket
import sys
from typing import Any

from verifiers.math.cache import BoundedCache
from verifiers.math.framing import receive, send
from verifiers.math.judge import judge
from verifiers.math.options import MathOptions
from verifiers.types import Verdict

MEMORY_BYTES = 1 << 30
"""Address space of a worker; FLINT ends the process when it cannot allocate."""


def limit_memory() -> None:
    """Bound this process for good; no core file of a response is written."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def serve(channel: socket.socket) -> None:
    """Judge what comes through `channel` until the other side closes it.

    A message is a JSON list of items `[response, ground_truth, options]`; each item is answered by a message
    of its own, so that the parent knows which item a worker was at when it died.
    """
    sys.setrecursionlimit(5_000)
    while (message := receive(channel)) is not None:
        for response, ground_truth, options in json.loads(message):
            send(channel, json.dumps(answer(response, ground_truth, options)).encode())


def answer(response: str, ground_truth: Any, options: str) -> dict[str, Any]:
    """The verdict as JSON data."""
    outcome = judge(response, ground_truth, _options(options))
    if isinstance(outcome, Verdict):
        return {
            "correct": outcome.correct,
            "reason": outcome.reason,
            "detail": outcome.detail,
            "flags": outcome.flags,
            "span": outcome.span,
        }
    return {"kind": outcome.kind, "message": outcome.message}


_read_options: BoundedCache[str, MathOptions] = BoundedCache(most_entries=256)


def _options(text: str) -> MathOptions:
    options = _read_options.get(text)
    if options is None:
        options = MathOptions.model_validate_json(text)
        _read_options.put(text, options, len(text))
    return options
