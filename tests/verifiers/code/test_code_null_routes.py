"""No response chooses to be left unjudged: whatever it does, a sound ground truth gives a verdict."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from null_routes import RESPONSES, SLOW
from outcomes import Judge

from verifiers.types import Verdict

pytestmark = pytest.mark.asyncio(loop_scope="session")

SOUND: dict[str, dict[str, Any]] = {
    "stdin": {"type": "stdin_stdout", "cases": [{"stdin": "1\n", "stdout": "2\n"}]},
    "function": {
        "type": "function_call",
        "entry_point": "f",
        "cases": [{"args": [1], "expected": 2}, {"args": [2], "expected": 3}],
    },
    "late imports": {
        "type": "asserts",
        "code": "import json\nassert f(1) == 2\nimport decimal, fractions\nassert f(decimal.Decimal(1)) == 2",
        "entry_point": "f",
    },
    "unittest": {
        "type": "asserts",
        "code": "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n"
        "        import statistics\n        self.assertEqual(f(1), 2)\nunittest.main()",
    },
    "names at run time": {
        "type": "asserts",
        "setup": "import math\ndef helper(x): return math.floor(x)",
        "code": "for n in ['f']:\n    assert globals()[n](1) == 2",
    },
    "class of a result": {
        "type": "asserts",
        "code": "x = f(1)\nB = type(x)\nassert B(2) == 2 and isinstance(x, int)",
    },
}
LIMITS = {"time_s": 0.5, "wall_time_s": 1.5, "memory_mb": 256}
NAMES = [
    pytest.param(name, marks=pytest.mark.hostile) if name in SLOW else pytest.param(name)
    for name in RESPONSES
]


@pytest.mark.parametrize("name", NAMES)
async def test_every_response_is_judged(name: str, judge: Judge) -> None:
    """By every kind of tests, and by asserts that may share its process."""
    judged = [judge(RESPONSES[name], tests, limits=LIMITS) for tests in SOUND.values()]
    allowed = judge(RESPONSES[name], SOUND["late imports"], limits=LIMITS, allow_shared_process=True)
    outcomes = await asyncio.gather(*judged, allowed)
    assert [outcome for outcome in outcomes if not isinstance(outcome, Verdict)] == []
