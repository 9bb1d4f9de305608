"""What the container costs a trainer: the same batch through it and through the bare service, in turn."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import statistics
import subprocess
import time
import urllib.request
from pathlib import Path

from containers import SHIPPED, docker

ROOT = Path(__file__).resolve().parents[2]


def batch_ratio(image: str, work: Path) -> dict[str, float]:
    """Time of a trainer's batch through the container, as shipped, over that through the bare service."""
    bodies = {"numbers": numeric_batch(1_024), "programs": code_batch(64)}
    ports = {"container": free_port(), "bare": free_port()}
    published = ("--publish", f"127.0.0.1:{ports['container']}:8000")
    container = docker("run", "--detach", *SHIPPED, *published, image).strip()
    serve = [str(ROOT / ".venv/bin/goldcheck"), "serve", "--port", str(ports["bare"])]
    environment = {**os.environ, "GOLDCHECK_DATA_DIR": str(work / "bare")}
    bare = subprocess.Popen(serve, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    taken: dict[str, list[float]] = {}
    try:
        for port in ports.values():
            await_port(port)
        for round_ in range(8):
            for name, body in bodies.items():
                for where, port in ports.items():
                    began = time.monotonic()
                    post(port, body.replace("ROUND", f"{round_}{where}"))
                    taken.setdefault(f"{name}, {where}", []).append(time.monotonic() - began)
    finally:
        docker("rm", "--force", "--volumes", container, check=False)
        bare.terminate()
        bare.wait()
    medians = {what: statistics.median(seconds[1:]) for what, seconds in taken.items()}
    return {name: round(medians[f"{name}, container"] / medians[f"{name}, bare"], 2) for name in bodies}


def numeric_batch(count: int) -> str:
    """A body with `count` responses of about 300 characters."""
    work = "Adding the parts one after the other and checking the sum again by counting. " * 4
    items = [
        {"verifier": "numeric", "response": f"ROUND {work} so \\boxed{{{n}}}", "ground_truth": str(n)}
        for n in range(count)
    ]
    return json.dumps({"items": items})


def code_batch(count: int) -> str:
    """A body with `count` programs, each with one test."""
    tests = {"type": "stdin_stdout", "cases": [{"stdin": "1 2\n", "stdout": "3\n"}]}
    program = "# ROUND {}\nprint(sum(map(int, input().split())))"
    items = [{"verifier": "code", "response": program.format(n), "ground_truth": tests} for n in range(count)]
    return json.dumps({"items": items})


def free_port() -> int:
    """A port of loopback that nobody uses."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def await_port(port: int) -> None:
    """Wait until the service there is ready."""
    for _ in range(300):
        with (
            contextlib.suppress(OSError),
            urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5),
        ):
            return
        time.sleep(0.2)
    raise RuntimeError(f"nothing is ready on port {port}")


def post(port: int, body: str) -> None:
    """Send a batch and read the whole reply; every item must have earned its reward."""
    url, kind = f"http://127.0.0.1:{port}/v1/verify/batch", {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, body.encode(), kind), timeout=120) as reply:
        results = json.load(reply)["results"]
    wrong = [result for result in results if result["reward"] != 1.0]
    if wrong:
        raise RuntimeError(f"{len(wrong)} of {len(results)} items without a reward: {wrong[0]}")
