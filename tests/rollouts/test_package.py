"""The package as others see it: every name at the top, documented, and installable alone."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import array_api_compat
import numpy as np
import pytest

import rollouts

FOLDER = Path(rollouts.__file__).parent
PUBLIC = sorted(
    name
    for module in pkgutil.iter_modules([str(FOLDER)])
    if not module.name.startswith("_")
    for name in importlib.import_module(f"rollouts.{module.name}").__all__
)


def test_everything_public_is_importable_from_the_top():
    """At run time and for type checkers, the same names, none twice."""
    declared = [
        alias.asname
        for block in ast.parse((FOLDER / "__init__.py").read_text()).body
        if isinstance(block, ast.If)
        for statement in block.body
        for alias in statement.names
    ]
    assert sorted(declared) == PUBLIC == dir(rollouts)
    assert len(set(PUBLIC)) == len(PUBLIC)
    # Importing a module of the package would hide a function of its name.
    assert not {module.name for module in pkgutil.iter_modules([str(FOLDER)])} & set(PUBLIC)
    assert all(getattr(rollouts, name) is not None for name in PUBLIC)


def test_unknown_names_are_attribute_errors():
    """As of any module."""
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = rollouts.no_such_thing
    assert not hasattr(rollouts, "__no_such_thing__")


@pytest.mark.parametrize("name", [n for n in PUBLIC if inspect.isroutine(getattr(rollouts, n))])
def test_functions_say_what_they_refuse(name):
    """Every public function has a docstring that names its results and errors, or takes anything."""
    text = inspect.getdoc(getattr(rollouts, name))
    takes_anything = {
        "distinct_answers",
        "distinct_strings",
        "group_statistics",
        "pass_rate_histogram",
        "program_shape",
    }
    says = any(
        word in text for word in ("Raises", "rrors as", "see `padded", "Every violation", "ValueError")
    )
    assert says or name in takes_anything, text


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of the package alone."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=FOLDER, check=True, capture_output=True,
    )  # fmt: skip
    return next(folder.glob("goldcheck_rollouts-*.whl"))


def test_wheel_needs_numpy_and_array_api_compat_only(wheel):
    """A trainer that installs it gets nothing of the service."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = Parser().parsestr(archive.read(next(n for n in names if n.endswith("METADATA"))).decode())
    assert {n.partition("/")[0] for n in names if ".dist-info" not in n} == {"rollouts"}
    assert "rollouts/py.typed" in names
    needs = {need.partition(">")[0] for need in metadata.get_all("Requires-Dist")}
    assert needs == {"numpy", "array-api-compat"}


def test_wheel_works_in_an_empty_environment(wheel, tmp_path):
    """With NumPy and array-api-compat and nothing else, everything public can be had and used."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path)], check=True)
    site = next(tmp_path.glob("lib/python*/site-packages"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    for package in (np, array_api_compat):
        folder = Path(package.__file__).parent
        for found in (folder, folder.with_name(f"{folder.name}.libs")):
            if found.exists():
                (site / found.name).symlink_to(found)
    program = (
        "import rollouts, sys\n"
        "assert sys.prefix in rollouts.__file__\n"
        "assert all(getattr(rollouts, name) is not None for name in dir(rollouts))\n"
        "assert rollouts.group_relative_advantages([1, 1]).tolist() == [0, 0]\n"
        "assert not {'pydantic', 'fastapi', 'scipy'} & set(sys.modules)\n"
    )
    subprocess.run([str(tmp_path / "bin" / "python"), "-I", "-c", program], check=True, cwd=tmp_path)
