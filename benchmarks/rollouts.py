"""Cost of the rollout mathematics against plain NumPy on the same arrays, and the memory of
log-probabilities.

    python -m benchmarks.rollouts

Both sides of a ratio run in turn, in CPU time of the process, and the best of several passes counts: the
machine may be shared. Memory is the growth of the peak resident size in a process of its own; with PyTorch
installed (the environment of `make test-arrays`) bfloat16 is measured too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.machine import machine

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # an environment without the project installed will do

import rollouts as r  # noqa: E402 - after the path

RESULT = ROOT / "benchmarks" / "results" / "rollouts.json"
PASSES = 7
LOGITS = (2, 512, 151_936)  # batch, length, vocabulary: 311 MB in two bytes each
STOP_CALLS = 20_000


def cpu_ratio(ours: Callable[[], object], baseline: Callable[[], object]) -> dict[str, float]:
    """Best CPU milliseconds of both, and ours over the baseline."""
    best = [float("inf")] * 2
    for _ in range(PASSES):
        for side, call in enumerate((ours, baseline)):
            start = time.process_time()
            call()
            best[side] = min(best[side], time.process_time() - start)
    return {"ms": best[0] * 1e3, "baseline_ms": best[1] * 1e3, "ratio": best[0] / best[1]}


def group_advantages() -> dict[str, dict[str, float]]:
    """A million responses in groups of eight, against finding the groups and counting them."""
    rng = np.random.default_rng(0)
    size = 1_000_000
    rewards = (rng.random(size) < 0.3).astype(np.float64)
    kinds = {
        "neighbours": np.repeat(np.arange(size // 8), 8),
        "shuffled": rng.permutation(np.repeat(np.arange(size // 8), 8)),
        "sparse 64-bit": rng.permutation(np.repeat(rng.integers(0, 2**62, size // 8), 8)),
    }

    def unique_and_bincount(ids: np.ndarray) -> object:
        _, index = np.unique(ids, return_inverse=True)
        return np.bincount(index)

    return {
        f"group_advantages, 1,000,000 responses, {kind} ids": cpu_ratio(
            lambda ids=ids: r.group_advantages(rewards, ids), lambda ids=ids: unique_and_bincount(ids)
        )
        for kind, ids in kinds.items()
    }


def token_weights() -> dict[str, dict[str, float]]:
    """Padded weights of 8,192 responses of up to 4,096 tokens, against filling an array of that size."""
    rng = np.random.default_rng(0)
    shape = (8_192, 4_096)
    rewards = rng.random(shape[0])
    mask = np.arange(shape[1]) < rng.integers(1, shape[1] + 1, shape[0])[:, None]
    calls = {
        "original_grpo": lambda: r.padded_original_grpo_token_weights(rewards, mask),
        "dr_grpo": lambda: r.padded_dr_grpo_token_weights(rewards, mask, fixed_length=4_096),
        "dapo": lambda: r.padded_dapo_token_weights(rewards, mask),
    }
    return {
        f"padded_{name}_token_weights, 8,192 x 4,096": cpu_ratio(call, lambda: np.full(shape, 1.0))
        for name, call in calls.items()
    }


def validation() -> dict[str, dict[str, float]]:
    """A batch of 8,192 x 2,048, against one `isfinite` pass over the same arrays."""
    rng = np.random.default_rng(0)
    size, width = 8_192, 2_048
    mask = np.arange(width) < rng.integers(1, width + 1, size)[:, None]
    logprobs = np.where(mask, -1.0, np.nan)
    batch = {
        "response_ids": rng.integers(0, 150_000, mask.shape),
        "response_mask": mask,
        "old_logprobs": logprobs,
        "ref_logprobs": logprobs.copy(),
        "sequence_rewards": rng.random(size),
        "terminated": np.ones(size, dtype=bool),
        "truncated": np.zeros(size, dtype=bool),
        "stop_reason": ["eos"] * size,
    }
    arrays = [value for value in batch.values() if isinstance(value, np.ndarray)]
    return {
        "validate_rollout_batch, 8,192 x 2,048": cpu_ratio(
            lambda: r.validate_rollout_batch(batch), lambda: [np.isfinite(array).all() for array in arrays]
        )
    }


def stop_reasons() -> dict[str, float]:
    """Microseconds of CPU per stop reason."""
    text = "x" * 1_000
    calls: dict[str, Callable[[], object]] = {
        "unset": r.resolve_stop,
        "vllm stop": lambda: r.resolve_stop("stop", engine="vllm", matched=None, num_tokens=41, text=text),
        "text only": lambda: r.resolve_stop(text=text, num_tokens=41, max_tokens=1_024),
    }
    result = {}
    for name, call in calls.items():
        best = float("inf")
        for _ in range(PASSES):
            start = time.process_time()
            for _ in range(STOP_CALLS):
                call()
            best = min(best, time.process_time() - start)
        result[name] = best / STOP_CALLS * 1e6
    return result


def peak_bytes() -> int:
    """The largest resident size of this process since `reset_peak_bytes`."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def reset_peak_bytes() -> int:
    """Let the peak count from here; the resident size now."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak_bytes()


def log_prob_memory(library: str) -> dict[str, float]:
    """Peak resident growth of `causal_response_logprobs`, as shares of its two-byte logits."""
    batch, length, vocabulary = LOGITS
    ids = np.random.default_rng(0).integers(0, vocabulary, (batch, length))
    mask = np.ones((batch, length), dtype=bool)
    if library == "torch":
        import torch

        torch.set_num_threads(1)
        logits = torch.empty(LOGITS, dtype=torch.bfloat16).normal_().requires_grad_()
        ids, mask = torch.asarray(ids), torch.asarray(mask)
        warm = torch.zeros((1, 2, 8)).requires_grad_()
    else:
        logits = np.empty(LOGITS, dtype=np.float16)
        for row in logits.reshape(-1, vocabulary):
            row[:] = np.linspace(-5, 5, vocabulary, dtype=np.float32)
        warm = np.zeros((1, 2, 8))
    logits_bytes = 2 * batch * length * vocabulary
    # Code paths and thread pools are in memory before the measurement starts.
    selected, _ = r.causal_response_logprobs(warm, ids[:1, :2] % 8, mask[:1, :2])
    if library == "torch":
        selected.sum().backward()
    before, start = reset_peak_bytes(), time.process_time()
    selected, _ = r.causal_response_logprobs(logits, ids, mask)
    result = {"logits_mb": logits_bytes / 1e6, "share": (peak_bytes() - before) / logits_bytes}
    result["s"] = time.process_time() - start
    if library == "torch":
        before = reset_peak_bytes()
        selected.sum().backward()
        result["backward_share_beyond_gradient"] = (peak_bytes() - before) / logits_bytes - 1.0
    return result


def main() -> None:
    """Measure, print, and write the result beside this file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--memory", choices=["numpy", "torch"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.memory:
        print(json.dumps(log_prob_memory(arguments.memory)))
        return
    ratios = group_advantages() | token_weights() | validation()
    for name, row in ratios.items():
        print(f"{name:>66} {row['ms']:8.1f} ms  {row['baseline_ms']:8.1f} ms  {row['ratio']:5.2f}x")
    stops = stop_reasons()
    for name, microseconds in stops.items():
        print(f"{'resolve_stop, ' + name:>66} {microseconds:8.2f} us")
    memory = {}
    for library in ("numpy", "torch"):
        if find_spec(library):
            run = subprocess.run(
                [sys.executable, __file__, "--memory", library],
                # What is freed goes back at once, so that the resident size is what is in use.
                env=os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536"},
                capture_output=True,
                text=True,
                check=True,
            )
            memory[library] = json.loads(run.stdout)
            for key, share in memory[library].items():
                if "share" in key:
                    name = f"causal_response_logprobs, two-byte logits, {library}, {key}"
                    print(f"{name:>100} {share:6.1%}")
    RESULT.parent.mkdir(exist_ok=True)
    result = {
        "machine": machine() | {"numpy": np.__version__},
        "ratios": ratios,
        "resolve_stop_us": stops,
        "log_prob_memory": memory,
    }
    RESULT.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
