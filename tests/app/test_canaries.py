"""Canaries: no honest response reaches them, and nothing else about them differs."""

from __future__ import annotations

import json
import random
from importlib import resources
from typing import Any

import httpx
import pytest
from serving import Client, verify

from app.canaries import NoCanaryError, make_canary
from verifiers.math.judge import judge
from verifiers.math.options import MathOptions
from verifiers.math.verifier import as_text


def rewarded(verifier: str) -> list[dict[str, Any]]:
    """Requests of a verifier's table of cases that earn the full reward."""
    cases = json.loads(resources.files(f"verifiers.{verifier}").joinpath("cases.json").read_text("utf-8"))
    return [case["request"] for case in cases["cases"] if case["expect"].get("reward") == 1.0]


@pytest.mark.parametrize("verifier", ["math", "numeric"])
def test_right_answers_do_not_reach_a_canary(verifier: str) -> None:
    """Whatever the kind of its ground truth, what earned the reward is judged, and rejected."""
    reached = []
    requests = rewarded(verifier)
    for number, request in enumerate(requests):
        try:
            made = make_canary(verifier, request["ground_truth"], random.Random(number))
        except NoCanaryError:
            continue
        options = MathOptions(**request.get("options", {})) if verifier == "math" else MathOptions()
        verdict = judge(request["response"], as_text(made.ground_truth), options)
        if getattr(verdict, "correct", None) is not False:
            reached.append((request, made.ground_truth, verdict))
    assert not reached
    assert len(requests) > 50


@pytest.mark.parametrize("how", ["flip", "contradict"])
def test_right_programs_do_not_reach_a_canary(service: str, how: Any) -> None:
    """Programs that passed every test are judged by the changed tests, and fail them."""
    items = []
    for number, request in enumerate(rewarded("code")):
        if request.get("options", {}).get("scoring") == "fraction":
            continue
        try:
            made = make_canary("code", request["ground_truth"], random.Random(number), how)
        except NoCanaryError:
            continue
        items.append({**request, "ground_truth": made.ground_truth, "meta": {"canary": True}})
    assert len(items) > 10
    results = httpx.post(f"{service}/v1/verify/batch", json={"items": items}, timeout=300).json()["results"]
    assert [(reply["status"], reply["reward"]) for reply in results] == [("scored", 0.0)] * len(items)


@pytest.mark.parametrize(
    "ground_truth",
    [None, {}, [], {"type": "asserts", "code": "f(3)"}, {"type": "stdin_stdout", "cases": []}],
)
def test_what_cannot_be_judged_makes_no_canary(ground_truth: Any) -> None:
    """A ground truth that is unusable already is refused, with a reason."""
    with pytest.raises(NoCanaryError):
        make_canary("code" if isinstance(ground_truth, dict) else "math", ground_truth, random.Random(1))


@pytest.mark.parametrize(("response", "reward"), [("a", 1.0), ("b", 0.0)])
def test_nothing_else_differs(client: Client, response: str, reward: float) -> None:
    """The reward is the verifier's, include_in_loss is false, and the rest is as without the word."""
    replies = []
    for canary in (False, True):
        reply = verify(client, response=response, meta={"canary": canary, "data_source": "s"})
        for measured in ("id", "timing", "audit"):
            del reply[measured]
        replies.append(reply)
    plain, canary_reply = replies
    assert canary_reply.pop("include_in_loss") is False
    assert plain.pop("include_in_loss") is True
    assert plain == canary_reply
    assert plain["reward"] == reward
