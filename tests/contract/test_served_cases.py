"""The contract as a table: each verifier's cases, replayed against a running service."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

VERIFIERS = ["numeric", "math", "choice", "words", "code"]


def fetch(service: str, path: str) -> Any:
    """Read a path of the service."""
    reply = httpx.get(service + path, timeout=30, trust_env=False)
    assert reply.status_code == 200, reply.text
    return reply.json()


def test_all_verifiers_have_their_cases_replayed(service: str) -> None:
    """This file forgets none."""
    assert [one["name"] for one in fetch(service, "/v1/verifiers")["verifiers"]] == VERIFIERS


@pytest.mark.parametrize("name", VERIFIERS)
def test_served_cases_hold(service: str, name: str) -> None:
    """Every row gets the status, reward and reason that it names."""
    cases = fetch(service, f"/v1/verifiers/{name}/cases")["cases"]
    body = {"items": [case["request"] for case in cases]}
    reply = httpx.post(f"{service}/v1/verify/batch", json=body, timeout=300, trust_env=False)
    assert reply.status_code == 200, reply.text
    wrong = []
    for case, result in zip(cases, reply.json()["results"], strict=True):
        reason = (result["verdict"] or {}).get("reason") or result["failure"]["kind"]
        got = {"status": result["status"], "reward": result["reward"], "reason": reason}
        if got != case["expect"]:
            wrong.append((case["id"], got, case["expect"]))
    assert wrong == []


@pytest.mark.parametrize("name", VERIFIERS)
def test_served_cases_show_every_reason(service: str, name: str) -> None:
    """The table covers what the contract declares, and nothing it does not."""
    contract = fetch(service, f"/v1/verifiers/{name}")
    cases = fetch(service, f"/v1/verifiers/{name}/cases")["cases"]
    scored = {case["expect"]["reason"] for case in cases if case["expect"]["status"] == "scored"}
    hard_to_cause = {"sandbox_violation"}
    assert scored - set(contract["reasons"]) == set()
    assert set(contract["reasons"]) - scored - hard_to_cause == set()
    assert len({case["id"] for case in cases}) == len(cases)
    assert {case["request"]["verifier"] for case in cases} == {name}


@pytest.mark.parametrize("name", VERIFIERS)
def test_contracts_are_whole(service: str, name: str) -> None:
    """Version, schemas, words, range and environment are all there."""
    contract = fetch(service, f"/v1/verifiers/{name}")
    assert contract["contract"].strip()
    assert contract["ground_truth_schema"]
    assert contract["options_schema"]["additionalProperties"] is False
    low, high = contract["reward_range"]
    assert (low, high) == (0.0, 1.0)
    assert contract["environment_values"]
