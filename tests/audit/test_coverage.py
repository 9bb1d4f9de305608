"""Intervals hold the truth as often as they claim: a short run of the benchmark, with fixed seeds."""

from __future__ import annotations

import pytest

from benchmarks import audit_coverage
from benchmarks.audit_coverage import OTHERS, PLAIN, measured, plain


@pytest.mark.parametrize(
    "name",
    [
        "2 strata",
        "5 strata",
        "32 windows, equal labels in unequal windows",
        "second opinion, sample of 400",
        "whole groups labelled",
    ],
)
def test_intervals_hold(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At least 94 %, without being so wide that anything would be held."""
    monkeypatch.setattr(audit_coverage, "SEEDS", 200)
    make = OTHERS.get(name) or (lambda rng: plain(rng, PLAIN[name]))
    row = measured(name, make)
    assert row["coverage"] >= 0.94
    assert row["coverage_fpr"] >= 0.94
    assert row["coverage_fnr"] >= 0.94
    assert row["median_width"] < 0.15
