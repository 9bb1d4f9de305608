"""From a record to the rows that hold it, and back to one JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from backports import zstd
from pydantic_core import PydanticSerializationError, to_json

from audit import exact_json
from audit.types import VerdictRecord

CODEC_ZSTD = 1
"""`codec` of a body that is one zstd frame of UTF-8 JSON."""

INLINE_BYTES = 1024
"""A ground truth up to this size stays in its payload: a row of its own would cost more than it saves."""

_INT64_MAX = 2**63 - 1
_compressor = zstd.ZstdCompressor(level=1)


@dataclass(slots=True)
class Rows:
    """Rows ready to insert, by table."""

    verdicts: list[dict[str, Any]] = field(default_factory=list)
    flags: list[dict[str, Any]] = field(default_factory=list)
    payloads: list[dict[str, Any]] = field(default_factory=list)
    documents: dict[str, bytes] = field(default_factory=dict)
    """Body by hash."""


class Encoder:
    """Turns records into rows; for one thread, and for one transaction.

    Values shared by several records, as a batch shares its ground truths, are encoded once.
    """

    def __init__(self) -> None:
        self.rows = Rows()
        self._shared: dict[int, tuple[Any, bytes]] = {}

    def add(self, record: VerdictRecord) -> None:
        """Add the rows of `record`. `TypeError` if it holds something that is not JSON; nothing is added then."""
        ground_truth = self._encode(record.ground_truth)
        prompt = None if record.prompt is None else self._encode(record.prompt)
        body = _body(record, ground_truth if len(ground_truth) <= INLINE_BYTES else None)
        row = _verdict_row(record)
        row["prompt_hash"] = None if prompt is None else self._document(prompt)
        row["ground_truth_hash"] = self._document(ground_truth) if len(ground_truth) > INLINE_BYTES else None
        self.rows.verdicts.append(row)
        self.rows.payloads.append({"verdict_id": record.id, "codec": CODEC_ZSTD, "body": body})
        self.rows.flags.extend(
            {"flag": _column(flag), "verdict_id": record.id} for flag in dict.fromkeys(record.flags)
        )

    def _encode(self, value: Any) -> bytes:
        if isinstance(value, list | dict) or (isinstance(value, str) and len(value) > INLINE_BYTES):
            known = self._shared.get(id(value))
            if known is None:
                # The value is kept beside its bytes so that its id() cannot be given to another one.
                known = self._shared[id(value)] = (value, exact_json.dump(value))
            return known[1]
        return exact_json.dump(value)

    def _document(self, text: bytes) -> str:
        key = blake2b(text, digest_size=16).hexdigest()
        if key not in self.rows.documents:
            self.rows.documents[key] = compress(text)
        return key


def compress(text: bytes) -> bytes:
    """One zstd frame; not for several threads at once."""
    return _compressor.compress(text, zstd.ZstdCompressor.FLUSH_FRAME)


def decompress(body: bytes) -> bytes:
    """The text that `compress` was given."""
    return zstd.decompress(body)


def _body(record: VerdictRecord, ground_truth: bytes | None) -> bytes:
    """The compressed payload. `request` and ground truth are exact; the rest is our own or plain text."""
    request = exact_json.dump(record.request)
    rest = {"meta": record.meta, "response": record.response, "reply": record.reply}
    try:
        tail = to_json(rest)
    except (PydanticSerializationError, ValueError):
        # Lone surrogates in labels, or integers beyond Python's printing limit: rare, so the slow way.
        tail = exact_json.dump(rest)
    own = b"" if ground_truth is None else b'"ground_truth":' + ground_truth + b","
    return compress(b"{" + own + b'"request":' + request + b"," + tail[1:])


def _verdict_row(record: VerdictRecord) -> dict[str, Any]:
    meta = record.meta
    step = meta.get("step")
    stratum = record.stratum
    return {
        "id": record.id,
        "created_at_ms": record.created_at_ms,
        "verifier": stratum.verifier,
        "version": stratum.version,
        "environment": record.environment,
        "data_source": _column(stratum.data_source),
        "stratum": stratum.name,
        "status": record.status,
        "correct": record.correct,
        "reward": record.reward,
        "reason": record.reason,
        "stop_reason": record.stop_reason,
        "truncated": record.truncated,
        "inclusion_probability": record.inclusion_probability,
        "run": _label(meta, "run"),
        "step": step if isinstance(step, int) and abs(step) <= _INT64_MAX else None,
        "split": _label(meta, "split"),
        "prompt_id": _label(meta, "prompt_id"),
        "group_id": _label(meta, "group_id"),
        "rollout_id": _label(meta, "rollout_id"),
        "canary": bool(meta.get("canary")),
        "labelled": False,
    }


def _label(meta: Mapping[str, Any], name: str) -> str | None:
    value = meta.get(name)
    return None if value is None else _column(str(value))


def _column(text: str) -> str:
    """`text` as any database takes it: no lone surrogates, no NUL. The payload keeps the original."""
    if text.isascii():
        return text.replace("\0", "\ufffd")
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").replace("\0", "\ufffd")
