"""The process in which texts get their second opinion: low priority, bounded memory and CPU time.

Run as `python -m app.auditor.text_worker`. A line on standard input is `[route, response, ground_truth,
options]` as JSON, answered by a line `[correct, reason]`; `correct` is null where the route cannot tell. A
job that takes too much ends the process, and its parent starts another.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from typing import Any, Final

from app.boundary import boundary
from verifiers.math.options import MathOptions

MEMORY_BYTES: Final = 1 << 30
CPU_S: Final = 5
"""CPU seconds of one job, about: the kernel counts whole ones."""


def main() -> None:
    """Answer jobs until standard input ends."""
    try:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    except OSError:  # a container may not allow it
        os.nice(19)
    _bound(resource.RLIMIT_AS, MEMORY_BYTES)
    _bound(resource.RLIMIT_CORE, 0)
    sys.setrecursionlimit(5_000)
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no reply
    for line in sys.stdin.buffer:
        _bound(resource.RLIMIT_CPU, int(time.process_time()) + 1 + CPU_S)
        replies.write(json.dumps(_answer(*json.loads(line))).encode() + b"\n")
        replies.flush()


def _bound(kind: int, most: int) -> None:
    """Set the soft limit, within the hard one, which stays."""
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _answer(route: str, response: str, ground_truth: Any, options: str) -> list[Any]:
    from verifiers.math.independent import accepts
    from verifiers.math.judge import judge

    read = MathOptions.model_validate_json(options)
    raised: list[Exception] = []
    with boundary(raised.append):  # whatever libraries raise over a response: it says nothing
        if route == "sympy":
            return [accepts(response, ground_truth, read), "sympy"]
        outcome = judge(response, ground_truth, read)
        return [getattr(outcome, "correct", None), getattr(outcome, "reason", "unscorable")]
    return [None, type(raised[0]).__name__]


if __name__ == "__main__":
    main()
