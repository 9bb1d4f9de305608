"""Server CPU of numeric verdicts over HTTP, on real responses. `python -m benchmarks.service`.

All figures are CPU time of the server's whole process tree, read from the kernel around each round, the
verdict log's writing included; every request is different. Rounds of what is compared take turns, and the
median counts. Prints tables and writes `benchmarks/results/service.json`.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.machine import machine
from benchmarks.numeric import ROOT, SIZES, Sample, load_samples, resized

RESULT = ROOT / "benchmarks" / "results" / "service.json"
BATCH = 1_024
ROUNDS = 7
BATCHES_PER_ROUND = 12
SINGLES_PER_ROUND = 500
BATCH_SIZES = (16, 64, 256, 1_024, 4_096, 16_384)
PASSED_BYTES = 1 << 30
SETTLE_S = 0.4
"""Long enough for the verdict log to have written what it was given."""


class Server:
    """A server process and one connection to it."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process = process
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def post(self, path: str, body: bytes) -> None:
        """Send one request and read the whole reply."""
        self.connection.request("POST", path, body, {"Content-Type": "application/json"})
        reply = self.connection.getresponse()
        content = reply.read()
        if reply.status != 200:
            raise RuntimeError(f"{path}: {reply.status} {content[:300]!r}")

    def pids(self) -> list[int]:
        """The server and all its descendants."""
        found, left = [], [self.process.pid]
        while left:
            found.append(left.pop())
            for task in Path(f"/proc/{found[-1]}/task").glob("*/children"):
                left += [int(pid) for pid in task.read_text().split()]
        return found

    def cpu_s(self) -> float:
        """CPU time of the tree so far, children that ended included: those to the tick, the rest exactly."""
        total = 0.0
        for pid in self.pids():
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ended = sum(int(field) for field in fields[13:15]) / os.sysconf("SC_CLK_TCK")
            total += time.clock_gettime(_cpu_clock(pid)) + ended
        return total

    def resident_mb(self) -> float:
        """Resident memory of the tree, shared pages counted once (PSS)."""
        kilobytes = 0
        for pid in self.pids():
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            kilobytes += int(rollup.partition("\nPss:")[2].split()[0])
        return kilobytes / 1024


def _cpu_clock(pid: int) -> int:
    """The clock of a process's CPU time, by the kernel's own numbers (clock_getcpuclockid(3))."""
    return ~pid << 3 | 2


@contextlib.contextmanager
def serving(*command: str, **settings: str) -> Iterator[Server]:
    """A server on a free port; `{port}` in the command is replaced."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GOLDCHECK_")}
        environment |= {"GOLDCHECK_DATA_DIR": folder} | settings
        words = [word.format(port=port) for word in command]
        with Path(folder, "server.log").open("wb") as log:
            process = subprocess.Popen(words, cwd=ROOT, env=environment, stdout=log, stderr=log)
        server = Server(process, port)
        try:
            _wait_until_ready(server)
            yield server
        finally:
            server.connection.close()
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def _wait_until_ready(server: Server) -> None:
    for _ in range(1500):
        with contextlib.suppress(OSError):
            server.connection.request("GET", "/readyz")
            reply = server.connection.getresponse()
            reply.read()
            if reply.status in {200, 404}:  # the empty route has no such path
                return
        server.connection.close()
        time.sleep(0.02)
    raise RuntimeError("the server did not become ready")


def goldcheck(**settings: str) -> contextlib.AbstractContextManager[Server]:
    """The service as `make serve` starts it."""
    return serving(str(Path(sys.executable).with_name("goldcheck")), "serve", "--port", "{port}", **settings)


class Bodies:
    """Request bodies over the samples, no two alike."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self._samples = samples
        self._made = 0

    def item(self) -> dict[str, object]:
        """One body of `/v1/verify`; its response starts with a number of its own."""
        response, gold, _ = self._samples[self._made % len(self._samples)]
        self._made += 1
        mark = f"{self._made:09d} "
        return {"verifier": "numeric", "response": mark + response[len(mark) :], "ground_truth": gold}

    def single(self) -> bytes:
        """One body of `/v1/verify`."""
        return json.dumps(self.item()).encode()

    def batch(self, count: int) -> bytes:
        """One body of `/v1/verify/batch`."""
        return json.dumps({"items": [self.item() for _ in range(count)]}).encode()


def cost_us(server: Server, path: str, bodies: Sequence[bytes], verdicts: int) -> float:
    """Microseconds of server CPU per verdict for these requests."""
    before = server.cpu_s()
    for body in bodies:
        server.post(path, body)
    time.sleep(SETTLE_S)
    return (server.cpu_s() - before) / verdicts * 1e6


def batch_costs(samples: list[Sample]) -> list[dict[str, object]]:
    """CPU per verdict in batches of 1,024, with the default budget of payloads and with all of them kept."""
    rows = []
    with goldcheck() as default, goldcheck(GOLDCHECK_AUDIT_BUDGET="100000") as everything:
        for size in SIZES:
            bodies = Bodies(resized(samples, size, boxed=False))
            costs: dict[str, list[float]] = {"sampled": [], "all": []}
            for _ in range(ROUNDS):
                for kept, server in (("sampled", default), ("all", everything)):
                    requests = [bodies.batch(BATCH) for _ in range(BATCHES_PER_ROUND)]
                    cost = cost_us(server, "/v1/verify/batch", requests, BATCH * BATCHES_PER_ROUND)
                    costs[kept].append(cost)
            for kept, values in costs.items():
                rows.append({"characters": size, "payloads": kept, "us": statistics.median(values)})
    return rows


def single_costs(samples: list[Sample]) -> dict[str, float]:
    """CPU per request with one item, beside a FastAPI route with the same models that does nothing."""
    bodies = Bodies(resized(samples, SIZES[0], boxed=False))
    costs: dict[str, list[float]] = {"service": [], "empty": []}
    empty_route = serving(
        *(sys.executable, "-m", "uvicorn", "benchmarks.empty_route:app", "--port", "{port}"),
        *("--loop", "uvloop", "--http", "httptools", "--log-level", "warning", "--no-access-log"),
    )
    with goldcheck() as service, empty_route as empty:
        for _ in range(ROUNDS):
            for name, server in (("service", service), ("empty", empty)):
                requests = [bodies.single() for _ in range(SINGLES_PER_ROUND)]
                costs[name].append(cost_us(server, "/v1/verify", requests, SINGLES_PER_ROUND))
    medians = {name: statistics.median(values) for name, values in costs.items()}
    return medians | {"ratio": medians["service"] / medians["empty"]}


def linearity(samples: list[Sample]) -> list[dict[str, float]]:
    """CPU per verdict by the size of the batch, at 300 characters."""
    bodies = Bodies(resized(samples, SIZES[0], boxed=False))
    costs: dict[int, list[float]] = {size: [] for size in BATCH_SIZES}
    with goldcheck() as server:
        for _ in range(3):
            for size in BATCH_SIZES:
                requests = [bodies.batch(size) for _ in range(max(1, 8_192 // size))]
                costs[size].append(cost_us(server, "/v1/verify/batch", requests, size * len(requests)))
    return [{"items": size, "us": statistics.median(values)} for size, values in costs.items()]


def memory(samples: list[Sample]) -> dict[str, float]:
    """Resident memory while 1 GiB of responses of 4,000 characters passes through in batches."""
    bodies = Bodies(resized(samples, SIZES[1], boxed=False))
    sent, seen = 0, []
    with goldcheck(GOLDCHECK_AUDIT_BUDGET="100000") as server:
        idle = server.resident_mb()
        while sent < PASSED_BYTES:
            body = bodies.batch(BATCH)
            server.post("/v1/verify/batch", body)
            sent += len(body)
            seen.append(server.resident_mb())
    half = len(seen) // 2
    return {
        "idle_mb": idle,
        "first_half_max_mb": max(seen[:half]),
        "second_half_max_mb": max(seen[half:]),
        "sent_mb": sent / 2**20,
    }


def main() -> None:
    """Measure, print, and write the result beside this file."""
    samples = load_samples()
    result: dict[str, object] = {"machine": machine()}
    result["batch"] = rows = batch_costs(samples)
    print(f"{'characters':>10} {'payloads kept':>14} {'us per verdict':>15}")
    for row in rows:
        print(f"{row['characters']:>10} {row['payloads']:>14} {row['us']:15.1f}")
    result["single"] = single = single_costs(samples)
    print(
        f"\none item per request: {single['service']:.0f} us, empty route {single['empty']:.0f} us,"
        f" ratio {single['ratio']:.2f}"
    )
    result["linearity"] = sizes = linearity(samples)
    print(f"\n{'items in a batch':>16} {'us per verdict':>15}")
    for entry in sizes:
        print(f"{entry['items']:>16} {entry['us']:15.1f}")
    result["memory"] = used = memory(samples)
    print(
        f"\nresident: {used['idle_mb']:.0f} MB idle, at most {used['first_half_max_mb']:.0f} MB in the first"
        f" half of {used['sent_mb']:.0f} MB, {used['second_half_max_mb']:.0f} MB in the second"
    )
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
