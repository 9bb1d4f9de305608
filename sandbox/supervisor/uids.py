"""User ids for programs when started as root: one per seat of each worker, shared with nobody on the host."""

from __future__ import annotations

import os
import socket

_Claim = socket.socket


class UidRangeExhausted(Exception):  # noqa: N818 - a state of the host
    """Every id of the range is in use. The text names the range."""


def claim(span: tuple[int, int], wanted: int) -> tuple[list[int], list[_Claim]]:
    """Claim `wanted` ids from `span`, its first and how many; they are free again when the sockets are
    closed.

    An abstract socket per id is the claim: host-wide, whatever folders the workers use, and the kernel
    takes it back however a worker ends. Ids under which anything already runs are left alone.
    """
    first, count = span
    busy = _running()
    uids: list[int] = []
    claims: list[_Claim] = []
    for uid in range(first, first + count):
        if len(uids) == wanted:
            break
        if uid in busy:
            continue
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.bind(f"\0goldcheck-uid-{uid}")
        except OSError:
            sock.close()
            continue
        uids.append(uid)
        claims.append(sock)
    if len(uids) < wanted:
        for sock in claims:
            sock.close()
        raise UidRangeExhausted(f"no {wanted} free user ids in {first}..{first + count - 1}")
    return uids, claims


def _running() -> set[int]:
    users = set()
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                users.add(os.stat(f"/proc/{name}").st_uid)
            except OSError:
                continue
    return users
