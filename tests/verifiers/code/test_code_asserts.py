"""Assert tests (RULES R15): what crosses between test code and program, and what never passes."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from outcomes import Judge, fenced, reason_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

FOLDER = Path(__file__).with_name("assert_cases")


class Case(NamedTuple):
    """A program and its test code, written in the files of `assert_cases`."""

    name: str
    expected: str
    sections: dict[str, str]


def read(kind: str) -> list[Case]:
    """Cases of a file: `## name -> expected`, then `### setup of ENTRY_POINT`, `### program`, `### tests`."""
    text = "\n" + FOLDER.joinpath(f"{kind}.txt").read_text("utf-8")
    return [_read_one(part) for part in text.split("\n## ")[1:]]


def _read_one(text: str) -> Case:
    head, _, body = text.partition("\n")
    name, _, expected = head.partition(" -> ")
    parts = [part.partition("\n") for part in f"\n{body}".split("\n### ")[1:]]
    return Case(name, expected, {title: content for title, _, content in parts})


async def reason(case: Case, judge: Judge) -> str:
    """What the verifier says of a case."""
    tests: dict[str, object] = {"type": "asserts", "code": case.sections["tests"]}
    for title, text in case.sections.items():
        if title.startswith("setup"):
            tests["setup"] = text
            tests["entry_point"] = title.removeprefix("setup").removeprefix(" of ") or None
    return reason_of(await judge(fenced(case.sections["program"]), tests, limits={"time_s": 5}))


def ids(cases: list[Case]) -> list[str]:
    """Their names, for pytest."""
    return [case.name for case in cases]


CARRIED, REFUSED = read("carried"), read("refused")
TOLD = read("failed") + read("unscorable")


@pytest.mark.parametrize("case", CARRIED, ids=ids(CARRIED))
async def test_carried_as_in_plain_python(case: Case, judge: Judge) -> None:
    """Test code sees the program's objects as it would in one process."""
    assert await reason(case, judge) == "passed"


@pytest.mark.parametrize("case", REFUSED, ids=ids(REFUSED))
async def test_tricks_never_pass_and_buy_no_null(case: Case, judge: Judge) -> None:
    """A program that works on the test instead of the task is judged, and judged incorrect."""
    told = await reason(case, judge)
    assert told in {"wrong_answer", "runtime_error"}


@pytest.mark.parametrize("case", TOLD, ids=ids(TOLD))
async def test_faults_are_told_apart(case: Case, judge: Judge) -> None:
    """What the program lacks is its error; what the test code lacks makes it unscorable."""
    assert await reason(case, judge) == case.expected
