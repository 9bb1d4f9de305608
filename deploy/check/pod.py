"""The containers of deploy/k8s/sidecar.yaml as the manifest says, in the engine: no cluster is at hand.

What a cluster adds (admission, volumes, the order of ending) is not seen here.
"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

import yaml
from containers import docker

MANIFEST = Path(__file__).resolve().parents[1] / "k8s" / "sidecar.yaml"
ASK = "import os, urllib.request as u; print(u.urlopen(os.environ['REWARD_URL'] + '/readyz').read().decode())"


def sidecar(image: str) -> list[str]:
    """Start the sidecar and look at it; what went wrong."""
    spec = yaml.safe_load(MANIFEST.read_text())["spec"]
    service, trainer = spec["initContainers"][0], spec["containers"][0]
    mounts = ("--tmpfs", "/tmp:size=256m,mode=1777", "--volume", "/data")
    container = docker("run", "--detach", *confined(service), *mounts, image, *service["command"][1:]).strip()
    try:
        return faults(image, container, service, trainer)
    finally:
        docker("rm", "--force", "--volumes", container, check=False)


def faults(image: str, container: str, service: dict[str, Any], trainer: dict[str, Any]) -> list[str]:
    """Probe the sidecar as the kubelet would, and ask it from the trainer's place."""
    probe = service["startupProbe"]
    for _ in range(probe["failureThreshold"]):
        if succeeds(container, probe["exec"]["command"]):
            break
        time.sleep(probe["periodSeconds"])
    else:
        return ["pod: the startup probe never succeeds"]
    if not succeeds(container, service["livenessProbe"]["exec"]["command"]):
        return ["pod: the liveness probe fails"]
    asking = confined({**trainer, "command": ["python3"]})
    told = docker("run", "--rm", "--network", f"container:{container}", *asking, image, "-c", ASK)
    return [] if '"ready"' in told else [f"pod: the trainer is told {told}"]


def confined(container: dict[str, Any]) -> list[str]:
    """A container's security context, environment and program as arguments of `docker run`."""
    context, resources = container["securityContext"], container["resources"]
    user = f"{context['runAsUser']}:{context['runAsGroup']}"
    memory = resources["limits"]["memory"].replace("Gi", "g")
    arguments = ["--user", user, "--memory", memory, "--entrypoint", container["command"][0]]
    arguments += [word for name in context["capabilities"]["drop"] for word in ("--cap-drop", name)]
    if context["readOnlyRootFilesystem"]:
        arguments.append("--read-only")
    if not context["allowPrivilegeEscalation"]:
        arguments += ["--security-opt", "no-new-privileges:true"]
    for variable in container["env"]:
        value = variable.get("value") or resources["requests"]["cpu"]
        arguments += ["--env", f"{variable['name']}={value}"]
    return arguments


def succeeds(container: str, command: list[str]) -> bool:
    """Whether a probe's command does, inside."""
    done = subprocess.run(
        ["docker", "exec", container, *command], capture_output=True, check=False, timeout=60
    )
    return done.returncode == 0
