"""The same threats where the service is an ordinary user, with user namespaces and without."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from threats import THREATS, Threat

from sandbox.config import Interpreter

pytestmark = pytest.mark.hosts

NOBODY = 65534
ROOT = Path(__file__).resolve().parents[2]


def interpreter() -> str:
    """A Python that the ordinary user can start."""
    candidates = [Interpreter.of_this_process().executable, "/usr/bin/python3", "/usr/local/bin/python3"]
    check = "import sys; sys.exit(sys.version_info < (3, 11))"
    for candidate in candidates:
        try:
            done = subprocess.run(
                [candidate, "-c", check], user=NOBODY, group=NOBODY, extra_groups=[], check=False
            )
        except OSError:
            continue
        if done.returncode == 0:
            return candidate
    pytest.skip("no Python 3.11 or later that an ordinary user can start")


HOSTS = {"user namespaces": (), "no namespaces": ("no namespaces",)}


@pytest.fixture(scope="module", params=HOSTS)
def ends(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    """How each threat ended, by name; the sandbox ran as an ordinary user."""
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to others
        yield run_all(Path(folder), *HOSTS[request.param])


def run_all(folder: Path, *assume: str) -> dict[str, Any]:
    """Run every threat as an ordinary user, from a copy of the package that this user can read."""
    folder.chmod(0o755)
    shutil.copytree(ROOT / "sandbox", folder / "sandbox", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("hosts.py", "rights.py", "threats.py", "unprivileged.py"):
        shutil.copy(Path(__file__).parent / name, folder / name)
    run_dir = folder / "run"
    run_dir.mkdir()
    who = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    if who:
        os.chown(run_dir, NOBODY, NOBODY)
    command = [interpreter() if who else sys.executable, "unprivileged.py", str(run_dir), *assume]
    env = {"PATH": "/usr/bin:/bin", "HOME": str(run_dir), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, **who)  # type: ignore[call-overload]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) == len(THREATS) + 6, done.stderr
    assert lines[0] == {"level": "strong", "reason": ""}
    further = ("good", "counted", "beside", "rights", "left")
    ends = {name: rest for name, *rest in lines[1 : 1 + len(THREATS)]}
    return ends | dict(zip(further, lines[1 + len(THREATS) :], strict=True))


@pytest.mark.parametrize("threat", THREATS, ids=lambda threat: threat.name)
def test_threat_as_an_ordinary_user(ends: dict[str, Any], threat: Threat) -> None:
    """Without root the attack ends as the table says."""
    status, stdout, message = ends[threat.name]
    assert status in threat.statuses.split(), message
    if threat.stdout is not None:
        assert stdout == threat.stdout


def test_tasks_are_counted_exactly(ends: dict[str, Any]) -> None:
    """Neither one too many nor one too few, and a run that is full takes none from its neighbour."""
    assert ends["counted"] == ["exited", "19\n", ""]
    assert ends["beside"] == ["full\n", "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\n"]


def test_programs_and_zygotes_have_no_rights(ends: dict[str, Any]) -> None:
    """Nor have they gained any in a user namespace."""
    assert len(ends["rights"]) >= 3
    for one in ends["rights"]:
        assert {*one["CapInh"], *one["CapPrm"], *one["CapEff"], *one["CapAmb"]} == {"0" * 16}
        assert (one["NoNewPrivs"], "0" in one["Uid"]) == (["1"], False)


def test_service_is_well_afterwards(ends: dict[str, Any]) -> None:
    """A good program runs well after all of them."""
    assert ends["good"] == "still well\n"


def test_nothing_outlives_the_supervisor(ends: dict[str, Any]) -> None:
    """Processes that keep running away end with it, killed or closed."""
    assert ends["left"] == 0
