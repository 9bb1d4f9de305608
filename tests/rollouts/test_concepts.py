"""The page of concepts speaks of things that exist."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import rollouts
from rollouts import Objective

PAGE = (Path(rollouts.__file__).parents[1] / "docs" / "concepts.md").read_text(encoding="utf-8")


def test_functions_exist():
    """Each `name()` is a public function, or a method of `Objective`."""
    names = set(re.findall(r"`([\w.]+)\(\)`", PAGE))
    assert len(names) > 30
    for name in names:
        holder, _, attribute = name.rpartition(".")
        assert hasattr(Objective if holder == "Objective" else rollouts, attribute), name


def test_public_functions_are_there():
    """Each function that the course names is said to answer something."""
    modules = [
        "advantages",
        "clipping",
        "distributions",
        "groups",
        "kl",
        "log_probs",
        "records",
        "shaping",
        "stop",
    ]
    names = [name for module in modules for name in importlib.import_module(f"rollouts.{module}").__all__]
    functions = {name for name in names if name.islower() and not name.startswith(("check_", "program_"))}
    assert {name for name in functions if f"`{name}()`" not in PAGE} <= {"stable_log_softmax"}
