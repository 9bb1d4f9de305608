"""Names that LeetCode has ready for a program without import (RULES R6)."""

from __future__ import annotations

import bisect
import collections
import functools
import heapq
import itertools
import math
import operator
import random
import re
import string
import typing
from types import ModuleType
from typing import Any

_MODULES = (typing, collections, heapq, bisect, itertools, functools, math, re, string, random, operator)
_BUILTINS: dict[str, Any] = vars(__import__("builtins"))


def _exported(module: ModuleType) -> list[str]:
    names: list[str] | None = getattr(module, "__all__", None)
    return names if names is not None else [name for name in vars(module) if not name.startswith("_")]


def _collect() -> dict[str, Any]:
    """What `from module import *` gives, built-in names left alone (`pow`, `abs`, `compile` ...)."""
    names = {
        name: getattr(module, name)
        for module in _MODULES
        for name in _exported(module)
        if name not in _BUILTINS
    }
    return names | {module.__name__: module for module in _MODULES}


PRELOADED = _collect()
