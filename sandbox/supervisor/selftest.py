"""The first run: what is really refused here decides the level that is reported."""

from __future__ import annotations

import json

from sandbox.supervisor.run import Job, Order, Outcome
from sandbox.supervisor.setup import Setup
from sandbox.types import Limits, RunStatus

_FORBIDDEN = "/etc/passwd"  # readable for everyone on every host, but not for programs
_LIMITS = Limits(cpu_time_s=10, wall_time_s=30)

SELF_TEST = Order(
    id=0,
    kind="lean",
    jobs=(Job("probe", json.dumps({"forbidden": _FORBIDDEN}).encode(), b""),),
    limits=_LIMITS,
    alone=False,
)

Answer = dict[str, str]


def judge(outcome: Outcome, setup: Setup) -> tuple[str, dict[str, Answer], str]:
    """Level, guarantees and, when nothing can be run at all, the reason."""
    refused = _answers(outcome)
    if refused is None:
        return "none", {}, f"the self-test did not run: {outcome.status} {outcome.message}"
    if not refused["work"]:
        return "none", {}, "programs cannot write to their work folder"
    guarantees = _guarantees(refused, setup)
    return _level(guarantees), guarantees, ""


def _answers(outcome: Outcome) -> dict[str, bool] | None:
    if outcome.status is not RunStatus.EXITED or outcome.ends != [0]:
        return None
    answers: dict[str, bool] = json.loads(outcome.outputs[0][2])
    return answers


def _guarantees(refused: dict[str, bool], setup: Setup) -> dict[str, Answer]:
    why, own_uid, mounted = setup.why, setup.uids[0] is not None, setup.plan["mounts"]
    in_groups = setup.groups is not None
    landlock, seccomp = why.get("landlock", "not effective"), why.get("seccomp", "not effective")
    return {
        "files": _kernel(refused["files"] and refused["listing"], landlock),
        "network": _kernel(refused["network"], seccomp),
        "signals": _kernel(refused["signals"], landlock),
        "tracing": _kernel(refused["tracing"], seccomp),
        "process_count": _kernel(
            own_uid or in_groups or setup.plan["counts_tasks"],
            "counted while they run: programs share the service's user",
            "polled",
        ),
        "ids": _kernel(own_uid, "the service was not started as root"),
        "memory": _kernel(in_groups, why.get("cgroups", ""), "polled"),
        "disk": _kernel(mounted, why.get("mounts", ""), "polled"),
    }


def _kernel(holds: bool, why_not: str, instead: str = "none") -> Answer:
    return _answer("kernel") if holds else _answer(instead, why_not)


def _answer(strength: str, reason: str = "") -> Answer:
    return {"strength": strength, "reason": reason}


def _level(guarantees: dict[str, Answer]) -> str:
    def by_kernel(*names: str) -> bool:
        return all(guarantees[name]["strength"] == "kernel" for name in names)

    if not by_kernel("network", "tracing"):
        return "none"
    if not by_kernel("files", "signals"):
        return "base"
    return "full" if by_kernel("ids", "process_count", "memory", "disk") else "strong"
