"""Metrics of one process, and of several that share a folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import prometheus_client
import pytest
from serving import serving, verify

from app.metrics import CONTENT_TYPE, Metrics

ROOT = Path(__file__).parents[2]
WORKER = """
import multiprocessing, sys
from pathlib import Path
from app.metrics import Metrics

def work(folder, n, told, go):
    metrics = Metrics(Path(folder), "1.0.0", audit_queue_capacity=10)
    metrics.count_verdicts({("numeric", "correct", "within_tolerance"): n})
    metrics.observe_durations("numeric", [1e-5] * n)
    metrics.recorded("accept/plain", "sampled", n)
    metrics.queued(n)
    told.put(None)
    go.wait()
    told.put(metrics.render().decode())

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    told, go = context.Queue(), [context.Event(), context.Event()]
    workers = [context.Process(target=work, args=(sys.argv[1], n, told, go[i])) for i, n in enumerate((3, 4))]
    for worker in workers:
        worker.start()
    for _ in workers:
        told.get()
    for event, worker in zip(go, workers):
        event.set()
        print(told.get())
        print("=====")
        worker.join()
"""


def run_workers(folder: Path) -> list[dict[str, float]]:
    """Two workers that count 3 and 4: what the first shows while both live, then the second alone."""
    environment = {k: v for k, v in os.environ.items() if k != "PROMETHEUS_MULTIPROC_DIR"}
    script = folder / "worker.py"
    script.write_text(WORKER)
    done = subprocess.run(
        [sys.executable, str(script), str(folder)],
        capture_output=True,
        text=True,
        check=True,
        env=environment | {"PYTHONPATH": str(ROOT)},
        timeout=60,
    )
    return [values(text) for text in done.stdout.split("=====")[:2]]


def values(text: str) -> dict[str, float]:
    """Samples by name and labels."""
    return {
        name: float(value)
        for name, value in re.findall(r"^(goldcheck_[^ ]+(?:\{.*\})?) (.+)$", text, re.MULTILINE)
    }


def test_two_processes_are_summed(tmp_path: Path) -> None:
    """Whichever worker is asked shows the sum of all; what a dead one counted stays, its gauges go."""
    both, one = run_workers(tmp_path)
    correct = 'goldcheck_verdicts_total{reason="within_tolerance",verdict="correct",verifier="numeric"}'
    for seen in (both, one):
        assert seen[correct] == 7
        assert seen['goldcheck_verify_duration_seconds_count{verifier="numeric"}'] == 7
        assert seen['goldcheck_audit_records_total{outcome="sampled",stratum="accept/plain"}'] == 7
        assert seen['goldcheck_build_info{version="1.0.0"}'] == 1
    assert (both["goldcheck_audit_queue_length"], one["goldcheck_audit_queue_length"]) == (7, 4)
    assert (both["goldcheck_audit_queue_capacity"], one["goldcheck_audit_queue_capacity"]) == (20, 10)


def test_a_new_start_counts_from_nothing(tmp_path: Path) -> None:
    """The first worker of a new start clears away what an earlier service left, and only the first does."""
    first = run_workers(tmp_path)
    assert run_workers(tmp_path) == first


def test_no_folder_for_shared_metrics(tmp_path: Path) -> None:
    """Where the folder cannot be made, each worker counts for itself; nothing fails."""
    (tmp_path / "metrics").write_text("in the way")
    alone, other = run_workers(tmp_path)
    correct = 'goldcheck_verdicts_total{reason="within_tolerance",verdict="correct",verifier="numeric"}'
    assert (alone[correct], other[correct]) == (3, 4)


def test_names_and_form(tmp_path: Path) -> None:
    """Every metric has the prefix, a help text and a unit or kind at its end, and parses."""
    from prometheus_client.parser import text_string_to_metric_families

    text = Metrics(tmp_path, "1.0.0").render().decode()
    families = list(text_string_to_metric_families(text))
    assert len(families) > 10
    for family in families:
        assert family.name.startswith("goldcheck_")
        assert family.documentation
    assert prometheus_client.CONTENT_TYPE_LATEST == CONTENT_TYPE


def test_what_is_counted(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Verdicts by outcome and reason, stop reasons, flags, canaries, durations and the log's outcomes."""
    with serving(tmp_path_factory.mktemp("metrics"), audit_durability="commit", audit_budget=0) as client:
        verify(client, response="a\0", ground_truth="b", stop={"reason": "length", "engine": "vllm"})
        verify(client, meta={"canary": True})
        verify(client, ground_truth=None)
        seen = values(client.get("/metrics").text)
    for name, expected in {
        'verdicts_total{reason="different",verdict="incorrect",verifier="exact"}': 1,
        'verdicts_total{reason="equal",verdict="correct",verifier="exact"}': 1,
        'verdicts_total{reason="invalid_ground_truth",verdict="unscorable",verifier="exact"}': 1,
        'responses_total{stop_reason="length"}': 1,
        'responses_total{stop_reason="unknown"}': 2,
        'flags_total{flag="replaced_characters",verifier="exact"}': 1,
        'canary_accepts_total{verifier="exact"}': 1,
        'verify_duration_seconds_count{verifier="exact"}': 3,
        'audit_records_total{outcome="skipped",stratum="reject/replaced_characters"}': 1,
        'audit_records_total{outcome="sampled",stratum="canary/accept"}': 1,
        'audit_records_total{outcome="skipped",stratum="unscorable/invalid_ground_truth"}': 1,
        "audit_queue_length": 0,
    }.items():
        assert seen["goldcheck_" + name] == expected, name
    assert seen["goldcheck_audit_commit_duration_seconds_count"] >= 3
    assert seen["goldcheck_audit_db_size_bytes"] > 0
