"""The image's bill of materials, from the image itself.

python3 deploy/check/bill.py IMAGE

Writes deploy/contents.cdx.json (CycloneDX, for scanners) and docs/image-contents.md (the same, to be read).
Needs an engine that has the image. Called by check.sh.
"""

from __future__ import annotations

import datetime
import json
import sys
from pathlib import Path
from typing import Any

from containers import docker

ROOT = Path(__file__).resolve().parents[2]
BILL = ROOT / "deploy" / "contents.cdx.json"
PAGE = ROOT / "docs" / "image-contents.md"
VENDORED = ROOT / "app" / "static" / "vendor"

TITLES = {
    "pkg:pypi/": "Python packages",
    "pkg:npm/": "Files for the browser",
    "pkg:deb/": "Debian packages",
}

INTRODUCTION = """\
# What is in the image

{packages} packages, listed on {date} from an image of goldcheck {version} with Python {python},
built on {base}. The same list for scanners, as CycloneDX:
`deploy/contents.cdx.json`.

Both files are written by `deploy/check.sh`, or from an image at hand by `python3 deploy/check/bill.py IMAGE`.
A test fails as soon as `requirements.lock` names a package or version that is not in them.

Python packages say their licence in their metadata. Debian tells licences by source package, so that a row
also names those of its other parts, of its build and of its tests; the full texts are in the image, in
`/usr/share/doc/NAME/copyright`.
"""
HEADER = ("| package | version | licences |", "|---|---|---|")


def bill(told: dict[str, Any], base: str, version: str, date: str) -> dict[str, Any]:
    """CycloneDX 1.6 of what `contents.py` told, and of the browser's files."""
    facts = {"goldcheck:python": told["python"], "goldcheck:base": base}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": f"{date}T00:00:00Z",
            "component": {"type": "container", "name": "goldcheck", "version": version},
            "properties": [{"name": name, "value": value} for name, value in facts.items()],
        },
        "components": [
            {
                "type": "library",
                "name": package["name"],
                "version": package["version"],
                "purl": package["purl"],
                "licenses": [{"license": {"name": package["licence"]}}],
            }
            for package in [*told["packages"], *browser_files()]
        ],
    }


def browser_files() -> list[dict[str, str]]:
    """What scripts/vendor.py put into the pages' folder; a licence is told by the first line of its text."""
    found = []
    for folder in sorted(path for path in VENDORED.iterdir() if path.is_dir()):
        name, version = (folder / "VERSION").read_text("utf-8").split()
        licence = (folder / "LICENSE").read_text("utf-8").strip().splitlines()[0].strip()
        purl = f"pkg:npm/{name.replace('@', '%40')}@{version}"
        found.append({"name": name, "version": version, "purl": purl, "licence": licence})
    return found


def page(contents: dict[str, Any]) -> str:
    """The bill as a page of tables."""
    about = contents["metadata"]
    facts = {one["name"].removeprefix("goldcheck:"): one["value"] for one in about["properties"]}
    text = INTRODUCTION.format(
        packages=len(contents["components"]),
        date=about["timestamp"][:10],
        version=about["component"]["version"],
        **facts,
    )
    for kind, title in TITLES.items():
        rows = [
            f"| {one['name']} | {one['version']} | {one['licenses'][0]['license']['name']} |"
            for one in contents["components"]
            if one["purl"].startswith(kind)
        ]
        text += "\n".join([f"\n## {title}", "", *HEADER, *rows, ""])
    return text


def main(image: str) -> None:
    """Ask the image, write both files."""
    script = Path(__file__).with_name("contents.py").read_bytes()
    ask = ("run", "--rm", "--interactive", "--entrypoint", "python3", image, "-")
    told = json.loads(docker(*ask, stdin=script))
    label = '{{index .Config.Labels "goldcheck.base"}}'
    stand_in = docker("image", "inspect", "--format", label, image).strip()
    version = next(one["version"] for one in told["packages"] if one["name"] == "goldcheck")
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    contents = bill(told, stand_in or "the base image that the Dockerfile names", version, date)
    BILL.write_text(json.dumps(contents, indent=1) + "\n", "utf-8")
    PAGE.write_text(page(contents), "utf-8")
    print(f"{len(contents['components'])} packages: {BILL.relative_to(ROOT)}, {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main(sys.argv[1])
