"""The `math` verifier beside its peers: verdicts on the handed cases and Math-Verify's suite, and time.

    python -m benchmarks.answers                      # peers are measured too where they are installed
    python -m benchmarks.answers --install-peers      # installs Math-Verify 0.9 into .bench/venv first
    python -m benchmarks.answers --suite DIRECTORY    # with a checkout of Math-Verify, its own test pairs too
    python -m benchmarks.answers --url http://127.0.0.1:8000    # time over HTTP against a running service

Each peer runs in a process of its own and is killed after 10 s. Times of single verdicts are CPU time, for
the verifier ("in the worker") and for the peers, in one run, so that their ratio means something on a shared
machine; through the pool and over HTTP they are wall time.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import select
import statistics
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
from rich.progress import track

from benchmarks.machine import machine

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "verifiers" / "math")]

from math_pairs import Pair, pairs  # noqa: E402

from verifiers.math import MathOptions, MathVerifier  # noqa: E402
from verifiers.math.judge import judge  # noqa: E402
from verifiers.types import Task, Unscorable  # noqa: E402

PEER_PYTHON = ROOT / ".bench" / "venv" / "bin" / "python"
PEERS = ("math-verify", "prm800k-style")
RESULT = ROOT / "benchmarks" / "results" / "answers.json"
KILL_S = 10.0
PAIRS = 2_000
PEER_PAIRS = 400
BOMBS = (
    "5^{5^{5^{5^5}}}", "(((100!)!)!)!", "\\sum_{k=1}^{10^9} \\frac{1}{k}", "(1+x+y+z+w)^{500}",
    "(" * 5_000 + "1" + ")" * 5_000,
    "+".join(f"\\sqrt{{{n}}}" for n in range(2, 400)), "\\frac{1}{" * 3_000 + "x" + "}" * 3_000,
    "9" * 20_000, "x" + "!" * 5_000,
    "\\int_0^1 \\sin(e^{e^{x^{9}}})\\,dx", "\\lfloor" * 2_000, "1," * 9_000,
    "+".join(f"x_{{{n}}}^{{{n}}}" for n in range(2_000)),
)  # fmt: skip


def percentiles(times: Sequence[float]) -> dict[str, float]:
    """p50, p99 and the largest, in ms."""
    ordered = sorted(times)
    at = {
        name: ordered[min(len(ordered) - 1, int(len(ordered) * q))]
        for name, q in (("p50", 0.5), ("p99", 0.99))
    }
    return {name: round(value * 1e3, 3) for name, value in {**at, "max": ordered[-1]}.items()}


class Peer:
    """A peer in a process of its own, started again after it is killed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._process: subprocess.Popen[str] | None = None

    def judge(self, response: str, truth: str) -> tuple[bool | None, float]:
        """(verdict, seconds); a verdict of None when it was killed."""
        if self._process is None:
            self._process = subprocess.Popen(
                [str(PEER_PYTHON), str(ROOT / "benchmarks" / "answer_peers.py"), "judge", self.name],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            )  # fmt: skip
            self.judge("\\boxed{1}", "1")
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps([response, truth]) + "\n")
        self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], KILL_S)[0]:
            self.close()
            return None, KILL_S
        line = self._process.stdout.readline()
        if not line:
            self.close()
            return None, KILL_S
        correct, seconds = json.loads(line)
        return correct, seconds

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def ours(response: str, truth: str, options: MathOptions | None = None) -> tuple[bool | None, float]:
    """(verdict, CPU seconds); None when the ground truth is refused."""
    begin = time.process_time()
    outcome = judge(response, truth, options or MathOptions())
    took = time.process_time() - begin
    return (None if isinstance(outcome, Unscorable) else outcome.correct), took


def handed(peers: list[Peer]) -> dict[str, Any]:
    """Accuracy on the unambiguous handed cases of `math`, and the ambiguous ones by id."""
    shared = Path(os.environ.get("GOLDCHECK_SHARED", ROOT.parent / "shared"))
    lines = (shared / "cases" / "answers" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["verifier"] == "math"]
    plain = [case for case in cases if "ambiguous" not in case["tags"]]
    report: dict[str, Any] = {"unambiguous": len(plain)}
    for name, run in [("goldcheck", ours), *((peer.name, peer.judge) for peer in peers)]:
        results = [(case, *run(case["response"], case["ground_truth"])) for case in track(plain, name)]
        report[name] = {
            "right": sum(correct == bool(case["expected"]) for case, correct, _ in results),
            "false_positives": sorted(
                case["id"] for case, correct, _ in results if correct and not case["expected"]
            ),
            "false_negatives": sorted(
                case["id"] for case, correct, _ in results if not correct and case["expected"]
            ),
            "over_5_s": sum(seconds > 5 for _, _, seconds in results),
            "ms": percentiles([seconds for _, _, seconds in results]),
        }
    tags = Counter(tag for case in plain for tag in case["tags"])
    right = Counter(
        tag for case in plain if ours(case["response"], case["ground_truth"])[0] == bool(case["expected"])
        for tag in case["tags"]
    )  # fmt: skip
    report["by_kind"] = {tag: f"{right[tag]}/{count}" for tag, count in sorted(tags.items())}
    report["ambiguous"] = {
        case["id"]: {"marked": case["expected"], "decided": ours(case["response"], case["ground_truth"])[0]}
        for case in cases
        if case not in plain
    }
    return report


def without_delimiters(gold: str) -> str:
    """`gold` without one outer pair of math delimiters."""
    for opening, closing in (("$$", "$$"), ("$", "$"), ("\\[", "\\]"), ("\\(", "\\)")):
        inner = gold[len(opening) : len(gold) - len(closing)]
        if gold.startswith(opening) and gold.endswith(closing) and inner and closing not in inner:
            return inner
    return gold


def excluded(row: dict[str, Any], exclusions: list[dict[str, Any]]) -> str | None:
    """Why a pair of the suite does not carry over; None when it does."""
    for entry in exclusions:
        keys = {"gold", "pred", "test", "expected"} & set(entry)
        if all(row[key] == entry[key] for key in keys) and row["pred"].startswith(
            entry.get("pred_start", "")
        ):
            return str(entry["reason"])
    return None


def suite(directory: Path) -> dict[str, Any]:
    """Math-Verify's own test pairs. A decimal gold is compared as rounded, as that suite does."""
    command = [str(PEER_PYTHON), str(ROOT / "benchmarks" / "answer_peers.py"), "suite", str(directory)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    exclusions = json.loads((ROOT / "benchmarks" / "answer_exclusions.json").read_text())
    kept, wrong, reasons = 0, [], []
    for row in rows:
        gold = without_delimiters(row["gold"])
        if (reason := excluded(row, exclusions)) is not None:
            reasons.append(reason)
            continue
        kept += 1
        decimal = gold.replace(".", "", 1).isdigit() and "." in gold
        correct, _ = ours(row["pred"], gold, MathOptions(decimals="rounded" if decimal else "exact"))
        if bool(correct) != bool(row["expected"]):
            wrong.append({"gold": gold[-120:], "pred": row["pred"][-120:], "expected": row["expected"]})
    return {
        "pairs": len(rows),
        "excluded": len(reasons),
        "kept": kept,
        "right": kept - len(wrong),
        "wrong": wrong,
        "percent": round(100 * (kept - len(wrong)) / kept, 1),
        "reasons": dict(Counter(reasons)),
    }


def generated(peers: list[Peer], seed: int) -> dict[str, Any]:
    """Verdicts and time on generated pairs of every kind; the ground truths are all new."""
    made = list(pairs(PAIRS, seed))
    ours("\\boxed{1}", "1")
    results = [ours(_boxed(pair), pair.truth) for pair in track(made, "generated")]
    report: dict[str, Any] = {
        "pairs": len(made),
        "seed": seed,
        "right": sum(correct == pair.equal for pair, (correct, _) in zip(made, results, strict=True)),
        "ms_in_worker": percentiles([seconds for _, seconds in results]),
    }
    few = made[:PEER_PAIRS]
    mine = statistics.median(seconds for _, seconds in results[:PEER_PAIRS])
    for peer in peers:
        theirs = [peer.judge(_boxed(pair), pair.truth) for pair in track(few, peer.name)]
        report[peer.name] = {
            "pairs": len(few),
            "right": sum(correct == pair.equal for pair, (correct, _) in zip(few, theirs, strict=True)),
            "ms": percentiles([seconds for _, seconds in theirs]),
            "median_ratio": round(statistics.median(seconds for _, seconds in theirs) / mine, 1),
        }
    return report


def _boxed(pair: Pair) -> str:
    return f"So the answer is $\\boxed{{{pair.answer}}}$."


async def pooled(seed: int) -> dict[str, Any]:
    """Through the worker processes: one item at a time, many at once, and hostile ones."""
    verifier = MathVerifier(workers=2)
    await verifier.start()
    made = list(pairs(PAIRS, seed + 1))
    options = MathOptions()
    one = []
    for pair in made[: PAIRS // 4]:
        begin = time.perf_counter()
        await verifier.judge_async(Task(_boxed(pair), pair.truth, options))
        one.append(time.perf_counter() - begin)
    begin = time.perf_counter()
    await asyncio.gather(*(verifier.judge_async(Task(_boxed(pair), pair.truth, options)) for pair in made))
    together = (time.perf_counter() - begin) / len(made)
    hostile = {}
    for bomb in BOMBS:
        begin = time.perf_counter()
        outcome = await verifier.judge_async(Task(f"\\boxed{{{bomb}}}", "27", options))
        reason = outcome.kind if isinstance(outcome, Unscorable) else outcome.reason
        hostile[bomb[:30]] = {"ms": round((time.perf_counter() - begin) * 1e3, 1), "reason": reason}
    await verifier.close()
    return {
        "one_at_a_time_ms": percentiles(one),
        "many_at_once_us": round(together * 1e6, 1),
        "hostile": hostile,
    }


def over_http(url: str, seed: int) -> dict[str, Any]:
    """One request after the other against a running service, and the same clients' requests for nothing.

    Two clients take turns: httpx, and the standard library's, which costs a fraction. `verify` is what the
    service says it took from the worker's queue to its reply.
    """
    times: dict[str, list[float]] = defaultdict(list)
    address = httpx.URL(url)
    lean = http.client.HTTPConnection(address.host, address.port or 80, timeout=30)

    def post(body: dict[str, str]) -> None:
        lean.request("POST", "/v1/verify", json.dumps(body), {"Content-Type": "application/json"})
        lean.getresponse().read()

    def get() -> None:
        lean.request("GET", "/healthz")
        lean.getresponse().read()

    def timed(name: str, run: Callable[[], Any]) -> Any:
        begin = time.perf_counter()
        result = run()
        times[name].append(time.perf_counter() - begin)
        return result

    with httpx.Client(base_url=url, timeout=30) as client:
        for pair in pairs(PAIRS // 2, seed + 2):
            body = {"verifier": "math", "response": _boxed(pair), "ground_truth": pair.truth}
            reply = timed("math", lambda body=body: client.post("/v1/verify", json=body))
            times["verify"].append(reply.json()["timing"]["verify_ms"] / 1e3)
            timed("healthz", lambda: client.get("/healthz").raise_for_status())
            body["response"] += " "  # not the verdict that is kept
            timed("math_lean_client", lambda body=body: post(body))
            timed("healthz_lean_client", get)
    lean.close()
    return {name: percentiles(found) for name, found in times.items()}


def main() -> None:
    """Measure, print and store."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--install-peers", action="store_true")
    arguments.add_argument("--suite", type=Path)
    arguments.add_argument("--url")
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    if given.install_peers:
        subprocess.run([sys.executable, "-m", "venv", str(PEER_PYTHON.parents[1])], check=True)
        packages = ["math-verify[antlr4_11_0]==0.9.0", "pytest"]
        subprocess.run([str(PEER_PYTHON), "-m", "pip", "install", "-q", *packages], check=True)
    sys.setrecursionlimit(5_000)
    peers = [Peer(name) for name in PEERS] if PEER_PYTHON.exists() else []
    report = {"machine": machine(), "generated": generated(peers, given.seed), "handed": handed(peers)}
    report["pool"] = asyncio.run(pooled(given.seed))
    if given.suite:
        report["math_verify_suite"] = suite(given.suite)
    if given.url:
        report["http_ms"] = over_http(given.url, given.seed)
    for peer in peers:
        peer.close()
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
