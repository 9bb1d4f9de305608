"""Landlock: which files can be reached, and that signals and sockets stay inside."""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterable

from sandbox.layers import libc

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL_DEVICE = 1 << 14, 1 << 15
_RIGHTS_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_TCP = 3  # bind and connect, ABI 4
_SCOPES = 3  # abstract unix sockets and signals, ABI 6

READ = EXECUTE | READ_FILE | READ_DIR
_ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | _TRUNCATE | _IOCTL_DEVICE

TRUNCATION_ABI = 3
SCOPES_ABI = 6


def abi() -> int:
    """The kernel's Landlock version; 0 when there is none."""
    return max(0, int(libc.syscall(_CREATE_RULESET, None, 0, 1)))


def all_rights(version: int) -> int:
    """Every file right that this version can restrict."""
    return max(rights for since, rights in _RIGHTS_BY_ABI.items() if since <= version)


class Ruleset:
    """What remains reachable once applied. Rules may only be added before that."""

    def __init__(self, version: int, handled: int) -> None:
        """handled: file rights that are refused unless a rule grants them."""
        self._handled = handled & all_rights(version)
        net = _TCP if version >= 4 else 0
        scopes = _SCOPES if version >= SCOPES_ABI else 0
        size = 24 if version >= SCOPES_ABI else 16 if version >= 4 else 8
        attributes = struct.pack("<QQQ", self._handled, net, scopes)[:size]
        self._fd = libc.check(libc.syscall(_CREATE_RULESET, attributes, size, 0), "landlock_create_ruleset")

    def grant(self, fd: int, rights: int) -> None:
        """Grant `rights` on the file behind `fd`, or beneath it if it is a folder."""
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= _ON_FILES
        rule = struct.pack("<Qi", rights & self._handled, fd)
        libc.check(libc.syscall(_ADD_RULE, self._fd, _PATH_BENEATH, rule, 0), "landlock_add_rule")

    def grant_paths(self, paths: Iterable[str], rights: int) -> None:
        """Grant `rights` on each path that exists."""
        for path in paths:
            try:
                fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            try:
                self.grant(fd, rights)
            finally:
                os.close(fd)

    def apply(self) -> None:
        """Confine this process and its children for good; needs no_new_privs."""
        call, arguments = self.applying()
        libc.check(call(*arguments), "landlock_restrict_self")

    def applying(self) -> libc.Call:
        """The call that `apply` makes, and its arguments, for later; negative when it fails."""
        return libc.syscall, (_RESTRICT_SELF, self._fd, 0)

    def close(self) -> None:
        """Forget the ruleset; those confined by it stay so."""
        os.close(self._fd)


def writing(version: int) -> int:
    """Every right that changes something."""
    return all_rights(version) & ~READ
