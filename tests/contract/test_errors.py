"""Every error path: its status, its stable code, its pointers, one shape."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from serving import Client, encode, post

from app.errors import CODES, MEDIA_TYPE

ITEM: dict[str, Any] = {"verifier": "exact", "response": "a", "ground_truth": "a"}
JSON = {"content-type": "application/json"}


def check_problem(reply: Any, code: str) -> dict[str, Any]:
    """Hold a reply against the shape that all errors have."""
    problem: dict[str, Any] = reply.json()
    assert problem["code"] == code, problem
    assert reply.status_code == CODES[code][0] == problem["status"]
    assert reply.headers["content-type"] == MEDIA_TYPE
    assert problem["type"] == f"urn:goldcheck:problem:{code}"
    assert problem["title"] == CODES[code][1]
    assert problem["detail"]
    assert set(problem) <= {"type", "title", "status", "code", "detail", "errors", "errors_total"}
    for error in problem.get("errors", []):
        assert set(error) == {"pointer", "message"}
    return problem


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "malformed_json"),
        (b"{", "malformed_json"),
        (b"nonsense", "malformed_json"),
        (b'{"verifier": NaN}', "malformed_json"),
        (b'{"verifier":"exact","response":"a","ground_truth":Infinity}', "malformed_json"),
        (b'{"verifier":"exact","response":"a","ground_truth":[-Infinity]}', "malformed_json"),
        (b'{"verifier":"exact","response":"\xff"}', "malformed_json"),
        (b'{"verifier":"exact","response":"\xc0\x80"}', "malformed_json"),
        (b'{"verifier":"exact","response":"a\nb"}', "malformed_json"),
        (b'{"verifier":"exact","response":"a",}', "malformed_json"),
        (b"{} {}", "malformed_json"),
        ('{"verifier":"exact","response":"a"}'.encode("utf-16"), "malformed_json"),
        (b"[" * 100_000, "json_too_deep"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "json_too_deep"),
        (b"[]", "invalid_request"),
        (b"null", "invalid_request"),
        (b'"text"', "invalid_request"),
        (b"1" * 5000, "invalid_request"),
    ],
)
@pytest.mark.parametrize("path", ["/v1/verify", "/v1/verify/exact", "/v1/verify/batch"])
def test_bodies_that_are_no_request(client: Client, path: str, body: bytes, code: str) -> None:
    """What is not JSON is malformed, what is not an object is invalid."""
    check_problem(client.post(path, content=body, headers=JSON), code)


@pytest.mark.parametrize(
    ("fields", "pointers"),
    [
        ({"verifier": 1}, ["/verifier"]),
        ({"verifier": None}, ["/verifier"]),
        ({"response": None}, ["/response"]),
        ({"response": 42}, ["/response"]),
        ({"response": ["a"]}, ["/response"]),
        ({"x": 1}, ["/x"]),
        ({"a/b~c": 1}, ["/a~1b~0c"]),
        ({"ground_truth_key": "k"}, ["/ground_truth_key"]),
        ({"prompt": 1}, ["/prompt"]),
        ({"prompt": ["text"]}, ["/prompt", "/prompt/0"]),
        ({"options": []}, ["/options"]),
        ({"options": {"weight": 2}}, ["/options/weight"]),
        ({"options": {"strip": "maybe", "detail": "all"}}, ["/options/detail", "/options/strip"]),
        ({"stop": "length"}, ["/stop"]),
        ({"stop": {"reason": 1}}, ["/stop/reason"]),
        ({"stop": {"reason": {}}}, ["/stop/reason/type"]),
        ({"stop": {"reason": {"type": 3}}}, ["/stop/reason/type"]),
        ({"stop": {"reason": {"type": "x" * 2000}}}, ["/stop/reason/type"]),
        ({"stop": {"engine": 1}}, ["/stop/engine"]),
        ({"stop": {"matched": True}}, ["/stop/matched"]),
        ({"stop": {"matched": 1.5}}, ["/stop/matched"]),
        ({"stop": {"num_tokens": -1}}, ["/stop/num_tokens"]),
        ({"stop": {"num_tokens": 1.0}}, ["/stop/num_tokens"]),
        ({"stop": {"num_tokens": "7"}}, ["/stop/num_tokens"]),
        ({"stop": {"num_tokens": True}}, ["/stop/num_tokens"]),
        ({"stop": {"num_tokens": 10**30}}, ["/stop/num_tokens"]),
        ({"stop": {"eos_token_ids": 2}}, ["/stop/eos_token_ids"]),
        ({"stop": {"eos_token_ids": [2, "3"]}}, ["/stop/eos_token_ids/1"]),
        ({"stop": {"unscorable_reasons": "error"}}, ["/stop/unscorable_reasons"]),
        ({"stop": {"terminal_reasons": [1]}}, ["/stop/terminal_reasons/0"]),
        ({"shaping": {"truncation": "drop"}}, ["/shaping/truncation"]),
        ({"shaping": {"overlong": {}}}, ["/shaping/overlong/cache_length", "/shaping/overlong/max_length"]),
        (
            {"stop": {"num_tokens": 1}, "shaping": {"overlong": {"max_length": 2, "cache_length": 3}}},
            ["/shaping/overlong/cache_length"],
        ),
        (
            {"shaping": {"overlong": {"max_length": 0, "cache_length": 1.5, "weight": -1}}},
            ["/shaping/overlong/cache_length", "/shaping/overlong/max_length", "/shaping/overlong/weight"],
        ),
        ({"meta": {"step": "7"}}, ["/meta/step"]),
        ({"meta": {"step": 1.5}}, ["/meta/step"]),
        ({"meta": {"step": 2**63}}, ["/meta/step"]),
        ({"meta": {"run": 7}}, ["/meta/run"]),
        ({"meta": {"run": "x" * 1025}}, ["/meta/run"]),
        ({"meta": {"canary": "yes"}}, ["/meta/canary"]),
        ({"meta": {"canary": 1}}, ["/meta/canary"]),
        ({"meta": {"tags": ["a"]}}, ["/meta/tags"]),
        ({"meta": {"tags": {"a": ["b"]}}}, ["/meta/tags/a"]),
        ({"meta": {"language": "en"}}, ["/meta/language"]),
    ],
)
def test_wrong_fields_are_pointed_at(client: Client, fields: dict[str, Any], pointers: list[str]) -> None:
    """Alone, by the verifier's name in the path, and in a batch, each fault has its JSON pointer."""
    alone = check_problem(post(client, ITEM | fields), "invalid_request")
    assert sorted(error["pointer"] for error in alone["errors"]) == pointers
    assert alone["errors_total"] == len(pointers)
    if "verifier" not in fields:
        named = {name: value for name, value in (ITEM | fields).items() if name != "verifier"}
        check_problem(post(client, named, "/v1/verify/exact"), "invalid_request")
    if "ground_truth_key" in fields or fields == {"verifier": None}:
        return
    body = {"items": [ITEM, ITEM | fields, ITEM]}
    together = check_problem(post(client, body, "/v1/verify/batch"), "invalid_request")
    assert sorted(error["pointer"] for error in together["errors"]) == ["/items/1" + p for p in pointers]


@pytest.mark.parametrize("missing", ["verifier", "response"])
def test_missing_fields_are_pointed_at(client: Client, missing: str) -> None:
    """Both required fields, alone and in a batch whose defaults do not hold them."""
    item = {name: value for name, value in ITEM.items() if name != missing}
    alone = check_problem(post(client, item), "invalid_request")
    assert alone["errors"] == [{"pointer": f"/{missing}", "message": "is missing"}]
    together = check_problem(post(client, {"items": [ITEM, item]}, "/v1/verify/batch"), "invalid_request")
    assert together["errors"] == [{"pointer": f"/items/1/{missing}", "message": "is missing"}]


@pytest.mark.parametrize("number", [b"1" * 5000, b"1" * 200_000, b"1e999", b"-1e999", b"0.1"])
def test_absurd_numbers_in_fields(client: Client, number: bytes) -> None:
    """A number that no field takes is pointed at, however it is written."""
    for field, pointer in (
        (b'"stop":{"num_tokens":%s}', "/stop/num_tokens"),
        (b'"meta":{"step":%s}', "/meta/step"),
    ):
        body = b'{"verifier":"exact","response":"a",' + field % number + b"}"
        problem = check_problem(client.post("/v1/verify", content=body), "invalid_request")
        assert problem["errors"][0]["pointer"] == pointer


@pytest.mark.parametrize("number", [b"1" * 200_000, b"-1e999", b"-1", b"true", b"[1]"])
def test_absurd_numbers_in_options(client: Client, number: bytes) -> None:
    """The same for what the verifiers' own options check, at the top and inside lists."""
    for value in (number, b'{"deep":[%s]}' % number):
        body = b'{"verifier":"numeric","response":"1","ground_truth":1,"options":{"rtol":%s}}' % value
        problem = check_problem(client.post("/v1/verify", content=body), "invalid_request")
        assert problem["errors"][0]["pointer"] == "/options/rtol"


WORDS = [
    ("/verifier", {"verifier": 1}, "must be a string"),
    ("/x", {"x": 1}, "no such field"),
    ("/options", {"options": []}, "must be an object"),
    ("/options/strip", {"options": {"strip": "maybe"}}, "must be true or false"),
    ("/options/detail", {"options": {"detail": "all"}}, "must be 'none', 'summary' or 'full'"),
    ("/options/weight", {"options": {"weight": 2}}, "must be less than or equal to 1"),
    ("/options/weight", {"options": {"weight": "a"}}, "must be a number"),
    ("/stop/matched", {"stop": {"matched": 1.5}}, "must be a string; or: must be an integer"),
    ("/stop/eos_token_ids", {"stop": {"eos_token_ids": {}}}, "must be an array"),
    ("/stop/eos_token_ids", {"stop": {"eos_token_ids": [1] * 2000}}, "may hold at most 1024 items"),
    ("/meta/run", {"meta": {"run": "x" * 1025}}, "may have at most 1024 characters"),
    ("/meta/tags", {"meta": {"tags": {str(n): n for n in range(300)}}}, "may hold at most 256 items"),
    ("/shaping/overlong/max_length", {"shaping": {"overlong": {"cache_length": 1}}}, "is missing"),
]


@pytest.mark.parametrize(("pointer", "fields", "message"), WORDS)
def test_messages_are_about_json(client: Client, pointer: str, fields: dict[str, Any], message: str) -> None:
    """Callers of any language read them: objects and arrays, no words of Python or of a library."""
    problem = check_problem(post(client, ITEM | fields), "invalid_request")
    assert problem["errors"] == [{"pointer": pointer, "message": message}]


@pytest.mark.parametrize("number", [b"1" * 5000, b"1" * 200_000, b"-" + b"9" * 90_000, b"1e5000"])
def test_messages_about_long_numbers(client: Client, number: bytes) -> None:
    """Wherever such a number stands, the message is short, and not about the interpreter."""
    for field in (
        b'"verifier":%s',
        b'"stop":{"num_tokens":%s}',
        b'"meta":{"tags":{"a":[%s]}}',
        b'"x":{"y":%s}',
    ):
        body = b'{"response":"a",' + field % number + b',"verifier":"exact"}'
        reply = client.post("/v1/verify", content=body)
        assert "set_int_max_str_digits" not in reply.text
    body = b'{"verifier":"numeric","response":"1","ground_truth":1,"options":{"rtol":-%s}}' % number.lstrip(
        b"-"
    )
    problem = check_problem(client.post("/v1/verify", content=body), "invalid_request")
    (error,) = problem["errors"]
    assert error["pointer"] == "/options/rtol"
    assert "Value error" not in error["message"]
    assert "sys." not in error["message"]
    assert len(error["message"]) < 300


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("limit=0", "must be greater than or equal to 1"),
        ("limit=zz", "must be an integer"),
        ("limit=" + "1" * 5000, "must be an integer of fewer digits"),
        ("correct=maybe", "must be true or false"),
        ("status=zz", "must be 'scored' or 'unscorable'"),
        ("stop_reason=zz", None),
        ("zz=1", "no such field"),
        ("run=" + "x" * 2000, "may have at most 1024 characters"),
    ],
)
def test_bad_queries(client: Client, query: str, message: str | None) -> None:
    """A parameter that nothing could match is a bad call, not an empty answer."""
    problem = check_problem(client.get(f"/v1/audit/verdicts?{query}"), "invalid_query")
    (error,) = problem["errors"]
    assert error["pointer"] == "/query/" + query.partition("=")[0]
    assert message is None or error["message"] == message


def test_unknown_verifiers(client: Client) -> None:
    """Named as such when nothing else is wrong, wherever the name stands."""
    alone = check_problem(post(client, ITEM | {"verifier": "nope"}), "unknown_verifier")
    assert alone["errors"][0]["pointer"] == "/verifier"
    assert "numeric" in alone["errors"][0]["message"]
    check_problem(post(client, {"response": "a"}, "/v1/verify/nope"), "unknown_verifier")
    check_problem(client.get("/v1/verifiers/nope"), "unknown_verifier")
    check_problem(client.get("/v1/verifiers/nope/cases"), "unknown_verifier")
    items = [ITEM, ITEM | {"verifier": "nope"}]
    together = check_problem(post(client, {"items": items}, "/v1/verify/batch"), "unknown_verifier")
    assert together["errors"][0]["pointer"] == "/items/1/verifier"
    items.append(ITEM | {"response": 1})
    mixed = check_problem(post(client, {"items": items}, "/v1/verify/batch"), "invalid_request")
    assert mixed["errors_total"] == 2
    check_problem(post(client, ITEM | {"verifier": "\ud800"}), "unknown_verifier")


def test_the_first_hundred_faults_and_the_total(client: Client) -> None:
    """A thousand bad items are counted, a hundred are shown."""
    problem = check_problem(post(client, {"items": [{"x": 1}] * 1000}, "/v1/verify/batch"), "invalid_request")
    assert len(problem["errors"]) == 100
    assert problem["errors_total"] == 1000
    wide = check_problem(post(client, {f"x{n}": n for n in range(100_000)}), "invalid_request")
    assert wide["errors_total"] >= 1


def test_long_names_are_clipped(client: Client) -> None:
    """What is quoted from a request stays short, and is always text."""
    problem = check_problem(post(client, ITEM | {"\ud800" + "x" * 100_000: 1}), "invalid_request")
    assert len(problem["errors"][0]["pointer"]) < 600


@pytest.mark.parametrize(
    "body", [{}, {"items": {}}, {"items": [], "x": 1}, {"items": None}, {"defaults": {}}]
)
def test_bad_batch_envelopes(client: Client, body: object) -> None:
    """A batch is an object with a list of items."""
    check_problem(post(client, body, "/v1/verify/batch"), "invalid_request")


@pytest.mark.parametrize("item", [None, 1, "a", [], True])
def test_items_that_are_no_objects(client: Client, item: object) -> None:
    """Each item is an object."""
    problem = check_problem(post(client, {"items": [ITEM, item]}, "/v1/verify/batch"), "invalid_request")
    assert problem["errors"][0]["pointer"] == "/items/1"


def test_bad_defaults_are_pointed_at_once(client: Client) -> None:
    """A fault in the defaults stands there, not at every item."""
    body = {"items": [{"response": "a"}] * 3, "defaults": {"verifier": "exact", "stop": {"x": 1}}}
    problem = check_problem(post(client, body, "/v1/verify/batch"), "invalid_request")
    assert [error["pointer"] for error in problem["errors"]] == ["/defaults/stop/x"]


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml"],
)
def test_other_media_types(client: Client, content_type: str) -> None:
    """What a form of a foreign web page can post is not taken."""
    reply = client.post("/v1/verify", content=encode(ITEM), headers={"content-type": content_type})
    check_problem(reply, "unsupported_media_type")


@pytest.mark.parametrize(
    "content_type", ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON", ""]
)
def test_json_media_types(client: Client, content_type: str) -> None:
    """JSON by any spelling, and no media type at all."""
    reply = client.post("/v1/verify", content=encode(ITEM), headers={"content-type": content_type})
    assert reply.status_code == 200


@pytest.mark.parametrize("encoding", ["br", "zstd", "deflate", "gzip, gzip", "nonsense"])
def test_other_content_encodings(client: Client, encoding: str) -> None:
    """Only gzip is unpacked; the reply says so."""
    reply = post(client, ITEM, content_encoding=encoding)
    check_problem(reply, "unsupported_content_encoding")
    assert reply.headers["accept-encoding"] == "gzip"


PACKED = gzip.compress(encode(ITEM), mtime=0)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not gzip",
        PACKED[:-9],
        PACKED[:-1],
        PACKED + b"garbage",
        PACKED[:12] + b"\0" * 20,
    ],
)
def test_broken_gzip(client: Client, body: bytes) -> None:
    """Cut off, damaged or followed by something else."""
    reply = client.post("/v1/verify", content=body, headers=JSON | {"content-encoding": "gzip"})
    check_problem(reply, "malformed_gzip")


def test_unknown_paths_and_methods(client: Client) -> None:
    """404 and 405 have the same shape; 405 says which methods there are."""
    check_problem(client.get("/"), "not_found")
    check_problem(client.get("/v1/nothing"), "not_found")
    check_problem(client.post("/v1/verify/", content=b"{}"), "not_found")
    check_problem(client.get("/docs/assets/../../settings.py"), "not_found")
    check_problem(client.get("/docs/assets/index.html"), "not_found")
    for method, path in (("GET", "/v1/verify"), ("PUT", "/v1/verify/batch"), ("POST", "/healthz")):
        reply = client.request(method, path)
        check_problem(reply, "method_not_allowed")
        assert reply.headers["allow"]


def test_every_code_has_its_own_status_and_title() -> None:
    """Codes are words, statuses are errors, titles differ."""
    assert len({title for _, title in CODES.values()}) == len(CODES)
    for code, (status, _) in CODES.items():
        assert code.replace("_", "").isalpha()
        assert 400 <= status < 600
