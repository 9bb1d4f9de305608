"""Run the image in every way that docs/security.md names and hold it to what is promised there.

python3 deploy/check/scenarios.py IMAGE WORK [CASES]

Called by check.sh, with an engine that is ours. Prints a table and writes benchmarks/results/deploy.json.
"""

from __future__ import annotations

import datetime
import json
import platform
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from containers import ROOTED, SHIPPED, docker
from ratio import batch_ratio

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "deploy" / "check"
RESULT = ROOT / "benchmarks" / "results" / "deploy.json"

KERNEL_FILES = {"files": "kernel", "network": "kernel", "signals": "kernel", "tracing": "kernel"}


@dataclass(frozen=True)
class Scenario:
    """One way to run the image, and what has to hold then.

    excused: patterns of handed cases that this level is documented not to hold.
    """

    name: str
    arguments: tuple[str, ...]
    level: str
    guarantees: dict[str, str]
    available: bool = True
    excused: tuple[str, ...] = ()
    wait_s: int = 60


@dataclass
class Outcome:
    """What was seen in one scenario; faults: what should have been otherwise."""

    ready_s: float = 0.0
    idle_bytes: int = 0
    level: str = ""
    guarantees: dict[str, str] = field(default_factory=dict)
    cases: dict[str, str] = field(default_factory=dict)
    """Case group -> "held/all"."""
    faults: list[str] = field(default_factory=list)


def scenarios(work: Path) -> list[Scenario]:
    """The columns of the table in docs/security.md."""
    profile = json.loads((ROOT / "deploy" / "seccomp.json").read_text())
    for rule in profile["syscalls"]:
        rule["names"] = [name for name in rule["names"] if not name.startswith("landlock_")]
    (work / "no-landlock.json").write_text(json.dumps(profile))
    seccomp = ("--security-opt", f"seccomp={ROOT / 'deploy' / 'seccomp.json'}")
    no_landlock = ("--security-opt", f"seccomp={work / 'no-landlock.json'}")
    shipped = KERNEL_FILES | {"process_count": "kernel", "ids": "none", "memory": "polled", "disk": "polled"}
    namespaces = shipped | {"disk": "kernel"}
    rooted = shipped | {"ids": "kernel"}
    unfenced = {"files": "none"}  # signals wait for the supervisor
    gvisor = ("--runtime", "gvisor")
    unseen = {"files": "none", "signals": "refused"}  # no user notification either
    polled = {"process_count": "polled"}
    nevertheless = ("--env", "GOLDCHECK_MIN_ISOLATION=base")
    reaching = (
        "ho-[a-z]-read-.*",
        ".*-files?-.*",
    )  # what only Landlock keeps from a program of the same user
    return [
        Scenario("as shipped", SHIPPED, "strong", shipped),
        Scenario("with deploy/seccomp.json", (*SHIPPED, *seccomp), "strong", namespaces),
        Scenario("container default root", ROOTED, "strong", rooted),
        Scenario("no Landlock", (*SHIPPED, *no_landlock), "base", namespaces | unfenced, available=False),
        Scenario(
            "no Landlock, minimum base",
            (*SHIPPED, *no_landlock, *nevertheless),
            "base",
            namespaces | unfenced,
            excused=reaching,
        ),
        Scenario("no Landlock, root", (*ROOTED, *no_landlock), "base", rooted | unfenced, available=False),
        Scenario("gVisor", (*SHIPPED, *gvisor), "base", shipped | unseen | polled, available=False),
        Scenario("gVisor, root", (*ROOTED, *gvisor), "base", rooted | unseen, available=False),
    ]


def ready(container: str, wait_s: int) -> float:
    """Seconds until the service in the container answers /healthz."""
    began = time.monotonic()
    ask = "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/healthz', timeout=2)"
    while time.monotonic() - began < wait_s:
        if docker("exec", container, "python3", "-c", ask + "; print('yes')", check=False).strip() == "yes":
            return time.monotonic() - began
        time.sleep(0.1)
    raise RuntimeError(
        f"not ready within {wait_s} s: {docker('logs', '--tail', '5', container, check=False)}"
    )


def idle_bytes(container: str) -> int:
    """Memory of the container after it has come to rest."""
    time.sleep(2)
    told = docker("stats", "--no-stream", "--format", "{{.MemUsage}}", container).split("/")[0].strip()
    number, unit = re.fullmatch(r"([\d.]+)(\w+)", told).groups()  # type: ignore[union-attr]
    return int(float(number) * {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[unit])


def observe(image: str, scenario: Scenario, cases: Path | None) -> Outcome:
    """Run the image as the scenario says and look at everything."""
    seen = Outcome()
    container = docker("run", "--detach", *scenario.arguments, image).strip()
    try:
        seen.ready_s = ready(container, scenario.wait_s)
        seen.idle_bytes = idle_bytes(container)
        expected = {
            "level": scenario.level,
            "available": scenario.available,
            "guarantees": scenario.guarantees,
        }
        script = (HERE / "inside.py").read_bytes()
        told = docker("exec", "--interactive", container, "python3", "-", json.dumps(expected), stdin=script)
        found = json.loads(told)
        seen.level = found["sandbox"]["level"]
        seen.guarantees = {k: v["strength"] for k, v in found["sandbox"]["guarantees"].items()}
        seen.faults += [f"{name}: {text}" for name, text in found["differences"].items()]
        for name, (count, wrong) in found["served"].items():
            seen.cases[f"served {name}"] = f"{count - len(wrong)}/{count}"
            seen.faults += [f"served {name}: {id_}" for id_ in wrong]
        if cases is not None and scenario.available:
            handed(container, scenario, cases, seen)
    except (RuntimeError, subprocess.TimeoutExpired, ValueError) as error:
        seen.faults.append(str(error))
    finally:
        docker("rm", "--force", "--volumes", container, check=False)
    return seen


def handed(container: str, scenario: Scenario, cases: Path, seen: Outcome) -> None:
    """Run a folder of further cases, by the driver that lies beside it, inside the container."""
    packed = subprocess.run(["tar", "-C", str(cases), "-c", "."], capture_output=True, check=True).stdout
    docker(
        "exec",
        "--interactive",
        container,
        "sh",
        "-c",
        "mkdir /tmp/cases && tar -x -C /tmp/cases",
        stdin=packed,
    )
    driver = next(cases.glob("run_*.py")).name
    told = docker(
        *("exec", container, "python3", f"/tmp/cases/{driver}", "--url", "http://127.0.0.1:8000"),
        *("--have", "numpy,sympy", "/tmp/cases/code"),
        check=False,
    )
    summary = re.search(r"(\d+) passed, (\d+) failed", told)
    if summary is None:
        seen.faults.append(f"the driver did not end: {told[-500:]}")
        return
    failed = re.findall(r"^FAIL (\S+)", told, re.MULTILINE)
    excused = [id_ for id_ in failed if any(re.fullmatch(pattern, id_) for pattern in scenario.excused)]
    seen.faults += [f"handed case {id_}" for id_ in failed if id_ not in excused]
    held = int(summary[1])
    seen.cases["handed code"] = f"{held}/{held + len(failed)}" + (
        f", {len(excused)} excused" if excused else ""
    )


def compose(work: Path) -> list[str]:
    """`docker compose up` with a trainer that posts a batch; what went wrong."""
    files = ("-f", str(ROOT / "docker-compose.yml"), "-f", str(HERE / "trainer.yml"), "-p", "goldcheck-check")
    command = ["docker", "compose", *files]
    with (work / "compose.log").open("wb") as log:
        done = subprocess.run(
            [*command, "up", "--no-build", "--abort-on-container-exit", "--exit-code-from", "trainer"],
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=180,
        )
        subprocess.run([*command, "down", "--volumes"], stdout=log, stderr=subprocess.STDOUT, check=False)
    told = (work / "compose.log").read_text()
    rewards = re.findall(r"reward ([\d.]+|none)", told)
    if done.returncode or len(rewards) != 16:
        return [f"compose: exit {done.returncode}, {len(rewards)} rewards; {told[-800:]}"]
    return []


def main(image: str, work: Path, cases: Path | None) -> int:
    """Everything in turn; the exit status."""
    size = int(docker("image", "inspect", "--format", "{{.Size}}", image))
    print(f"image {size / 1e6:.0f} MB", flush=True)
    faults = compose(work)
    print("compose with a trainer:", faults or "16 rewards", flush=True)
    rows = {}
    for scenario in scenarios(work):
        seen = observe(image, scenario, cases)
        rows[scenario.name] = vars(seen)
        print(
            f"{scenario.name}: level {seen.level}, ready in {seen.ready_s:.1f} s,"
            f" {seen.idle_bytes >> 20} MiB idle"
        )
        print("   ", seen.cases, flush=True)
        for fault in seen.faults:
            print("    FAULT", fault, flush=True)
        faults += seen.faults
    ratios = batch_ratio(image, work)
    print("the same batch, container / bare service:", ratios, flush=True)
    result = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": {"kernel": platform.release(), "machine": platform.machine()},
        "image_bytes": size,
        "container_to_bare": ratios,
        "scenarios": rows,
    }
    RESULT.write_text(json.dumps(result, indent=1) + "\n")
    print("OK" if not faults else f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]).resolve() if len(sys.argv) > 3 else None))
