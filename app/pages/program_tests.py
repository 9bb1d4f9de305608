"""The tests of a program beside what came of them. Ground truths are read leniently: only to show."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from audit import exact_json

MAX_TESTS: Final = 200


@dataclass(frozen=True, slots=True)
class ProgramTest:
    """One test. Empty texts where nothing is known."""

    number: int
    """Counted from 1."""
    given: str
    expected: str
    status: str = ""
    """Empty: the reply does not say."""
    message: str = ""
    got: str = ""
    stderr: str = ""
    measures: tuple[str, ...] = ()
    """What was measured, with units."""


def program_tests(ground_truth: Any, detail: Mapping[str, Any]) -> list[ProgramTest]:
    """The tests of a ground truth, with the outcomes that the detail of the verdict tells."""
    given = _given(ground_truth)
    outcomes = {int(one["index"]): one for one in detail.get("tests") or ()}
    count = max(len(given), max(outcomes, default=-1) + 1)
    # Of too many: those of which something is known, and the first.
    wanted = range(count) if count <= MAX_TESTS else sorted({*outcomes, *range(MAX_TESTS)})[:MAX_TESTS]
    return [_test(index, given, outcomes.get(index)) for index in wanted]


def _test(index: int, given: list[tuple[str, str]], outcome: Mapping[str, Any] | None) -> ProgramTest:
    put_in, expected = given[index] if index < len(given) else ("", "")
    if outcome is None:
        return ProgramTest(index + 1, put_in, expected)
    return ProgramTest(
        number=index + 1,
        given=put_in,
        expected=expected,
        status=str(outcome.get("status") or ""),
        message=str(outcome.get("message") or ""),
        got=str(outcome.get("stdout") or ""),
        stderr=str(outcome.get("stderr") or ""),
        measures=tuple(_measures(outcome)),
    )


def _measures(outcome: Mapping[str, Any]) -> Iterator[str]:
    known = {name: str(value) for name, value in outcome.items() if value is not None}
    if "cpu_time_s" in known:
        yield f"CPU {float(known['cpu_time_s']):.3f} s"
    if "wall_time_s" in known:
        yield f"wall {float(known['wall_time_s']):.3f} s"
    if "peak_memory_bytes" in known:
        yield f"peak {int(known['peak_memory_bytes']) / 2**20:.1f} MiB"
    if "exit_code" in known:
        yield f"exit {known['exit_code']}"
    if "signal" in known:
        yield f"signal {known['signal']}"


def _given(truth: Any) -> list[tuple[str, str]]:
    """What each test gives to the program, and what it expects."""
    if isinstance(truth, str) and truth.lstrip().startswith("{"):
        try:
            truth = json.loads(truth, parse_int=str, parse_float=str)
        except (ValueError, RecursionError):
            return []
    if not isinstance(truth, dict):
        return []
    if isinstance(truth.get("cases"), list):
        return [_case(case) for case in truth["cases"]]
    if isinstance(truth.get("inputs"), list) and isinstance(truth.get("outputs"), list):
        pairs = zip(truth["inputs"], truth["outputs"], strict=False)
        return [(_text(put_in), _text(expected)) for put_in, expected in pairs]
    code = truth.get("code")
    if isinstance(code, list):
        return [(_text(one), "") for one in code]
    return [(code, "")] if isinstance(code, str) else []


def _case(case: Any) -> tuple[str, str]:
    if not isinstance(case, dict):
        return _text(case), ""
    if "stdin" in case:
        several = case.get("stdout_any")
        return _text(case["stdin"]), _text(case.get("stdout", several))
    call = ", ".join(
        [
            *map(_text, case.get("args") or ()),
            *(f"{key}={_text(value)}" for key, value in (case.get("kwargs") or {}).items()),
        ]
    )
    return call, _text(case.get("expected"))


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else exact_json.dump(value).decode("utf-8", "replace")
