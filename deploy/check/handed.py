"""A folder of further code cases, run by the driver that lies beside it, inside a container."""

from __future__ import annotations

import json
import re
import secrets
import subprocess
from collections import Counter
from pathlib import Path

from containers import docker

SECRET = f"goldcheck-check-{secrets.token_hex(8)}"
"""Value of a variable in the service's environment: no program may show it."""
SECRET_ENV = ("--env", f"GOLDCHECK_SECRET={SECRET}")
SLACK_S = 60
"""What a request may take beyond its limits: the machine is busy, and gVisor slow."""


def run(container: str, cases: Path) -> tuple[dict[str, str], list[str]]:
    """(case group -> "held/all", ids of the cases that did not hold) in a running container."""
    unpack = "mkdir /tmp/cases && tar -x -C /tmp/cases"
    packed = subprocess.run(["tar", "-C", str(cases), "-c", "."], capture_output=True, check=True).stdout
    docker("exec", "--interactive", container, "sh", "-c", unpack, stdin=packed)
    driver = next(cases.glob("run_*.py")).name
    told = docker(
        *("exec", container, "python3", f"/tmp/cases/{driver}", "-v", "--url", "http://127.0.0.1:8000"),
        *("--have", "numpy,sympy", "--secret", SECRET, "--workdir", "/data", "--slack", str(SLACK_S)),
        "/tmp/cases/code",
        check=False,
        timeout=600,
    )
    if not re.search(r"\d+ passed, \d+ failed", told):
        raise RuntimeError(f"the driver did not end: {told[-500:]}")
    groups = {
        case["id"]: case["group"]
        for path in sorted((cases / "code").glob("*.json"))
        for case in json.loads(path.read_text())
    }
    done = {id_: state for state, id_ in re.findall(r"^(ok  |FAIL) (\S+) [\d.]+s$", told, re.MULTILINE)}
    every = Counter(groups[id_] for id_ in done)
    held = Counter(groups[id_] for id_, state in done.items() if state != "FAIL")
    table = {f"handed {group}": f"{held[group]}/{every[group]}" for group in sorted(every)}
    return table, sorted(id_ for id_, state in done.items() if state == "FAIL")
