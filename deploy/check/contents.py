"""Run inside the image: one line of JSON for each package in it, with what it says about its licence.

python3 - < contents.py
"""

import importlib.metadata
import json
import platform
import re
import subprocess
from pathlib import Path
from urllib.parse import quote


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
        yield package(name, found.version, f"pkg:pypi/{name}@{quote(found.version)}", told)


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
        purl = f"pkg:deb/debian/{quote(name)}@{quote(version, safe=':~')}"
        yield package(name, version, purl, "; ".join(named(text)) or f"its own words: {copyright_file}")


def named(text):
    """Licences that a copyright file names: in its fields, or as files that every Debian has."""
    short = r"[A-Za-z0-9][^\s,;:]*(?: (?:or|and|with|OR|AND) .*)?"
    fields = re.findall(rf"^License: *({short})$", text, re.MULTILINE)
    files = re.findall(r"/usr/share/common-licenses/([\w.+-]*\w)", text)
    return sorted({*(field.strip() for field in fields), *files})


def package(name, version, purl, licence):
    """What is told about one."""
    return {"name": name, "version": version, "purl": purl, "licence": licence or "not stated"}


print(json.dumps({"python": platform.python_version(), "packages": [*python_packages(), *debian_packages()]}))
