"""Function calls in the harness (RULES R5, R6)."""

from __future__ import annotations

from typing import Any

import pytest
from bare import run_case

from sandbox.types import Call, CallCase, CallResult, CaseResult, Program, RunStatus


def call(source: str, *arguments: tuple[Any, ...], setup: str = "", **kwargs: Any) -> CaseResult:
    """Calls of `f` with these arguments in one process."""
    calls = tuple(Call(args, kwargs) for args in arguments)
    return run_case(Program("python", (source,), entry_point="f"), CallCase("f", calls, setup))


REVERSED_LIST = """
class Solution:
    def f(self, head: Optional[ListNode]) -> Optional[ListNode]:
        last = None
        while head:
            head.next, last, head = last, head, head.next
        return last
"""
MIRRORED_TREE = """
def f(root: Optional[TreeNode]) -> 'Optional[TreeNode]':
    if root:
        root.left, root.right = f(root.right), f(root.left)
    return root
"""
DEPTH = """
from __future__ import annotations
def f(root: TreeNode | None) -> int:
    return 0 if not root else 1 + max(f(root.left), f(root.right))
"""
OWN_NODE = """
class ListNode:
    def __init__(self, x):
        self.val = x
        self.next = None
def f(head: ListNode) -> ListNode: return head.next
"""
DEEP = "import sys\nsys.setrecursionlimit(30000)\ndef f(n): return n and 1 + f(n - 1)"

VALUES: dict[str, tuple[str, Any, Any]] = {
    "function": ("def f(a, b=2, *, c=3): return [a, b, c]", 1, [1, 2, 3]),
    "lambda": ("f = lambda x: x + 1", 1, 2),
    "class with __call__": ("class F:\n    def __call__(self, x): return x\nf = F()", 1, 1),
    "cached": ("from functools import cache\n@cache\ndef f(x): return x", 1, 1),
    "imported": ("from math import sqrt as f", 4, 2.0),
    "conditional": ("if True:\n    def f(x): return x", 1, 1),
    "method of Solution": ("class Solution:\n    def f(self, x): return x", 1, 1),
    "static method": ("class Solution:\n    @staticmethod\n    def f(x): return x", 1, 1),
    "module level first": ("def f(x): return 1\nclass Solution:\n    def f(self, x): return 2", 1, 1),
    "not __main__": ("def f(x): return __name__ == '__main__'", 1, False),
    "typing": ("def f(x: List[Optional[int]]) -> Dict[str, Any]: return x", [None], [None]),
    "collections": ("def f(x): return sorted(Counter(x)), collections.OrderedDict()", "ab", [["a", "b"], {}]),
    "heapq and bisect": (
        "def f(x): return heapq.nsmallest(1, x) + [bisect.bisect_left(x, 2)]",
        [1, 2],
        [1, 1],
    ),
    "math": ("def f(x): return [math.gcd(x, 6), gcd(x, 6), inf > 1]", 4, [2, 2, True]),
    "itertools": ("def f(x): return list(accumulate(x)), reduce(lambda a, b: a + b, x)", [1, 2], [[1, 3], 3]),
    "built-ins are left alone": ("def f(x): return pow(2, 3, 5), abs(-1), sum(x), max(x)", [1], [3, 1, 1, 1]),
    "linked list": (REVERSED_LIST, [1, 2, 3], [3, 2, 1]),
    "empty linked list": ("def f(head: ListNode) -> ListNode: return head", [], []),
    "lists of linked lists": (
        "def f(heads: List[Optional[ListNode]]) -> list[ListNode]: return heads[::-1]",
        [[1], [], [2, 3]],
        [[2, 3], [], [1]],
    ),
    "tree": (MIRRORED_TREE, [1, 2, 3, None, 4], [1, 3, 2, None, None, 4]),
    "tree given, number returned": (DEPTH, [1, 2, None, 3], 3),
    "own node class": (OWN_NODE, [1, 2], [2]),
    "not annotated": ("def f(head): return head", [1], [1]),
    "prints": ("print('x')\ndef f(x):\n    print('y')\n    return x", 1, 1),
    "arguments changed": ("def f(x):\n    x.append(1)", [], None),
    "recursion": (DEEP, 20000, 20000),
    "unicode name": ("def größe(x): return x\nf = größe", 1, 1),
}


@pytest.mark.parametrize("name", VALUES)
def test_value_of_a_call(name: str) -> None:
    """The entry point is found, called and its value taken."""
    source, argument, value = VALUES[name]
    assert call(source, (argument,)).calls == (CallResult(value),)


ERRORS = {
    "raises": ("def f(): raise KeyError('k')", "KeyError: 'k'"),
    "exits": ("def f(): raise SystemExit", "SystemExit"),
    "interrupts": ("def f(): raise KeyboardInterrupt", "KeyboardInterrupt"),
    "raises what cannot be shown": (
        "class E(Exception):\n    def __str__(self): raise ValueError\ndef f(): raise E",
        "E: ?",
    ),
    "wrong arguments": ("def f(x): return x", "TypeError"),
    "not defined": ("def g(): return 1", "NameError: name 'f'"),
    "not callable": ("f = 3", "NameError: name 'f'"),
    "fails at import": ("def f(): return 1\n1 / 0", "ZeroDivisionError"),
    "exits at import": ("def f(): return 1\nexit()", "SystemExit"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_error_of_a_call(name: str) -> None:
    """In words, and as often as there were calls."""
    source, words = ERRORS[name]
    result = call(source, (), ())
    assert [words in str(each.error) for each in result.calls] == [True, True]


NOT_PLAIN = [
    "{1}",
    "b'x'",
    "(i for i in 'ab')",
    "object()",
    "f",
    "iter([])",
    "[[{1}]]",
    "{1: 1, '1': 2}",
    "range(3)",
]


@pytest.mark.parametrize("value", NOT_PLAIN)
def test_value_that_is_not_plain(value: str) -> None:
    """Told apart from an error and from None."""
    [each] = call(f"def f(): return {value}", ()).calls
    assert (each.plain, each.value) == (False, None)


def test_calls_go_on_after_an_error() -> None:
    """Each call has its own result, in order."""
    result = call("def f(x): return 1 // x", (1,), (0,), (2,))
    assert [each.value for each in result.calls] == [1, None, 0]
    assert [each.error is None for each in result.calls] == [True, False, True]


def test_values_are_taken_at_once() -> None:
    """What later calls do to a value that was returned changes nothing."""
    result = call("kept = []\ndef f(x):\n    kept.append(x)\n    return kept", (1,), (2,))
    assert [each.value for each in result.calls] == [[1], [1, 2]]


def test_arguments_are_fresh_for_each_call() -> None:
    """No call sees what another did to its own."""
    shared: list[int] = []
    result = call("def f(x):\n    x.append(1)\n    return x", (shared,), (shared,))
    assert [each.value for each in result.calls] == [[1], [1]]


def test_keyword_arguments() -> None:
    """Given by name."""
    assert call("def f(a, *, b): return [a, b]", (1,), b={"x": 2}).calls == (CallResult([1, {"x": 2}]),)


@pytest.mark.parametrize("ending", ["os._exit(0)", "os.kill(os.getpid(), 9)", "os._exit(3)"])
def test_calls_that_never_answered(ending: str) -> None:
    """Those before are there, the rest is not."""
    result = call(f"import os\ndef f(x):\n    if x: {ending}\n    return x", (0,), (1,), (0,))
    assert result.calls == (CallResult(0),)


def test_a_copy_of_the_process_answers_nothing() -> None:
    """A forked child that returns from the call too."""
    source = "import os\ndef f(x):\n    pid = os.fork()\n    if pid: os.waitpid(pid, 0)\n    return bool(pid)"
    assert call(source, (1,), (2,)).calls == (CallResult(True), CallResult(True))


JUNK = ["b'junk'", r"b'\0\0\0\5hello'", r"b'\0\0\0\2{}'", r"b'\xff' * 100", r"b'\0\0\0\7[1,2,3]'"]


@pytest.mark.parametrize("junk", JUNK)
def test_junk_on_the_channel_is_no_result(junk: str) -> None:
    """Whatever the program writes to descriptors it was not given, no call gains a result by it."""
    source = f"""
import os
def f(x):
    for fd in map(int, os.listdir('/proc/self/fd')):
        try: fd > 2 and os.write(fd, {junk})
        except OSError: pass
    return x
"""
    result = call(source, (1,), (2,))
    assert result.status is RunStatus.EXITED
    assert all(each.value in (1, 2) for each in result.calls)
    assert len(result.calls) <= 1


def test_the_block_that_defines_the_entry_point_counts() -> None:
    """The first in order of preference that does; a class Solution counts too."""
    blocks = ("print(f(1))", "class Solution:\n    def f(self, x): return 2", "def f(x): return 3")
    result = run_case(Program("python", blocks, entry_point="f"), CallCase("f", (Call((1,)),)))
    assert result.calls == (CallResult(2),)
    result = run_case(Program("python", ("x = 1", "y = (")), CallCase("f", (Call((1,)),)))
    assert "NameError" in str(result.calls[0].error)


def test_setup_runs_first_or_is_the_head_of_a_body() -> None:
    """Apart where the program defines the entry point, in front where it only continues it."""
    source = "from __future__ import annotations\ndef f(x: Unknown): return BASE + x"
    assert call(source, (1,), setup="BASE = 10\n").calls == (CallResult(11),)
    assert call("    return x + 5\n", (1,), setup='def f(x):\n    """Add."""\n').calls == (CallResult(6),)


HEADS = [
    "def f(x):",
    "import math\ndef f(\n    x,\n) -> int:\n    # adds\n",
    'def f(x):\n    """Add."""\n',
    "def f(x): pass",
    "def g(y):\n    \ndef f(x):\n    ",
]
STARTERS = [
    "class Solution:\n    def f(self, x):\n        ",
    "class Solution:\n    def f(self, x):\n        pass\n",
    "class Solution:\n    def g(self):\n    \n    def f(self, x):\n",
    "class Solution:\n        def f(self,\n  x):\n",
    "class Solution:\n    MOD = 10\n    def f(self, x):\n        ",
]
WITH_FUNCTION = "def f(x): return x + 5"
WITH_METHOD = "class Solution:\n    def f(self, x): return x + 5"


@pytest.mark.parametrize("setup", [*HEADS, *STARTERS])
@pytest.mark.parametrize("source", [WITH_FUNCTION, WITH_METHOD])
def test_setup_may_announce_what_the_program_defines(setup: str, source: str) -> None:
    """As prompts and starter code do; where the program has it is the program's choice."""
    assert call(source, (1,), setup=setup).calls == (CallResult(6),)


@pytest.mark.parametrize("setup", HEADS[:3])
def test_open_heads_take_a_body(setup: str) -> None:
    """With a docstring or without."""
    assert call("    return x + 5\n", (1,), setup=setup).calls == (CallResult(6),)


@pytest.mark.parametrize("setup", [*HEADS, *STARTERS])
@pytest.mark.parametrize(
    "source",
    ["y = 1", "if False:\n    def f(x): return None", "class Solution: pass", "def h(x): return None"],
)
def test_what_a_setup_announces_is_no_answer(setup: str, source: str) -> None:
    """A program that defines nothing is asked for nothing, and `null` expected is not thereby earned."""
    assert "NameError" in str(call(source, (1,), setup=setup).calls[0].error)


@pytest.mark.parametrize("setup", STARTERS)
def test_what_is_inherited_from_a_setup_is_no_answer(setup: str) -> None:
    """A program may extend the class of its starter code, which gives it nothing."""
    assert "NameError" in str(call("class Solution(Solution): pass", (1,), setup=setup).calls[0].error)


BASES = [
    ("class Solution:\n    @classmethod\n    def f(cls, x): pass", "x = 1"),
    ("class Solution:\n    @staticmethod\n    def f(x):", "x = 1"),
    ("class Base:\n    def f(self, x): pass", "class Solution(Base): pass"),
    ("class Solution:\n    def f(self, x): pass", "f = Solution().f"),
    ("def g(x): pass", "f = g"),
    ("def f(x):\n    return", "y = 1"),
    ("def f(x):\n    'doc'\n    return None", "y = 1"),
]


@pytest.mark.parametrize(("setup", "source"), BASES)
def test_what_was_announced_is_no_answer_by_another_name(setup: str, source: str) -> None:
    """Bound, inherited or called something else."""
    assert "NameError" in str(call(source, (1,), setup=setup).calls[0].error)


OF_BOTH = [
    ("from math import *", "from math import floor as f"),
    ("from math import floor as f", "from math import floor as f"),
    ("def g(x): return x + 1\nf = g", "f = g"),
    ("def f(x): return helper(x)\ndef helper(x):\n    ", "def helper(x): return x"),
    ("def f(x): return x", "y = 1"),
]


@pytest.mark.parametrize(("setup", "source"), OF_BOTH)
def test_what_a_setup_has_whole_may_be_the_programs(setup: str, source: str) -> None:
    """Only what it merely announces is not."""
    assert call(source, (1,), setup=setup).calls[0].error is None


@pytest.mark.parametrize("setup", ["def f(", "x = (", "if x:\n    y\n  z", "for"])
def test_setup_that_does_not_compile_is_no_fault_of_the_program(setup: str) -> None:
    """It is said to be invalid, whatever the program is."""
    outcome = call(WITH_FUNCTION, (1,), setup=setup).asserts
    assert outcome is not None
    assert outcome.state == "invalid_tests"


@pytest.mark.parametrize(
    ("source", "right"),
    [
        ("x = 1", False),
        ("from math import gcd", True),
        ("from math import *", True),
        ("import math\ngcd = math.gcd", True),
        ("class Solution:\n    def gcd(self, a, b): return 4", True),
    ],
)
def test_what_is_there_without_import_is_no_answer(source: str, right: bool) -> None:
    """Names of the library that a program finds are its own only once it has put them there."""
    result = run_case(Program("python", (source,)), CallCase("gcd", (Call((8, 12)),)))
    assert (result.calls == (CallResult(4),)) is right
