"""Whether load changes verdicts: handed benign cases, many times. `python -m benchmarks.sandbox_verdicts`.

Each case is judged over and over with one submission per core under way, then with four. Every verdict has
to be the expected one. Writes `benchmarks/results/sandbox_verdicts.json`.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.sandbox_work import ROOT
from sandbox.config import SandboxConfig, usable_cores
from sandbox.engine import Sandbox
from verifiers.code import CodeVerifier
from verifiers.types import Task, Verdict

RESULT = ROOT / "benchmarks" / "results" / "sandbox_verdicts.json"
SHARED = Path(os.environ.get("GOLDCHECK_SHARED", ROOT.parent / "shared"))
REPETITIONS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
LOADS = (1, 4)


def expanded(value: Any) -> Any:
    """`{"parts": [[text, count], ...]}` stands for a text."""
    if isinstance(value, dict):
        if set(value) == {"parts"}:
            return "".join(text * count for text, count in value["parts"])
        return {name: expanded(inner) for name, inner in value.items()}
    return [expanded(inner) for inner in value] if isinstance(value, list) else value


def cases() -> list[dict[str, Any]]:
    """All of them; what some of them import is offered to every program."""
    text = (SHARED / "cases" / "code" / "benign_tricky.json").read_text("utf-8")
    found: list[dict[str, Any]] = json.loads(text)
    return [expanded(case) for case in found]


async def judge(verifier: CodeVerifier, case: dict[str, Any]) -> str:
    """Reason of the verdict, or kind of the failure."""
    options = {"language": case["language"], "limits": case["limits"], **case.get("options", {})}
    task = Task(case["response"], case["tests"], verifier.Options.model_validate(options))
    outcome = await verifier.judge_async(task)
    return outcome.reason if isinstance(outcome, Verdict) else outcome.kind


async def repeat(verifier: CodeVerifier, load: int) -> dict[str, Counter[str]]:
    """Verdicts of each case."""
    work = [case for case in cases() for _ in range(REPETITIONS)]
    random.Random(load).shuffle(work)
    seen: dict[str, Counter[str]] = {}
    queue = iter(work)

    async def keep_judging() -> None:
        for case in queue:
            seen.setdefault(case["id"], Counter())[await judge(verifier, case)] += 1

    await asyncio.gather(*(keep_judging() for _ in range(load * usable_cores())))
    return seen


async def main() -> None:
    expected = {case["id"]: case["expected"]["outcome"].split("|") for case in cases()}
    figures: dict[str, Any] = {"cases": len(expected), "repetitions": REPETITIONS}
    with tempfile.TemporaryDirectory() as run_dir:
        sandbox = Sandbox(SandboxConfig(run_dir=run_dir))
        await sandbox.start()
        verifier = CodeVerifier(sandbox)
        for load in LOADS:
            seen = await repeat(verifier, load)
            differing = {
                name: dict(verdicts)
                for name, verdicts in sorted(seen.items())
                if len(verdicts) > 1 or not verdicts.keys() <= set(expected[name])
            }
            figures[f"{load}x load"] = {
                "judged": sum(verdicts.total() for verdicts in seen.values()),
                "machine load": round(os.getloadavg()[0], 1),
                "differing": differing,
            }
        await sandbox.close()
    RESULT.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    asyncio.run(main())
