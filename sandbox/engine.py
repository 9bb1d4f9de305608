"""The sandbox as the service uses it: an object on the event loop, a supervisor process behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from sandbox.builds import Builds, Refusal, for_case
from sandbox.config import Interpreter, SandboxConfig, installed
from sandbox.connection import Connection, SupervisorLost
from sandbox.errors import SandboxUnavailable
from sandbox.headers import Headers
from sandbox.languages import native, python
from sandbox.languages.all import ALL, readable
from sandbox.languages.language import first_version
from sandbox.languages.native import Build
from sandbox.run import Child, ChildResult, RunResult, RunSpec, from_frame, to_frame
from sandbox.types import (
    Case,
    CaseResult,
    Guarantee,
    Limits,
    Program,
    RunStatus,
    SandboxReport,
    ScriptCase,
    Submission,
)

_PACKAGE_ROOT = str(Path(__file__).resolve().parent.parent)
_START_S = 60.0
_DIFFERENT_LIMITS = 64
"""Requests mostly come with the same few."""
_LEVELS = ("none", "base", "strong", "full")
_SCIENTIFIC = ("numpy", "numpy.random")
"""Already imported in the `sci` zygote."""
_CONTROL = RunSpec(children=(Child("probe", b"{}"),), limits=Limits(cpu_time_s=10, wall_time_s=30))
"""A program that always ends well on a sound host."""
_SPIN = """
import time
begin, used = time.monotonic(), time.process_time()
while (passed := time.monotonic() - begin) < 0.5: pass
print((time.process_time() - used) / passed)
"""
_GAUGE = python.to_run(Program("python", (_SPIN,)), ScriptCase(b""), Limits(cpu_time_s=10, wall_time_s=60))
"""A program that tells which share of a core it got."""
_STARVED_BELOW = 0.5
"""A run that ends as starved has had less than a third."""


class Sandbox:
    """Runs programs. One per worker of the service; `start` before use, `close` at the end."""

    def __init__(self, config: SandboxConfig) -> None:
        self._config = config
        self._interpreter = Interpreter.of_this_process()
        self._versions, self._packages = installed(config.packages)
        self._connection: Connection | None = None
        self._ready: dict[str, Any] = {"level": "none", "reason": "not started"}
        self._starting = asyncio.Lock()
        self._closed = False
        self._found: dict[str, str] = {}
        self._headers = Headers(Path(config.run_dir) / "headers")
        self._builds = Builds(self.run_one, self._headers)
        # Beyond this the supervisor would only hold their bytes; first come, first served from here on.
        self._admitted = asyncio.Semaphore(2 * config.slot_count)

    async def start(self) -> None:
        """Start the supervisor and find out what this host enforces; a weak host is no error: see
        `report`."""
        async with self._starting:
            if self._connection is not None and not self._connection.lost:
                return
            if self._connection is not None:
                await self._connection.close()
            self._connection = Connection(self._interpreter.executable, _PACKAGE_ROOT)
            try:
                self._ready = await asyncio.wait_for(self._connection.start(self._configuration()), _START_S)
                self._headers.shown = self._ready.get("headers", "")
                self._found = await self._look_for_languages()
            except (SupervisorLost, TimeoutError) as error:
                self._ready = {
                    "level": "none",
                    "reason": f"the supervisor did not start: {error or 'too slow'}",
                }

    async def close(self) -> None:
        """Kill what runs and end every process of the sandbox."""
        self._closed = True
        await self._headers.close()
        if self._connection is not None:
            await self._connection.close()

    @property
    def supervisor_pid(self) -> int | None:
        """Of the running supervisor, for metrics and tests."""
        return self._connection.pid if self._connection is not None else None

    @property
    def headers(self) -> str:
        """Where programs find C++ headers compiled ahead; empty if they cannot."""
        return self._headers.shown

    def report(self) -> SandboxReport:
        """What is enforced here, how strongly, and whether programs are run at all."""
        ready, config = self._ready, self._config
        reason = self._refusal()
        return SandboxReport(
            level=ready["level"],
            available=not reason,
            reason=reason,
            guarantees={name: Guarantee(**answer) for name, answer in ready.get("guarantees", {}).items()},
            languages={"python": ready["python"], **self._found} if "python" in ready else {},
            packages=self._versions,
            environment=ready.get("environment", {}),
            default_limits=config.default_limits,
            maximum_limits=config.maximum_limits,
            slots=config.slot_count,
        )

    async def run_one(self, spec: RunSpec) -> RunResult:
        """One sandboxed run.

        Raises `SandboxUnavailable` when the host is too weak, or when the run was lost twice and a control
        program was lost too. Lost twice while the control program is fine: the run's own doing, status
        `violation`.
        """
        bounded = _bounded(spec.limits, self._config.maximum_limits)
        if bounded != spec.limits:
            spec = replace(spec, limits=bounded)
        first = await self._attempt(spec, alone=False)
        if first is not None and first.status is not RunStatus.STARVED:
            return first
        result = await self._attempt(spec, alone=True)
        if result is None and first is not None:  # starved and then lost: lost but once
            result = await self._attempt(spec, alone=True)
        if result is None:
            return await self._blame(spec)
        if result.status is RunStatus.STARVED and not await self._host_is_starved():
            result = replace(result, status=RunStatus.WALL_TIME_EXCEEDED)
        return replace(result, reran=True)

    async def run(self, submission: Submission) -> AsyncGenerator[CaseResult, None]:
        """Run the cases; results come in order. Closing the iterator kills what runs.

        As many cases run at once as there are slots; one more waits at the supervisor, for the slot that is
        free first. `total_time_s` is summed in the order of the cases, so that the outcome does not depend on
        how many ran at once.
        """
        build = await self._build(submission.program)
        if isinstance(build, Refusal):
            for index in range(len(submission.cases)):
                yield for_case(build, index)
            return
        ahead = 1 if submission.stop_early else self._config.slot_count + 1
        cases, compiled = submission.cases, b""
        tasks: list[asyncio.Task[RunResult]] = []
        spent, over = 0.0, False
        try:
            for index, case in enumerate(cases):
                if over:
                    yield CaseResult(index, RunStatus.NOT_RUN)
                    continue
                while len(tasks) < min(index + ahead, len(cases)):
                    known = compiled if python.is_same_program(cases[len(tasks)], cases[0]) else b""
                    keep = not tasks and len(cases) > ahead
                    spec = _spec(submission, cases[len(tasks)], build, keep=keep, compiled=known)
                    tasks.append(asyncio.create_task(self.run_one(spec)))
                run = await tasks[index]
                if index == 0:
                    compiled = python.compiled(run)
                    if compiled and run.status is RunStatus.OUTPUT_EXCEEDED:  # what was kept counts as output
                        again = _spec(submission, case, build, keep=False, compiled=compiled)
                        run = await self.run_one(again)
                result = python.from_run(index, case, run)
                spent += result.wall_time_s
                failed = result.status is not RunStatus.EXITED or result.exit_code != 0
                over = spent >= submission.limits.total_time_s or (submission.stop_early and failed)
                yield result
        finally:
            await _cancel(tasks)

    async def _build(self, program: Program) -> Build | Refusal | None:
        """What has to be made of a program before it runs; None in Python, where each run compiles it."""
        if program.language == "python":
            return None
        return await self._builds.of(ALL[program.language], program)

    async def _look_for_languages(self) -> dict[str, str]:
        """Versions of the languages whose command runs inside the sandbox."""
        if self._refusal():
            return {}
        runs = [self._attempt(native.to_version(language), alone=False) for language in ALL.values()]
        found = zip(ALL, await asyncio.gather(*runs), strict=True)
        versions = {name: _version(result) for name, result in found}
        return {name: version for name, version in versions.items() if version}

    async def _attempt(self, spec: RunSpec, alone: bool) -> RunResult | None:
        """Run once; None when the zygote or the supervisor was lost."""
        async with self._admitted:
            if self._connection is None or self._connection.lost:
                if self._closed or self._connection is None:
                    raise SandboxUnavailable("the sandbox is not running")
                await self.start()
            if reason := self._refusal():
                raise SandboxUnavailable(reason)
            try:
                answer = await self._connection.run(*to_frame(spec, alone))
            except SupervisorLost:
                return None
        return from_frame(*answer)

    async def _blame(self, spec: RunSpec) -> RunResult:
        """The run was lost twice: its own doing, if a control program is not lost."""
        control = await self._attempt(_CONTROL, alone=True)
        if control is None or control.status is not RunStatus.EXITED:
            raise SandboxUnavailable("runs are lost, a control program too")
        nothing = ChildResult(exit_code=None, signal=None, stdout=b"", stderr=b"", channel=b"")
        return RunResult(
            status=RunStatus.VIOLATION,
            children=(nothing,) * len(spec.children),
            cpu_time_s=0.0,
            wall_time_s=0.0,
            peak_memory_bytes=0,
            reran=True,
            message="its interpreter was lost twice while a control program ran well",
        )

    async def _host_is_starved(self) -> bool:
        """Whether a program of ours, alone, lacks a core too; if not, those that did lacked it by their own
        load."""
        gauge = await self._attempt(_GAUGE, alone=True)
        if gauge is None or gauge.status is not RunStatus.EXITED or gauge.children[0].exit_code != 0:
            return True
        return float(gauge.children[0].stdout) < _STARVED_BELOW

    def _refusal(self) -> str:
        """Why programs are not run here; empty when they are."""
        ready, minimum = self._ready, self._config.minimum
        if ready.get("reason"):
            return str(ready["reason"])
        if _LEVELS.index(ready["level"]) >= _LEVELS.index(minimum):
            return ""
        weak = [
            f"{name}: {answer['reason']}"
            for name, answer in ready["guarantees"].items()
            if answer["strength"] != "kernel" and answer["reason"]
        ]
        return f"isolation level {ready['level']} is below the minimum {minimum} ({'; '.join(weak)})"

    def _configuration(self) -> dict[str, Any]:
        config = self._config
        return {
            "package_root": _PACKAGE_ROOT,
            "run_dir": str(Path(config.run_dir).resolve()),
            "slots": config.slot_count,
            "uids": config.uids,
            "interpreter": self._interpreter.to_json(),
            "packages": self._packages,
            "modules": {"sci": [name for name in _SCIENTIFIC if name.partition(".")[0] in self._versions]},
            "stack_bytes": config.maximum_limits.memory_bytes,
            "disk_bytes": config.disk_bytes,
            "assume": config.assume,
            "toolchains": readable(),
            "headers": self._headers.folder(),
        }


@lru_cache(_DIFFERENT_LIMITS)
def _bounded(limits: Limits, most: Limits) -> Limits:
    bounded = {
        field.name: min(getattr(limits, field.name), getattr(most, field.name))
        for field in fields(limits)
        if getattr(limits, field.name) is not None and getattr(most, field.name) is not None
    }
    return replace(limits, **bounded)


def _spec(submission: Submission, case: Case, build: Build | None, *, keep: bool, compiled: bytes) -> RunSpec:
    if build is None:
        return python.to_run(submission.program, case, submission.limits, keep=keep, compiled=compiled)
    return native.to_run(ALL[submission.program.language], build, case, submission.limits)


def _version(result: RunResult | None) -> str:
    """The version that a command printed; empty if it did not run well."""
    if result is None or result.status is not RunStatus.EXITED or result.children[0].exit_code != 0:
        return ""
    return first_version((result.children[0].stdout + result.children[0].stderr).decode("utf-8", "replace"))


async def _cancel(tasks: list[asyncio.Task[RunResult]]) -> None:
    for task in tasks:
        task.cancel()
    for task in tasks:
        with suppress(asyncio.CancelledError, SandboxUnavailable):
            await task
