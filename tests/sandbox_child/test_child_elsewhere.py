"""What test code asks of a process that the program is not in."""

from __future__ import annotations

import ast

import pytest

from sandbox.child import elsewhere

ASKED = [
    "import inspect\nassert inspect.getsource(f)",
    "from inspect import getsource as source\nassert source(f)",
    "class B(f): pass\nassert B()",
    "class B(Base, f.Inner): pass\nassert B()",
    "class B(type(f(1))): pass\nassert B()",
    "class B(metaclass=f): pass\nassert B()",
    "assert type('B', (f,), {})",
    "def check(c):\n    class B(c): pass\n    assert B()",
    "C = type(f(1))\nclass B(C): pass\nassert B()",
    "for C in [f]:\n    class B(C): pass\n    assert B()",
    "assert type('B', bases(), {})",
    "import multiprocessing\nassert f()",
    "from multiprocessing.pool import Pool\nassert f()",
    "from concurrent.futures import ProcessPoolExecutor\nassert f()",
    "import concurrent.futures as c\nassert c.ProcessPoolExecutor().submit(f)",
    "import weakref as w\nassert w.ref(f())() is None",
    "import sys\nsys.argv = ['x', 'y']\nassert f()",
    "import os\nos.chdir('/tmp')\nassert f()",
    "from decimal import getcontext\ngetcontext().prec = 5\nassert f()",
    "from unittest.mock import patch\nwith patch('time.time', return_value=1): assert f()",
    "from unittest import mock\nwith mock.patch('__main__.g'): assert f()",
    "import sys\nfrom unittest.mock import patch\nwith patch.object(sys, 'argv', ['x']): assert f()",
]
NOT_ASKED = [
    "import sys\nassert f(sys.argv) == sys.argv",
    "import os\nassert os.environ['HOME'] and f()",
    "import os\nos.environ['A'] = 'b'\nassert f()",
    "import os\nfrom unittest.mock import patch\nwith patch.dict(os.environ, A='b'): assert f()",
    "from unittest.mock import patch\nwith patch('builtins.input', return_value='4'): assert f()",
    "import sys\nfrom unittest.mock import patch\nwith patch.object(sys, 'stdin', x): assert f()",
    "from unittest.mock import patch\nwith patch.object(Service, 'get', return_value=1): assert f()",
    "from unittest.mock import Mock\nassert f(Mock())",
    "getsource = 1\nassert f(getsource)",
    "import inspect\nassert inspect.signature(f).parameters",
    "class B(Exception): pass\nassert f(B)",
    "import unittest as u\nclass A: pass\nclass T(u.TestCase, A): pass\nassert f(T)",
    "from collections import namedtuple as n\nP = n('P', ['x'])\nclass Q(P): pass\nclass R(P): pass\nf(R)",
    "from typing import *\nT = TypeVar('T')\nclass B(dict): pass\nassert f(B)",
    "from typing import Generic, TypeVar\nT = TypeVar('T')\nclass B(Generic[T]): pass\nassert f(B)",
    "import abc\nclass B(metaclass=abc.ABCMeta): pass\nassert type('C', (B,), {}) and f()",
    "assert type(f(1)) is int",
    "assert inventory.ref(f()) and f().prec",
    "import random\nrandom.seed(1)\nassert f()",
]


@pytest.mark.parametrize("code", ASKED)
def test_what_the_program_would_not_see_is_found(code: str) -> None:
    """Under every name that it is imported by."""
    assert elsewhere.asked([ast.parse(code)], frozenset({"f"})) is not None


@pytest.mark.parametrize("code", NOT_ASKED)
def test_what_it_sees_or_need_not_is_left_alone(code: str) -> None:
    """Reading is not setting; input and output are served."""
    assert elsewhere.asked([ast.parse(code)], frozenset({"f"})) is None
