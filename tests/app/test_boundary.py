"""The one place that turns an unexpected fault of ours into `unscorable / verifier_error`."""

from __future__ import annotations

import ast
import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from doubles import ExactVerifier, PooledExactVerifier
from serving import Client, batch, serving, verify

import app
from verifiers.types import Outcome, Task, Verdict

SECRET = "the text of a response"


class FailingVerifier(ExactVerifier):
    """Fails in the way that the response names."""

    name = "failing"

    def judge(self, task: Task) -> Outcome:
        """Fail, or compare."""
        match task.response:
            case "raise":
                raise RuntimeError(SECRET)
            case "recurse":
                return self.judge(task)
            case "above":
                return Verdict(True, "equal", 1.5)
            case "below":
                return Verdict(True, "equal", -0.1)
            case "nan":
                return Verdict(True, "equal", float("nan"))
            case "surrogate":
                return Verdict(True, "equal", 1.0, {"text": "\ud800"})
            case "object":
                return Verdict(True, "equal", 1.0, {"text": object()})
            case "cycle":
                detail: dict[str, Any] = {}
                detail["self"] = detail
                return Verdict(True, "equal", 1.0, detail)
            case "nothing":
                return None  # type: ignore[return-value]
        return super().judge(task)


class FailingPooledVerifier(PooledExactVerifier):
    """The same, elsewhere."""

    name = "failing_pooled"

    async def judge_async(self, task: Task) -> Outcome:
        """Fail, or compare."""
        return FailingVerifier().judge(task)


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """An application whose verifiers are broken."""
    verifiers = [FailingVerifier(), FailingPooledVerifier()]
    with serving(tmp_path_factory.mktemp("failing"), verifiers) as client:
        yield client


WAYS = ["raise", "recurse", "above", "below", "nan", "surrogate", "object", "cycle", "nothing"]


@pytest.mark.parametrize("verifier", ["failing", "failing_pooled"])
@pytest.mark.parametrize("way", WAYS)
def test_a_broken_verifier_makes_its_item_unscorable(failing: Client, verifier: str, way: str) -> None:
    """Whatever it does wrong, the caller learns that it was the verifier, and gets no reward."""
    body = verify(failing, verifier=verifier, response=way)
    assert body["status"] == "unscorable"
    assert body["reward"] is None
    assert body["failure"]["kind"] == "verifier_error"
    assert body["audit"]["stratum"] == "unscorable/verifier_error"


@pytest.mark.parametrize("verifier", ["failing", "failing_pooled"])
def test_other_items_of_the_batch_are_scored(failing: Client, verifier: str) -> None:
    """One fault is one item's."""
    results = batch(
        failing,
        [{"response": way} for way in ("a", *WAYS, "b")],
        defaults={"verifier": verifier, "ground_truth": "a"},
    )
    assert [result["reward"] for result in results] == [1.0, *[None] * len(WAYS), 0.0]


def test_faults_are_logged_with_their_traceback_and_counted(
    failing: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log says where it happened and never what the response said."""
    stream = io.StringIO()
    handlers = [one for one in logging.getLogger().handlers if type(one).__module__ == "app.logs"]
    monkeypatch.setattr(handlers[-1], "stream", stream)
    verify(failing, verifier="failing", response="raise")
    (line,) = [
        one for one in map(json.loads, stream.getvalue().splitlines()) if one["event"] == "verifier failed"
    ]
    assert line["error"] == "RuntimeError"
    assert "in judge" in line["traceback"]
    assert line["request_id"]
    assert SECRET not in stream.getvalue()
    metrics = failing.get("/metrics").text
    assert 'reason="verifier_error",verdict="unscorable",verifier="failing"' in metrics


def test_only_the_boundaries_catch_everything() -> None:
    """Broad handlers hide faults: one for requests, one for work that nobody waits for."""
    root = Path(app.__file__).parent
    found = [
        str(source.relative_to(root))
        for source in root.rglob("*.py")
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id == "Exception"))
    ]
    assert sorted(found) == ["boundary.py", "scoring.py"]
