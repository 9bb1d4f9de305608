"""Estimates and their changes -> what is told of them over HTTP."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from audit import timestamps
from audit.drift import Change, Look
from audit.estimate_reader import GroupEstimates, GroupKey
from audit.estimates import Estimates, SideSummary
from audit.intervals import bound_without_errors
from audit.strata import Part


def told(group: GroupEstimates, step_width: int, confidence: float) -> dict[str, Any]:
    """One group, as `EstimateReply`."""
    estimates = group.estimates
    return {
        **_key(group.key, step_width),
        "sizes": "exact" if group.sizes_exact else "estimated",
        "scored": group.scored,
        "unscorable": group.unscorable,
        "null_rate": group.null_rate,
        "rates": _rates(estimates),
        "accepts": _side(estimates.accepts),
        "rejects": _side(estimates.rejects),
        "canaries": None if group.canaries is None else asdict(group.canaries),
        "strata": [_part(part, confidence) for side in estimates.sides for part in side.parts],
    }


def _key(key: GroupKey, step_width: int) -> dict[str, Any]:
    start = key.window_start_s
    return {
        "verifier": key.verifier,
        "version": key.version,
        "data_source": key.data_source,
        "stratum": key.stratum,
        "window_start": None if start is None else timestamps.from_s(start),
        "step_min": key.step,
        "step_max": None if key.step is None else key.step + step_width - 1,
    }


def _rates(estimates: Estimates) -> dict[str, Any]:
    found = {
        "fdr": estimates.accepts.rate,
        "for": estimates.rejects.rate,
        "fpr": estimates.fpr,
        "fnr": estimates.fnr,
        "prevalence": estimates.prevalence,
        "informedness": estimates.informedness,
        "accepted": estimates.accepted,
    }
    return {name: asdict(rate) for name, rate in found.items()}


def _side(side: SideSummary) -> dict[str, Any]:
    return {
        "verdicts": side.verdicts,
        "labels": side.labels,
        "errors": side.errors,
        "undecided": side.undecided,
        "unlabelled_strata": side.unlabelled_parts,
        "covers": min(1.0, max(0.0, 1.0 - side.unlabelled_share)),
        "with_undecided": asdict(side.with_undecided),
    }


def _part(part: Part, confidence: float) -> dict[str, Any]:
    estimate, lower, upper = part.rate.bounds(confidence)
    side = part.stratum.name.partition("/")[0]
    contradicts = "rejects" if side == "accept" else "accepts"
    labelled = part.labels > 0
    return {
        "verifier": part.stratum.verifier,
        "version": part.stratum.version,
        "data_source": part.stratum.data_source or None,
        "stratum": part.stratum.name,
        "second": contradicts if part.differs else None,
        "verdicts": part.size,
        "labels": part.labels,
        "errors": part.errors,
        "undecided": part.undecided,
        "effective_labels": part.rate.known_from,
        "rate": {
            "estimate": estimate if labelled else None,
            "lower": lower,
            "upper": upper,
            "reason": None if labelled else "no_labels",
        },
        "upper_one_sided": (
            bound_without_errors(part.rate.known_from, confidence) if labelled and not part.errors else None
        ),
    }


def told_look(look: Look) -> dict[str, Any]:
    """One span, as `LookReply`."""
    span = look.span
    return {
        "version": span.version,
        "start": timestamps.from_s(span.start_s),
        "end": timestamps.from_s(span.end_s),
        "measures": {measure: _change(change) for measure, change in look.changes.items()},
    }


def _change(change: Change) -> dict[str, Any]:
    difference, lower, upper = change.difference or (None, None, None)
    return {
        "before": change.before,
        "after": change.after,
        "difference": difference,
        "lower": lower,
        "upper": upper,
        "confidence": change.confidence,
        "alarm": change.alarm,
    }
