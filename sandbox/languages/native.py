"""Languages beside Python: programs to builds, builds and cases to sandboxed runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from sandbox import values
from sandbox.languages.language import Language
from sandbox.run import Child, RunSpec
from sandbox.types import CallCase, Case, Limits, ScriptCase

BUILD_LIMITS = Limits(
    cpu_time_s=10.0, wall_time_s=30.0, memory_bytes=1 << 30, output_bytes=64 << 20, stderr_bytes=256 << 10
)
"""Of a compiler; its output is the artifact."""

VERSION_LIMITS = Limits(cpu_time_s=10.0, wall_time_s=20.0)


@dataclass(frozen=True, slots=True)
class Build:
    """What a run needs: the name of the source file, and a file to be there when it starts."""

    source: str
    name: str
    content: bytes


def to_version(language: Language) -> RunSpec:
    """The run that prints the version."""
    return RunSpec((Child("native", _job(language, language.version, {})),), VERSION_LIMITS)


def to_build(language: Language, text: str, headers: str) -> RunSpec:
    """The run that compiles or checks; the artifact is its standard output."""
    source = language.source(text)
    command: Sequence[str] = language.command(language.compile, source, BUILD_LIMITS.memory_bytes, headers)
    if language.artifact:
        # What a compiler itself says on its standard output must not be taken for the artifact.
        command = ("sh", "-c", f'"$@" >&2 && exec cat {language.artifact}', "sh", *command)
    return RunSpec((Child("native", _job(language, command, {source: _bytes(text)})),), BUILD_LIMITS)


def from_build(language: Language, text: str, artifact: bytes) -> Build:
    """What a compiler that ended well has left."""
    source = language.source(text)
    if language.artifact:
        return Build(source, language.artifact, artifact)
    return Build(source, source, _bytes(text))


def to_run(language: Language, build: Build, case: Case, limits: Limits) -> RunSpec:
    """The sandboxed run of one case; calls only where `Language.caller` is there."""
    files = {build.name: build.content}
    command = language.command(language.run, build.source, limits.memory_bytes)
    if isinstance(case, ScriptCase):
        return RunSpec((Child("native", _job(language, command, files), case.stdin),), limits)
    if not isinstance(case, CallCase) or not language.caller:
        raise TypeError(f"{language.name} programs take no {type(case).__name__}")
    calls = [json.loads(values.encode(list(call.args))) for call in case.calls]
    wanted = {"source": build.source, "setup": case.setup, "entry_point": case.entry_point, "calls": calls}
    caller = resources.files("sandbox.languages").joinpath(language.caller).read_bytes()
    files |= {language.caller: caller, "calls.json": json.dumps(wanted).encode()}
    command = [language.caller if word == build.source else word for word in command]
    return RunSpec((Child("native", _job(language, command, files, answers=True)),), limits)


def _job(
    language: Language, command: Sequence[str], files: Mapping[str, bytes], answers: bool = False
) -> bytes:
    """See `sandbox/child/native.py`."""
    orders = {
        "files": [(name, len(content)) for name, content in files.items()],
        "command": list(command),
        "environment": dict(language.environment),
        "answers": answers,
    }
    return b"".join([json.dumps(orders).encode(), b"\n", *files.values()])


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
