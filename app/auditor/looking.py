"""Which other way there is to judge a stored verdict, by verifier, and the flags that come with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, cast

from app.auditor.programs import ProgramAuditor
from app.auditor.texts import Route, Said, TextWorker
from app.intake import Job
from app.judges import Judges
from app.rejudging import Stored
from audit.late_flags import LateFlag, Repeats, time_flag
from audit.second_opinions import Findings, Opinion, opinion_of
from verifiers.base import InlineVerifier
from verifiers.math.options import MathOptions
from verifiers.math.verifier import as_text
from verifiers.numeric.verifier import NumericOptions
from verifiers.types import Verdict

MAX_CHARACTERS: Final = 1_000_000
"""Longer responses get no second opinion by text: handing them over would hold up the event loop."""

_EXACT: Final = {"0", None}
"""`detail.error` of a numeric verdict that needed no tolerance, or has no error at all."""


class Looker:
    """Looks again at stored verdicts, one at a time. `close` at the end.

    timeout_s: what verifiers other than `code` may take by the clock.
    """

    def __init__(self, judges: Judges, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._texts = TextWorker()
        self._repeats = Repeats()
        self._programs: ProgramAuditor | None = None
        code = judges.registry.get("code")
        if judges.sandbox is not None and code is not None:
            self._programs = ProgramAuditor(code, judges.sandbox)  # type: ignore[arg-type]

    async def close(self) -> None:
        """End the process for texts."""
        await self._texts.close()

    async def look(self, stored: Stored) -> Findings:
        """What there is to say about a verdict; nothing, where it cannot be judged again."""
        if stored.job is None or stored.job.fault is not None:
            return Findings()
        found = await self._judge_again(stored, stored.job)
        own = (
            self._repeats.add(stored.verifier, stored.job.task.response, stored.question),
            None if stored.verifier == "code" else time_flag(stored.verify_s, self._timeout_s),
        )
        return Findings(found.opinions, found.flags + tuple(flag for flag in own if flag is not None))

    async def _judge_again(self, stored: Stored, job: Job) -> Findings:
        if stored.verifier == "code":
            return Findings() if self._programs is None else await self._programs.look(stored, job.task)
        if stored.correct is None and stored.reason != "verifier_timeout":
            return Findings()
        if stored.verifier == "numeric":
            return Findings((await self._numeric(stored, job),))
        if stored.verifier == "math":
            return await self._math(stored, job)
        return Findings()

    async def _ask(self, route: Route, job: Job, options: str) -> Said:
        truth = as_text(job.task.ground_truth)
        if truth is None or len(job.task.response) > MAX_CHARACTERS:
            return Said(None, "no ground truth that it reads, or too long a response")
        return await self._texts.ask(route, job.task.response, truth, options)

    async def _numeric(self, stored: Stored, job: Job) -> Opinion:
        """Strict numbers against `math`, which may read more, and knows no tolerance."""
        numeric: NumericOptions = job.task.options
        options = MathOptions(decimals="rounded", reasoning=numeric.reasoning)
        said = await self._ask("math", job, options.model_dump_json())
        correct = said.correct
        if stored.correct and correct is False and _used_tolerance(job):
            correct = None
        return opinion_of("math", stored.correct, correct, reason=said.reason)

    async def _math(self, stored: Stored, job: Job) -> Findings:
        """`math` against sympy; a time-out once more, on the second worker's own time."""
        again = stored.reason == "verifier_timeout"
        options = job.task.options.model_dump_json()
        said = await self._ask("math" if again else "sympy", job, options)
        opinion = opinion_of("rerun" if again else "sympy", stored.correct, said.correct, reason=said.reason)
        flips = again and said.correct is not None
        flags = [LateFlag("rerun_flip", text=f"{stored.reason}, then {said.reason}")] if flips else []
        return Findings((opinion,), tuple(flags))


def needs_sandbox(stored: Stored) -> bool:
    """Whether looking at it takes a slot that a request may want."""
    return stored.verifier == "code"


def _used_tolerance(job: Job) -> bool:
    """Whether a numeric verdict is correct by tolerance only."""
    task = replace(job.task, options=job.task.options.model_copy(update={"detail": "summary"}))
    outcome = cast("InlineVerifier", job.verifier).judge(task)
    return isinstance(outcome, Verdict) and outcome.detail.get("error") not in _EXACT
