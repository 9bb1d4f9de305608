"""A slot's own view of the file system, where mounting is possible: its folder is also /tmp and /dev/shm."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from sandbox.layers import libc

_CLONE_NEWNS = 0x00020000
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_BIND = 2, 4, 8, 4096
PLACES = {"/tmp": "tmp", "/var/tmp": "tmp", "/dev/shm": "shm"}  # noqa: S108 - made private here
"""Shared places and the part of a slot's folder that each one is in its view."""


def make_private(plan: Mapping[str, Any], folder: str) -> tuple[str, ...]:
    """Show the slot's `folder` as `plan["box"]`, and its parts as the usual shared places.

    Returns the shared places that are now private. Needs the right to mount.
    """
    libc.unshare(_CLONE_NEWNS)
    libc.mount(folder, plan["box"], None, _MS_BIND)
    private = []
    for place, part in PLACES.items():
        if os.path.isdir(place):
            libc.mount(f"{folder}/{part}", place, None, _MS_BIND)
            private.append(place)
    if plan["own_pids"]:
        libc.mount("proc", "/proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    return tuple(private)
