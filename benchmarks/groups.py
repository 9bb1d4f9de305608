"""Groups and rollout validation over HTTP. `python -m benchmarks.groups`.

CPU of the server's whole process tree, and its peak memory above what it had, as a multiple of the body. CPU
is set beside `json.loads` of the same bytes (JSON), or `numpy.load` and the same checks in process (npz).
Prints a table and writes `benchmarks/results/groups.json`.
"""

from __future__ import annotations

import io
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import machine
from benchmarks.numeric import ROOT, load_samples
from benchmarks.service import SETTLE_S, Server, goldcheck
from rollouts import validate_rollout_batch

RESULT = ROOT / "benchmarks" / "results" / "groups.json"
ROUNDS = 7
GROUP = 16
GROUPS = 64
MB = 1e6

Row = dict[str, Any]


def main() -> None:
    """Measure, print, write."""
    rows = [validation(), validation_of_arrays(), *groups()]
    for row in rows:
        print(", ".join(f"{name} {value}" for name, value in row.items()))
    RESULT.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=2) + "\n", encoding="utf-8")


def rollout_batch(size: int, width: int) -> dict[str, np.ndarray[Any, Any]]:
    """A valid batch of random rollouts, in the types that trainers use."""
    rng = np.random.default_rng(0)
    mask = np.arange(width) < rng.integers(width // 2, width + 1, size=(size, 1))
    logprobs = [np.where(mask, -rng.random(mask.shape), np.nan).astype(np.float32) for _ in range(2)]
    return {
        "response_ids": rng.integers(0, 150_000, mask.shape).astype(np.int32),
        "response_mask": mask,
        "old_logprobs": logprobs[0],
        "ref_logprobs": logprobs[1],
        "sequence_rewards": rng.random(size).astype(np.float32),
        "terminated": mask[:, -1],
        "truncated": ~mask[:, -1],
        "stop_reason": np.array(["eos"] * size),
    }


def validation() -> Row:
    """16 x 2,048 as JSON."""
    batch = rollout_batch(16, 2_048)
    lists = {
        name: [[None if x != x else x for x in row] for row in value.tolist()]
        if value.ndim == 2
        else value.tolist()
        for name, value in batch.items()
    }
    body = json.dumps({"batch": lists}).encode()
    return measured(
        "validate 16 x 2048 as JSON", body, "application/json", "json.loads", lambda: json.loads(body)
    )


def validation_of_arrays() -> Row:
    """2,048 x 2,048 as npz."""
    batch = rollout_batch(2_048, 2_048)
    file = io.BytesIO()
    np.savez(file, **batch)  # type: ignore[arg-type]

    def in_process() -> None:
        with np.load(io.BytesIO(file.getvalue())) as archive:
            validate_rollout_batch(dict(archive))

    return measured(
        "validate 2048 x 2048 as npz", file.getvalue(), "application/x-npz", "in_process", in_process
    )


def measured(
    name: str, body: bytes, media_type: str, reference_name: str, reference: Callable[[], object]
) -> Row:
    """One body, several times, on a server of its own."""
    with goldcheck() as server:
        post(server, "/v1/rollouts/validate", b'{"batch": {}}', "application/json")  # loads NumPy
        peak_bytes = peak_growth_bytes(server, body, media_type)
        cpu_s, references = [], []
        for _ in range(ROUNDS):
            began = time.process_time()
            reference()
            references.append(time.process_time() - began)
            before = server.cpu_s()
            for _ in range(10 if len(body) < 10 * MB else 1):
                post(server, "/v1/rollouts/validate", body, media_type)
            cpu_s.append((server.cpu_s() - before) / (10 if len(body) < 10 * MB else 1))
    cpu, once = statistics.median(cpu_s), statistics.median(references)
    return {
        "what": name,
        "body_mb": round(len(body) / MB, 2),
        "cpu_ms": round(cpu * 1e3, 1),
        "cpu_ns_per_byte": round(cpu / len(body) * 1e9, 1),
        f"cpu_times_{reference_name}": round(cpu / once, 2),
        "peak_memory_times_body": round(peak_bytes / len(body), 2),
    }


def peak_growth_bytes(server: Server, body: bytes, media_type: str) -> int:
    """How far the resident size of the server goes beyond what it was, while one body is served."""
    process = Path(f"/proc/{server.process.pid}")
    (process / "clear_refs").write_text("5", encoding="utf-8")  # the peak starts anew
    before = _kilobytes(process, "VmRSS:")
    post(server, "/v1/rollouts/validate", body, media_type)
    return (_kilobytes(process, "VmHWM:") - before) * 1024


def _kilobytes(process: Path, name: str) -> int:
    return int((process / "status").read_text(encoding="utf-8").partition(name)[2].split()[0])


def post(server: Server, path: str, body: bytes, media_type: str) -> None:
    """Send one request and read the whole reply."""
    server.connection.request("POST", path, body, {"Content-Type": media_type})
    reply = server.connection.getresponse()
    content = reply.read()
    if reply.status != 200:
        raise RuntimeError(f"{path}: {reply.status} {content[:300]!r}")


def groups() -> list[Row]:
    """Numeric groups of 16 in a batch, beside the same responses as a batch of items; one group alone."""
    samples = load_samples()[: GROUP * GROUPS]
    responses = [response for response, *_ in samples]
    shared = {"verifier": "numeric", "options": {"detail": "summary"}}
    members = [responses[start : start + GROUP] for start in range(0, len(responses), GROUP)]
    as_groups = {
        "groups": [
            {"ground_truth": "42", "responses": [{"response": text} for text in texts]} for texts in members
        ],
        "defaults": shared,
    }
    as_items = {"items": [{"ground_truth": "42", "response": text} for text in responses], "defaults": shared}
    one = {**shared, **as_groups["groups"][0]}  # type: ignore[index]
    with goldcheck() as server:
        costs: dict[str, list[float]] = {"groups": [], "items": [], "one": []}
        for round_number in range(ROUNDS + 1):
            for name, path, body, times in (
                ("groups", "/v1/groups/batch", as_groups, 4),
                ("items", "/v1/verify/batch", as_items, 4),
                ("one", "/v1/groups", one, 100),
            ):
                content = json.dumps(body).encode()
                before = server.cpu_s()
                for _ in range(times):
                    post(server, path, content, "application/json")
                time.sleep(SETTLE_S)
                if round_number:
                    costs[name].append((server.cpu_s() - before) / times)
    grouped, items, alone = (statistics.median(costs[name]) for name in ("groups", "items", "one"))
    return [
        {
            "what": f"{len(members)} groups of {GROUP} in a batch",
            "cpu_us_per_response": round(grouped / len(responses) * 1e6, 1),
            "times_verify_batch": round(grouped / items, 2),
        },
        {
            "what": f"one group of {GROUP}",
            "cpu_us_per_response": round(alone / GROUP * 1e6, 1),
            "cpu_ms_per_request": round(alone * 1e3, 2),
        },
    ]


if __name__ == "__main__":
    main()
