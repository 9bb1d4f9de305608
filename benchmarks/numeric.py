"""CPU time of one numeric verdict, its growth on hostile text, and Math-Verify beside it.

    python -m benchmarks.numeric                  # Math-Verify is measured too where it is installed
    python -m benchmarks.numeric --install-peer   # installs it into .bench/venv first

Responses are the 1,200 model responses of `data/gsm8k_model_solutions.jsonl`, brought to 300 and 4,000
characters with other responses in front. Both sides run in process, one after the other for each kind of
response, and the best of several passes over each chunk of responses counts: the machine may be shared.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.machine import machine

ROOT = Path(__file__).parents[1]
PEER = ROOT / ".bench" / "venv"
RESULT = ROOT / "benchmarks" / "results" / "numeric.json"
SIZES = (300, 4_000)
PASSES = 15
CHUNK = 50
PEER_RESPONSES = 300
REPEATED = {
    "unclosed boxes": r"\boxed{",
    "boxes": r"\boxed{1}",
    "boxes of words": r"\boxed{a} ",
    "braces": "{",
    "commas": "1,",
    "list": "1, ",
    "digits": "1",
    "fences": "```\n",
    "backslashes": "\\",
    "words with digits": "H2 ",
    "lines with digits": "H2\n",
    "fractions": r"\frac{1}{",
    "spaces": " ",
    "digits and letters": "a1",
    "zero-width characters": "1\u200b",
    "escaped braces": r"\boxed{\}",
    "pairs of braces": "{}",
    "lone digits": "1 ",
    "other digits": "\u0664 ",
    "units": r"\text{a} cm ",
}
LARGEST = 4 * 2**20
"""Bytes of the largest response that the service takes."""

Sample = tuple[str, str, bool]
"""A response, its ground truth and whether a person called it correct."""


def load_samples() -> list[Sample]:
    """The labelled responses of the handed data."""
    shared = Path(os.environ.get("GOLDCHECK_SHARED", ROOT.parent / "shared"))
    samples = []
    for line in (shared / "data" / "gsm8k_model_solutions.jsonl").read_text(encoding="utf-8").splitlines():
        problem = json.loads(line)
        gold = problem["ground_truth"].rpartition("A:")[2].strip()
        responses = [value for value in problem.values() if isinstance(value, dict)]
        samples += [(response["solution"], gold, response["is_correct"]) for response in responses]
    return samples


def resized(samples: list[Sample], size: int, *, boxed: bool) -> list[Sample]:
    """The same samples with responses of `size` characters; `boxed` puts the final answer in a box."""
    chance = random.Random(size)
    texts = [sample[0] for sample in samples]
    result = []
    for response, gold, correct in samples:
        text = response
        if boxed:
            text += f"\nThe answer is $\\boxed{{{response.rpartition('A:')[2].strip()}}}$."
        while len(text) < size:
            text = f"{chance.choice(texts)}\n\n{text}"
        result.append((text[-size:], gold, correct))
    return result


def ours() -> Callable[[Sample], bool]:
    """One verdict of the verifier, as the service asks for it."""
    from verifiers.numeric import NumericOptions, NumericVerifier
    from verifiers.types import Task, Verdict

    verifier, options = NumericVerifier(), NumericOptions()

    def judge(sample: Sample) -> bool:
        outcome = verifier.judge(Task(sample[0], sample[1], options))
        return isinstance(outcome, Verdict) and outcome.correct

    return judge


def peers() -> Callable[[Sample], bool]:
    """One verdict of Math-Verify with its default settings."""
    from math_verify import parse, verify

    def judge(sample: Sample) -> bool:
        return bool(verify(parse(f"${sample[1]}$"), parse(sample[0])))

    return judge


def measure(judge: Callable[[Sample], bool], samples: list[Sample], passes: int) -> dict[str, float]:
    """Microseconds of CPU per verdict and the share of verdicts that equal the label.

    Mean over all samples; of each chunk of them the best pass counts.
    """
    total, agreed = 0.0, 0
    for chunk in (samples[at : at + CHUNK] for at in range(0, len(samples), CHUNK)):
        best = float("inf")
        for _ in range(passes):
            start = time.process_time()
            verdicts = [judge(sample) for sample in chunk]
            best = min(best, time.process_time() - start)
        total += best
        agreed += sum(verdict == sample[2] for verdict, sample in zip(verdicts, chunk, strict=True))
    return {"us": total / len(samples) * 1e6, "agreement": agreed / len(samples)}


def measure_peer(samples: list[Sample]) -> dict[str, float] | None:
    """The same for Math-Verify, in its own environment; None where it is not installed."""
    if not (PEER / "bin" / "python").exists():
        return None
    run = subprocess.run(
        [PEER / "bin" / "python", __file__, "--as-peer"],
        input=json.dumps(samples[:: max(1, len(samples) // PEER_RESPONSES)]),
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, float] = json.loads(run.stdout)
    return result


def install_peer() -> None:
    """Math-Verify 0.9 in `.bench/venv`."""
    subprocess.run([sys.executable, "-m", "venv", PEER], check=True)
    subprocess.run([PEER / "bin" / "pip", "install", "--quiet", "math-verify==0.9.*"], check=True)


def growth(judge: Callable[[Sample], bool]) -> dict[str, dict[str, float]]:
    """Milliseconds for 50,000 to 200,000 repetitions and the largest ratio of one doubling; and for 4 MiB of
    them, alone or as the content of a box, whichever takes longer.
    """
    rows = {}
    for kind, piece in REPEATED.items():
        times = [
            min(_cpu_ms(judge, (piece * count, "7", False)) for _ in range(5))
            for count in (50_000, 100_000, 200_000)
        ]
        rows[kind] = {
            "ms_50k": times[0],
            "ms_100k": times[1],
            "ms_200k": times[2],
            "doubling": max(times[1] / times[0], times[2] / times[1]),
            "ms_4mib": max(
                min(_cpu_ms(judge, (response, "7", False)) for _ in range(5)) for response in _largest(piece)
            ),
        }
    return rows


def _largest(piece: str) -> list[str]:
    text = piece * ((LARGEST - 16) // len(piece.encode()))
    return [text, f"\\boxed{{1 {text}}}", f"\\boxed{{{text}"]


def _cpu_ms(judge: Callable[[Sample], bool], sample: Sample) -> float:
    start = time.process_time()
    judge(sample)
    return (time.process_time() - start) * 1e3


def main() -> None:
    """Measure, print, and write the result beside this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--install-peer", action="store_true", help="install Math-Verify into .bench/venv")
    parser.add_argument("--as-peer", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.as_peer:
        print(json.dumps(measure(peers(), json.load(sys.stdin), passes=2)))
        return
    if arguments.install_peer:
        install_peer()
    judge, samples = ours(), load_samples()
    result: dict[str, Any] = {"machine": machine(), "verdict": [], "growth": growth(judge)}
    print(
        f"{'response':>24} {'goldcheck us':>13} {'agree':>6} {'Math-Verify us':>15} {'agree':>6} {'ratio':>7}"
    )
    for size in SIZES:
        for boxed in (False, True):
            texts = resized(samples, size, boxed=boxed)
            mine, theirs = measure(judge, texts, PASSES), measure_peer(texts)
            name = f"{size} characters, {'box' if boxed else 'last number'}"
            row = f"{name:>24} {mine['us']:13.1f} {mine['agreement']:6.3f}"
            if theirs:
                row += f" {theirs['us']:15.1f} {theirs['agreement']:6.3f} {theirs['us'] / mine['us']:6.0f}x"
            print(row)
            result["verdict"].append({"response": name, "goldcheck": mine, "math_verify": theirs})
    print(
        f"\n{'repeated':>24} {'50,000 ms':>10} {'100,000 ms':>11} {'200,000 ms':>11} {'largest doubling':>17}"
        f" {'4 MiB ms':>9}"
    )
    for kind, row in result["growth"].items():
        print(
            f"{kind:>24} {row['ms_50k']:10.3f} {row['ms_100k']:11.3f} {row['ms_200k']:11.3f}"
            f" {row['doubling']:16.2f}x {row['ms_4mib']:9.3f}"
        )
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
