"""A slot's own view of the file system, where mounting is possible: its folder is also /tmp and /dev/shm."""

from __future__ import annotations

import os

from sandbox.layers import namespaces

PLACES = {"/tmp": "tmp", "/var/tmp": "tmp", "/dev/shm": "shm"}  # noqa: S108 - made private here
"""Shared places and the part of a slot's folder that each one is in its view."""


def make_private(box: str, folder: str) -> tuple[str, ...]:
    """Show the slot's `folder` as `box`, and its parts as the usual shared places, in namespaces of our own.

    Returns the shared places that are now private. Needs the right to mount.
    """
    namespaces.enter_rest()
    namespaces.bind(folder, box)
    private = []
    for place, part in PLACES.items():
        if os.path.isdir(place):
            namespaces.bind(f"{folder}/{part}", place)
            private.append(place)
    return tuple(private)
