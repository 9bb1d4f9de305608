"""Every way of running the image that docs/security.md names, and what has to hold in it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from containers import ROOTED, SHIPPED

PROFILE = Path(__file__).resolve().parents[1] / "seccomp.json"

STRONG = {"files": "kernel", "network": "kernel", "signals": "kernel", "tracing": "kernel"}
SHARED_USER = {"process_count": "kernel", "ids": "none", "memory": "polled", "disk": "polled"}

NEVERTHELESS = ("--env", "GOLDCHECK_MIN_ISOLATION=base")
"""Told to run programs although files are not kept from them."""

SEES_FILES = ("ho-g-disk-fill", "ho-g-read-shadow-and-keys")
"""Handed cases that need files to be kept from programs, by Landlock or by a disk of their own."""

GVISOR_PIDS = "4096"
"""gVisor is a few hundred tasks itself, and some for each of a program's; at the limit the container ends."""

NEW_NAMESPACES = 0x7E020000
"""Every CLONE_NEW flag of clone."""


@dataclass(frozen=True)
class Scenario:
    """One way to run the image, and what has to hold then.

    available: whether programs are run; they are refused otherwise.
    excused: handed cases that this level is documented not to hold.
    """

    name: str
    arguments: tuple[str, ...]
    level: str
    guarantees: dict[str, str]
    available: bool = True
    excused: tuple[str, ...] = ()
    wait_s: int = 60


def scenarios(work: Path) -> list[Scenario]:
    """As in docs/security.md; those that are too weak as they are, and told to run programs all the same."""
    seccomp = ("--security-opt", f"seccomp={PROFILE}")
    no_landlock = ("--security-opt", f"seccomp={without_landlock(work, namespaces=False)}")
    namespaces_alone = ("--security-opt", f"seccomp={without_landlock(work, namespaces=True)}")
    gvisor = ("--runtime", "gvisor", "--pids-limit", GVISOR_PIDS)
    shipped = STRONG | SHARED_USER
    rooted = shipped | {"ids": "kernel"}
    own_disk = {"disk": "kernel"}
    unfenced = {"files": "none"}  # signals wait for the supervisor
    unseen = {"files": "none", "signals": "refused"}  # no user notification either
    counted = {"process_count": "polled"}
    return [
        Scenario("as shipped", SHIPPED, "strong", shipped),
        Scenario("with deploy/seccomp.json", (*SHIPPED, *seccomp), "strong", shipped | own_disk),
        Scenario("container default root", ROOTED, "strong", rooted),
        *weak("no Landlock", (*SHIPPED, *no_landlock), shipped | unfenced, SEES_FILES),
        *weak("no Landlock, namespaces", (*SHIPPED, *namespaces_alone), shipped | own_disk | unfenced),
        *weak("no Landlock, root", (*ROOTED, *no_landlock), rooted | unfenced, SEES_FILES),
        *weak("gVisor", (*SHIPPED, *gvisor), shipped | unseen | counted, SEES_FILES),
        *weak("gVisor, root", (*ROOTED, *gvisor), rooted | unseen, SEES_FILES),
    ]


def weak(
    name: str, arguments: tuple[str, ...], guarantees: dict[str, str], excused: tuple[str, ...] = ()
) -> list[Scenario]:
    """A way that reaches `base` alone: as it is, and told to run programs."""
    return [
        Scenario(name, arguments, "base", guarantees, available=False),
        Scenario(f"{name}, minimum base", (*arguments, *NEVERTHELESS), "base", guarantees, excused=excused),
    ]


def without_landlock(work: Path, *, namespaces: bool) -> Path:
    """A seccomp profile under which the kernel seems to have no Landlock, and perhaps no namespaces."""
    profile = json.loads(PROFILE.read_text())
    rules = profile["syscalls"]
    for rule in rules:
        rule["names"] = [name for name in rule["names"] if not name.startswith("landlock_")]
    if not namespaces:
        rules[:] = [rule for rule in rules if "unshare" not in rule["names"]]
        plain = {"index": 0, "value": NEW_NAMESPACES, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}
        rules.append({"names": ["clone"], "action": "SCMP_ACT_ALLOW", "args": [plain]})
        # As in the engine's own profile: the C library falls back to clone.
        rules.append({"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38})
    path = work / f"no-landlock-{'with' if namespaces else 'without'}-namespaces.json"
    path.write_text(json.dumps(profile))
    return path
