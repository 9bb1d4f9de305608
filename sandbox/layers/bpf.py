"""A small assembler for classic BPF, enough to say what each system call number gets.

A program is a tuple of `Instruction`s; `encode` gives the kernel's `struct sock_filter` array. Numbers are
looked up by binary search, because the kernel runs the whole filter once per number when it is attached
(its cache of calls that are always allowed) and again for every call that is not.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import NamedTuple

LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
AND = 0x54  # BPF_ALU | BPF_AND | BPF_K
JUMP = 0x05  # BPF_JMP | BPF_JA
JUMP_EQUAL = 0x15
JUMP_GREATER_EQUAL = 0x35
JUMP_ANY_BIT = 0x45  # BPF_JMP | BPF_JSET | BPF_K
RETURN = 0x06

ALLOW = 0x7FFF0000  # SECCOMP_RET_ALLOW
HAND_OVER = 0x7FC00000  # SECCOMP_RET_USER_NOTIF
KILL = 0x80000000  # SECCOMP_RET_KILL_PROCESS
_ERRNO = 0x00050000  # SECCOMP_RET_ERRNO

NUMBER_OFFSET = 0  # struct seccomp_data: nr, arch, instruction_pointer, args[6]
ARCH_OFFSET = 4
_ARGS_OFFSET = 16

_FARTHEST = 255


class Instruction(NamedTuple):
    """One `struct sock_filter`: operation, jumps taken and not taken, operand."""

    code: int
    if_true: int
    if_false: int
    operand: int


Block = tuple[Instruction, ...]
"""Instructions that always end in a return."""


def result(value: int) -> Block:
    """Answer with this seccomp action."""
    return (Instruction(RETURN, 0, 0, value),)


def error(number: int) -> int:
    """The seccomp action that fails with this errno; 0 reports success without doing anything."""
    return _ERRNO | number


def load_argument(index: int, high: bool = False) -> Instruction:
    """Load one half of argument `index`; both machines are little-endian."""
    return Instruction(LOAD, 0, 0, _ARGS_OFFSET + 8 * index + (4 if high else 0))


def branch(test: int, operand: int, if_true: Block, if_false: Block) -> Block:
    """Test the accumulator and go on with one of two blocks, however long they are."""
    if len(if_true) <= _FARTHEST:
        return (Instruction(test, 0, len(if_true), operand), *if_true, *if_false)
    over = Instruction(JUMP, 0, 0, len(if_true))
    return (Instruction(test, 1, 0, operand), over, *if_true, *if_false)


def one_of(values: tuple[int, ...], if_true: Block, if_false: Block) -> Block:
    """Go on with `if_true` when the accumulator equals one of `values`."""
    block = if_false
    for value in reversed(values):
        block = branch(JUMP_EQUAL, value, if_true, block)
    return block


def dispatch(actions: Mapping[int, Block], otherwise: Block, beyond: Block, last_known: int) -> Block:
    """Choose by the accumulator: a block per number, `otherwise` up to `last_known`, then `beyond`."""
    table = [actions.get(number, otherwise) for number in range(last_known + 1)]
    runs: list[tuple[int, Block]] = []
    for number, block in enumerate([*table, beyond]):
        if not runs or runs[-1][1] != block:
            runs.append((number, block))
    return _search(runs)


def _search(runs: list[tuple[int, Block]]) -> Block:
    if len(runs) == 1:
        return runs[0][1]
    middle = len(runs) // 2
    return branch(JUMP_GREATER_EQUAL, runs[middle][0], _search(runs[middle:]), _search(runs[:middle]))


def encode(program: Block) -> bytes:
    """The bytes of the `struct sock_filter` array."""
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)
