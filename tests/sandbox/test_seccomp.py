"""The filter, run by a small interpreter of BPF: every call gets the answer that the policy names."""

from __future__ import annotations

import errno
import functools
import os
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.layers import bpf, seccomp
from sandbox.layers.numbers import LAST_KNOWN, NUMBERS

ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
MACHINES = sorted(ARCH)


def execute(program: bpf.Block, number: int, arch: int, args: tuple[int, ...] = ()) -> int:
    """What the kernel would answer: the classic BPF machine over `struct seccomp_data`."""
    padded = [*args, *[0] * (6 - len(args))]
    data = struct.pack("<IIQ6Q", number & 0xFFFFFFFF, arch, 0, *(a & (1 << 64) - 1 for a in padded))
    accumulator, at = 0, 0
    while True:
        code, if_true, if_false, operand = program[at]
        at += 1
        if code == bpf.LOAD:
            accumulator = struct.unpack_from("<I", data, operand)[0]
        elif code == bpf.AND:
            accumulator &= operand
        elif code == bpf.JUMP:
            at += operand
        elif code == bpf.RETURN:
            return operand
        else:
            holds = {
                bpf.JUMP_EQUAL: accumulator == operand,
                bpf.JUMP_GREATER_EQUAL: accumulator >= operand,
                bpf.JUMP_ANY_BIT: bool(accumulator & operand),
            }[code]
            at += if_true if holds else if_false


policy = functools.cache(seccomp.policy)


def answer(machine: str, name: str, *args: int, own_uid: bool = True, confined: bool = True) -> int:
    """The answer to a call by name."""
    return execute(policy(machine, own_uid, confined), NUMBERS[machine][name], ARCH[machine], args)


def refused(number: int) -> int:
    return bpf.error(number)


@given(st.dictionaries(st.integers(0, 400), st.integers(0, 5)), st.integers(0, 2**32 - 1))
def test_dispatch_is_a_table_lookup(table: dict[int, int], number: int) -> None:
    """Binary search over runs gives what a dictionary gives."""
    actions = {key: bpf.result(value) for key, value in table.items()}
    program = (
        bpf.Instruction(bpf.LOAD, 0, 0, bpf.NUMBER_OFFSET),
        *bpf.dispatch(actions, bpf.result(100), bpf.result(200), 400),
    )
    expected = table.get(number, 100 if number <= 400 else 200)
    assert execute(program, number, 0) == expected


@pytest.mark.parametrize("length", [1, 254, 255, 256, 600])
def test_far_branches_reach_both_sides(length: int) -> None:
    """A block longer than a jump can skip is still skipped."""
    padding = (bpf.Instruction(bpf.AND, 0, 0, 0xFFFFFFFF),) * (length - 1)
    program = bpf.branch(bpf.JUMP_EQUAL, 0, (*padding, *bpf.result(1)), bpf.result(2))
    assert execute((bpf.Instruction(bpf.LOAD, 0, 0, 0), *program), 0, 0) == 1
    assert execute((bpf.Instruction(bpf.LOAD, 0, 0, 0), *program), 5, 0) == 2


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("own_uid", [True, False])
@pytest.mark.parametrize("confined", [True, False])
def test_filter_fits_the_kernel(machine: str, own_uid: bool, confined: bool) -> None:
    """At most 4096 instructions, jumps within a byte, every path ends in a return."""
    program = seccomp.policy(machine, own_uid, confined)
    assert len(program) <= 4096
    assert len(bpf.encode(program)) == 8 * len(program)
    for number in range(LAST_KNOWN + 3):
        execute(program, number, ARCH[machine])


@pytest.mark.parametrize("machine", MACHINES)
def test_other_machines_are_killed(machine: str) -> None:
    """Calls of another architecture, the 32-bit one and x32 among them, end the process."""
    program = seccomp.policy(machine, own_uid=True, truncation_confined=True)
    for arch in (0x40000003, 0x40000028, 0, *(value for name, value in ARCH.items() if name != machine)):
        assert execute(program, 0, arch) == bpf.KILL
    if machine == "x86_64":
        assert execute(program, 0x40000000 | 1, ARCH[machine]) == bpf.KILL


@pytest.mark.parametrize("machine", MACHINES)
def test_unnamed_calls_are_refused(machine: str) -> None:
    """What the policy does not name fails with EPERM; what is newer than its table with ENOSYS."""
    program = seccomp.policy(machine, own_uid=True, truncation_confined=True)
    named = set(NUMBERS[machine].values())
    for number in set(range(LAST_KNOWN + 1)) - named:
        assert execute(program, number, ARCH[machine]) == refused(errno.EPERM)
    for number in (LAST_KNOWN + 1, 1000, 0x3FFFFFFF):
        assert execute(program, number, ARCH[machine]) == refused(errno.ENOSYS)


@pytest.mark.parametrize("machine", MACHINES)
@given(flags=st.integers(0, 2**64 - 1))
def test_clone_makes_no_namespaces(machine: str, flags: int) -> None:
    """Threads and children yes, namespaces no, whatever else is in the flags."""
    new = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
    expected = refused(errno.EPERM) if flags & new else bpf.ALLOW
    assert answer(machine, "clone", flags) == expected


@pytest.mark.parametrize("machine", MACHINES)
@given(family=st.integers(0, 50), kind=st.integers(0, 12), flags=st.sampled_from([0, 0o4000, 0o2000000]))
def test_only_connected_unix_pairs(machine: str, family: int, kind: int, flags: int) -> None:
    """Stream and packet pairs of unix sockets; a datagram pair could send to any socket by path."""
    good = family == 1 and kind in (1, 5)
    expected = bpf.ALLOW if good else refused(errno.EPERM)
    assert answer(machine, "socketpair", family, kind | flags) == expected
    assert answer(machine, "socket", family, kind | flags) == refused(errno.EPERM)


@pytest.mark.parametrize("machine", MACHINES)
@given(pid=st.integers(-(2**31), 2**63 - 1))
def test_limits_of_others_stay(machine: str, pid: int) -> None:
    """`prlimit` acts on the caller only."""
    assert answer(machine, "prlimit64", pid) == (bpf.ALLOW if pid == 0 else refused(errno.EPERM))


@pytest.mark.parametrize("machine", MACHINES)
def test_choices_of_the_policy(machine: str) -> None:
    """Groups stay (RULES R10), libc falls back from clone3, terminals cannot be typed into."""
    for name in ("setsid", "setpgid", "setpriority", "sched_setaffinity"):
        assert answer(machine, name) == refused(0)
    assert answer(machine, "clone3") == refused(errno.ENOSYS)
    assert answer(machine, "ioctl", 0, 0x5412) == refused(errno.ENOTTY)
    assert answer(machine, "ioctl", 0, 0x5401) == bpf.ALLOW
    assert answer(machine, "prctl", 22) == refused(errno.EPERM)


@pytest.mark.parametrize("machine", MACHINES)
def test_metadata_is_out_of_reach_of_a_shared_user(machine: str) -> None:
    """chmod and the like act only where programs have a user of their own."""
    for name in ("fchmod", "fchmodat", "fchownat", "utimensat"):
        assert answer(machine, name, own_uid=True) == bpf.ALLOW
        assert answer(machine, name, own_uid=False) == refused(0)
    assert answer(machine, "setxattr") == refused(errno.EOPNOTSUPP)


@pytest.mark.parametrize("machine", MACHINES)
@given(flags=st.integers(0, 2**32 - 1))
def test_nothing_is_truncated_that_is_not_open_for_writing(machine: str, flags: int) -> None:
    """Where Landlock does not govern that (before version 3) and files of the user's lie about."""
    truncates = bool(flags & os.O_TRUNC) and flags & os.O_ACCMODE in (os.O_RDONLY, os.O_ACCMODE)
    expected = refused(errno.EPERM) if truncates else bpf.ALLOW
    assert answer(machine, "openat", 0, 0, flags, own_uid=False, confined=False) == expected
    assert answer(machine, "openat", 0, 0, flags, own_uid=True, confined=False) == bpf.ALLOW
    assert answer(machine, "openat", 0, 0, flags, own_uid=False) == bpf.ALLOW
    assert answer(machine, "truncate", own_uid=False, confined=False) == refused(errno.EPERM)
    assert answer(machine, "openat2", own_uid=False, confined=False) == refused(errno.ENOSYS)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("calls", [seccomp.TASK_CALLS, seccomp.SIGNAL_CALLS])
def test_handed_over_are_the_named_calls_alone(machine: str, calls: tuple[str, ...]) -> None:
    """And signals by pidfd are refused where signals are handed over."""
    program = seccomp.handing_over(machine, calls)
    by_pidfd = {"pidfd_send_signal"} if "kill" in calls else set()
    for name, number in NUMBERS[machine].items():
        expected = bpf.HAND_OVER if name in calls else bpf.ALLOW
        expected = refused(errno.EPERM) if name in by_pidfd else expected
        assert execute(program, number, ARCH[machine]) == expected, name


@pytest.mark.parametrize("machine", MACHINES)
@given(target=st.integers(-(2**31), 2**31 - 1) | st.sampled_from([0, 1, -1, 4242, -4242]))
def test_signals_to_oneself_alone(machine: str, target: int) -> None:
    """Where nothing else confines signals, a process reaches itself and its own group."""
    program = seccomp.own_signals_only(machine, 4242)
    for name in seccomp.SIGNAL_CALLS:
        good = (4242, 0, -4242) if name == "kill" else (4242,)
        expected = bpf.ALLOW if target in good else refused(errno.EPERM)
        assert execute(program, NUMBERS[machine][name], ARCH[machine], (target,)) == expected
    assert execute(program, NUMBERS[machine]["pidfd_send_signal"], ARCH[machine]) == refused(errno.EPERM)
    assert execute(program, NUMBERS[machine]["read"], ARCH[machine], (target,)) == bpf.ALLOW
