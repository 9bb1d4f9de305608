"""A real service whose stored verdicts get their second opinions and late flags."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import httpx
import pytest

STDIN = {
    "type": "stdin_stdout",
    "cases": [{"stdin": f"{n} {n + 7}\n", "stdout": f"{2 * n + 7}\n"} for n in range(4)],
}
CALLS = {
    "type": "function_call",
    "entry_point": "double",
    "cases": [{"args": [n], "expected": 2 * n} for n in (3, 11, 40)],
}
CONSTANT = {"type": "stdin_stdout", "cases": [{"stdin": f"{n}\n", "stdout": "YES\n"} for n in range(3)]}
HIDDEN = {**STDIN, "hidden_cases": [{"stdin": "1000 1\n", "stdout": "1001\n"}]}
LARGE = {
    "type": "stdin_stdout",
    "cases": [{"stdin": f"{n}\n", "stdout": f"{n * n}\n"} for n in (123456, 654321)],
}
ASSERTS = {"type": "asserts", "code": "assert double(3) == 6\nassert double(4) == 8", "entry_point": "double"}
TEMPLATE = "We use the well known identity that always holds here, hence \\boxed{7}"


def code(name: str, program: str, truth: dict[str, Any], **rest: Any) -> Any:
    """A case of `code`."""
    return pytest.param(("code", f"```python\n{program}\n```", truth), rest, id=name)


def text(name: str, verifier: str, response: str, truth: str, **rest: Any) -> Any:
    """A case of another verifier."""
    return pytest.param((verifier, response, truth), rest, id=name)


CASES = [
    text("numeric-agrees", "numeric", "\\boxed{0.5}", "1/2", second="agrees", opinions={"math": "agrees"}),
    text("numeric-tolerance", "numeric", "\\boxed{0.3333333}", "1/3", second="unknown"),
    text(
        "numeric-strict", "numeric", "\\boxed{\\sqrt{4}}", "2", second="accepts", opinions={"math": "accepts"}
    ),
    text("numeric-wrong", "numeric", "\\boxed{3}", "2", second="agrees"),
    text(
        "math-agrees", "math", "\\boxed{(x+1)^2}", "x^2+2x+1", second="agrees", opinions={"sympy": "agrees"}
    ),
    text("math-wrong", "math", "\\boxed{(x+1)^2}", "x^2+2x+2", second="agrees"),
    text("math-other-kind", "math", "\\boxed{(1,2]\\cup(3,4]}", "(1,2]\\cup(3,4]", second="unknown"),
    text("choice-has-none", "choice", "\\boxed{A}", "A", second="unknown", opinions={}),
    text("no-ground-truth", "numeric", "\\boxed{1}", "no number", second="unknown", opinions={}),
    code(
        "right-script",
        "a, b = map(int, input().split())\nprint(a + b)",
        STDIN,
        second="agrees",
        opinions={"shuffled": "agrees", "mutated": "agrees"},
    ),
    code(
        "right-function",
        "def double(n):\n    return 2 * n",
        CALLS,
        second="agrees",
        opinions={"shuffled": "agrees", "mutated": "agrees"},
    ),
    code(
        "right-asserts",
        "def double(n):\n    return 2 * n",
        ASSERTS,
        second="agrees",
        opinions={"rerun": "agrees"},
    ),
    code("wrong-script", "print(input())", STDIN, second="unknown", opinions={}),
    code(
        "hidden-cases",
        "a, b = map(int, input().split())\nprint(min(a + b, 100))",
        HIDDEN,
        second="rejects",
        opinions={"hidden_cases": "rejects", "shuffled": "agrees", "mutated": "agrees"},
        flags={"hidden_cases_failed"},
    ),
    code("constant-script", "input()\nprint('YES')", CONSTANT, second="agrees", flags={"constant_output"}),
    code(
        "never-reads",
        "print('YES')",
        CONSTANT,
        second="agrees",
        flags={"constant_output", "input_never_read"},
    ),
    code(
        "literals",
        "t = {'123456': '15241383936', '654321': '428135971041'}\nprint(t.get(input().strip(), 0))",
        LARGE,
        second="agrees",
        flags={"test_literals"},
    ),
    code(
        "harness",
        "import sys\ndef double(n):\n    sys._getframe()\n    return 2 * n",
        CALLS,
        second="agrees",
        flags={"harness_words"},
    ),
    code(
        "timeout-again",
        "while True: pass",
        STDIN,
        options={"limits": {"time_s": 0.2}},
        second="agrees",
        opinions={"rerun": "agrees"},
        flags={"input_never_read"},
    ),
    code("does-not-parse", "x = " + "(" * 5000, STDIN, second="unknown", opinions={}, flags=set()),
    text("repeated-1", "numeric", TEMPLATE, "1", second="agrees"),
    text("repeated-2", "numeric", TEMPLATE, "2", second="agrees"),
    text("repeated-3", "numeric", TEMPLATE, "3", second="agrees"),
]


pytestmark = pytest.mark.timeout(300)  # all is looked at once, before the first test


class Looked(NamedTuple):
    """A service that has looked at all cases, its database, and its replies by case."""

    client: httpx.Client
    database: sqlite3.Connection
    replies: dict[str, dict[str, Any]]

    @property
    def ids(self) -> dict[str, str]:
        """Of the verdicts, by case."""
        return {name: reply["id"] for name, reply in self.replies.items()}


@pytest.fixture(scope="module")
def looked(
    tmp_path_factory: pytest.TempPathFactory, service_in: Callable[..., AbstractContextManager[str]]
) -> Iterator[Looked]:
    """A service that has looked at the verdicts of all cases."""
    folder = tmp_path_factory.mktemp("auditor")
    settings = {"GOLDCHECK_AUDIT_CPU_SHARE": "1", "GOLDCHECK_AUDIT_DURABILITY": "commit"}
    with service_in(folder, **settings) as url, httpx.Client(base_url=url, timeout=60) as client:
        replies = {}
        for case in CASES:
            verifier, response, truth = case.values[0]
            body = {"verifier": verifier, "response": response, "ground_truth": truth, "prompt": case.id}
            body["options"] = case.values[1].get("options", {})
            reply = client.post("/v1/verify", json=body)
            assert reply.status_code == 200, reply.text
            replies[str(case.id)] = reply.json()
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline:
            items = client.get("/v1/audit/verdicts").json()["items"]
            if all(item["second"] for item in items):
                break
            time.sleep(0.2)
        yield Looked(client, sqlite3.connect(folder / "data" / "goldcheck.db"), replies)


@pytest.mark.parametrize(("case", "expect"), CASES)
def test_what_is_found(looked: Looked, request: pytest.FixtureRequest, case: Any, expect: Any) -> None:
    """Each kind of verdict gets the opinions and flags that it is to get, and no others."""
    verdict_id = looked.ids[request.node.callspec.id]
    stored = looked.client.get(f"/v1/audit/verdicts/{verdict_id}").json()
    query = "SELECT method, outcome FROM second_opinion WHERE verdict_id = ?"
    opinions = dict(looked.database.execute(query, [verdict_id]))
    query = "SELECT flag FROM verdict_flag WHERE late AND verdict_id = ?"
    flags = {flag for (flag,) in looked.database.execute(query, [verdict_id])}
    assert stored["second"] == expect["second"], opinions
    assert opinions == expect.get("opinions", opinions)
    assert flags - {"repeated_across_prompts"} == expect.get("flags", set())


def test_repeats_are_found(looked: Looked) -> None:
    """A response to three prompts is flagged once it has been seen with the third."""
    query = "SELECT verdict_id FROM verdict_flag WHERE flag = 'repeated_across_prompts'"
    found = [verdict_id for (verdict_id,) in looked.database.execute(query)]
    assert len(found) == 1
    assert found[0] in {looked.ids[f"repeated-{n}"] for n in (1, 2, 3)}


def test_a_verdict_is_never_changed(looked: Looked) -> None:
    """Whatever is found, rewards and verdicts stay what was answered."""
    assert len(looked.replies) == len(CASES)
    for name, reply in looked.replies.items():
        stored = looked.client.get(f"/v1/audit/verdicts/{looked.ids[name]}").json()
        assert stored["reply"] == reply
        assert stored["reward"] == reply["reward"]


def test_evidence_is_where_it_says(looked: Looked) -> None:
    """Spans of evidence are code points of the response."""
    for name, words in {"literals": {"'123456'", "'654321'"}, "harness": {"sys._getframe"}}.items():
        query = "SELECT evidence FROM verdict_flag WHERE late AND verdict_id = ?"
        (evidence,) = looked.database.execute(query, [looked.ids[name]]).fetchone()
        response = next(case.values[0][1] for case in CASES if case.id == name)
        shown = {response[start:end] for start, end in json.loads(evidence)}
        assert words <= shown, shown


def test_metrics_count_what_was_found(looked: Looked) -> None:
    """Disagreements by direction, late flags, and nothing left to look at."""
    metrics = looked.client.get("/metrics").text
    assert (
        'goldcheck_disagreements_total{direction="accepts",second="math",verifier="numeric"} 1.0' in metrics
    )
    assert (
        'goldcheck_disagreements_total{direction="rejects",second="hidden_cases",verifier="code"} 1.0'
        in metrics
    )
    assert 'goldcheck_flags_total{flag="test_literals",verifier="code"} 1.0' in metrics
    assert "goldcheck_audit_backlog 0.0" in metrics
