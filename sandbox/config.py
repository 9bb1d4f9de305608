"""What the sandbox is told at start, and what it finds out about the interpreter that programs run on."""

from __future__ import annotations

import importlib.metadata
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.types import Level, Limits

OFFERED = ("numpy", "sympy", "mpmath")
"""Packages that programs may import, beside the standard library."""


FLAGS = ("-s", "-P", "-S", "-B")
"""How every interpreter here is started: like `-I -S`, but PYTHONHASHSEED counts. Our environment holds
nothing else that Python reads."""


def usable_cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0))


_DEFAULT_LIMITS = Limits()
_MAXIMUM_LIMITS = Limits(
    cpu_time_s=60.0,
    wall_time_s=120.0,
    memory_bytes=4 << 30,
    output_bytes=64 << 20,
    stderr_bytes=2 << 20,
    processes=64,
    total_time_s=600.0,
)


@dataclass(frozen=True, slots=True)
class SandboxConfig:
    """Settings of one worker's sandbox.

    run_dir: folder for locks and, where no memory file system can be mounted, work folders; shared by all
        workers.
    slots: runs at once on this host, over all workers.
    minimum: below this level nothing is run.
    uids: first and count of the user ids that programs get when the service is started as root.
    packages: distributions that programs may import.
    disk_bytes: bound on what one run may write to files.
    assume: for tests only: layers that the host is to be treated as lacking (see `supervisor/setup.py`).
    """

    run_dir: str
    slots: int = 0
    minimum: Level = "strong"
    uids: tuple[int, int] = (60000, 64)
    packages: tuple[str, ...] = OFFERED
    default_limits: Limits = _DEFAULT_LIMITS
    maximum_limits: Limits = _MAXIMUM_LIMITS
    disk_bytes: int = 256 << 20
    assume: tuple[str, ...] = ()

    @property
    def slot_count(self) -> int:
        """`slots`, by default one per usable core."""
        return self.slots or usable_cores()


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The Python that programs run on: the one beneath the service's virtual environment."""

    executable: str
    prefix: str
    library: str
    """Folder of the standard library."""

    @classmethod
    def of_this_process(cls) -> Interpreter:
        """Links resolved, so that bind mounts and file rules name the real places."""
        executable = getattr(sys, "_base_executable", None) or sys.executable
        return cls(
            executable=os.path.realpath(executable),
            prefix=os.path.realpath(sys.base_prefix),
            library=str(Path(os.__file__).resolve().parent),
        )

    def to_json(self) -> dict[str, str]:
        """For the supervisor."""
        return {"executable": self.executable, "prefix": self.prefix, "library": self.library}


def installed(names: tuple[str, ...]) -> tuple[Mapping[str, str], dict[str, str]]:
    """Versions of the offered packages that are there, and what to show: entry name -> real path."""
    versions: dict[str, str] = {}
    paths: dict[str, str] = {}
    for name in names:
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        versions[name] = distribution.version
        for file in distribution.files or ():
            entry = file.parts[0]
            if entry not in ("..", "__pycache__") and entry not in paths:
                paths[entry] = os.path.realpath(str(distribution.locate_file(entry)))
    return versions, paths
