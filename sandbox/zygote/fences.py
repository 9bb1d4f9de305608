"""What fences each child in, made ready in its zygote: what a child works out itself, it copies pages for."""

from __future__ import annotations

import os
import threading
from typing import Any, NamedTuple

from sandbox.bare import signal
from sandbox.layers import landlock, libc, process
from sandbox.layers.libc import Call
from sandbox.layers.seccomp import Filter, handing_over, own_signals_only, policy, supported_machine
from sandbox.zygote import at_fork


class Fences(NamedTuple):
    """handing_over: a filter whose calls the supervisor answers. calls: functions with their arguments, which
    a child calls in this order; a negative answer is a failure.
    """

    handing_over: Filter | None
    calls: tuple[Call, ...]


def for_children(
    plan: dict[str, Any], work: str, writable: tuple[int, ...], *, own_uid: bool, scoped: bool
) -> Fences:
    """What each child still has to take; what can be is taken here, once for all of them.

    A user of their own keeps programs out of the slot's folder around the work folder, so they need no
    rule of their own there: their domain only has to keep their signals from this zygote.

    plan: the supervisor's. work: path of the work folder. writable: descriptors of other places that a
    program may write to. own_uid: programs have a user of their own. scoped: they cannot signal anything
    outside.
    """
    version, machine = plan["landlock"], supported_machine()
    calls: list[Call] = [
        libc.unblocking(signal.SIGCHLD),
        (libc.prctl, (libc.PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)),
        *((register, ()) for register in at_fork.registering()),
        (threading.main_thread()._set_native_id, ()),  # type: ignore[attr-defined] # noqa: SLF001
    ]
    if not own_uid:
        calls.append((process.show, ()))
    calls += [(os.setsid, ()), (os.chdir, (work,))]
    if own_uid and scoped:
        calls.append(landlock.Ruleset(version, 0).applying())
    elif version:
        calls.append((_confine, (work, version, writable)))
    if plan["own_signals_only"]:
        calls.append((_forbid_signals, ()))
    handed_over, handing = plan["handed_over"], None
    if machine is not None and plan["seccomp"]:
        allowed = Filter(policy(machine, own_uid, version >= landlock.TRUNCATION_ABI))
        handing = Filter(handing_over(machine, handed_over)) if handed_over else None
        if scoped and not handing:
            allowed.apply()
        else:  # without a scope children make a group of their own first
            calls.append(allowed.applying())
    return Fences(handing, tuple(calls))


def _confine(work: str, version: int, writable: tuple[int, ...]) -> None:
    """Only what lies in `work` or behind `writable` can be changed."""
    rules = landlock.Ruleset(version, landlock.writing(version))
    rules.grant_paths([work], landlock.all_rights(version))
    for fd in writable:
        rules.grant(fd, landlock.all_rights(version))
    rules.apply()
    rules.close()


def _forbid_signals() -> None:
    """But to oneself."""
    Filter(own_signals_only(os.uname().machine, os.getpid())).apply()
