"""What `unittest` found in runs that do not end the process: `main(exit=False)`, runners, suites."""

from __future__ import annotations

import unittest
from typing import Any


def recorded() -> list[unittest.TestResult]:
    """A list that holds every result made from now on."""
    results: list[unittest.TestResult] = []
    start_run = unittest.TestResult.startTestRun
    start_test = unittest.TestResult.startTest

    def note(result: unittest.TestResult) -> None:
        if not any(known is result for known in results):
            results.append(result)

    def started_run(self: unittest.TestResult, *args: Any) -> None:
        note(self)
        start_run(self, *args)

    def started_test(self: unittest.TestResult, *args: Any) -> None:
        note(self)
        start_test(self, *args)

    unittest.TestResult.startTestRun = started_run  # type: ignore[method-assign]
    unittest.TestResult.startTest = started_test  # type: ignore[assignment,method-assign]
    return results


def failure(results: list[unittest.TestResult]) -> str | None:
    """Why these runs are no pass; None if they are, or there were none."""
    for result in results:
        if not result.wasSuccessful():
            failed = [*result.failures, *result.errors]
            return failed[0][1] if failed else "a test that was expected to fail did not"
    if results and not any(result.testsRun for result in results):
        return "no test was run"
    return None
