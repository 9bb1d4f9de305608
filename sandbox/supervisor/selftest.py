"""The first run: what is really refused here decides the level that is reported."""

from __future__ import annotations

import json

from sandbox.layers.seccomp import TASK_CALLS
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
    why, plan = setup.why, setup.plan
    own_uid, in_groups = setup.uids[0] is not None, setup.groups is not None
    handed_over = plan["handed_over"]
    counted = (own_uid or plan["counts_tasks"]) and refused["tasks"]
    tasks_bound = counted or in_groups or bool({*TASK_CALLS} & {*handed_over})
    landlock, seccomp = why.get("landlock", "not effective"), why.get("seccomp", "not effective")
    signals = _answer("kernel")
    if not refused["signals"] or plan["own_signals_only"]:
        signals = _answer("refused" if refused["signals"] else "none", why.get("signals", "not effective"))
    return {
        "files": _kernel(refused["files"] and refused["listing"], landlock),
        "network": _kernel(refused["network"], seccomp),
        "signals": signals,
        "tracing": _kernel(refused["tracing"], seccomp),
        "process_count": _kernel(tasks_bound, why.get("tasks", "not counted"), "polled"),
        "ids": _kernel(own_uid, "the service was not started as root"),
        "memory": _kernel(in_groups, why.get("cgroups", ""), "polled"),
        "disk": _kernel(plan["mounts"], why.get("mounts", ""), "polled"),
    }


def _kernel(holds: bool, why_not: str, instead: str = "none") -> Answer:
    return _answer("kernel") if holds else _answer(instead, why_not)


def _answer(strength: str, reason: str = "") -> Answer:
    return {"strength": strength, "reason": reason}


def _level(guarantees: dict[str, Answer]) -> str:
    def by_kernel(*names: str) -> bool:
        """What is refused altogether is so by the kernel, too."""
        return all(guarantees[name]["strength"] in ("kernel", "refused") for name in names)

    if not by_kernel("network", "tracing"):
        return "none"
    if not by_kernel("files", "signals"):
        return "base"
    return "full" if by_kernel("ids", "process_count", "memory", "disk") else "strong"
