"""RULES R1 to R16 line by line, one test a rule, on the real sandbox."""

# ruff: noqa: E501 - programs as they are
from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest
from outcomes import Judge, reason_of

from verifiers.types import Verdict

pytestmark = pytest.mark.asyncio(loop_scope="session")


class Row(NamedTuple):
    """A program (or a whole response, if it begins with a newline), its tests, what comes of it."""

    says: str
    program: str
    tests: dict[str, Any]
    reason: str
    options: dict[str, Any] | None = None


def out(expected: str | list[str], stdin: str = "", **more: Any) -> dict[str, Any]:
    """One case of standard output."""
    accepted = {"stdout_any": expected} if isinstance(expected, list) else {"stdout": expected}
    return {"type": "stdin_stdout", "cases": [{"stdin": stdin, **accepted}], **more}


def call(expected: Any, *args: Any, name: str = "f", **more: Any) -> dict[str, Any]:
    """One call."""
    return {
        "type": "function_call",
        "entry_point": name,
        "cases": [{"args": list(args), "expected": expected}],
        **more,
    }


def asserts(code: str, **more: Any) -> dict[str, Any]:
    """Assert tests."""
    return {"type": "asserts", "code": code, **more}


FINE, WRONG, ERROR, NO_CODE = "passed", "wrong_answer", "runtime_error", "no_code"
TICKS = "```"

RULES: dict[str, list[Row]] = {
    "R1": [
        Row("tokens by default", "print(' 1\\t2\\n\\n3 ')", out("1 2 3"), FINE),
        Row("tokens in order", "print(2, 1)", out("1 2"), WRONG),
        Row("as many tokens", "print(1, 2, 2)", out("1 2"), WRONG),
        Row("fewer tokens", "print(1)", out("1 2"), WRONG),
        Row("tokens are texts", "print('1.0')", out("1"), WRONG),
        Row("tokens have case", "print('yes')", out("YES"), WRONG),
        Row("exact: newlines at the end", "print('a\\n\\n')", out("a", compare="exact"), FINE),
        Row("exact: CRLF is LF", "print('a\\r\\nb')", out("a\nb", compare="exact"), FINE),
        Row("exact: blanks count", "print('a ')", out("a", compare="exact"), WRONG),
        Row("exact: blank lines inside count", "print('a\\n\\nb')", out("a\nb", compare="exact"), WRONG),
        Row("exact: a lone CR counts", "print('a\\rb')", out("a\nb", compare="exact"), WRONG),
        Row("float: within", "print(0.3333333)", out("0.333333333", compare="float"), FINE),
        Row("float: relative", "print(1000000.5)", out("1000000.9", compare="float"), FINE),
        Row("float: beyond", "print(0.33333)", out("0.333333333", compare="float"), WRONG),
        Row("float: integers exactly", "print(10**18 + 1)", out(str(10**18), compare="float"), WRONG),
        Row("float: integer and decimal", "print('2.0')", out("2", compare="float"), FINE),
        Row("float: nan never", "print('nan')", out("nan", compare="float"), WRONG),
        Row("float: inf never", "print('-inf')", out("-inf", compare="float"), WRONG),
        Row("float: other tokens as texts", "print('a 1.0')", out("a 1.0000001", compare="float"), FINE),
        Row("not UTF-8 is replaced", "import sys; sys.stdout.buffer.write(b'\\xff')", out("\ufffd"), FINE),
        Row("any of several", "print('b')", out(["a", "b"]), FINE),
        Row("none of several", "print('c')", out(["a", "b"]), WRONG),
    ],
    "R2": [
        Row("after the last </think>", f"\n<think>{TICKS}python\nprint(1)\n{TICKS}</think>{TICKS}python\nprint(2)\n{TICKS}", out("2"), FINE),
        Row("a <think> never closed", f"\n<think>{TICKS}python\nprint(1)\n{TICKS}", out("1"), NO_CODE),
        Row("the last block", f"\n{TICKS}python\nprint(1)\n{TICKS}\nor\n{TICKS}python\nprint(2)\n{TICKS}", out("2"), FINE),
        Row("tildes", "\n~~~python\nprint(1)\n~~~", out("1"), FINE),
        Row("four signs hold three", f"\n````python\nprint('{TICKS}')\n````", out(TICKS), FINE),
        Row("indented", f"\n  {TICKS}python\n  if 1:\n    print(1)\n  {TICKS}", out("1"), FINE),
        Row("closed by the end", f"\n{TICKS}python\nprint(1)", out("1"), FINE),
        *[Row(f"language {word}", f"\n{TICKS}{word}\nprint(1)\n{TICKS}", out("1"), FINE) for word in ("Python", "py", "PYTHON3", "py3", "python title=x")],
        Row("no language", f"\n{TICKS}\nprint(1)\n{TICKS}", out("1"), FINE),
        Row("no language only if none of the asked", f"\n{TICKS}py\nprint(1)\n{TICKS}\n{TICKS}\nprint(2)\n{TICKS}", out("1"), FINE),
        Row("another language never", f"\n{TICKS}java\nprint(1)\n{TICKS}", out("1"), NO_CODE),
        Row("the block that defines the entry point", f"\n{TICKS}python\ndef f(): return 1\n{TICKS}\n{TICKS}python\nprint(2)\n{TICKS}", call(1), FINE),
        Row("the last that defines it", f"\n{TICKS}python\ndef f(): return 1\n{TICKS}\n{TICKS}python\ndef f(): return 2\n{TICKS}", call(2), FINE),
        Row("no fence: a program", "\nprint(1)", out("1"), FINE),
        Row("no fence: prose", "\nThe answer is 1.", out("1"), NO_CODE),
        Row("raw", f"\nprint('''{TICKS}python\nprint(2)\n{TICKS}''' and 1)", out("1"), FINE, {"extract": "raw"}),
    ],
    "R3": [
        Row("nothing", f"\n{TICKS}python\n{TICKS}", out(""), NO_CODE),
        Row("blanks and comments", f"\n{TICKS}python\n\n# x\n   # y\n{TICKS}", out(""), NO_CODE),
        Row("in asserts", "\n", asserts("assert f() is None"), NO_CODE),
        Row("pass is code", "pass", out(""), FINE),
    ],
    "R4": [
        *[Row(f"{end} is fine", f"import os, sys\nprint(1, flush=True)\n{end}", out("1"), FINE) for end in ("sys.exit(0)", "exit()", "quit()", "os._exit(0)", "sys.exit(None)", "raise SystemExit")],
        *[Row(f"{end} is not", f"import os, sys\nprint(1, flush=True)\n{end}", out("1"), ERROR) for end in ("sys.exit(1)", "sys.exit('x')", "os._exit(3)", "1 / 0", "os.kill(os.getpid(), 9)", "sys.exit(1.0)")],
        Row("no end", "print(1, flush=True)\nwhile True: pass", out("1"), "timeout", {"limits": {"time_s": 0.2}}),
        Row("a crash after the result", "import atexit, os\natexit.register(os._exit, 1)\ndef f(): return 1", call(1), ERROR),
    ],
    "R5": [
        *[Row(f"{text} is {value!r}", f"import collections, enum\ndef f(): return {text}", call(value), FINE) for text, value in (("None", None), ("(1, (2,))", [1, [2]]), ("{1: 2, None: 3, True: 4.5}.__class__({2: 1})", {"2": 1}), ("2.0", 2), ("-0.0", 0.0), ("collections.Counter('aa')", {"a": 2}), ("collections.OrderedDict(a=1)", {"a": 1}), ("collections.namedtuple('P', 'x')(1)", [1]), ("enum.IntEnum('E', 'a').a", 1), ("__import__('numpy').float64(2.5)", 2.5), ("__import__('numpy').int32(7)", 7))],
        *[Row(f"{text} is not {value!r}", f"import collections\ndef f(): return {text}", call(value), WRONG) for text, value in (("True", 1), ("1", True), ("0", False), ("{1}", [1]), ("b'a'", "a"), ("iter([1])", [1]), ("range(2)", [0, 1]), ("collections.deque([1])", [1]), ("object()", None), ("'1'", 1), ("__import__('numpy').array([1])", [1]), ("1.0000000001", 1))],
        Row("a subclass counts with its real value", "class S(str):\n    def __eq__(s, o): return True\n    __hash__ = str.__hash__\ndef f(): return S('no')", call("yes"), WRONG),
        Row("a mutated subclass too", "class L(list):\n    def __iter__(s): return iter([1])\ndef f(): return L([2])", call([2]), FINE),
        Row("tolerance only if asked", "def f(): return 1.0000000001", call(1.0, compare="float"), FINE),
    ],
    "R6": [
        Row("module level", "f = lambda x: x + 1", call(2, 1), FINE),
        Row("method of Solution", "class Solution:\n    def f(self, x): return x + 1", call(2, 1), FINE),
        Row("a new Solution for each call", "class Solution:\n    def __init__(self): self.n = 0\n    def f(self):\n        self.n += 1\n        return self.n", {"type": "function_call", "entry_point": "f", "cases": [{"args": [], "expected": 1}] * 3}, FINE),
        Row("not __main__", "def f(): return 1\nif __name__ == '__main__': raise SystemExit(1)", call(1), FINE),
        *[Row(f"{name} is there", f"def f(): return bool({name})", call(True), FINE) for name in ("List[int]", "Counter('a')", "heapq.heappush", "heappush", "bisect_left", "itertools.chain", "lru_cache", "math.pi", "re.sub", "ascii_lowercase", "randint", "operator.add", "defaultdict", "deque", "Optional[int]", "gcd", "reduce", "inf", "accumulate")],
        Row("ListNode from and to arrays", "class Solution:\n    def f(self, head: Optional[ListNode]) -> Optional[ListNode]:\n        return head.next", call([2, 3], [1, 2, 3]), FINE),
        Row("TreeNode from and to arrays", "def f(root: TreeNode) -> TreeNode:\n    root.left, root.right = root.right, root.left\n    return root", call([1, 3, 2], [1, 2, 3]), FINE),
        Row("prints at import", "print('x')\ndef f(): return 1", call(1), FINE),
        Row("SystemExit at import", "def f(): return 1\nraise SystemExit(0)", call(1), ERROR),
        Row("arguments that change", "def f(xs):\n    xs.append(1)\n    return len(xs)", call(2, [0]), FINE),
        Row("only the value counts", "def f(xs): xs.sort()", call([1, 2], [2, 1]), WRONG),
    ],
    "R7": [
        Row("a fresh process and an empty folder", "import os\nprint(os.listdir('.'))\nopen('x', 'w').close()", {"type": "stdin_stdout", "cases": [{"stdin": "", "stdout": "[]"}] * 3}, FINE),
        Row("answers by call number do not pay", "import itertools\nn = itertools.count()\ndef f(x): return [5, 7, 9, 11][next(n)]", {"type": "function_call", "entry_point": "f", "cases": [{"args": [i], "expected": e} for i, e in enumerate([5, 7, 9, 11])]}, WRONG),
        Row("sharing costs no reward", "seen = []\ndef f(x):\n    seen.append(x)\n    return len(seen)", {"type": "function_call", "entry_point": "f", "cases": [{"args": [i], "expected": 1} for i in range(3)]}, FINE),
        Row("CPU time of the whole tree", "import os\nfor _ in range(3):\n    if os.fork() == 0:\n        while True: pass\nos.wait()", out(""), "timeout", {"limits": {"time_s": 0.3, "wall_time_s": 5}}),
        Row("waiting too long", "import time\ntime.sleep(9)", out(""), "timeout", {"limits": {"time_s": 1, "wall_time_s": 0.3}}),
        Row("waiting not too long", "import time\ntime.sleep(0.4)", out(""), FINE, {"limits": {"time_s": 0.2}}),
        Row("the first case that fails", "print(int(input()) + 1 if 1 else 0)", {"type": "stdin_stdout", "cases": [{"stdin": "1", "stdout": "2"}, {"stdin": "x", "stdout": "2"}, {"stdin": "1", "stdout": "3"}]}, ERROR),
    ],
    "R8": [
        Row("untouched memory is none", "import mmap\nm = mmap.mmap(-1, 4 << 30)\nb = bytearray(1)\nprint(1)", out("1"), FINE, {"limits": {"memory_mb": 64}}),
        Row("a large thread stack is none", "import threading\nthreading.stack_size(512 << 20)\nt = threading.Thread(target=print, args=(1,))\nt.start(); t.join()", out("1"), FINE, {"limits": {"memory_mb": 64}}),
        Row("touched memory", "b = bytearray(200 << 20)\nb[::4096] = b'x' * len(b[::4096])", out(""), "memory_exceeded", {"limits": {"memory_mb": 64}}),
        Row("of the whole tree", "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n        b = b'x' * (40 << 20)\n        time.sleep(9)\nos.wait()", out(""), "memory_exceeded", {"limits": {"memory_mb": 100}}),
        Row("deep recursion", "import sys\nsys.setrecursionlimit(10**6)\ndef g(n): return n and 1 + g(n - 1)\nprint(g(50000))", out("50000"), FINE, {"limits": {"memory_mb": 256}}),
    ],
    "R9": [
        Row("stderr is never fatal", "import sys\nsys.stderr.write('x' * (5 << 20))\nprint(1)", out("1"), FINE),
        Row("too much stdout", "print('x' * (17 << 20))", out("1"), "output_exceeded"),
        Row("stdin closed early", "import sys\nsys.stdin.close()\nprint(1)", out("1", "x\n" * 500_000), FINE),
        Row("stdin never read", "print(1)", out("1", "x\n" * 500_000), FINE),
    ],
    "R10": [
        Row("fork, setsid, setpgid", "import os\npid = os.fork()\nif pid == 0:\n    os.setsid()\n    os._exit(0)\nos.setpgid(0, 0)\nprint(os.waitpid(pid, 0)[1])", out("0"), FINE),
        Row("subprocess", "import subprocess, sys\nprint(subprocess.check_output([sys.executable, '-c', 'print(7)']).decode())", out("7"), FINE),
        Row("its own file", "import subprocess, sys\nif len(sys.argv) > 1: print('child')\nelse: print(subprocess.check_output([sys.executable, __file__, 'x']).decode(), len(open(__file__).read()) > 9)", out("child True"), FINE),
        Row("asyncio", "import asyncio\nasync def m(): return 7\nprint(asyncio.run(m()))", out("7"), FINE),
        Row("concurrent.futures", "from concurrent.futures import *\nif __name__ == '__main__':\n    with ProcessPoolExecutor(2) as p, ThreadPoolExecutor(2) as t: print(list(p.map(abs, [-1])), list(t.map(abs, [-2])))", out("[1] [2]"), FINE),
        Row("multiprocessing, spawned", "import multiprocessing as mp\ndef g(x): return x * x\nif __name__ == '__main__':\n    with mp.get_context('spawn').Pool(2) as p: print(p.map(g, [3]))", out("[9]"), FINE),
        Row("sixteen tasks", "import threading, time\nts = [threading.Thread(target=time.sleep, args=(0.1,)) for _ in range(15)]\n[t.start() for t in ts]\nprint(threading.active_count())", out("16"), FINE),
        Row("a daemon ends with the case", "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(99)\nprint(1)", out("1"), FINE),
    ],
    "R11": [
        Row("UTF-8", "print(input(), 'é', ascii(input()))", out("ü é '\\xe9'", "ü\né"), FINE),
        Row("BOM and CRLF in a response", f"\n\ufeff{TICKS}python\r\nprint(1)\r\nif 1:\r\n    print(2)\r\n{TICKS}\r\n", out("1 2"), FINE),
        Row("a BOM in a block", f"\n{TICKS}python\n\ufeffprint(1)\n{TICKS}", out("1"), FINE),
        Row("environment", "import os, time\nprint(os.environ['TZ'], os.environ['LANG'], time.tzname[0], os.environ['OMP_NUM_THREADS'], os.environ['PYTHONHASHSEED'])", out("UTC C.UTF-8 UTC 1 0"), FINE),
        Row("seeds are fixed, os.urandom is real", "import os, random\nprint(random.random() == random.Random(0).random(), os.urandom(8) != os.urandom(8))", out("True True"), FINE),
        Row("numpy's too", "import numpy as np\nprint(np.random.rand() == np.random.RandomState(0).rand())", out("True"), FINE),
    ],
    "R12": [
        Row("exact", "def f(): return 10**5000 + 1", call(10**5000 + 1), FINE),
        Row("not rounded", "def f(): return 2**53 + 1", call(2**53), WRONG),
        Row("Python's own limit for programs", "import sys\nprint(sys.get_int_max_str_digits())", out("4300"), FINE),
        Row("beyond the cap", "def f(): return 1", call(10**100_001), "invalid_ground_truth"),
    ],
    "R13": [
        Row("the working directory", "import os, tempfile\nopen('a', 'w').write('x')\nprint(os.listdir('.'), os.environ['TMPDIR'] == os.getcwd() == tempfile.gettempdir())", out("['a'] True"), FINE),
        Row("/tmp is private or refused", "try:\n    open('/tmp/goldcheck-rule-13', 'x').close()\nexcept OSError as e:\n    assert isinstance(e, PermissionError), e\nprint(1)", {"type": "stdin_stdout", "cases": [{"stdin": "", "stdout": "1"}] * 2}, FINE),
    ],
    "R14": [
        Row("signals nobody", "import os\ntry:\n    os.kill(os.getppid(), 0)\n    print('seen')\nexcept OSError: print('no')", out("no"), FINE),
        Row("reads nobody", "import os\nfound = []\nfor pid in range(1, 400):\n    if pid != os.getpid():\n        try: found.append(open(f'/proc/{pid}/environ').read())\n        except OSError: pass\nprint(found)", out("[]"), FINE),
        Row("traces nobody", "import ctypes, os\nc = ctypes.CDLL(None)\nprint(c.ptrace(16, os.getppid(), 0, 0))", out("-1"), FINE),
    ],
    "R15": [
        Row("never equals a plain value", "class E:\n    def __eq__(s, o): return True\ndef f(): return E()", asserts("assert f() == 5"), WRONG),
        *[Row(f"nor {value}", "class E:\n    def __eq__(s, o): return True\n    def __ne__(s, o): return False\n    def __hash__(s): return 1\ndef f(): return E()", asserts(f"x = {value}\nassert f() == x or x == f() or not f() != x or not x != f() or f() in [x] or x in [f()]"), WRONG) for value in ("'a'", "[1]", "{1: 2}", "{1}", "None", "1.5", "b''", "(1,)", "True")],
        Row("two of its objects by their own __eq__", "class E:\n    def __init__(s, x): s.x = x\n    def __eq__(s, o): return s.x == o.x", asserts("assert E(1) == E(1) and not E(1) == E(2)"), FINE),
        Row("a subclass by its real value", "class I(int):\n    def __eq__(s, o): return True\n    __hash__ = int.__hash__\ndef f(): return I(4)", asserts("assert f() == 4 and f() != 5"), FINE),
        Row("classes, exceptions, callbacks, context managers", "class E(ValueError):\n    def __init__(s, c): super().__init__('m', c)\nclass C:\n    def __enter__(s): return [1]\n    def __exit__(s, *a): return a[0] is KeyError\ndef f(g, xs):\n    xs.append(g(2))\n    raise E(7)", asserts("xs = []\ntry: f(lambda x: x * 3, xs)\nexcept ValueError as e: assert e.args == ('m', 7) and isinstance(e, E)\nelse: assert False\nassert xs == [6]\nwith C() as c: raise KeyError\nassert c == [1]"), FINE),
        Row("generators and closures", "def g(n):\n    for i in range(n):\n        r = yield i\n        if r: yield r\ndef k(n): return lambda x: x + n", asserts("i = g(3)\nassert next(i) == 0 and i.send('a') == 'a' and list(i) == [1, 2] and k(2)(3) == 5"), FINE),
        Row("what cannot cross", "class A: pass", asserts("class B(A): pass\nassert B()"), "unsupported_tests"),
        Row("unless a shared process is allowed", "class A: pass", asserts("class B(A): pass\nassert B()"), FINE, {"allow_shared_process": True}),
    ],
    "R16": [
        Row("texts", "print(int(input()) + 1)", {"inputs": ["1", "2"], "outputs": ["2", "3"]}, FINE),
        Row("lists of lines", "print(int(input()) + int(input()))", {"inputs": [["1", "2"]], "outputs": [["3"]]}, FINE),
        Row("fn_name: lists of arguments", "def f(a, b): return a + b", {"fn_name": "f", "inputs": [[1, 2]], "outputs": [3]}, FINE),
        Row("fn_name: lines of JSON", "def f(a, b): return a + b", {"fn_name": "f", "inputs": ["[1]\n[2]"], "outputs": ["[1, 2]"]}, FINE),
        Row("one extra list around every output", "def f(a): return a", {"fn_name": "f", "inputs": [[1], [2]], "outputs": [[1], [2]]}, FINE),
        Row("not if only around some", "def f(a): return a", {"fn_name": "f", "inputs": [[[1]], [[1, 2]]], "outputs": [[1], [1, 2]]}, FINE),
        Row("assert_case", "def f(a): return a", {"assert_case": ["assert f(1) == 1", "assert f(2) == 2"]}, FINE),
        Row("assert_case fails", "def f(a): return 1", {"assert_case": ["assert f(1) == 1", "assert f(2) == 2"]}, WRONG),
        Row("HumanEval's check", "def f(a):\n    return a", asserts("def check(candidate):\n    assert candidate(1) == 1", entry_point="f"), FINE),
        Row("HumanEval's body only", f"\n{TICKS}python\n    return a\n{TICKS}", asserts("def check(candidate):\n    assert candidate(1) == 1", entry_point="f", setup="def f(a):\n    pass\n"), FINE),
        *[Row(f"refused: {text[:8]}", "print(1)", {"inputs": text, "outputs": text}, "invalid_ground_truth") for text in ("gASVBAAAAAAAAABLAS4=", "eJwrSS0uAQAEXQHB", "\x80\x04K\x01.")],
    ],
}  # fmt: skip


def _response(program: str) -> str:
    return program[1:] if program.startswith("\n") else f"{TICKS}python\n{program}\n{TICKS}"


def _row_id(rule: str, row: Row) -> str:
    return f"{rule}: {row.says}"


ROWS = [pytest.param(row, id=_row_id(rule, row)) for rule, rows in RULES.items() for row in rows]


@pytest.mark.parametrize("row", ROWS)
async def test_rule(row: Row, judge: Judge) -> None:
    """Each line of the rules, as the verdict of a program that shows it."""
    outcome = await judge(
        _response(row.program), row.tests, **{"limits": {"time_s": 5}, **(row.options or {})}
    )
    assert reason_of(outcome) == row.reason, outcome


async def test_r16_shapes_come_as_json_text_too(judge: Judge) -> None:
    """Each data set's shape of the table, as data sets store it."""
    for row in RULES["R16"]:
        if "type" not in row.tests and row.reason == FINE:
            assert reason_of(await judge(_response(row.program), json.dumps(row.tests))) == FINE, row.says


async def test_r7_the_mode_is_told(judge: Judge) -> None:
    """`isolation: per_case` forbids sharing, and the result names the mode."""
    tests = {
        "type": "function_call",
        "entry_point": "f",
        "cases": [{"args": [i], "expected": i} for i in range(3)],
    }
    for options, mode in (({}, "shared"), ({"isolation": "per_case"}, "per_case")):
        outcome = await judge("```python\ndef f(x): return x\n```", tests, **options)
        assert isinstance(outcome, Verdict)
        assert (outcome.reason, outcome.detail["isolation"]["mode"]) == (FINE, mode)


async def test_every_rule_has_rows() -> None:
    """R1 to R16."""
    assert list(RULES) == [f"R{number}" for number in range(1, 17)]
