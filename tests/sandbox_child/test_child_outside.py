"""Which names of test code are for a program to define."""

from __future__ import annotations

import ast

import pytest

from sandbox.child import outside

TABLE = [
    ("x = 1\nassert x == 1", ""),
    ("try:\n f(1)\n assert False\nexcept Exception as e: str(e)", "f"),
    ("ok = 0\ntry: ok = f(1)\nexcept Exception: pass\nassert ok in (0, 2)", "f"),
    ("f = timed(f)\nassert f(1)", "f timed"),
    ("for i in range(3):\n assert i + 1", ""),
    ("import numpy as np, os.path\nfrom math import pi\nassert np.abs(pi) and os", ""),
    ("def check(f):\n assert f(1)\ncheck(f)", "f"),
    ("def check(f):\n assert f(1)\ncheck(len)", ""),
    ("assert [x for x in [1]] == [g(y) for y in [1]]", "g"),
    ("class T(Base):\n a = 1\n def t(self, d=D): return self.a + later()\ndef later(): return 1", "Base D"),
    ("h = lambda q, *a, **k: q + a[0]\nassert h(1)", ""),
    ("def a():\n global n\n n = 1\na()\nassert n == 1", ""),
    ("match 1:\n case {'a': b, **c}: assert b or c\n case [d, *e]: assert d or e", ""),
    ("with open('x') as f, g() as (a, b): assert f and a and b", "g"),
    ("if (n := size(1)) > 1: assert n", "size"),
    ("@deco\ndef t(): pass\nassert t", "deco"),
    ("assert __name__ and __file__", ""),
]


@pytest.mark.parametrize(("code", "expected"), TABLE)
def test_names_that_only_a_program_can_define(code: str, expected: str) -> None:
    """Neither bound by the test code before, in any scope, nor built in."""
    assert outside.names([ast.parse(code)]) == frozenset(expected.split())


@pytest.mark.parametrize(
    "code", ["assert globals()['f'](1)", "assert eval('f(1)')", "import __main__\nassert __main__.f(1)"]
)
def test_names_made_at_run_time_cannot_be_told(code: str) -> None:
    """Any name may be meant."""
    assert outside.names([ast.parse(code)]) is None
