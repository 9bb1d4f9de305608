"""Run inside the image: list what is in it as CycloneDX 1.6, with licences.

python3 - < contents.py > image.cdx.json
"""

import importlib.metadata
import json
import re
import subprocess
from pathlib import Path


def python_packages():
    """Every distribution of the virtual environment."""
    for found in sorted(importlib.metadata.distributions(), key=lambda one: one.metadata["Name"].lower()):
        about = found.metadata
        name = re.sub(r"[-_.]+", "-", about["Name"]).lower()
        classified = [
            word.split(" :: ")[-1] for word in about.get_all("Classifier", []) if word.startswith("License")
        ]
        told = (
            about.get("License-Expression")
            or " AND ".join(classified)
            or (about.get("License") or "").split("\n")[0]
        )
        yield component(about["Name"], found.version, f"pkg:pypi/{name}@{found.version}", told)


def debian_packages():
    """Every installed package of the distribution."""
    told = subprocess.run(
        ["/usr/bin/dpkg-query", "-W", "-f", "${Package}\t${Version}\n"],
        capture_output=True,
        text=True,
        check=True,
    )
    for line in told.stdout.splitlines():
        name, version = line.split("\t")
        copyright_file = Path("/usr/share/doc", name, "copyright")
        text = copyright_file.read_text("utf-8", "replace") if copyright_file.exists() else ""
        licences = sorted({word.strip() for word in re.findall(r"^License: *(\S.*)$", text, re.MULTILINE)})
        yield component(
            name, version, f"pkg:deb/debian/{name}@{version}", "; ".join(licences) or "see its copyright file"
        )


def component(name, version, purl, licence):
    """One entry of the bill of materials."""
    return {
        "type": "library",
        "name": name,
        "version": version,
        "purl": purl,
        "licenses": [{"license": {"name": licence or "not stated"}}],
    }


components = [*python_packages(), *debian_packages()]
print(
    json.dumps(
        {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": components}, indent=1
    )
)
