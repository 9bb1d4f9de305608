"""Run the image in every scenario and hold it to what is promised there.

python3 deploy/check/prove.py IMAGE WORK [CASES]

Called by check.sh, with an engine that is ours. Writes benchmarks/results/deploy.json and
docs/image-checked.md.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import handed
import measured
import pod
from containers import SHIPPED, docker
from ratio import batch_ratio
from scenarios import Scenario, scenarios

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "deploy" / "check"


@dataclass
class Outcome:
    """What was seen in one scenario; faults: what should have been otherwise."""

    ready_s: float = 0.0
    idle_bytes: int = 0
    level: str = ""
    guarantees: dict[str, str] = field(default_factory=dict)
    cases: dict[str, str] = field(default_factory=dict)
    """Case group -> "held/all"."""
    programs: str = "run"
    """Or "refused": served code cases hold then if each is."""
    not_held: list[str] = field(default_factory=list)
    """Handed cases that this level does not hold, as documented."""
    faults: list[str] = field(default_factory=list)


def ready(container: str, wait_s: int) -> float:
    """Seconds until the service in the container answers /healthz."""
    began = time.monotonic()
    ask = "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/healthz', timeout=2)"
    while time.monotonic() - began < wait_s:
        if docker("exec", container, "python3", "-c", ask + "; print('yes')", check=False).strip() == "yes":
            return round(time.monotonic() - began, 2)
        time.sleep(0.1)
    raise RuntimeError(
        f"not ready within {wait_s} s: {docker('logs', '--tail', '5', container, check=False)}"
    )


def start_to_ready(image: str) -> float:
    """Seconds from `docker run` of the image as shipped until it answers; the median of five."""
    taken = []
    for _ in range(5):
        began = time.monotonic()
        container = docker("run", "--detach", *SHIPPED, image).strip()
        try:
            ready(container, 60)
            taken.append(time.monotonic() - began)
        finally:
            docker("rm", "--force", "--volumes", container, check=False)
    return round(statistics.median(taken), 2)


def idle_bytes(container: str) -> int:
    """Memory of the container after it has come to rest."""
    time.sleep(2)
    told = docker("stats", "--no-stream", "--format", "{{.MemUsage}}", container).split("/")[0].strip()
    number, unit = re.fullmatch(r"([\d.]+)(\w+)", told).groups()  # type: ignore[union-attr]
    return int(float(number) * {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[unit])


def observe(image: str, scenario: Scenario, cases: Path | None) -> Outcome:
    """Run the image as the scenario says and look at everything."""
    seen = Outcome(programs="run" if scenario.available else "refused")
    container = docker("run", "--detach", *scenario.arguments, *handed.SECRET_ENV, image).strip()
    try:
        seen.ready_s = ready(container, scenario.wait_s)
        seen.idle_bytes = idle_bytes(container)
        served(container, scenario, seen)
        if cases is not None and scenario.available:
            groups, failed = handed.run(container, cases)
            seen.cases |= groups
            seen.not_held = [id_ for id_ in failed if id_ in scenario.excused]
            seen.faults += [f"handed case {id_}" for id_ in failed if id_ not in scenario.excused]
    except (RuntimeError, subprocess.TimeoutExpired, ValueError) as error:
        seen.faults.append(str(error))
    finally:
        docker("rm", "--force", "--volumes", container, check=False)
    return seen


def served(container: str, scenario: Scenario, seen: Outcome) -> None:
    """What the service reports, and the cases that it serves itself."""
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
    astray = pod.sidecar(image)
    print("the pod's containers:", astray or "ready", flush=True)
    faults += astray
    rows = {}
    for scenario in scenarios(work):
        seen = observe(image, scenario, cases)
        rows[scenario.name] = vars(seen)
        print(
            f"{scenario.name}: level {seen.level}, ready in {seen.ready_s:.1f} s,"
            f" {seen.idle_bytes >> 20} MiB idle, programs {seen.programs}"
        )
        print("   ", seen.cases, *seen.not_held, flush=True)
        for fault in seen.faults:
            print("    FAULT", fault, flush=True)
        faults += seen.faults
    ready_s = start_to_ready(image)
    print(f"from start to ready: {ready_s} s", flush=True)
    ratios = batch_ratio(image, work)
    print("the same batch, container / bare service:", ratios, flush=True)
    measured.write(
        {
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "machine": {
                "kernel": platform.release(),
                "machine": platform.machine(),
                "cores": os.cpu_count(),
            },
            "image_bytes": size,
            "start_to_ready_s": ready_s,
            "container_to_bare": ratios,
            "scenarios": rows,
        }
    )
    print("OK" if not faults else f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]).resolve() if len(sys.argv) > 3 else None))
