"""Imports point one way: app -> verifiers -> sandbox; app -> audit, rollouts; rollouts and client alone."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ALLOWED = {
    "app": {"audit", "rollouts", "sandbox", "verifiers"},
    "audit": set(),
    "client": set(),
    "rollouts": set(),
    "sandbox": set(),
    "verifiers": {"sandbox"},
}
STDLIB_ONLY = {"sandbox"}


def imported_packages(source: Path) -> set[str]:
    """Top-level names imported anywhere in a file, inside functions too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.partition(".")[0])
    return names


def sources(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("package", sorted(ALLOWED))
def test_imports_point_one_way(package: str) -> None:
    """A package imports only those below it."""
    wrong = {
        str(source.relative_to(ROOT)): sorted(names)
        for source in sources(package)
        if (names := (imported_packages(source) & set(ALLOWED)) - ALLOWED[package] - {package})
    }
    assert wrong == {}


@pytest.mark.parametrize("package", sorted(STDLIB_ONLY))
def test_stdlib_only(package: str) -> None:
    """The sandbox runs in interpreters without site-packages."""
    wrong = {
        str(source.relative_to(ROOT)): sorted(names)
        for source in sources(package)
        if (names := imported_packages(source) - sys.stdlib_module_names - {package})
    }
    assert wrong == {}


def test_only_app_imports_fastapi() -> None:
    """The web framework stays at the edge."""
    wrong = [
        str(source.relative_to(ROOT))
        for package in ALLOWED
        if package != "app"
        for source in sources(package)
        if imported_packages(source) & {"fastapi", "starlette", "uvicorn"}
    ]
    assert wrong == []


@pytest.mark.parametrize("module", ["app.main", "app.cli"])
def test_http_process_starts_small(module: str) -> None:
    """Importing the service loads no computer algebra and no arrays: memory and start-up time stay small."""
    loaded = subprocess.run(
        [sys.executable, "-c", f"import {module}, sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    ).stdout.split()
    assert {"sympy", "numpy", "flint", "scipy"}.isdisjoint(loaded)
