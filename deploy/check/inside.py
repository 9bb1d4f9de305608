"""Run inside a container of the image: does the service there promise, and keep, what it should?

    python3 - EXPECTED < inside.py

EXPECTED is JSON: {"level", "available", "guarantees": {name: strength}}. Prints one JSON line: what differs
from it, and for each verifier how many of the cases that the service itself serves came out as they say.
"""

import json
import sys
import urllib.request

URL = "http://127.0.0.1:8000"


def call(path, body=None):
    """The JSON reply to one request."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as reply:
        return json.load(reply)


def differences(expected):
    """What `GET /v1/sandbox` says differently."""
    report = call("/v1/sandbox")
    found = {"level": report["level"], "available": report["available"]}
    found["guarantees"] = {name: value["strength"] for name, value in report["guarantees"].items()}
    return {
        name: f"{found[name]} instead of {expected[name]}"
        for name in ("level", "available", "guarantees")
        if found[name] != expected[name]
    }


def outcome(reply):
    """What a case names: status, reward, reason."""
    told = reply["verdict"]["reason"] if reply["verdict"] else reply["failure"]["kind"]
    return {"status": reply["status"], "reward": reply["reward"], "reason": told}


def replay(name, available):
    """[cases, ids of those that came out otherwise] for one verifier's served cases."""
    cases = call(f"/v1/verifiers/{name}/cases")["cases"]
    wrong = []
    for case in cases:
        expect = case["expect"]
        if name == "code" and not available:
            expect = {"status": "unscorable", "reward": None, "reason": "sandbox_unavailable"}
            if case["expect"]["status"] == "unscorable":
                expect = {"status": "unscorable", "reward": None}
        found = outcome(call("/v1/verify", case["request"]))
        if any(found[key] != value for key, value in expect.items()):
            wrong.append(case["id"])
    return [len(cases), wrong]


expected = json.loads(sys.argv[1])
served = {
    one["name"]: replay(one["name"], expected["available"]) for one in call("/v1/verifiers")["verifiers"]
}
print(json.dumps({"differences": differences(expected), "served": served, "sandbox": call("/v1/sandbox")}))
