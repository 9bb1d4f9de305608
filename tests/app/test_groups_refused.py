"""`/v1/groups`: bad calls with their pointers, limits, repeats, and what is stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from serving import Client, post, serving
from test_groups_metrics import until_open

GROUPS, BATCH = "/v1/groups", "/v1/groups/batch"
GROUP: dict[str, Any] = {"verifier": "exact", "ground_truth": "a", "responses": [{"response": "a"}]}


def refused(client: Client, body: object, path: str = GROUPS) -> tuple[str, list[str]]:
    """The code of a refusal, and the places at fault."""
    reply = post(client, body, path)
    assert 400 <= reply.status_code < 500, reply.text
    problem = reply.json()
    return problem["code"], [error["pointer"] for error in problem.get("errors", [])]


@pytest.mark.parametrize(
    ("fields", "pointers"),
    [
        ({"responses": None}, ["/responses"]),
        ({"responses": []}, ["/responses"]),
        ({"responses": ["a"]}, ["/responses/0"]),
        ({"responses": [{"response": "a"}, {}]}, ["/responses/1/response"]),
        ({"responses": [{"response": None}]}, ["/responses/0/response"]),
        ({"responses": [{"response": "a", "x": 1}]}, ["/responses/0/x"]),
        ({"responses": [{"response": "a", "rollout_id": 3}]}, ["/responses/0/rollout_id"]),
        ({"responses": [{"response": "a", "stop": {"num_tokens": -1}}]}, ["/responses/0/stop/num_tokens"]),
        ({"responses": [{"response": "a", "stop": {"reason": {}}}]}, ["/responses/0/stop/reason/type"]),
        ({"response": "a"}, ["/response"]),
        ({"stop": {}}, ["/stop"]),
        ({"verifier": 3}, ["/verifier"]),
        ({"verifier": None}, ["/verifier"]),
        ({"options": {"weight": 2}}, ["/options/weight"]),
        ({"group": []}, ["/group"]),
        ({"group": {"method": "ppo"}}, ["/group/method"]),
        ({"group": {"baseline": "all"}}, ["/group/baseline"]),
        ({"group": {"eps": -1e-9}}, ["/group/eps"]),
        ({"group": {"eps": "0"}}, ["/group/eps"]),
        ({"group": {"pass_at_k": 4}}, ["/group/pass_at_k"]),
        ({"group": {"pass_at_k": [1, 0, 2.5, True]}}, [f"/group/pass_at_k/{n}" for n in (1, 2, 3)]),
        ({"group": {"pass_at_k": list(range(1, 66))}}, ["/group/pass_at_k"]),
        ({"group": {"x": 1}}, ["/group/x"]),
        ({"meta": {"run": 3}}, ["/meta/run"]),
        ({"shaping": {"overlong": {"max_length": 9, "cache_length": 3}}}, ["/responses/0/stop/num_tokens"]),
        (
            {
                "shaping": {"overlong": {"max_length": 3, "cache_length": 9}},
                "responses": [{"response": "a", "stop": {"num_tokens": 1}}] * 2,
            },
            ["/shaping/overlong/cache_length"],
        ),
        ({"group": {"eps": -1}, "responses": [{"response": 1}]}, ["/group/eps", "/responses/0/response"]),
    ],
)
def test_bad_groups(client: Client, fields: dict[str, Any], pointers: list[str]) -> None:
    """Each place at fault is named once, alone and in a batch."""
    body = GROUP | fields
    code, found = refused(client, body)
    assert code == "invalid_request"
    assert sorted(found) == sorted(pointers)
    _, found = refused(client, {"groups": [GROUP, body]}, BATCH)
    assert sorted(found) == sorted("/groups/1" + pointer for pointer in pointers)


def test_bodies_that_are_no_group(client: Client) -> None:
    """Not an object, no verifier of this name, defaults that hold more than defaults."""
    assert refused(client, []) == ("invalid_request", [""])
    assert refused(client, None, BATCH) == ("invalid_request", [""])
    assert refused(client, GROUP | {"verifier": "x"}) == ("unknown_verifier", ["/verifier"])
    assert refused(client, {"groups": 3}, BATCH) == ("invalid_request", ["/groups"])
    assert refused(client, {"groups": [3]}, BATCH) == ("invalid_request", ["/groups/0"])
    defaults = {"groups": [], "defaults": {"responses": []}}
    assert refused(client, defaults, BATCH) == ("invalid_request", ["/defaults/responses"])
    assert client.post(GROUPS, content=b'{"group": {"eps": NaN}}').json()["code"] == "malformed_json"
    assert refused(client, {"groups": [{"responses": [{"response": "a"}]}]}, BATCH)[1] == [
        "/groups/0/verifier"
    ]


def test_a_bad_group_refuses_the_whole_batch(tmp_path: Path) -> None:
    """Nothing of it is scored or counted, neither members nor groups."""
    with serving(tmp_path, audit_durability="commit") as client:
        bad = GROUP | {"responses": [{"response": "a"}, {"response": 1}]}
        code, found = refused(client, {"groups": [GROUP] * 3 + [bad]}, BATCH)
        assert (code, found) == ("invalid_request", ["/groups/3/responses/1/response"])
        until_open(client)
        assert client.get("/v1/groups/metrics").json()["total"]["groups"] == 0
        assert "goldcheck_verdicts_total{" not in client.get("/metrics").text


def test_limits(tmp_path: Path) -> None:
    """Responses of all groups together are bounded like items, and each in its size."""
    with serving(tmp_path, max_items=4, max_response_bytes=10) as client:
        two = GROUP | {"responses": [{"response": "a"}] * 2}
        assert post(client, {"groups": [two, two]}, BATCH).status_code == 200
        assert refused(client, {"groups": [two, two, GROUP]}, BATCH)[0] == "too_many_items"
        assert refused(client, {"groups": [{}] * 5}, BATCH)[0] == "too_many_items"
        assert refused(client, GROUP | {"responses": [{"response": "a"}] * 5})[0] == "too_many_items"
        long = GROUP | {"responses": [{"response": "a"}, {"response": "a" * 11}]}
        assert refused(client, long) == ("response_too_large", ["/responses/1/response"])


def test_a_repeat_is_counted_once(tmp_path: Path) -> None:
    """It gets the first reply, byte for byte; its members and its group are not counted again."""
    with serving(tmp_path, audit_durability="commit") as client:
        until_open(client)
        for path, body in ((GROUPS, GROUP), (BATCH, {"groups": [GROUP]})):
            first, second = (post(client, body, path, idempotency_key=f"k {path}") for _ in range(2))
            assert first.content == second.content
        assert client.get("/v1/groups/metrics").json()["total"]["groups"] == 2
        assert post(client, GROUP | {"ground_truth": "b"}, idempotency_key=f"k {GROUPS}").status_code == 422


def test_members_are_stored_together(tmp_path: Path) -> None:
    """With the group's id, one of their own making where none was sent, and their own rollout ids."""
    with serving(tmp_path, audit_durability="commit", audit_budget=100_000) as client:
        until_open(client)
        members = [{"response": "a", "rollout_id": "r-0"}, {"response": "b"}]
        named = GROUP | {"responses": members, "prompt": "why?", "meta": {"group_id": "g1", "run": "named"}}
        plain = GROUP | {"responses": members, "meta": {"run": "plain"}}
        ids = [[one["id"] for one in post(client, body, GROUPS).json()["results"]] for body in (named, plain)]
        for run, sent in zip(("named", "plain"), ids, strict=True):
            items = client.get(f"/v1/audit/verdicts?run={run}").json()["items"][::-1]
            assert [item["id"] for item in items] == sent
            assert [item["rollout_id"] for item in items] == ["r-0", None]
            found = {item["group_id"] for item in items}
            assert found == {"g1"} if run == "named" else len(found) == 1 and None not in found
        stored = client.get(f"/v1/audit/verdicts/{ids[0][0]}").json()
        assert stored["prompt"] == "why?"
        assert "advantage" not in stored["reply"]
