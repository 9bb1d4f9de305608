"""Bodies of `/v1/rollouts/validate` -> what is wrong with the rollouts in them. Slow: for a thread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import pydantic_core

from app.body import parse_body
from app.errors import Fault, Faults, clip
from app.items import validate
from app.npz import read_npz
from app.rollout_contracts import REQUEST

Padding = Literal["nan", "any"]

_NAMES: Final = frozenset(
    (
        "response_ids",
        "response_mask",
        "old_logprobs",
        "ref_logprobs",
        "sequence_rewards",
        "terminated",
        "truncated",
        "stop_reason",
        "action_mask",
        "policy_version",
        "sampling_config",
        "reward_raw",
    )
)
"""Fields of a batch that have a meaning; further ones are the trainer's own."""


def check_json(body: bytearray, padding: Padding) -> dict[str, Any]:
    """The reply to a JSON body, which is emptied. padding: what a batch may hold there.

    Raises Problem: 400 malformed JSON, 422 neither one record nor one batch.
    """
    value = _parse(body)
    faults = Faults()
    fields = validate(REQUEST, value, "", faults)
    faults.raise_if_any()
    assert fields is not None  # noqa: S101 - there is a fault or a value
    record, batch = fields.get("record"), fields.get("batch")
    if (record is None) == (batch is None):
        faults.add(Fault("", "must hold either record or batch"))
        faults.raise_if_any()
    return _check_record(record) if record is not None else _check_batch(batch or {}, padding, "/batch", {})


def check_npz(body: bytearray, padding: Padding, max_bytes: int) -> dict[str, Any]:
    """The reply to an npz body, which is emptied. max_bytes: of its arrays. Raises Problem as `read_npz`."""
    archive = read_npz(body, _NAMES, max_bytes)
    body.clear()
    batch = {name: array if array.ndim else array.item() for name, array in archive.arrays.items()}
    return _check_batch(batch, padding, "", archive.unreadable)


def _parse(body: bytearray) -> Any:
    """Numbers as plain floats, at a third of the price; what this parser refuses the other one judges."""
    try:
        value = pydantic_core.from_json(body, allow_inf_nan=False)
    except ValueError:
        return parse_body(body).value
    body.clear()
    return value


def _check_record(record: Mapping[str, Any]) -> dict[str, Any]:
    from rollouts.records import check_rollout_record
    from rollouts.stop import stop_metadata

    found = check_rollout_record(record)
    if found.count:
        return _invalid([(one.pointer, one.message) for one in found.listed], found.count, "/record")
    components = record["reward_components"]
    stop = stop_metadata(record["stop_reason"])
    summary = {
        "tokens": len(record["token_ids"]),
        "actions": sum(map(int, record["action_mask"])),
        "reward": float(sum(components.values() if isinstance(components, Mapping) else components)),
        "stop_reason": record["stop_reason"],
        "terminated": stop.terminated,
        "truncated": stop.truncated,
    }
    return {"valid": True, "summary": summary}


def _check_batch(
    batch: Mapping[str, Any], padding: Padding, base: str, unreadable: Mapping[str, str]
) -> dict[str, Any]:
    """unreadable: fields that are there but not in `batch`, and why."""
    from rollouts.batches import check_rollout_batch

    found, summary = check_rollout_batch(batch, padding=padding)
    if not found.count and not unreadable:
        return {"valid": True, "summary": summary}
    places = [(f"/{name}", message) for name, message in unreadable.items()]
    known = dict(places)
    others = [(one.pointer, one.message) for one in found.listed if one.pointer not in known]
    total = len(places) + found.count - (len(found.listed) - len(others))
    return _invalid((places + others)[:100], total, base)


def _invalid(places: list[tuple[str, str]], total: int, base: str) -> dict[str, Any]:
    violations = [{"pointer": clip(base + pointer), "message": clip(message)} for pointer, message in places]
    return {"valid": False, "violations": violations, "violations_total": total}
