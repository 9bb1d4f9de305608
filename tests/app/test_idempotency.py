"""`Idempotency-Key`: counted once, the first reply again, another body refused."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import httpx
import pytest
from serving import Client, Live, encode, listening, post, serving
from test_streaming import until

from app.claims import Claims
from app.gate import ROOM

BODY = {"verifier": "exact", "response": "a", "ground_truth": "a"}


def counted(client: Client) -> float:
    """Verdicts in the metrics."""
    lines = client.get("/metrics").text.splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("goldcheck_verdicts_total"))


@pytest.mark.parametrize("verifier", ["exact", "pooled"])
def test_a_repeat_gets_the_first_reply_and_is_not_counted(tmp_path: Path, verifier: str) -> None:
    """Byte for byte, id included."""
    with serving(tmp_path) as client:
        body = BODY | {"verifier": verifier}
        first, second = (post(client, body, idempotency_key="k") for _ in range(2))
        other = post(client, body, idempotency_key="k2")
        plain = post(client, body)
        assert first.content == second.content
        assert len({first.json()["id"], other.json()["id"], plain.json()["id"]}) == 3
        assert counted(client) == 3


def test_a_batch_may_be_repeated_in_either_shape(client: Client) -> None:
    """The first reply is kept item by item, so JSON and NDJSON agree."""
    body = {
        "items": [{"response": str(n), "ground_truth": "1"} for n in range(3)],
        "defaults": {"verifier": "exact"},
    }
    whole = post(client, body, "/v1/verify/batch", idempotency_key="shape")
    lines = post(client, body, "/v1/verify/batch", idempotency_key="shape", accept="application/x-ndjson")
    ids = [result["id"] for result in whole.json()["results"]]
    assert [line.split('"id":"')[1][:36] for line in lines.text.splitlines()[:-1]] == ids


def test_the_same_key_with_another_body_is_refused(client: Client) -> None:
    """Another body, and another path."""
    assert post(client, BODY, idempotency_key="mismatch").status_code == 200
    for body, path in ((BODY | {"response": "b"}, "/v1/verify"), ({"items": [BODY]}, "/v1/verify/batch")):
        reply = post(client, body, path, idempotency_key="mismatch")
        assert (reply.status_code, reply.json()["code"]) == (422, "idempotency_mismatch")


def test_a_refused_request_does_not_take_the_key(client: Client) -> None:
    """What was not accepted may be sent again, mended."""
    assert post(client, BODY | {"response": 1}, idempotency_key="mended").status_code == 422
    assert post(client, BODY, idempotency_key="mended").status_code == 200


def test_another_worker_does_not_count_it_again(tmp_path: Path) -> None:
    """Workers share the keys, not the replies."""
    with serving(tmp_path) as one, serving(tmp_path) as other:
        first = post(one, BODY, idempotency_key="shared").json()
        second = post(other, BODY, idempotency_key="shared").json()
        assert first["id"] != second["id"]
        assert first["reward"] == second["reward"] == 1.0
        assert (counted(one), counted(other)) == (1, 0)
        reply = post(other, BODY | {"response": "b"}, idempotency_key="shared")
        assert reply.json()["code"] == "idempotency_mismatch"


def test_a_worker_without_the_shared_file_still_answers(tmp_path: Path) -> None:
    """The keys are then its own."""
    with serving(tmp_path) as client:
        (tmp_path / "idempotency.db").write_bytes(b"garbage" * 1000)
        first, second = (post(client, BODY, idempotency_key="k") for _ in range(2))
        assert first.content == second.content
    (tmp_path / "idempotency.db").write_bytes(b"garbage" * 1000)
    for leftover in tmp_path.glob("idempotency.db-*"):
        leftover.unlink()
    with serving(tmp_path) as client:
        assert post(client, BODY, idempotency_key="k3").status_code == 200


async def keyed(live: Live, client: httpx.AsyncClient) -> httpx.Response:
    """A request with a key that waits for the pooled verifier."""
    body = encode({"verifier": "pooled", "response": "slow", "ground_truth": "slow"})
    return await client.post("/v1/verify", content=body, headers={"idempotency-key": "k"})


async def test_a_repeat_while_the_first_is_in_flight_waits_for_it(live: Live) -> None:
    """Both get the one reply."""
    gate = live.pooled.hold("slow")
    async with live.client() as client:
        first = asyncio.ensure_future(keyed(live, client))
        await until(lambda: live.pooled.calls)
        second = asyncio.ensure_future(keyed(live, client))
        await asyncio.sleep(0.05)
        gate.set()
        assert (await first).content == (await second).content
    assert (live.service.admission.items, live.service.admission.bytes) == (0, 0)


async def test_a_keyed_request_goes_on_when_its_caller_leaves(tmp_path: Path) -> None:
    """The retry finds the work done, even what had not started."""
    async with listening(tmp_path, concurrency=1) as live:
        busy = live.pooled.hold("busy")
        async with live.client() as client:
            # As many requests as there is room for, however little each brings.
            others = [
                asyncio.ensure_future(
                    client.post(
                        "/v1/verify/pooled", content=encode({"response": "busy", "ground_truth": str(n)})
                    )
                )
                for n in range(ROOM)
            ]
            await until(lambda: len(live.pooled.calls) == ROOM)
            first = asyncio.ensure_future(keyed(live, client))
            await until(lambda: live.service.admission.items == ROOM + 1)
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
            await asyncio.sleep(0.05)
            assert "slow" not in live.pooled.calls
            busy.set()
            await until(lambda: "slow" in live.pooled.calls)
            assert (await keyed(live, client)).json()["reward"] == 1.0
            await asyncio.gather(*others)
        assert live.pooled.calls.count("slow") == 1


def test_claims_end_with_their_window(tmp_path: Path) -> None:
    """A key is new again when its time is over, and after its release."""
    claims = Claims(tmp_path / "claims.db", 60)
    other = Claims(tmp_path / "claims.db", 60)
    assert claims.claim(b"k", b"1") == "first"
    assert other.claim(b"k", b"1") == "repeat"
    assert other.claim(b"k", b"2") == "mismatch"
    other.release(b"k")
    assert claims.claim(b"k", b"2") == "first"
    with sqlite3.connect(tmp_path / "claims.db") as connection:
        connection.execute("UPDATE claim SET until = 1")
    connection.close()
    assert claims.claim(b"k", b"3") == "first"
    assert claims.claim(b"k", b"3") == "repeat"
    claims.close()
    other.close()


def test_replies_are_kept_within_bounds(tmp_path: Path) -> None:
    """Beyond the bound on memory the oldest reply is forgotten; its key still is not counted again."""
    with serving(tmp_path, idempotency_bytes=2000) as client:
        replies = [post(client, BODY, idempotency_key=f"k{n}").json()["id"] for n in range(6)]
        again = [post(client, BODY, idempotency_key=f"k{n}").json()["id"] for n in (5, 0)]
        assert again[0] == replies[5]
        assert again[1] != replies[0]
        assert counted(client) == 6
