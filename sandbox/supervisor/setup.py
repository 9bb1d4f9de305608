"""What this host lets us do, found by doing it, and the plan that the zygotes follow."""

from __future__ import annotations

import os
import resource
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox.layers import cgroups, landlock, namespaces, notification, process, seccomp
from sandbox.layers.cgroup_pool import Pool, Unavailable
from sandbox.supervisor import copies, own_folder, placement, uids
from sandbox.supervisor.account import Account, open_accounts
from sandbox.supervisor.copies import Source
from sandbox.supervisor.placement import Placed
from sandbox.supervisor.run import OVERSHOOT_BYTES
from sandbox.supervisor.workplace import Workplace

_SYSTEM = [
    "/bin",
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/bin",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/share/zoneinfo",
    "/usr/share/locale",
    "/usr/share/i18n",
    "/usr/share/terminfo",
    "/usr/local/lib",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/alternatives",
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/urandom",
    "/dev/random",
    "/sys/devices/system/cpu/online",
]
"""Readable for programs besides the interpreter: what other programs need to start. Nothing of /proc, /home
or /etc."""

_ENTRIES = 20_000
_SERVICE_BYTES = 256 << 20
"""What the service and the zygotes grow by after this start."""
_GROUP_BITS = 0o755


@dataclass(slots=True)
class Setup:
    """How runs are set up on this host; `why` says, layer by layer, why something is missing."""

    placed: Placed
    workplaces: list[Workplace]
    uids: list[int | None]
    accounts: list[Account | None]
    groups: Pool | None
    plan: dict[str, Any]
    memory_bytes: int | None = None
    """What all runs together may use on this host or in this container; None if they cannot come near."""
    why: dict[str, str] = field(default_factory=dict)
    keep: list[Any] = field(default_factory=list)
    """Locks and claims, held by being open."""


def prepare(config: Mapping[str, Any]) -> Setup:
    """Enter namespaces, place the interpreter, make the work folders. `config`: see `Sandbox._configuration`.

    assume (tests only): any of "no landlock", "landlock N", "no seccomp", "no namespaces", "no mounts",
    "no pids", "no cgroups", "no user notification", "memory N" (bytes), "not direct", "not bind", "not copy".
    """
    assume: list[str] = config["assume"]
    if "no namespaces" in assume:
        assume = [*assume, "no mounts", "no pids"]
    why: dict[str, str] = {}
    keep: list[Any] = []
    process.raise_soft(resource.RLIMIT_STACK, config["stack_bytes"])
    process.raise_soft(resource.RLIMIT_NOFILE, 1 << 20)
    ids: list[int | None] = [None] * config["slots"]
    if os.geteuid() == 0:
        claimed, claims = uids.claim(tuple(config["uids"]), config["slots"])
        ids = [*claimed]
        keep += claims
    own_folder.sweep(config["run_dir"])
    source = Source(packages=config["packages"], **config["interpreter"])
    memory_bytes = _memory(config, assume)
    accounts, groups = _accounts(config["slots"], assume, why)
    own_user = "no namespaces" not in assume and os.geteuid() != 0 and namespaces.may_enter_user()
    if own_user:
        namespaces.enter_user()
    base = None
    if os.geteuid() == 0 or own_user:
        base = _mounted(source, config, assume, why)
    else:
        why["mounts"] = "mounting needs root, or a user namespace, which this user may not have here"
    own = base or own_folder.own_folder(config["run_dir"], ids[0], keep)
    without = tuple(word[4:] for word in assume if word.startswith("not "))
    placed = placement.place(source, own, ids[0], base, without)
    headers = placement.show(config["headers"], ids[0], base)
    if os.geteuid() == 0:
        copies.sweep()
    workplaces = _workplaces(own, base is not None, ids, config["disk_bytes"])
    counts_tasks = own_user and namespaces.counts_tasks()
    version, filtered = _landlock(assume, why), _seccomp(assume, why)
    notified = filtered and "no user notification" not in assume and notification.works()
    tasks_counted = ids[0] is not None or groups is not None or counts_tasks
    own_pids = "no pids" not in assume and namespaces.may_show_processes()
    if own_pids:
        namespaces.enter_pids()
    else:
        why["pids"] = "a process table of its own is not allowed here, or cannot be seen"
    plan = {
        "landlock": version,
        "seccomp": filtered,
        "mounts": base is not None,
        "own_pids": own_pids,
        "own_user": own_user,
        "counts_tasks": counts_tasks,
        "handed_over": _handed_over(version, tasks_counted, notified, why),
        "own_signals_only": version < landlock.SCOPES_ABI and not notified,
        "box": f"{own}/box",
        "readable": [path for path in (*placed.readable, headers, *config["toolchains"], *_SYSTEM) if path],
        "packages": placed.packages,
        "headers": headers,
        "package_root": config["package_root"],
        "disk_bytes": config["disk_bytes"],
    }
    if own_user:
        namespaces.keep_mounting()
    return Setup(placed, workplaces, ids, accounts, groups, plan, memory_bytes, why, keep)


def _memory(config: Mapping[str, Any], assume: list[str]) -> int | None:
    """Room for runs, if there is too little for a slot's greatest run on each slot."""
    told = [int(word[7:]) for word in assume if word.startswith("memory ")]
    room = told[0] if told else max(0, cgroups.memory_room() - _SERVICE_BYTES)
    most = config["slots"] * (config["stack_bytes"] + OVERSHOOT_BYTES)
    return None if most <= room else room


def _accounts(count: int, assume: list[str], why: dict[str, str]) -> tuple[list[Account | None], Pool | None]:
    """A control group for each seat, if they can be had."""
    if "no cgroups" in assume:
        why["cgroups"] = "left out"
        return [None] * count, None
    try:
        accounts, pool = open_accounts(count)
    except Unavailable as error:
        why["cgroups"] = str(error)
        return [None] * count, None
    return [*accounts], pool


def _mounted(source: Source, config: Mapping[str, Any], assume: list[str], why: dict[str, str]) -> str | None:
    """A folder of our own in a mount table of our own, if that is possible here."""
    if "no mounts" in assume:
        why["mounts"] = "left out"
        return None
    avoid = [source.executable, source.library, *source.packages.values(), config["package_root"]]
    try:
        namespaces.enter_mounts()
        return placement.mount_base([*avoid, config["run_dir"]])
    except (OSError, placement.Unplaceable) as error:
        why["mounts"] = str(error)
        return None


def _workplaces(own: str, mounted: bool, ids: list[int | None], disk_bytes: int) -> list[Workplace]:
    os.makedirs(f"{own}/slots", mode=_GROUP_BITS, exist_ok=True)
    if mounted:
        os.mkdir(f"{own}/box")
    places = []
    for number, uid in enumerate(ids):
        path = f"{own}/slots/{number}"
        os.mkdir(path, 0o711)
        if mounted:
            namespaces.memory_files(path, disk_bytes, _ENTRIES)
        places.append(Workplace(path, uid, disk_bytes, mounted))
    return places


def _landlock(assume: list[str], why: dict[str, str]) -> int:
    """The version to use."""
    version = landlock.abi()
    for word in assume:
        if word == "no landlock":
            version = 0
        elif word.startswith("landlock "):
            version = min(version, int(word.split()[1]))
    if not version:
        why["landlock"] = "this kernel offers no Landlock"
    return version


def _handed_over(version: int, tasks_counted: bool, notified: bool, why: dict[str, str]) -> tuple[str, ...]:
    """Calls for which nothing else confines a run, so that the supervisor answers them."""
    confined = version >= landlock.SCOPES_ABI
    if not notified:
        why["tasks"] = "programs share the service's user, and system calls cannot be handed over"
        why["signals"] = "refused but to oneself: Landlock cannot confine them, nor can they be handed over"
        return ()
    return (() if tasks_counted else seccomp.TASK_CALLS) + (() if confined else seccomp.SIGNAL_CALLS)


def _seccomp(assume: list[str], why: dict[str, str]) -> bool:
    if "no seccomp" in assume:
        why["seccomp"] = "left out"
        return False
    if seccomp.supported_machine() is None:
        why["seccomp"] = f"no system call table for {os.uname().machine}"
        return False
    return True
