"""From a record to the rows that hold it, and back to one JSON document."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from backports import zstd
from pydantic_core import PydanticSerializationError, to_json
from sqlalchemy import Table

from audit import exact_json, schema
from audit.keys import column_text, index_key
from audit.types import VerdictRecord

CODEC_ZSTD = 1
"""`codec` of a body that is one zstd frame of UTF-8 JSON, compressed with `DICTIONARY`."""

DICTIONARY = (
    b'{"ground_truth":"0.428571","request":{"options":{"detail":"summary"},"stop":{"reason":"stop","engi'
    b'ne":"vllm","matched":null,"num_tokens":41,"max_tokens":1024},"shaping":{"truncation":"keep","overl'
    b'ong":{"max_length":1024,"cache_length":128,"weight":1.0}}},"meta":{"data_source":"gsm8k","run":"r7'
    b'","step":1200,"split":"train","prompt_id":"q1","group_id":"g1","rollout_id":"g1-3","generator_vers'
    b'ion":"ckpt-1200","reference_version":"sft-0","canary":false,"tags":{"lang":"en"}},"response":"","r'
    b'eply":{"id":"0197f0c4-5b1e-7c3a-9d52-0e8b6f3a2c11","status":"unscorable","reward":null,"reward_com'
    b'ponents":null,"verdict":null,"failure":{"kind":"invalid_ground_truth","message":"the ground truth"'
    b'},"status":"scored","reward":1.0,"reward_components":{"correctness":1.0},"verdict":{"correct":true'
    b',"reason":"passed","detail":{"language":"python","tests_passed":1,"tests_total":1,"tests":[{"statu'
    b's":"passed","cpu_time_s":0.01,"wall_time_s":0.01,"peak_memory_bytes":10485760,"stdout":"","stderr"'
    b':""}]}},"verdict":{"correct":true,"reason":"within_tolerance","detail":{"extracted":"3/7","source"'
    b':"boxed","span":[24,27],"parsed":"3/7","expected":"428571/1000000","error":"3/7000000","tolerance"'
    b':"1.001e-06"}},"stop":{"stop_reason":"eos","raw":"stop","source":"explicit","terminated":true,"tru'
    b'ncated":false},"include_in_loss":true,"failure":null,"verifier":{"name":"numeric","version":"1.0.0'
    b'","environment":"b41c0f5e9d2a7c31"},"audit":{"flags":[],"stratum":"accept/plain","selected":true},'
    b'"timing":{"queue_ms":0.1,"verify_ms":0.04}}}'
)
"""What payloads have in common: it halves short ones. Part of the format of stored bodies: it never changes,
and a better one gets a codec of its own."""

INLINE_BYTES = 1024
"""A ground truth up to this size stays in its payload: a row of its own would cost more than it saves."""

_INT64_MAX = 2**63 - 1
_dictionary = zstd.ZstdDict(DICTIONARY, is_raw=True)
_compressor = zstd.ZstdCompressor(level=1, zstd_dict=_dictionary.as_digested_dict)


@dataclass(slots=True)
class Rows:
    """Rows ready to insert: tuples in the order of each table's columns."""

    verdicts: list[tuple[Any, ...]] = field(default_factory=list)
    flags: list[tuple[str, str | None, str | None, bool]] = field(default_factory=list)
    payloads: list[tuple[str, int, bytes]] = field(default_factory=list)
    documents: dict[str, bytes] = field(default_factory=dict)
    """Body by hash."""
    uses: Counter[str] = field(default_factory=Counter)
    """How many of the verdicts refer to each document."""

    def by_table(self) -> list[tuple[Table, list[Any]]]:
        """The rows of each table, documents first: a reader that sees a verdict can see what it refers to."""
        # In one order everywhere, so that two writers never wait for each other's rows.
        documents = [(key, CODEC_ZSTD, body, self.uses[key]) for key, body in sorted(self.documents.items())]
        return [
            (schema.document, documents),
            (schema.verdict, self.verdicts),
            (schema.payload, self.payloads),
            (schema.verdict_flag, self.flags),
        ]


class Encoder:
    """Turns records into rows; for one thread, and for one transaction.

    Values shared by several records, as a batch shares its ground truths, are encoded once.
    """

    def __init__(self) -> None:
        self.rows = Rows()
        self._shared: dict[int, tuple[Any, bytes]] = {}

    def add(self, record: VerdictRecord) -> None:
        """Add the rows of `record`, or nothing and raise `TypeError` if it holds what is not JSON."""
        ground_truth = self._encode(record.ground_truth)
        prompt = None if record.prompt is None else self._encode(record.prompt)
        body = _body(record, ground_truth if len(ground_truth) <= INLINE_BYTES else None)
        prompt_hash = None if prompt is None else self._document(prompt)
        ground_truth_hash = self._document(ground_truth) if len(ground_truth) > INLINE_BYTES else None
        self.rows.verdicts.append((*_verdict_row(record), prompt_hash, ground_truth_hash))
        self.rows.payloads.append((record.id, CODEC_ZSTD, body))
        self.rows.flags.extend((record.id, _column(flag), text, False) for flag, text in record.flags.items())

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
        self.rows.uses[key] += 1
        return key


def compress(text: bytes) -> bytes:
    """One zstd frame; not for several threads at once."""
    return _compressor.compress(text, zstd.ZstdCompressor.FLUSH_FRAME)


def decompress(body: bytes) -> bytes:
    """The text that `compress` was given."""
    return zstd.decompress(body, zstd_dict=_dictionary)


def _body(record: VerdictRecord, ground_truth: bytes | None) -> bytes:
    """The compressed payload. `request` and ground truth are exact; the rest is our own or plain text."""
    request = exact_json.dump(record.request)
    rest = {"meta": record.meta, "response": record.response}
    try:
        tail = to_json(rest)
    except (PydanticSerializationError, ValueError):
        # Lone surrogates in labels, or integers beyond Python's printing limit: rare, so the slow way.
        tail = exact_json.dump(rest)
    own = b"" if ground_truth is None else b'"ground_truth":' + ground_truth + b","
    head = b"{" + own + b'"request":' + request
    return compress(head + b"," + tail[1:-1] + b',"reply":' + record.reply + b"}")


def _verdict_row(record: VerdictRecord) -> tuple[Any, ...]:
    """The columns of `schema.verdict` up to the hashes, in order."""
    label = record.meta.get
    stratum, window_start_s = record.cell
    run, step = label("run"), label("step")
    return (
        record.id,
        record.created_at_ms,
        stratum.verifier,
        stratum.version,
        record.environment,
        stratum.data_source,
        stratum.name,
        window_start_s,
        record.draw,
        True,
        None,
        record.status,
        record.correct,
        record.reward,
        record.reason,
        record.stop_reason,
        record.truncated,
        None if run is None else index_key(str(run)),
        step if isinstance(step, int) and abs(step) <= _INT64_MAX else None,
        _column(label("split")),
        _column(label("prompt_id")),
        _column(label("group_id")),
        _column(label("rollout_id")),
        bool(label("canary")),
        False,
    )


def _column(value: Any) -> str | None:
    """A label as a column holds it; the payload keeps the original."""
    return None if value is None else column_text(str(value))
