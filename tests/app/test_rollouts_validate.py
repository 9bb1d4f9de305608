"""`/v1/rollouts/validate`: every violation with its pointer, as JSON and as npz; nothing sent is trusted."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import math
import os
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from serving import Client, Live, post, serving
from test_streaming import until

import rollouts

PATH = "/v1/rollouts/validate"
NPZ = {"content-type": "application/x-npz"}
LENIENT = settings(max_examples=40, suppress_health_check=list(HealthCheck))

RECORD: dict[str, Any] = {
    "prompt_id": "q1",
    "group_id": "g1",
    "token_ids": [5, 6, 2],
    "action_mask": [1, 0, 1],
    "old_logprobs": [-0.1, 0.0, -0.2],
    "reward_components": {"correctness": 1.0, "overlong": -0.25},
    "stop_reason": "length",
    "generator_version": "ckpt-1200",
}
BATCH: dict[str, Any] = {
    "response_ids": [[5, 6], [7, 8]],
    "response_mask": [[1, 1], [1, 0]],
    "old_logprobs": [[-0.1, -0.7], [-0.2, None]],
    "ref_logprobs": [[-0.1, -0.6], [-0.3, None]],
    "sequence_rewards": [1.0, 0.0],
    "terminated": [True, False],
    "truncated": [False, True],
    "stop_reason": ["eos", "length"],
}
SUMMARY = {
    "batch_size": 2,
    "max_response_tokens": 2,
    "active_tokens": 3,
    "terminated_sequences": 1,
    "truncated_sequences": 1,
    "mean_response_length": 1.5,
}


def arrays(batch: dict[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """The fields of a batch as arrays; null is NaN."""
    return {
        name: np.asarray(value, dtype=float if "logprobs" in name else None) for name, value in batch.items()
    }


def archive(save: Callable[..., None] = np.savez, **fields: Any) -> bytes:
    """What NumPy writes."""
    file = io.BytesIO()
    save(file, **fields)
    return file.getvalue()


def answer(reply: httpx.Response) -> dict[str, Any]:
    """A reply that is none of a bad call."""
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


def places(reply: httpx.Response) -> list[str]:
    """The pointers of all violations."""
    found = answer(reply)
    assert found["valid"] is False
    assert found["violations_total"] >= len(found["violations"]) > 0
    return [one["pointer"] for one in found["violations"]]


def test_a_valid_record(client: Client) -> None:
    """Tokens, those that the policy chose, the reward, and how it ended."""
    summary = {
        "tokens": 3,
        "actions": 2,
        "reward": 0.75,
        "stop_reason": "length",
        "terminated": False,
        "truncated": True,
    }
    assert answer(post(client, {"record": RECORD}, PATH)) == {"valid": True, "summary": summary}
    listed = RECORD | {"reward_components": [0.5, 0.25], "stop_reason": "eos"}
    assert answer(post(client, {"record": listed}, PATH))["summary"]["reward"] == 0.75


@pytest.mark.parametrize(
    ("fields", "pointers"),
    [
        ({"prompt_id": " "}, ["/record/prompt_id"]),
        ({"x/y": 1}, ["/record/x~1y"]),
        ({"token_ids": [1, -1, 2.5]}, ["/record/token_ids/1", "/record/token_ids/2"]),
        ({"token_ids": "123"}, ["/record/token_ids"]),
        ({"action_mask": [0, 0, 0]}, ["/record/action_mask"]),
        ({"action_mask": [1, 2, None]}, ["/record/action_mask/1", "/record/action_mask/2"]),
        ({"old_logprobs": [-0.1, None, -0.2]}, ["/record/old_logprobs/1"]),
        ({"old_logprobs": []}, ["/record/action_mask", "/record/old_logprobs"]),
        ({"reward_components": {}}, ["/record/reward_components"]),
        ({"reward_components": {"a": "1"}}, ["/record/reward_components/a"]),
        ({"stop_reason": "finished"}, ["/record/stop_reason"]),
        ({"generator_version": 3, "group_id": ""}, ["/record/group_id", "/record/generator_version"]),
    ],
)
def test_records_with_violations(client: Client, fields: dict[str, Any], pointers: list[str]) -> None:
    """Each is named, at its place in the body."""
    assert sorted(places(post(client, {"record": RECORD | fields}, PATH))) == sorted(pointers)


def test_numbers_beyond_floats(client: Client) -> None:
    """A literal that overflows is not finite; integers of any length are read, or are none."""
    for literal in (b"1e400", b"-1e400"):
        body = json.dumps({"record": RECORD}).encode().replace(b"-0.25", literal)
        assert places(client.post(PATH, content=body)) == ["/record/reward_components/overlong"]
    long = json.dumps({"record": RECORD}).encode().replace(b"[5,", b"[" + b"9" * 5000 + b",")
    assert answer(client.post(PATH, content=long))["valid"] is True
    endless = long.replace(b"9" * 5000, b"9" * 200_000)
    assert places(client.post(PATH, content=endless)) == ["/record/token_ids/0"]
    huge = post(client, {"record": RECORD | {"reward_components": [1.7e308, 1.7e308]}}, PATH)
    assert answer(huge)["summary"]["reward"] is None


def test_texts_with_lone_surrogates(client: Client) -> None:
    """They are texts like any other, in values, and are shown in pointers as U+FFFD."""
    assert answer(post(client, {"record": RECORD | {"prompt_id": "\ud800"}}, PATH))["valid"] is True
    assert places(post(client, {"record": RECORD | {"\ud800": 1}}, PATH)) == ["/record/\ufffd"]


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_a_valid_batch(client: Client, save: Callable[..., None]) -> None:
    """As JSON with null for NaN, as an archive, and either of them gzipped: one summary."""
    valid = {"valid": True, "summary": SUMMARY}
    fields = arrays(BATCH)
    assert answer(post(client, {"batch": BATCH}, PATH)) == valid
    assert answer(client.post(PATH, content=archive(save, **fields), headers=NPZ)) == valid
    packed = gzip.compress(archive(save, **fields, own=np.zeros(9, dtype=complex)))
    assert answer(client.post(PATH, content=packed, headers=NPZ | {"content-encoding": "gzip"})) == valid


def test_every_layout_of_arrays(client: Client) -> None:
    """Column by column, big-endian, small types, scalars, texts of any width."""
    fields = arrays(BATCH)
    fields |= {
        "response_ids": np.asfortranarray(fields["response_ids"].astype(">i4")),
        "response_mask": fields["response_mask"].astype(np.uint8),
        "old_logprobs": fields["old_logprobs"].astype(np.float16),
        "ref_logprobs": np.asfortranarray(fields["ref_logprobs"].astype(np.longdouble)),
        "policy_version": np.array("ckpt-1"),
        "reward_raw": np.zeros(2, dtype=np.int8),
        "action_mask": fields["response_mask"].astype(bool),
    }
    assert answer(client.post(PATH, content=archive(**fields), headers=NPZ))["summary"] == SUMMARY


@pytest.mark.parametrize(
    ("fields", "pointers"),
    [
        ({"response_mask": [[1, 1], [0, 1]]}, ["response_mask/1", "response_mask/1/1"]),
        ({"old_logprobs": [[-0.1, None], [-0.2, None]]}, ["old_logprobs/0/1"]),
        ({"old_logprobs": [[-0.1, -1], [-0.2, 0.0]]}, ["old_logprobs/1/1"]),
        ({"sequence_rewards": [1.0]}, ["sequence_rewards"]),
        ({"stop_reason": ["eos", ""]}, ["stop_reason/1"]),
        ({"terminated": [0, 3]}, ["terminated/1"]),
        ({"response_ids": [[1, 2], [-3, -4]]}, ["response_ids/1/0"]),
        ({"response_ids": [["1", "2"], ["3", "4"]]}, ["response_ids"]),
    ],
)
def test_batches_with_violations(client: Client, fields: dict[str, Any], pointers: list[str]) -> None:
    """As JSON below `/batch`, as an archive at the array itself."""
    found = places(post(client, {"batch": BATCH | fields}, PATH))
    assert found == [f"/batch/{pointer}" for pointer in pointers]
    content = archive(
        **arrays(BATCH | {n: v for n, v in fields.items() if "ids" not in n})
        | {n: np.array(v) for n, v in fields.items() if "ids" in n}
    )
    assert places(client.post(PATH, content=content, headers=NPZ)) == [f"/{pointer}" for pointer in pointers]


def test_padding(client: Client) -> None:
    """NaN unless anything is asked for."""
    batch = BATCH | {"ref_logprobs": [[-0.1, -0.6], [-0.3, 7.0]]}
    assert places(post(client, {"batch": batch}, PATH)) == ["/batch/ref_logprobs/1/1"]
    content = archive(**arrays(batch))
    for reply in (
        post(client, {"batch": batch}, f"{PATH}?padding=any"),
        client.post(f"{PATH}?padding=any", content=content, headers=NPZ),
    ):
        assert answer(reply)["valid"] is True
    assert post(client, {"batch": batch}, f"{PATH}?padding=zero").json()["code"] == "invalid_query"


def test_many_violations(client: Client) -> None:
    """The first hundred are listed, all are counted."""
    ids = [[-1] * 300 for _ in range(2)]
    batch = BATCH | {
        "response_ids": ids,
        "response_mask": [[1] * 300] * 2,
        "old_logprobs": [[-1.0] * 300] * 2,
        "ref_logprobs": [[-1.0] * 300] * 2,
    }
    found = answer(post(client, {"batch": batch}, PATH))
    assert (len(found["violations"]), found["violations_total"]) == (100, 600)


@given(
    size=st.integers(1, 4),
    width=st.integers(1, 5),
    seed=st.integers(0, 2**32 - 1),
    spoil=st.sampled_from([None, "response_ids", "response_mask", "old_logprobs", "sequence_rewards"]),
)
@LENIENT
def test_both_ways_say_what_the_library_says(
    client: Client, size: int, width: int, seed: int, spoil: str | None
) -> None:
    """The same violations at the same places, or the same summary, as JSON and as an archive."""
    rng = np.random.default_rng(seed)
    mask = np.arange(width) < rng.integers(1, width + 1, size=(size, 1))
    fields: dict[str, Any] = {
        "response_ids": rng.integers(0, 9, mask.shape),
        "response_mask": mask.astype(int),
        "old_logprobs": np.where(mask, -rng.random(mask.shape), math.nan),
        "ref_logprobs": np.where(mask, -rng.random(mask.shape), math.nan),
        "sequence_rewards": rng.random(size),
        "terminated": rng.random(size) < 0.5,
        "truncated": rng.random(size) < 0.5,
    }
    if spoil is not None:
        fields[spoil] = fields[spoil] - rng.integers(0, 3, fields[spoil].shape)
    stops = ["eos"] * size
    expected, summary = rollouts.check_rollout_batch(fields | {"stop_reason": stops})
    lists = {
        name: np.where(np.isnan(value), None, value.astype(object)).tolist() for name, value in fields.items()
    }
    for base, reply in (
        ("/batch", post(client, {"batch": lists | {"stop_reason": stops}}, PATH)),
        ("", client.post(PATH, content=archive(**fields, stop_reason=np.array(stops)), headers=NPZ)),
    ):
        if summary is None:
            assert places(reply) == [base + one.pointer for one in expected.listed]
        else:
            assert answer(reply)["summary"]["active_tokens"] == summary.active_tokens


@pytest.mark.parametrize(
    ("body", "code", "pointers"),
    [
        (b"{", "malformed_json", []),
        (b'{"record": {"old_logprobs": [NaN]}}', "malformed_json", []),
        (b'{"batch": {"sequence_rewards": [Infinity]}}', "malformed_json", []),
        (b"[" * 100_000, "json_too_deep", []),
        (b"[]", "invalid_request", [""]),
        (b"{}", "invalid_request", [""]),
        (b'{"record": null}', "invalid_request", [""]),
        (b'{"record": {}, "batch": {}}', "invalid_request", [""]),
        (b'{"record": []}', "invalid_request", ["/record"]),
        (b'{"batch": 1, "x": 2}', "invalid_request", ["/batch", "/x"]),
    ],
)
def test_bodies_that_are_no_request(client: Client, body: bytes, code: str, pointers: list[str]) -> None:
    """One record or one batch, as JSON without NaN."""
    problem = client.post(PATH, content=body).json()
    assert problem["code"] == code
    assert [error["pointer"] for error in problem.get("errors", [])] == pointers


def test_other_media_types(client: Client) -> None:
    """A form is refused here, and an archive elsewhere."""
    for path, media_type in ((PATH, "text/plain"), ("/v1/verify", NPZ["content-type"])):
        reply = client.post(path, content=b"{}", headers={"content-type": media_type})
        assert (reply.status_code, reply.json()["code"]) == (415, "unsupported_media_type")


class Evil:
    """Unpickling it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def test_nothing_is_unpickled(client: Client, tmp_path: Path) -> None:
    """Arrays of objects are violations, as scalars too, and members that are pickles are no arrays."""
    trap = tmp_path / "trap"
    evil = Evil(trap)
    fields: dict[str, Any] = arrays(BATCH)
    fields |= {
        "stop_reason": np.array([evil, evil], dtype=object),
        "sampling_config": np.array(evil, dtype=object),
    }
    found = places(client.post(PATH, content=archive(**fields), headers=NPZ))
    assert found == ["/stop_reason", "/sampling_config"]
    raw = packed({"response_ids.npy": pickle.dumps(evil)})
    assert client.post(PATH, content=raw, headers=NPZ).json()["code"] == "malformed_npz"
    assert not trap.exists()


def packed(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip archive of these members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as container:
        for name, content in members.items():
            container.writestr(name, content)
    return file.getvalue()


def npy(header: str, content: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    """An npy file with this header."""
    length = struct.pack("<H" if version[0] == 1 else "<I", len(header))
    return b"\x93NUMPY" + version + length + header.encode() + content


def plain(descr: str, shape: str, content: bytes = b"", order: str = "False") -> bytes:
    """An archive of `response_ids` with a header as NumPy writes it."""
    header = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"
    return packed({"response_ids.npy": npy(header, content)})


def patched(content: bytes, offset: int, value: bytes) -> bytes:
    """With some bytes replaced."""
    changed = bytearray(content)
    changed[offset : offset + len(value)] = value
    return bytes(changed)


GOOD = archive(**arrays(BATCH))
CENTRAL = GOOD.index(b"PK\x01\x02")

BROKEN = {
    "empty": b"",
    "no archive": b"x" * 100,
    "half": GOOD[: len(GOOD) // 2],
    "something after it": GOOD + b"x",
    "zip64 locator": GOOD[:-22] + b"PK\x06\x07" + bytes(16) + GOOD[-22:],
    "long directory": GOOD[:-10] + struct.pack("<LLH", 1 << 30, 0, 0),
    "directory before the start": GOOD[:-10] + struct.pack("<LLH", 60_000, 0, 0),
    "many members": packed({f"member-{n:030}.npy": b"" for n in range(1000)}, zipfile.ZIP_STORED),
    "wrong checksum": patched(GOOD, GOOD.index(b"\n", 60) + 1, b"\xff"),
    "encrypted": patched(GOOD, CENTRAL + 8, b"\x01"),
    "unknown compression": patched(GOOD, CENTRAL + 10, b"\x63"),
    "lzma": packed({"response_ids.npy": b"x"}, zipfile.ZIP_LZMA),
    "bzip2": packed({"response_ids.npy": b"x"}, zipfile.ZIP_BZIP2),
    "offset beyond the end": patched(GOOD, CENTRAL + 42, b"\xf0\xff\xff\x0f"),
    "no npy file": packed({"response_ids.npy": b"nonsense"}),
    "npy of a later version": packed({"response_ids.npy": npy("{}", version=b"\x09\x00")}),
    "long header": packed({"response_ids.npy": npy(" " * 20_000)}),
    "more than its shape": plain("'<i8'", "(1,)", bytes(16)),
    "less than its shape": plain("'<i8'", "(2,)", bytes(8)),
    "a shape beyond memory": plain("'<i8'", "(99999999999999999, 99999999999999999)", bytes(8)),
    "too many axes": plain("'<i8'", "(" + "1, " * 100 + ")", bytes(8)),
    "negative axis": plain("'<i8'", "(-1,)"),
    "shape that is code": plain("'<i8'", "(__import__('os').getpid(),)"),
    "no order": plain("'<i8'", "(0,)", order="None"),
    "type of no size": plain("'<U0'", "(7,)"),
    "type that does not exist": plain("'<f3'", "(1,)", bytes(3)),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_archives(client: Client, kind: str) -> None:
    """What is no archive of arrays is a bad call."""
    reply = client.post(PATH, content=BROKEN[kind], headers=NPZ)
    assert (reply.status_code, reply.json()["code"]) == (400, "malformed_npz"), reply.text


@pytest.mark.parametrize("descr", ["'|O'", "'<c16'", "[('a', '<i8')]", "'|V8'", "'<M8[s]'", "'|S4'", "'i8'"])
def test_types_that_are_not_read(client: Client, descr: str) -> None:
    """Arrays of other types are there, but wrong."""
    found = answer(client.post(PATH, content=plain(descr, "(1,)", bytes(8)), headers=NPZ))
    assert found["violations"][0]["pointer"] == "/response_ids"
    assert "is missing" not in found["violations"][0]["message"]


def test_values_that_are_none_of_their_type(client: Client) -> None:
    """A byte that is no boolean, a number that is no character: violations, not crashes."""
    fields = arrays(BATCH)
    whole = {f"{name}.npy": npy_bytes(value) for name, value in fields.items()}
    flags = packed(whole | {"terminated.npy": whole["terminated.npy"][:-1] + b"\x07"})
    assert places(client.post(PATH, content=flags, headers=NPZ)) == ["/terminated/1"]
    texts = packed(whole | {"stop_reason.npy": whole["stop_reason.npy"][:-4] + b"\xff" * 4})
    assert places(client.post(PATH, content=texts, headers=NPZ)) == ["/stop_reason"]


def npy_bytes(value: np.ndarray[Any, Any]) -> bytes:
    """An array as NumPy saves it."""
    file = io.BytesIO()
    np.save(file, value)
    return file.getvalue()


def test_bombs(tmp_path: Path) -> None:
    """What would unpack to more than a body may hold is refused, whatever the archive says of its size."""
    with serving(tmp_path, max_body_bytes=1 << 20) as client:
        bomb = archive(np.savez_compressed, response_ids=np.zeros(1 << 20, dtype=np.int64))
        assert len(bomb) < 1 << 14
        reply = client.post(PATH, content=bomb, headers=NPZ)
        assert (reply.status_code, reply.json()["code"]) == (413, "body_too_large")
        central = bomb.index(b"PK\x01\x02")
        lying = patched(bomb, central + 24, struct.pack("<L", 1000))
        reply = client.post(PATH, content=lying, headers=NPZ)
        assert (reply.status_code, reply.json()["code"]) == (400, "malformed_npz")
        twice = gzip.compress(bytes(2 << 20))
        reply = client.post(PATH, content=twice, headers=NPZ | {"content-encoding": "gzip"})
        assert reply.status_code == 413
        assert client.post(PATH, content=b" " * (2 << 20)).status_code == 413


def test_a_long_text_among_numbers_takes_no_room(client: Client) -> None:
    """Every element of an array has the room of the longest text in it: 10 GB here, were it made."""
    ids = [["x" * 100_000] + [""] * 25_000]
    assert places(post(client, {"batch": BATCH | {"response_ids": ids}}, PATH)) == ["/batch/response_ids"]


@given(data=st.data())
@LENIENT
def test_archives_with_changed_bytes(client: Client, data: st.DataObject) -> None:
    """Any change of any bytes is answered or refused, never a failure of the service."""
    content = bytearray(GOOD)
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    reply = client.post(PATH, content=bytes(content), headers=NPZ)
    assert reply.status_code in (200, 400, 413), reply.text


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.sampled_from([("record", RECORD), ("batch", BATCH)]).flatmap(
        lambda pair: st.tuples(st.just(pair), st.sampled_from(sorted(pair[1])), JSON_VALUES)
    )
)
@LENIENT
def test_fields_of_any_value(client: Client, drawn: Any) -> None:
    """Whatever stands in a field is answered, with pointers into the body."""
    (kind, whole), name, value = drawn
    found = answer(post(client, {kind: whole | {name: value}}, PATH))
    for one in found.get("violations", []):
        assert one["pointer"].startswith(f"/{kind}/")


async def test_validation_waits_its_turn_while_others_are_served(live: Live) -> None:
    """One at a time, off the event loop; verdicts go on meanwhile, and memory is given back."""
    async with live.client() as client, live.service.validating:
        request = asyncio.create_task(client.post(PATH, content=GOOD, headers=NPZ))
        await until(lambda: live.service.admission.bytes == len(GOOD))
        item = {"verifier": "exact", "response": "a", "ground_truth": "a"}
        assert (await client.post("/v1/verify", json=item)).json()["reward"] == 1.0
        assert not request.done()
        live.service.validating.release()
        assert (await request).json()["valid"] is True
        await live.service.validating.acquire()
    await until(lambda: live.service.admission.bytes == 0)
