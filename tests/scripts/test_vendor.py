"""Vendored files are as they came: checksums hold, and every package has its licence and its version."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "vendor.py"
VENDOR = ROOT / "app" / "static" / "vendor"


def check(root: Path) -> subprocess.CompletedProcess[str]:
    """Run the check in a tree that looks like the repository."""
    command = [sys.executable, str(root / "scripts" / "vendor.py"), "--check"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_checksums_hold() -> None:
    """For every file that is there, and no other."""
    done = check(ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("spoil", "word"),
    [
        (lambda folder: (folder / "htmx" / "htmx.min.js").write_text("x"), "htmx/htmx.min.js: changed"),
        (lambda folder: (folder / "htmx" / "LICENSE").unlink(), "htmx/LICENSE: missing"),
        (lambda folder: (folder / "htmx" / "more.js").write_text("x"), "htmx/more.js: not in SHA256SUMS"),
    ],
)
def test_a_file_that_is_not_as_it_came_is_named(tmp_path: Path, spoil: object, word: str) -> None:
    """Changed, missing or added."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(SCRIPT, tmp_path / "scripts")
    folder = tmp_path / "app" / "static" / "vendor"
    shutil.copytree(VENDOR, folder)
    spoil(folder)  # type: ignore[operator]
    done = check(tmp_path)
    assert (done.returncode, done.stderr) == (1, word + "\n")


def test_every_package_has_licence_and_version() -> None:
    """And the folder holds no other packages than the script names."""
    packages = {package.folder: package for package in runpy.run_path(str(SCRIPT))["PACKAGES"]}
    assert {path.name for path in VENDOR.iterdir() if path.is_dir()} == set(packages)
    for folder, package in packages.items():
        assert len((VENDOR / folder / "LICENSE").read_text()) > 300
        assert (VENDOR / folder / "VERSION").read_text() == f"{package.name} {package.version}\n"


def test_fonts_that_the_style_names_are_there() -> None:
    """Of each font at least the format that browsers take first."""
    named = re.findall(r"url\(([^)]+\.woff2)\)", (VENDOR / "katex" / "katex.min.css").read_text())
    assert len(named) >= 20
    for name in named:
        assert (VENDOR / "katex" / name).is_file()
