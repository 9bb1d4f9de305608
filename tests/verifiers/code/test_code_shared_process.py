"""`allow_shared_process`: test code that cannot have a process of its own (RULES R15)."""

# ruff: noqa: E501 - programs as they are
from __future__ import annotations

from typing import Any

import pytest
from outcomes import Judge, fenced, reason_of

from sandbox.languages import python
from sandbox.run import ChildResult, RunResult
from sandbox.types import AssertCase, RunStatus
from verifiers.types import Verdict

pytestmark = pytest.mark.asyncio(loop_scope="session")

ANIMAL = """
import time
class Animal:
    def __init__(self, name):
        self.name = name
    def speak(self):
        return '...'
    def describe(self):
        return f'{self.name} says {self.speak()}'
def now():
    return time.time()
async def later():
    return 1
"""
NEEDS_ONE_PROCESS = {
    "subclass": "class Dog(Animal):\n    def speak(self): return 'Woof'\nassert Dog('Rex').describe() == 'Rex says Woof'",
    "patched clock": "from unittest.mock import patch\nwith patch('time.time', return_value=7): assert now() == 7",
    "patched global": "from unittest.mock import patch\nwith patch('__main__.now', return_value=7): assert now() == 7",
    "source": "import inspect\nassert 'return' in inspect.getsource(now)",
    "weak reference": "import weakref\na = Animal('a')\nr = weakref.ref(a)\ndel a\nassert r() is None",
    "unittest": """
import unittest
class Cat(Animal): pass
class T(unittest.TestCase):
    def test(self): self.assertEqual(Cat('x').name, 'x')
if __name__ == '__main__': unittest.main()
""",
    "check": "def check(candidate):\n    class Dog(candidate): pass\n    assert Dog('x').name == 'x'",
}


def asserts(code: str, **more: Any) -> dict[str, Any]:
    return {"type": "asserts", "code": code, "entry_point": "Animal", **more}


@pytest.mark.parametrize("name", NEEDS_ONE_PROCESS)
async def test_earns_nothing_unless_allowed(name: str, judge: Judge) -> None:
    """Without the option it is unscorable; with it a verdict, and the detail names the mode."""
    tests = asserts(NEEDS_ONE_PROCESS[name])
    assert reason_of(await judge(fenced(ANIMAL), tests)) == "unsupported_tests"
    outcome = await judge(fenced(ANIMAL), tests, allow_shared_process=True)
    assert isinstance(outcome, Verdict), outcome
    assert (outcome.reason, outcome.score) == ("passed", 1.0), outcome.detail
    assert outcome.detail["isolation"]["mode"] == "shared_process"


async def test_what_the_setup_announces_is_the_programs_there_too(judge: Judge) -> None:
    """Also where only the program itself uses it, and the tests do not mention it."""
    heads = 'def encode(s):\n    """Reverse s."""\n\ndef decode(s):\n    """Undo encode."""\n'
    tests = asserts("import inspect\ninspect.getsource(decode)\nassert decode('ab') == 'ba'", setup=heads)
    program = fenced("def encode(x): return x[::-1]\ndef decode(x): return encode(x)")
    outcome = await judge(program, {**tests, "entry_point": "decode"}, allow_shared_process=True)
    assert isinstance(outcome, Verdict), outcome
    assert outcome.reason == "passed", outcome.detail
    assert outcome.detail["isolation"]["mode"] == "shared_process"


async def test_what_two_processes_can_do_is_never_shared(judge: Judge) -> None:
    """The option changes nothing where it is not needed."""
    outcome = await judge(
        fenced(ANIMAL), asserts("assert Animal('x').name == 'x'"), allow_shared_process=True
    )
    assert isinstance(outcome, Verdict)
    assert (outcome.reason, outcome.detail["isolation"]["mode"]) == ("passed", "per_case")


SUBCLASS = "class Dog(Animal): pass\nassert Dog('x').speak() == 'Woof'"
FORGED = {
    "wrong": "class Animal:\n    def __init__(self, n): pass\n    def speak(self): return 1",
    "nothing defined": "x = 1",
    "exits at import": "import sys\nsys.exit(0)",
    "exits when used": "import sys\nclass Animal:\n    def __init__(self, n): sys.exit(0)",
    "raises SystemExit": "class Animal:\n    def __init__(self, n): raise SystemExit",
    "leaves at once": "import os\nclass Animal:\n    def __init__(self, n): os._exit(0)",
    "leaves at the end": "import atexit, os\natexit.register(os._exit, 0)\nclass Animal:\n    def speak(self): 1",
    "prints a pass": "print('passed')\nprint('{\"state\": \"passed\"}')\nimport os\nos._exit(0)",
    "writes a pass to every descriptor": """
import json, os
def frame(m):
    body = json.dumps(m).encode()
    return len(body).to_bytes(4, 'big') + body
words = frame({'state': 'ready'}) + b''.join(frame({'state': 'passed', 'nonce': n}) for n in ('', None, 'x', 0))
for fd in range(64):
    try: os.write(fd, words)
    except OSError: pass
os._exit(0)
""",
    "looks for the nonce in every object and frame": """
import gc, json, os, re, sys
found = set()
def look(text):
    found.update(re.findall(r'\\b[0-9a-f]{32}\\b', text))
frame = sys._getframe()
while frame is not None:
    look(repr(frame.f_locals))
    frame = frame.f_back
for thing in gc.get_objects():
    try:
        if type(thing) is dict: look(repr([v for v in thing.values() if type(v) in (str, bytes)]))
        elif type(thing) in (list, tuple, set): look(repr([v for v in thing if type(v) in (str, bytes)]))
    except Exception: pass
for nonce in found:
    body = json.dumps({'state': 'passed', 'nonce': nonce}).encode()
    for fd in range(3, 64):
        try: os.write(fd, len(body).to_bytes(4, 'big') + body)
        except OSError: pass
os._exit(0)
""",
    "replaces the module of the harness": """
import sys
for name, module in list(sys.modules.items()):
    if 'sandbox' in name or 'report' in name: module.send = print
class Animal:
    def __init__(self, n): raise AssertionError
""",
    "raises AssertionError of its own": """
class AssertionError(Exception): pass
class Animal:
    def __init__(self, n): raise AssertionError
""",
    "breaks imports": "import sys\nsys.modules['weakref'] = None\nclass Animal: pass",
    "takes imports away": "import builtins\nbuiltins.__import__ = None\nclass Animal: pass",
    "replaces the hook": "import sys\nsys.excepthook = lambda *a: sys.exit(0)\nclass Animal: pass",
    "ends in a thread": "import threading, os\nthreading.Timer(0.01, os._exit, [0]).start()\nimport time\ntime.sleep(5)",
    "never ends": "while True: pass",
}


@pytest.mark.parametrize("name", FORGED)
async def test_plain_forgeries_fail_there_too(name: str, judge: Judge) -> None:
    """Neither a pass without the end of the tests, nor a null."""
    outcome = await judge(
        fenced(FORGED[name]), asserts(SUBCLASS), allow_shared_process=True, limits={"time_s": 1}
    )
    assert isinstance(outcome, Verdict), outcome
    assert not outcome.correct


@pytest.mark.parametrize(
    "code",
    ["import no_such_module\nclass Dog(Animal): pass\nassert Dog('x')", "class Dog(Animal): pass", "class ("],
)
async def test_unusable_tests_are_unscorable_there_too(code: str, judge: Judge) -> None:
    """A module that is not here, no assertion, no program: told before the program runs."""
    outcome = await judge(fenced(ANIMAL), asserts(code), allow_shared_process=True)
    assert reason_of(outcome) in ("unsupported_tests", "invalid_ground_truth")


def _frames(*messages: str) -> bytes:
    return b"".join(len(text).to_bytes(4, "big") + text.encode() for text in messages)


PASSED = '{"state":"passed","message":""}'


@pytest.mark.parametrize(
    ("messages", "state"),
    [
        (('{"state":"ready"}', '{"nonce":"n","state":"passed"}'), "passed"),
        (('{"state":"ready"}', '{"nonce":"n","state":"failed"}'), "failed"),
        (('{"state":"ready"}', PASSED), None),
        (('{"state":"ready"}', '{"nonce":"m","state":"passed"}'), None),
        (('{"state":"ready"}', '{"state":"unsupported"}'), None),
        (('{"state":"ready"}', '{"state":"invalid_tests"}'), None),
        (('{"state":"unsupported"}',), "unsupported"),
    ],
)
async def test_only_words_with_the_nonce_count_once_the_program_runs(
    messages: tuple[str, ...], state: str | None
) -> None:
    """The first word is the harness's; what follows may be the program's."""
    child = ChildResult(0, None, b"", b"", _frames(*messages))
    run = RunResult(RunStatus.EXITED, (child,), 0.0, 0.0, 0)
    outcome = python.from_run(0, AssertCase(("",), nonce="n"), run).asserts
    assert (outcome.state if outcome else None) == state


async def test_unsupported_is_told_even_if_the_program_was_not_looked_at() -> None:
    """The test process may end first; the program's then ends unfinished, which is no compile error."""
    tests = ChildResult(0, None, b"", b"", _frames('{"state":"unsupported","message":""}'))
    candidate = ChildResult(None, 9, b"", b"", b"")
    result = python.from_run(
        0, AssertCase(("",)), RunResult(RunStatus.EXITED, (tests, candidate), 0.0, 0.0, 0)
    )
    assert (result.status, result.asserts and result.asserts.state) == (RunStatus.EXITED, "unsupported")
