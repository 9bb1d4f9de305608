"""The `math` verifier as the service sees it. Imports neither FLINT nor sympy: those live in the workers."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

from verifiers.base import BaseOptions
from verifiers.literals import FloatLiteral
from verifiers.math.compare.budget import UNITS
from verifiers.math.link import TimedOut, WorkerLost
from verifiers.math.options import MathOptions
from verifiers.math.pool import Pool
from verifiers.types import Outcome, Task, Unscorable, Verdict

_CONTROL = "\\boxed{1}"


class MathVerifier:
    """Symbolic equivalence. `start` before the first item, `close` at the end."""

    name = "math"
    version = "1.0.0"
    Options: ClassVar[type[BaseOptions]] = MathOptions
    reasons: tuple[str, ...] = (
        "equal", "different", "kind_differs", "label_differs", "count_differs", "several_values",
        "brackets_differ", "unit_mismatch", "unit_missing", "condition_missing", "condition_differs",
        "undefined_value", "no_answer", "unparsable", "unsupported_kind", "too_costly", "not_comparable",
    )  # fmt: skip
    flags: tuple[str, ...] = (
        "unproven", "domain_differs", "condition_ignored", "unit_missing", "unit_converted", "unit_ignored",
        "ratio_as_fraction",
    )  # fmt: skip
    reward_range = (0.0, 1.0)
    self_timed = True
    ground_truth_schema: Mapping[str, Any] = {
        "description": "LaTeX, plain or Unicode mathematics, or a JSON number; a list is any-of.",
        "anyOf": [
            {"type": "string"},
            {"type": "number"},
            {"type": "array", "items": {"type": ["string", "number"]}, "minItems": 1, "maxItems": 64},
        ],
        "examples": ["\\frac{1}{2}", 0.5, ["x=1", "x=-1"]],
    }
    contract = Path(__file__).with_name("contract.md").read_text(encoding="utf-8")

    def __init__(self, *, workers: int = 2, deadline_s: float = 5.0) -> None:
        """`deadline_s`: wall clock of one item, a backstop; verdicts hang on work units alone."""
        self.pool = Pool(size=workers, deadline_s=deadline_s)
        self._fault = "the workers have not been started"

    async def start(self) -> None:
        """Start the workers. When they do not come up it is no error: `ready` is false, nothing is judged."""
        try:
            await self.pool.start()
        except (OSError, TimeoutError) as error:
            self._fault = f"the workers did not start: {error}"
        else:
            self._fault = ""

    async def close(self) -> None:
        """End the workers."""
        await self.pool.close()

    @property
    def ready(self) -> bool:
        """Whether the workers are up."""
        return not self._fault and self.pool.ready

    def environment(self) -> Mapping[str, str]:
        """What outside the request can change a verdict."""
        return {
            "python": ".".join(map(str, sys.version_info[:3])),
            "python-flint": version("python-flint"),
            "sympy": version("sympy"),
            "budget_units": str(UNITS),
            "deadline_s": str(self.pool.deadline_s),
        }

    async def judge_async(self, task: Task) -> Outcome:
        """Judge one response in a worker.

        An item that meets its deadline twice is `verifier_timeout`. A worker that dies over it twice is the
        response's doing when a control item then passes: `incorrect / too_costly`.
        """
        truth = as_text(task.ground_truth)
        if truth is None:
            return Unscorable(
                "invalid_ground_truth", "a ground truth is a text, a number, or a list of those"
            )
        if self._fault:
            return Unscorable("verifier_error", self._fault)
        payload = [task.response, truth, task.options.model_dump_json()]
        try:
            return _outcome(await self.pool.run(payload))
        except TimedOut:
            return Unscorable("verifier_timeout", f"no verdict within {self.pool.deadline_s:g} s, twice")
        except WorkerLost:
            return await self._lost(truth, payload[2])

    async def _lost(self, truth: str | list[str], options: str) -> Outcome:
        try:
            control = await self.pool.run([_CONTROL, truth, options])
        except (TimedOut, WorkerLost):
            return Unscorable("verifier_error", "the worker dies over this ground truth")
        if "kind" in control:
            return _outcome(control)
        return Verdict(False, "too_costly", 0.0, {"route": "none"})


def as_text(ground_truth: Any) -> str | list[str] | None:
    """A ground truth as the text or texts a worker reads; None for another shape."""
    match ground_truth:
        case bool():
            return None
        case str():
            return ground_truth
        case FloatLiteral():
            return ground_truth.text
        case int():
            return str(ground_truth) if ground_truth.bit_length() < 14_000 else None
        case float():
            return repr(ground_truth)
        case list():
            texts = [as_text(item) for item in ground_truth]
            return texts if all(isinstance(text, str) for text in texts) else None  # type: ignore[return-value]
    return None


def _outcome(reply: dict[str, Any]) -> Outcome:
    if "kind" in reply:
        return Unscorable(reply["kind"], reply["message"])
    correct, span = reply["correct"], reply["span"]
    flags = tuple(reply["flags"])
    return Verdict(correct, reply["reason"], float(correct), reply["detail"], flags, span and tuple(span))
