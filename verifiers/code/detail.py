"""`verdict.detail` of the `code` verifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandbox.types import Level
from verifiers.code.outcome import JudgedCase, Judgement
from verifiers.types import DetailLevel

TEXT_LIMIT_BYTES = 2 << 10


def describe(judgement: Judgement, language: str, level: Level, how: DetailLevel) -> dict[str, Any]:
    """What the verdict shows: nothing, counts and the first failing test, or every test."""
    if how == "none":
        return {}
    detail: dict[str, Any] = {
        "language": language,
        "tests_passed": judgement.passed,
        "tests_total": len(judgement.cases),
        "isolation": {"level": level, "mode": judgement.mode},
        "reran": any(case.result.reran for case in judgement.cases if case.result),
        "tests": _tests(judgement.cases, judgement.first_failure, how),
    }
    if judgement.hidden:
        detail["hidden"] = _hidden(judgement.hidden)
    return detail


def _tests(cases: Sequence[JudgedCase], first_failure: int | None, how: DetailLevel) -> list[dict[str, Any]]:
    if how == "full":
        return [_test(index, case) for index, case in enumerate(cases)]
    return [] if first_failure is None else [_test(first_failure, cases[first_failure])]


def _test(index: int, case: JudgedCase) -> dict[str, Any]:
    """One test. Of a run that several tests shared, nothing can be measured for one of them: null."""
    result = case.result
    measured = result if not case.shared else None
    return {
        "index": index,
        "status": case.status,
        "message": _clipped(case.message.encode("utf-8", "replace")),
        "cpu_time_s": round(measured.cpu_time_s, 6) if measured else None,
        "wall_time_s": round(measured.wall_time_s, 6) if measured else None,
        "peak_memory_bytes": measured.peak_memory_bytes if measured else None,
        "exit_code": result.exit_code if result else None,
        "signal": result.signal if result else None,
        "stdout": _clipped(result.stdout) if result else "",
        "stderr": _clipped(result.stderr) if result else "",
    }


def _clipped(text: bytes) -> str:
    """At most TEXT_LIMIT_BYTES of a text: its first and its last half, where a traceback ends."""
    if len(text) <= TEXT_LIMIT_BYTES:
        return _printable(text)
    mark = b"\n[...]\n"
    half = (TEXT_LIMIT_BYTES - len(mark)) // 2
    return _printable(text[:half] + mark + text[-half:])


def _printable(text: bytes) -> str:
    return text.decode("utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")


def _hidden(cases: Sequence[JudgedCase]) -> dict[str, Any]:
    judgement = Judgement(tuple(cases))
    known = not judgement.starved
    return {
        "tests_passed": judgement.passed,
        "tests_total": len(cases),
        "correct": judgement.passed == len(cases) if known else None,
        "reason": judgement.reason if known else "starved",
    }
