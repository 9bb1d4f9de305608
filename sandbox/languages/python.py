"""Python: cases to sandboxed runs, and what those runs left to results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, get_args

from sandbox import values
from sandbox.run import Child, ChildResult, RunResult, RunSpec
from sandbox.types import (
    AssertCase,
    AssertOutcome,
    AssertState,
    CallCase,
    CallResult,
    Case,
    CaseResult,
    Limits,
    Program,
    RunStatus,
    ScriptCase,
)

HEAVY_PACKAGES = ("numpy", "scipy", "pandas", "sympy")
"""Texts that name one of these run in the `sci` zygote, which has imported it already."""

_ASSERT_STATES = frozenset(get_args(AssertState))
_FAULTY_TESTS = ("invalid_tests", "asserts_nothing", "unsupported")
_SHARE_OF_OUTPUT = 4
"""A compiled program, in hexadecimal, takes at most half of what a run may write."""
_UNUSABLE = {"no_code": RunStatus.NO_CODE, "compile_error": RunStatus.COMPILE_ERROR}


def to_run(
    program: Program, case: Case, limits: Limits, *, keep: bool = False, compiled: bytes = b""
) -> RunSpec:
    """The sandboxed run of one case. The first child is the one whose end ends the run.

    keep: have the program compiled for other cases, see `compiled`. compiled: what that gave.
    """
    zygote = _zygote([*program.texts, *_own_texts(case)])
    kept = {"keep": limits.output_bytes // _SHARE_OF_OUTPUT} if keep else {}
    if isinstance(case, ScriptCase):
        job = _program_job(program, "", None, compiled, **kept)
        return RunSpec((Child("script", job, case.stdin),), limits, zygote)
    if isinstance(case, CallCase):
        calls = [values.encode([list(call.args), dict(call.kwargs)]) for call in case.calls]
        more = {"prefer_entry_point": True, "calls": calls, **kept}
        job = _program_job(program, case.setup, case.entry_point, compiled, **more)
        return RunSpec((Child("calls", job),), limits, zygote)
    if case.nonce:
        job = _program_job(program, case.setup, case.entry_point, code=case.code, nonce=case.nonce)
        return RunSpec((Child("together", job),), limits, zygote)
    job = _program_job(program, case.setup, case.entry_point)
    tests = json.dumps({"code": case.code, "setup": case.setup, "entry_point": case.entry_point})
    return RunSpec((Child("asserts", tests.encode()), Child("candidate", job)), limits, zygote)


def is_same_program(one: Case, other: Case) -> bool:
    """Whether both cases make the same program of the same texts."""
    if isinstance(one, CallCase) and isinstance(other, CallCase):
        return (one.setup, one.entry_point) == (other.setup, other.entry_point)
    return isinstance(one, ScriptCase) and isinstance(other, ScriptCase)


def compiled(run: RunResult) -> bytes:
    """The program as the first run of it has compiled it, if that was asked to keep it and could.

    Only a child may look into it. The harness sent it before the program's first statement.
    """
    first = next(_messages(run.children[-1].channel), {})
    try:
        return bytes.fromhex(first.get("compiled", ""))
    except (TypeError, ValueError):
        return b""


def from_run(index: int, case: Case, run: RunResult) -> CaseResult:
    """What one run says about its case; every byte of a channel may be the candidate's own."""
    child = run.children[0]
    # The harness's first word and an answer for each call; a program may have written millions more.
    wanted = 1 + (len(case.calls) if isinstance(case, CallCase) else 0)
    messages = list(islice(_messages(run.children[-1].channel), wanted))
    asserts = None
    if isinstance(case, AssertCase):
        asserts = _assert_outcome(child.channel, case.nonce)
    elif messages and messages[0].get("state") == "invalid_tests":
        asserts = AssertOutcome("invalid_tests", str(messages[0].get("message", ""))[:2048])
    if asserts is not None and asserts.state in _FAULTY_TESTS:
        status, message = run.status, ""  # found before the program was looked at
    else:
        status, message = _status(run, run.children[-1], messages)
    calls: tuple[CallResult, ...] = ()
    if isinstance(case, CallCase) and status not in _UNUSABLE.values():
        calls = _call_results(messages[1:], len(case.calls))
    return CaseResult(
        index=index,
        status=status,
        exit_code=child.exit_code,
        signal=child.signal,
        stdout=b"".join(each.stdout for each in run.children),
        stderr=b"".join(each.stderr for each in run.children),
        cpu_time_s=run.cpu_time_s,
        wall_time_s=run.wall_time_s,
        peak_memory_bytes=run.peak_memory_bytes,
        reran=run.reran,
        message=message,
        calls=calls,
        asserts=asserts,
    )


def _zygote(texts: Sequence[str]) -> str:
    return "sci" if any(name in text for text in texts for name in HEAVY_PACKAGES) else "lean"


def _own_texts(case: Case) -> tuple[str, ...]:
    if isinstance(case, ScriptCase):
        return ()
    return (case.setup, *case.code) if isinstance(case, AssertCase) else (case.setup,)


def _program_job(
    program: Program, setup: str, entry_point: str | None, compiled: bytes = b"", **more: Any
) -> bytes:
    job = {"setup": setup, "entry_point": entry_point, "prefer_entry_point": False, **more}
    if not compiled:
        job |= {"texts": program.texts, "fenced": program.fenced}
    return json.dumps(job).encode() + b"\n" + compiled


def _messages(channel: bytes) -> Iterator[dict[str, Any]]:
    """The messages of a channel, up to the first that is not one or with which they are too much together."""
    start = weight = 0
    while start + 4 <= len(channel):
        end = start + 4 + int.from_bytes(channel[start : start + 4], "big")
        body = channel[start + 4 : end]
        weight += values.weight(body)
        if end > len(channel) or weight > values.MAX_WEIGHT:
            return
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):
            return
        if not isinstance(message, dict):
            return
        yield message
        start = end


def _status(run: RunResult, child: ChildResult, messages: list[dict[str, Any]]) -> tuple[RunStatus, str]:
    """The run's status, or what the harness said before the candidate's first statement."""
    first = messages[0] if messages else {}
    state = str(first.get("state"))
    if state in _UNUSABLE:
        return _UNUSABLE[state], str(first.get("message", ""))[:500]
    if state != "ready" and run.status in (RunStatus.EXITED, RunStatus.SIGNALED):
        return RunStatus.COMPILE_ERROR, f"the compiler died (signal {child.signal})"
    return run.status, run.message


def _call_results(messages: Sequence[dict[str, Any]], asked: int) -> tuple[CallResult, ...]:
    """One result for each call that was answered in its turn."""
    results: list[CallResult] = []
    for message in messages[:asked]:
        if "error" in message and "index" not in message:
            return tuple(CallResult(error=str(message["error"])[:500]) for _ in range(asked))
        if message.get("index") != len(results):
            break
        results.append(_call_result(message))
    return tuple(results)


def _call_result(message: dict[str, Any]) -> CallResult:
    if "error" in message:
        return CallResult(error=str(message["error"])[:500])
    if "not_plain" in message:
        return CallResult(plain=False, error=str(message["not_plain"])[:500])
    try:
        return CallResult(value=values.unwrap(message.get("value")))
    except values.MalformedError as error:
        return CallResult(plain=False, error=str(error)[:500])


def _assert_outcome(channel: bytes, nonce: str) -> AssertOutcome | None:
    """The test process's last word; None if it left without one.

    Where the program shares the process, only its first word is trusted, which it has before the program
    begins, and words with the nonce.
    """
    outcome = None
    for number, message in enumerate(_messages(channel)):
        if nonce and number and message.get("nonce") != nonce:
            continue
        if str(message.get("state")) in _ASSERT_STATES:
            outcome = AssertOutcome(message["state"], str(message.get("message", ""))[:2048])
    return outcome
