"""`reward_calibrated` over HTTP: not there unless asked for, and never a change to the reward."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from serving import Client, batch, post, serving, verify


def test_off_by_default(client: Client) -> None:
    """Replies have no such field."""
    assert not {"reward_calibrated", "calibration"} & set(verify(client))


def test_rewards_are_calibrated_once_there_are_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Null with a reason before; then the share of right answers in the stratum, beside the same reward."""
    monkeypatch.setattr("app.calibrator.REFRESH_S", 0.05)
    settings: dict[str, Any] = {"audit_budget": 1_000, "audit_durability": "commit", "audit_calibrated": True}
    with serving(tmp_path, **settings) as client:
        document = client.get("/openapi.json").json()
        model = Draft202012Validator({**document, "$ref": "#/components/schemas/VerifyReply"})
        first = verify(client)
        model.validate(first)
        assert first["reward"] == 1.0
        assert first["reward_calibrated"] is None
        assert first["calibration"]["reason"] in {"not_ready", "too_few_labels"}
        items = [{"ground_truth": "a", "response": "a" if n < 110 else "b"} for n in range(220)]
        replies = batch(client, items, defaults={"verifier": "exact", "prompt": None})
        for n, reply in enumerate(replies):
            answer = "correct" if n < 99 else "incorrect"
            path = f"/v1/audit/verdicts/{reply['id']}/labels"
            assert post(client, {"answer": answer, "labeler": "ada"}, path).status_code == 201
        deadline = time.monotonic() + 20
        while (reply := verify(client))["reward_calibrated"] is None:
            assert time.monotonic() < deadline, reply
            time.sleep(0.05)
        model.validate(reply)
        assert (reply["reward"], reply["reward_calibrated"]) == (1.0, pytest.approx(0.9))
        rejected = verify(client, response="b")
        assert (rejected["reward"], rejected["reward_calibrated"]) == (0.0, 0.0)
        unscorable = verify(client, ground_truth=None)
        assert unscorable["reward_calibrated"] is None
        assert unscorable["calibration"]["reason"] == "unscorable"
