"""What `unittest` found in runs that do not end the process: `main(exit=False)`, runners, suites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unittest import TestResult


def recorded() -> list[TestResult]:
    """A list that holds every result made from now on."""
    from unittest import TestResult  # with all that it needs, 2 MB that every other child would carry

    results: list[TestResult] = []
    start_run = TestResult.startTestRun
    start_test = TestResult.startTest

    def note(result: TestResult) -> None:
        if not any(known is result for known in results):
            results.append(result)

    def started_run(self: TestResult, *args: Any) -> None:
        note(self)
        start_run(self, *args)

    def started_test(self: TestResult, *args: Any) -> None:
        note(self)
        start_test(self, *args)

    TestResult.startTestRun = started_run  # type: ignore[method-assign]
    TestResult.startTest = started_test  # type: ignore[assignment,method-assign]
    return results


def failure(results: list[TestResult]) -> str | None:
    """Why these runs are no pass; None if they are, or there were none."""
    for result in results:
        if not result.wasSuccessful():
            failed = [*result.failures, *result.errors]
            return failed[0][1] if failed else "a test that was expected to fail did not"
    if results and not any(result.testsRun for result in results):
        return "no test was run"
    return None
