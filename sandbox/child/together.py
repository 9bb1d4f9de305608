"""Test code and program in one process, for tests that cannot have two. Weaker: programs can tamper with it.

What is kept up: a pass is the normal end of the test code, told with a nonce that no frame or object shows to
the program; and whether the tests are usable is settled before the program begins.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from sandbox.child import asserts, bare_stack, candidate, report, surroundings, test_code
from sandbox.child.program import FILE_NAME, Program, UnusableError, choose


def main(job: bytes, channel_fd: int, peer_fd: int | None) -> None:
    """Run the job's program and its test code in one namespace; report one outcome, with the job's nonce."""
    del peer_fd
    request = json.loads(job)
    nonce = request.pop("nonce")
    try:
        tests = test_code.read(request["setup"], request["code"], request["entry_point"], apart=False)
        program = choose(request)
    except (UnusableError, test_code.InvalidTestsError) as error:
        report.send(channel_fd, {"state": error.state, "message": error.message})
        return
    report.send(channel_fd, {"state": "ready"})
    state, message = _outcome(tests, program, request["entry_point"])
    report.send(channel_fd, {"nonce": nonce, "state": state, "message": message[:2000]})


def _outcome(tests: test_code.Examined, program: Program, entry_point: str | None) -> tuple[str, str]:
    surroundings.open_streams()
    module = surroundings.fresh_module(candidate.MODULE_NAME, FILE_NAME, program.source)
    surroundings.settle(FILE_NAME)
    namespace = module.__dict__

    def prepare() -> dict[str, Any]:
        bare_stack.call(exec, program.code, namespace)
        given = candidate.chosen(namespace, sorted(tests.needed | tests.declared), entry_point)
        namespace["__name__"] = "__main__"
        sys.modules["__main__"] = module
        bare_stack.call(exec, tests.setup, namespace)
        for name in (entry_point, *tests.declared):
            if name in given:
                namespace[name] = given[name]
            elif name in tests.vacant:
                namespace.pop(name, None)  # nobody has more than its head
        return given

    return asserts.decide(tests, entry_point, namespace, prepare, None)
