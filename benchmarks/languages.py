"""Cost of a run and of a compilation in each language beside the same command without a sandbox.

`python -m benchmarks.languages`. Sandbox and plain `subprocess` take turns; CPU time is that of the whole
process tree. Prints a table and writes `benchmarks/results/languages.json`.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.machine import machine
from benchmarks.sandbox_work import ROOT, Clock
from sandbox.config import SandboxConfig
from sandbox.engine import Sandbox
from sandbox.languages import native
from sandbox.languages.all import ALL
from sandbox.languages.language import Language
from sandbox.run import RunSpec
from sandbox.types import Limits, Program, RunStatus, ScriptCase, Submission

RESULT = ROOT / "benchmarks" / "results" / "languages.json"
RUNS, COMPILES = 40, 5
LIMITS = Limits()
INPUT = b"20 22\n"
PROGRAMS = {
    "cpp": "#include <bits/stdc++.h>\nint main() { long a, b; std::cin >> a >> b; std::cout << a + b; }",
    "javascript": (
        "console.log(require('fs').readFileSync(0, 'utf8').split(' ').map(Number).reduce((a, b) => a + b))"
    ),
    "bash": "read a b; echo $((a + b))",
    "java": (
        "import java.util.*; public class Main { public static void main(String[] x) {"
        " Scanner s = new Scanner(System.in); System.out.println(s.nextLong() + s.nextLong()); } }"
    ),
    "go": 'package main\nimport "fmt"\nfunc main() { var a, b int; fmt.Scan(&a, &b); fmt.Println(a + b) }',
    "rust": (
        "fn main() { let mut s = String::new(); std::io::stdin().read_line(&mut s).unwrap();"
        ' println!("{}", s.split_whitespace().map(|w| w.parse::<i64>().unwrap()).sum::<i64>()); }'
    ),
}


async def timed(clock: Clock, sandbox: Sandbox, spec: RunSpec) -> bytes:
    """One sandboxed run; what it printed."""
    clock.begin()
    result = await sandbox.run_one(spec)
    clock.end()
    child = result.children[0]
    if result.status is not RunStatus.EXITED or child.exit_code != 0:
        raise RuntimeError(f"{result.status}: {child.stderr.decode()[-500:]}")
    return child.stdout


def plain(clock: Clock, folder: str, command: list[str], stdin: bytes = b"") -> bytes:
    """The same command by `subprocess`, with a new home each time, so that no compiler finds its cache."""
    with tempfile.TemporaryDirectory() as home:
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": home, "GO111MODULE": "off"}
        done = clock.time(
            lambda: subprocess.run(
                command, cwd=folder, env=environment, input=stdin, capture_output=True, check=True
            )
        )
    return bytes(done.stdout)


async def one_language(sandbox: Sandbox, language: Language) -> dict[str, Any]:
    """Compilations, then runs, each beside its plain counterpart."""
    clocks = {name: Clock() for name in ("compile", "plain_compile", "run", "plain_run", "sent_again")}
    text = PROGRAMS[language.name]
    source = language.source(text)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, source).write_text(text)
        compiling = language.command(language.compile, source, native.BUILD_LIMITS.memory_bytes)
        for _ in range(COMPILES):
            headers = sandbox.headers
            artifact = await timed(clocks["compile"], sandbox, native.to_build(language, text, headers))
            plain(clocks["plain_compile"], folder, compiling)
        build = native.from_build(language, text, artifact)
        running = language.command(language.run, source, LIMITS.memory_bytes)
        for _ in range(RUNS):
            spec = native.to_run(language, build, ScriptCase(INPUT), LIMITS)
            assert (await timed(clocks["run"], sandbox, spec)).strip() == b"42"
            assert plain(clocks["plain_run"], folder, running, INPUT).strip() == b"42"
        program = Program(language.name, (text,))
        for _ in range(RUNS):  # the first of these compiles; the median is that of a kept build
            clocks["sent_again"].begin()
            async for _ in sandbox.run(Submission(program, (ScriptCase(INPUT),), LIMITS)):
                pass
            clocks["sent_again"].end()
    return {name: clock.summary() for name, clock in clocks.items()}


async def main() -> None:
    """All languages that are installed."""
    table: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as run_dir:
        sandbox = Sandbox(SandboxConfig(run_dir=run_dir))
        await sandbox.start()
        try:
            offered = sandbox.report().languages
            if "cpp" in offered:
                await compile_ahead(sandbox, Path(run_dir))
            for name, language in ALL.items():
                if name in offered:
                    table[name] = {"version": offered[name], **await one_language(sandbox, language)}
                    show(name, table[name])
            level = sandbox.report().level
        finally:
            await sandbox.close()
    RESULT.write_text(json.dumps({**machine(), "level": level, "languages": table}, indent=1) + "\n")


async def compile_ahead(sandbox: Sandbox, run_dir: Path) -> None:
    """Have the C++ library compiled, as the first program of a service does."""
    program = Program("cpp", ("int main() {}",))
    async for _ in sandbox.run(Submission(program, (ScriptCase(b""),), LIMITS)):
        pass
    while not list(run_dir.rglob("*.gch")):
        await asyncio.sleep(0.5)


def show(name: str, row: dict[str, Any]) -> None:
    """One line of the table: CPU milliseconds and their ratio."""
    words = [f"{name:10}"]
    for what in ("compile", "run"):
        ours, theirs = row[what]["cpu_ms"], row[f"plain_{what}"]["cpu_ms"]
        words.append(f"{what} {ours:8.1f} ms, plain {theirs:8.1f} ms, {ours / theirs:.2f}x")
    words.append(f"sent again {row['sent_again']['cpu_ms']:.1f} ms")
    print("   ".join(words), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
