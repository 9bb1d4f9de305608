"""What a warm interpreter has imported before the first program arrives."""

from __future__ import annotations

import gc
import importlib
import json
import pkgutil
import site
import sys
from collections.abc import Sequence

import sandbox.child
from sandbox.child import program

_ALWAYS = [
    "array",
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


_REHEARSAL = {"fenced": True, "setup": "", "entry_point": None, "prefer_entry_point": False}


def prepare(package_root: str) -> None:
    """Import what every zygote has, then put our own package out of the program's sight."""
    for name in _ALWAYS:
        importlib.import_module(name)
    for module in pkgutil.iter_modules(sandbox.child.__path__):
        importlib.import_module(f"sandbox.child.{module.name}")
    importlib.import_module("sandbox.zygote.probe")
    sys.path.remove(package_root)
    site.setquit()
    site.setcopyright()
    site.sethelper()


def add(modules: Sequence[str]) -> None:
    """Import more, for a zygote of its own kind."""
    for name in modules:
        importlib.import_module(name)


def rehearse() -> None:
    """Go through what every job needs while nobody waits: the first touch of a shared page copies it."""
    job = json.dumps({**_REHEARSAL, "texts": ["print(sum(map(int, input().split())))\n"]})
    program.choose(json.loads(job))


def settle() -> None:
    """Keep the collector from touching, and so copying, what all children share."""
    gc.collect()
    gc.freeze()
    gc.disable()
