"""What is read off test code before it runs."""

from __future__ import annotations

import pytest

from sandbox.child.test_code import InvalidTestsError, read

TEST_CASE = """
import unittest
class T(unittest.TestCase):
    def test(self):
        self.assertEqual(f(), 1)
"""

CAN_FAIL = [
    "assert f() == 1",
    "if f() != 1:\n    raise ValueError",
    "for x in f():\n    assert x",
    "try:\n    f()\nexcept ValueError:\n    pass\nelse:\n    raise AssertionError",
    "def test():\n    assert f() == 1\ntest()",
    "def a():\n    b()\ndef b():\n    assert f()\na()",
    "class T:\n    def run(self):\n        assert f()\nT().run()",
    "tests = [lambda: check(f())]\ndef check(x):\n    assert x\nfor t in tests: t()",
    "def check(x):\n    assert x\nlist(map(check, f()))",
    TEST_CASE + "unittest.main()",
    TEST_CASE + "unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(T))",
    "import numpy as np\nnp.testing.assert_allclose(f(), 1)",
    "import sys\nsys.exit(f() != 1)",
    "def deco(g):\n    assert g\n    return g\n@deco\ndef h(): pass",
    "globals()['test_it']()\ndef test_it():\n    assert f()",
]


@pytest.mark.parametrize("code", CAN_FAIL)
def test_code_that_can_fail_is_taken(code: str) -> None:
    """An assertion, a raise or a failing call can be reached."""
    assert read("", [code], None).codes


ASSERTS_NOTHING = [
    "f()",
    "x = f() == 1",
    "def test():\n    assert f() == 1",
    "def test_a():\n    test_b()\ndef test_b():\n    test_a()\n    assert f()",
    "class T:\n    def test(self):\n        assert f()",
    TEST_CASE,
    "print(f())",
    "pass",
    "# assert f()",
    "f()\nassert True",
    "f()\nassert 1 == 1, 'message'",
    "'assert f()'",
    "def check(candidate):\n    assert candidate() == 1",
]


@pytest.mark.parametrize("code", ASSERTS_NOTHING)
def test_code_that_asserts_nothing_is_refused(code: str) -> None:
    """Whatever a program does, it would pass."""
    with pytest.raises(InvalidTestsError) as caught:
        read("", [code], None)
    assert caught.value.state == "asserts_nothing"


@pytest.mark.parametrize(
    "code", ["assert (", "assert f()\nreturn 1", "\0", "assert " + "(" * 1000, "assert '\ud800'"]
)
def test_code_that_does_not_compile_is_refused(code: str) -> None:
    """In the tests as in the setup."""
    for setup, tests in (("", code), (code, "assert f()")):
        with pytest.raises(InvalidTestsError) as caught:
            read(setup, [tests], None)
        assert caught.value.state == "invalid_tests"


def test_check_is_called_only_where_nobody_else_does() -> None:
    """HumanEval's shape, and the same with its call written out."""
    check = "METADATA = {}\ndef check(candidate):\n    assert candidate() == 1\n"
    assert read("", [check], "f").calls_check
    assert not read("", [check + "check(f)\n"], "f").calls_check
    assert not read("", ["assert f() == 1"], "f").calls_check


def test_announced_functions() -> None:
    """Heads without a body; a helper with one is the test's own."""
    setup = (
        "def a():\n    'doc'\ndef b(): ...\ndef c():\n    raise NotImplementedError\ndef d():\n    pass\n"
        "def e():\n    return 1\ndef g():\n    raise ValueError\n"
    )
    assert read(setup, ["assert a()"], None).declared == {"a", "b", "c", "d"}


@pytest.mark.parametrize(
    ("setup", "declared"),
    [
        ("class Solution:\n    def f(self): pass\n    def g(self):\n        'doc'\n", {"Solution"}),
        ("class Solution:\n    'doc'\n    def f(self): ...\n", {"Solution"}),
        ("class Solution:\n    def f(self): return 1\n", set()),
        ("class A:\n    def f(self): pass\n    def g(self):\n        'doc'\n", set()),
        ("from abc import ABC\nclass A(ABC):\n    def f(self): ...\n", set()),
        ("class A:\n    def f(self): return 1\n", set()),
        ("class A:\n    limit = 5\n    def f(self): pass\n", set()),
        ("class A: pass\n", set()),
        ("class A:\n    def f(self, a):", {"A"}),
        ("class A:\n    def f(self, a):\n        \n", {"A"}),
        ("class A:\n\tdef f(self,\n\t\ta):", {"A"}),
        ("import math\ndef f(\n    a,\n) -> int:\n    # what it does\n", {"f"}),
        ("def g():\n    return 1\nasync def f(a):", {"f"}),
    ],
)
def test_announced_classes_and_open_heads(setup: str, declared: set[str]) -> None:
    """Starter code is `Solution`, or open at its end; every other class is the tests' own."""
    assert read(setup, ["assert A().f(1) or f(1)"], None).declared == declared


@pytest.mark.parametrize("setup", ["def f(", "x = (", "if x:\n    y\n  z", "for"])
def test_setup_that_is_no_open_head(setup: str) -> None:
    """Is as invalid as ever."""
    with pytest.raises(InvalidTestsError):
        read(setup, ["assert f()"], None)


@pytest.mark.parametrize("setup", ["# a\u2028b\ndef f(x):\n", "S = '\x85'\rdef f(x):\r\n", "\x0cdef f(x):"])
def test_lines_are_those_of_the_compiler(setup: str) -> None:
    """Which does not split where `str.splitlines` does."""
    assert read(setup, ["assert f(1)"], "f").vacant == {"f"}
