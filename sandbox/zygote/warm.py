"""What a warm interpreter has imported and done before the first program arrives.

A page that a child writes to has to be copied, which takes microseconds, and Python writes wherever it does
something for the first time: it looks up, counts and specializes. So all of that is done here, often enough.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import random
import site
import sys
from collections.abc import Sequence

from sandbox.child import bare_stack, program, report, surroundings
from sandbox.environment import SEED
from sandbox.layers import libc, process
from sandbox.zygote import at_fork, finish, packing

_ALWAYS = [
    "bisect",
    "collections.abc",
    "contextlib",
    "copy",
    "enum",
    "functools",
    "gc",
    "heapq",
    "io",
    "itertools",
    "math",
    "operator",
    "os",
    "random",
    "re",
    "string",
    "struct",
    "sys",
    "time",
    "typing",
    "threading",
    "traceback",
]


_JOB = json.dumps(
    {
        "texts": ["print(sum(map(int, input().split())))\n"],
        "fenced": True,
        "setup": "",
        "entry_point": None,
        "prefer_entry_point": False,
    }
).encode()
_PROGRAM = compile(
    "import sys\na = sum(map(int, '1 2'.split()))\nsys.stdin.fileno()\nprint(end='')", "rehearsal", "exec"
)
_SMALL = 64 << 10
_REHEARSALS = 20
"""The interpreter specializes code that has run some ten times."""


def prepare(package_root: str) -> None:
    """Import what every zygote has, then put our own package out of the program's sight."""
    for name in _ALWAYS:
        importlib.import_module(name)
    sys.path.remove(package_root)
    site.setquit()
    site.setcopyright()
    site.sethelper()
    surroundings.prepare_streams()
    compiled = program.choose(report.read(_JOB)).compiled(_SMALL)
    for _ in range(_REHEARSALS):
        _rehearse_whole_run()
        program.choose({"compiled": compiled})
    surroundings.forget_harness()


def add(modules: Sequence[str]) -> None:
    """Import more, for a zygote of its own kind."""
    at_fork.hold()
    for name in modules:
        importlib.import_module(name)


def rehearse() -> None:
    """In a child: go through what every run does while nobody waits for it."""
    process.bound_run(*process.LOOSE)
    _rehearse_whole_run()


def _rehearse_whole_run() -> None:
    """What a child does with a job, as far as it leaves no trace here."""
    reader, writer = os.pipe()
    request = report.read(_JOB)
    chosen = program.choose(request)
    report.send_ready(writer, chosen.compiled(request.get("keep", 0)))
    os.close(writer)
    os.close(reader)
    module = surroundings.fresh_module("__main__", program.FILE_NAME, chosen.source)
    bare_stack.call(exec, _PROGRAM, module.__dict__)
    del module
    finish.rehearse()


def settle() -> None:
    """Seed for all children; keep the collector from touching, and so copying, what they share.

    Memory that nobody uses is given back: at each fork and each end its pages would be gone through.
    """
    random.seed(SEED)
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed(SEED)
    gc.collect()
    libc.give_back_memory()
    packing.fill_holes()
    at_fork.end_hold()
    gc.freeze()
    gc.disable()
    finish.mark()
