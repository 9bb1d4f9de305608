"""Compiled programs, kept by content: each text is compiled once, however many cases run it."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from sandbox.headers import Headers
from sandbox.languages import native
from sandbox.languages.cpp import CPP
from sandbox.languages.language import Language
from sandbox.languages.native import Build
from sandbox.run import RunResult, RunSpec
from sandbox.types import CaseResult, Program, RunStatus

KEPT_BYTES = 64 << 20
"""Of builds kept in memory."""

_OVERHEAD_BYTES = 512

Run = Callable[[RunSpec], Awaitable[RunResult]]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no build: what every case of the program results in."""

    result: CaseResult

    @property
    def lasting(self) -> bool:
        """Whether compiling again would end the same way."""
        return self.result.status in (RunStatus.COMPILE_ERROR, RunStatus.NO_CODE) and not self.result.reran


class Builds:
    """Compiles inside the sandbox, by `run`."""

    def __init__(self, run: Run, headers: Headers) -> None:
        self._run = run
        self._headers = headers
        self._kept: OrderedDict[bytes, Build | Refusal] = OrderedDict()
        self._bytes = 0
        self._under_way: dict[bytes, asyncio.Task[Build | Refusal]] = {}

    async def of(self, language: Language, program: Program) -> Build | Refusal:
        """The build of a program; the same text is never compiled twice at once.

        Raises SandboxUnavailable.
        """
        text = _chosen(program)
        if text is None:
            return Refusal(CaseResult(0, RunStatus.NO_CODE, message="the code block holds no code"))
        key = hashlib.sha256(
            f"{language.name}\0{program.fenced}\0{text}".encode("utf-8", "surrogatepass")
        ).digest()
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        task = self._under_way.get(key)
        if task is None:
            task = self._under_way[key] = asyncio.create_task(self._compile(key, language, program, text))
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        return await asyncio.shield(task)

    async def _compile(self, key: bytes, language: Language, program: Program, text: str) -> Build | Refusal:
        if language is CPP:
            self._headers.wanted()
        result = await self._run(native.to_build(language, text, self._headers.shown))
        child = result.children[0]
        built: Build | Refusal
        if result.status is RunStatus.EXITED and child.exit_code == 0:
            built = native.from_build(language, text, child.stdout)
        else:
            built = Refusal(_refused(result, program.fenced))
        if isinstance(built, Build) or built.lasting:
            self._keep(key, built)
        return built

    def _keep(self, key: bytes, built: Build | Refusal) -> None:
        self._kept[key] = built
        self._bytes += _size(built)
        while self._bytes > KEPT_BYTES and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._bytes -= _size(dropped)


def _chosen(program: Program) -> str | None:
    """The text to compile: of several, the first that names the entry point; None if it is blank."""
    texts = [text for text in program.texts if program.entry_point and program.entry_point in text]
    text = (texts or program.texts)[0]
    return text if text.strip() else None


def _refused(result: RunResult, fenced: bool) -> CaseResult:
    """What a compiler that did not end well says about the program."""
    status = result.status
    child = result.children[0]
    message = child.stderr.decode("utf-8", "replace").strip()[:500]
    if status in (RunStatus.EXITED, RunStatus.SIGNALED):
        # A whole response without a code block counts only if it is a program.
        ended = RunStatus.COMPILE_ERROR if fenced else RunStatus.NO_CODE
        message = message or f"the compiler ended with {child.exit_code or child.signal}"
    elif status in (RunStatus.STARVED, RunStatus.NOT_RUN, RunStatus.VIOLATION):
        ended = status
    else:
        ended = RunStatus.COMPILE_ERROR
        message = f"the compiler was stopped: {status.value.replace('_', ' ')}"
    return CaseResult(0, ended, stderr=child.stderr, reran=result.reran, message=message)


def _size(built: Build | Refusal) -> int:
    kept = built.content if isinstance(built, Build) else built.result.stderr
    return len(kept) + _OVERHEAD_BYTES


def for_case(refusal: Refusal, index: int) -> CaseResult:
    """The result of case `index` of a program that has no build."""
    return replace(refusal.result, index=index)
