"""Which system calls a program may make (see docs/security.md), and how the filter is put on.

An allow-list: what is not named fails with EPERM, what is newer than the table with ENOSYS.
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterable

from sandbox.layers import bpf, libc
from sandbox.layers.numbers import LAST_KNOWN, NUMBERS

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000

_ALLOWED = """
read write open openat openat2 close close_range lseek pread64 pwrite64 readv writev preadv pwritev preadv2
pwritev2 stat fstat lstat newfstatat statx statfs fstatfs access faccessat faccessat2 readlink readlinkat
getdents getdents64 getcwd chdir fchdir umask rename renameat renameat2 mkdir mkdirat rmdir creat link
linkat unlink unlinkat symlink symlinkat mknod mknodat truncate ftruncate fallocate fsync fdatasync
sync_file_range fadvise64 readahead sendfile copy_file_range getxattr lgetxattr fgetxattr listxattr
llistxattr flistxattr cachestat flock fcntl dup dup2 dup3 pipe pipe2 poll ppoll select pselect6 epoll_create
epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2 signalfd signalfd4
timerfd_create timerfd_settime timerfd_gettime inotify_init inotify_init1 inotify_add_watch inotify_rm_watch
mmap mprotect munmap mremap brk msync mincore madvise mlock mlock2 munlock mlockall munlockall membarrier
rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigqueueinfo rt_tgsigqueueinfo
rt_sigsuspend sigaltstack kill tkill tgkill pidfd_open pidfd_send_signal pause alarm getitimer setitimer
timer_create timer_settime timer_gettime timer_getoverrun timer_delete nanosleep clock_nanosleep
clock_gettime clock_getres gettimeofday time times restart_syscall fork vfork execve execveat exit
exit_group wait4 waitid getpid getppid gettid getpgrp getpgid getsid getuid geteuid getgid getegid getgroups
getresuid getresgid setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid setgroups
getpriority sched_yield sched_getaffinity sched_getparam sched_getscheduler sched_get_priority_max
sched_get_priority_min sched_rr_get_interval getrlimit setrlimit getrusage sysinfo uname getrandom getcpu
futex futex_waitv set_robust_list get_robust_list rseq set_tid_address arch_prctl landlock_create_ruleset
landlock_add_rule landlock_restrict_self sendmsg recvmsg sendto recvfrom shutdown getsockname getpeername
setsockopt getsockopt
"""

_WITHOUT_EFFECT = ("setsid", "setpgid", "setpriority", "sched_setaffinity", "sync", "syncfs")
"""Report success (RULES R10); a program must not leave its group, nor choose when the host runs it."""

_METADATA = """
chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat utimensat
"""
"""Landlock does not look at these, so they reach every file of the same user (docs/security.md)."""

_XATTR = "setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr"

TASK_CALLS = ("clone", "fork", "vfork")
SIGNAL_CALLS = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_NEW_LISTENER = 8

_NEW_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_AF_UNIX = 1
_TYPE_MASK = 0xF
_PAIR_TYPES = (1, 5)  # SOCK_STREAM, SOCK_SEQPACKET: a datagram pair could still send to any socket by path
_IOCTLS = (0x5401, 0x802C542A, 0x5413, 0x540F, 0x541B, 0x5421, 0x5450, 0x5451)
"""TCGETS, TCGETS2, TIOCGWINSZ, TIOCGPGRP, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX."""
_PRCTLS = (1, 2, 3, 4, 15, 16, 21, 23, 29, 30, 38, 39, 41, 42, 0x53564D41)
"""PDEATHSIG (set, get), DUMPABLE (get, set), NAME (set, get), GET_SECCOMP, CAPBSET_READ, TIMERSLACK (set,
get), NO_NEW_PRIVS (set, get), THP_DISABLE (set, get), SET_VMA."""


def policy(machine: str, own_uid: bool, truncation_confined: bool) -> bpf.Block:
    """The filter for `machine` ("x86_64" or "aarch64").

    own_uid: nothing outside the work folder belongs to the user the program runs as, so metadata calls may
        have their effect; otherwise they report success and do nothing.
    truncation_confined: files that may only be read cannot be truncated either (Landlock 3).
    """
    allow, refuse = bpf.result(bpf.ALLOW), bpf.result(bpf.error(errno.EPERM))
    nothing = bpf.result(bpf.error(0))
    numbers = NUMBERS[machine]
    named: dict[str, bpf.Block] = dict.fromkeys(_ALLOWED.split(), allow)
    named |= dict.fromkeys(_WITHOUT_EFFECT, nothing)
    named |= dict.fromkeys(_METADATA.split(), allow if own_uid else nothing)
    named |= dict.fromkeys(_XATTR.split(), bpf.result(bpf.error(errno.EOPNOTSUPP)))
    named |= _checked(allow, refuse)
    if not (own_uid or truncation_confined):
        named |= _without_truncation(allow, refuse)
    actions = {numbers[name]: block for name, block in named.items() if name in numbers}
    newer = bpf.result(bpf.error(errno.ENOSYS))
    chosen = bpf.dispatch(actions, refuse, newer, LAST_KNOWN)
    kill = bpf.result(bpf.KILL)
    if machine == "x86_64":
        chosen = bpf.branch(bpf.JUMP_GREATER_EQUAL, _X32_BIT, kill, chosen)
    by_number = (bpf.Instruction(bpf.LOAD, 0, 0, bpf.NUMBER_OFFSET), *chosen)
    return (
        bpf.Instruction(bpf.LOAD, 0, 0, bpf.ARCH_OFFSET),
        *bpf.branch(bpf.JUMP_EQUAL, _AUDIT_ARCH[machine], by_number, kill),
    )


def _checked(allow: bpf.Block, refuse: bpf.Block) -> dict[str, bpf.Block]:
    """Calls whose arguments decide."""
    first, second = bpf.load_argument(0), bpf.load_argument(1)
    stream = (
        second,
        bpf.Instruction(bpf.AND, 0, 0, _TYPE_MASK),
        *bpf.one_of(_PAIR_TYPES, allow, refuse),
    )
    own_limits = (
        bpf.load_argument(0, high=True),
        *bpf.branch(bpf.JUMP_EQUAL, 0, (first, *bpf.one_of((0,), allow, refuse)), refuse),
    )
    not_a_terminal = bpf.result(bpf.error(errno.ENOTTY))
    return {
        "clone": (first, *bpf.branch(bpf.JUMP_ANY_BIT, _NEW_NAMESPACES, refuse, allow)),
        "clone3": bpf.result(bpf.error(errno.ENOSYS)),  # its flags lie in memory; libc falls back to clone
        "socket": refuse,
        "socketpair": (first, *bpf.branch(bpf.JUMP_EQUAL, _AF_UNIX, stream, refuse)),
        "ioctl": (second, *bpf.one_of(_IOCTLS, allow, not_a_terminal)),
        "prctl": (first, *bpf.one_of(_PRCTLS, allow, refuse)),
        "prlimit64": own_limits,
    }


def _without_truncation(allow: bpf.Block, refuse: bpf.Block) -> dict[str, bpf.Block]:
    """Truncate only what is open for writing."""
    keep_mode = bpf.Instruction(bpf.AND, 0, 0, os.O_ACCMODE)
    not_for_writing = (keep_mode, *bpf.one_of((os.O_RDONLY, os.O_ACCMODE), refuse, allow))
    checked = bpf.branch(bpf.JUMP_ANY_BIT, os.O_TRUNC, not_for_writing, allow)
    return {
        "truncate": refuse,
        "open": (bpf.load_argument(1), *checked),
        "openat": (bpf.load_argument(2), *checked),
        "openat2": bpf.result(bpf.error(errno.ENOSYS)),  # its flags lie in memory
    }


def handing_over(machine: str, calls: Iterable[str]) -> bpf.Block:
    """A filter, beside that of `policy`, whose listener answers `calls`.

    Where signals are among them, those by pidfd are refused: which process it stands for can change while the
    answer is found.
    """
    numbers = NUMBERS[machine]
    asked = tuple(numbers[name] for name in calls if name in numbers)
    by_pidfd = (numbers["pidfd_send_signal"],) if numbers["kill"] in asked else ()
    refused = bpf.one_of(by_pidfd, bpf.result(bpf.error(errno.EPERM)), bpf.result(bpf.ALLOW))
    chosen = bpf.one_of(asked, bpf.result(bpf.HAND_OVER), refused)
    return (bpf.Instruction(bpf.LOAD, 0, 0, bpf.NUMBER_OFFSET), *chosen)


def own_signals_only(machine: str, pid: int) -> bpf.Block:
    """A filter, beside that of `policy`, for process `pid`: it may only signal itself and its own group."""
    numbers = NUMBERS[machine]
    allow, refuse = bpf.result(bpf.ALLOW), bpf.result(bpf.error(errno.EPERM))
    targets = dict.fromkeys(SIGNAL_CALLS, (pid,)) | {"kill": (pid, 0, -pid & 0xFFFFFFFF)}
    block = bpf.branch(bpf.JUMP_EQUAL, numbers["pidfd_send_signal"], refuse, allow)
    for name, targets_allowed in targets.items():
        checked = (bpf.load_argument(0), *bpf.one_of(targets_allowed, allow, refuse))
        block = bpf.branch(bpf.JUMP_EQUAL, numbers[name], checked, block)
    return (bpf.Instruction(bpf.LOAD, 0, 0, bpf.NUMBER_OFFSET), *block)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


class Filter:
    """An encoded filter, ready to be put on after a fork."""

    def __init__(self, program: bpf.Block) -> None:
        self._program = _Program(len(program), bpf.encode(program))

    def apply(self) -> None:
        """Put the filter on this thread and its children for good; needs no_new_privs."""
        call, arguments = self.applying()
        libc.check(call(*arguments), "seccomp")

    def applying(self) -> libc.Call:
        """The call that `apply` makes, and its arguments, for later; negative when it fails."""
        return libc.prctl, (libc.PR_SET_SECCOMP, 2, ctypes.byref(self._program), 0, 0)

    def listen(self) -> int:
        """As `apply`; returns the descriptor that learns of the calls it hands over."""
        number = _SECCOMP[os.uname().machine]
        return libc.check(
            libc.syscall(number, 1, _NEW_LISTENER, ctypes.byref(self._program)), "seccomp listener"
        )


def supported_machine() -> str | None:
    """This machine's name if the policy knows it."""
    machine = os.uname().machine
    return machine if machine in NUMBERS else None
