#!/usr/bin/env python3
"""Put the browser files that the pages need into app/static/vendor, from the npm registry; or check them.

    scripts/vendor.py            fetch every package below (needs npm) and write SHA256SUMS
    scripts/vendor.py --check    the files there are those of SHA256SUMS, none more, none less (offline)

A package is named with its version and the registry's own checksum of its archive, so that the same files
come out whatever registry is asked. The licences come with the files.
"""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
import tarfile
import tempfile
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

TARGET = Path(__file__).resolve().parents[1] / "app" / "static" / "vendor"
SUMS = TARGET / "SHA256SUMS"

# The maps are not shipped, so neither are their addresses.
SOURCE_MAP = re.compile(rb"^(//|/\*)# sourceMappingURL=.*\n?", re.MULTILINE)


class Package(NamedTuple):
    """A package of the npm registry and which of its files to take, as patterns below `package/`."""

    folder: str
    name: str
    version: str
    integrity: str
    """sha512 of the archive, base64: the registry's `dist.integrity`."""
    files: tuple[str, ...]


PACKAGES = (
    Package(
        "swagger-ui",
        "swagger-ui-dist",
        "5.35.0",
        "U06rpMtW9V3XPGOBeamTUSr0Z09jMX4IJuANpE/EZbAhw0G8CgwrzU4YmXkn/h0wCDNsXdGarTNNHC3sU8yVUQ==",
        (
            "LICENSE",
            "NOTICE",
            "swagger-ui-bundle.js",
            "swagger-ui-bundle.js.LICENSE.txt",
            "swagger-ui.css",
            "favicon-32x32.png",
        ),
    ),
    Package(
        "htmx",
        "htmx.org",
        "4.0.1",
        "oF7JgXhDW9UXCy/k1ZYFUQgzu/rm19ORWPSPNL91vPluB2PB9+MV55tyQdH/w7o2EAbTYUG5SDW1R60mdkdqGg==",
        ("LICENSE", "dist/htmx.min.js"),
    ),
    Package(
        "katex",
        "katex",
        "0.19.1",
        "jG8uKntjSEcm2EpQOh0XturpPuuC9r3Sq5HLHdsFdWZT27E672SF19QEi+of0/YeOy15lDgRhKvr5614uRrEfA==",
        (
            "LICENSE",
            "dist/katex.min.js",
            "dist/katex.min.css",
            "dist/fonts/*.woff2",
        ),
    ),
    Package(
        "highlight",
        "@highlightjs/cdn-assets",
        "11.12.0",
        "KvOKXODaiFmId9xaq3xc5xCL66wVLUuOngDbO9B/kewbFTqdGbn2nJxNhN3H5R1cgDTVj6R8vH0zgiNDEGjpDw==",
        ("LICENSE", "highlight.min.js"),
    ),
    Package(
        "diff",
        "diff",
        "9.0.0",
        "svtcdpS8CgJyqAjEQIXdb3OjhFVVYjzGAPO8WGCmRbrml64SPw/jJD4GoE98aR7r25A0XcgrK3F02yw9R/vhQw==",
        ("LICENSE", "dist/diff.min.js"),
    ),
    Package(
        "uplot",
        "uplot",
        "1.6.32",
        "KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw==",
        ("LICENSE", "dist/uPlot.iife.min.js", "dist/uPlot.min.css"),
    ),
)


def main() -> None:
    """Fetch, or check."""
    if sys.argv[1:] == ["--check"]:
        sys.exit("\n".join(faults()) or None)
    if sys.argv[1:]:
        sys.exit(__doc__)
    for package in PACKAGES:
        with tempfile.TemporaryDirectory() as work:
            _unpack(package, _fetch(package, Path(work)))
    paths = sorted(path for path in TARGET.rglob("*") if path.is_file() and path != SUMS)
    SUMS.write_text("".join(f"{_sha256(path)}  {path.relative_to(TARGET)}\n" for path in paths))


def faults() -> list[str]:
    """What is wrong with the files that are there, one line each."""
    sums = dict(reversed(line.split("  ")) for line in SUMS.read_text().splitlines())
    found = {str(path.relative_to(TARGET)): path for path in TARGET.rglob("*") if path.is_file()}
    del found[SUMS.name]
    return [
        *(f"{name}: not in {SUMS.name}" for name in sorted(found.keys() - sums.keys())),
        *(f"{name}: missing" for name in sorted(sums.keys() - found.keys())),
        *(
            f"{name}: changed"
            for name in sorted(sums.keys() & found.keys())
            if _sha256(found[name]) != sums[name]
        ),
    ]


def _fetch(package: Package, folder: Path) -> Path:
    """The package's archive, downloaded with npm and checked."""
    command = [
        "npm",
        "pack",
        "--silent",
        "--pack-destination",
        str(folder),
        f"{package.name}@{package.version}",
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - names from the table above
    (archive,) = folder.iterdir()
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if digest != package.integrity:
        sys.exit(f"{package.name} {package.version}: the archive's sha512 is {digest}")
    return archive


def _unpack(package: Package, archive: Path) -> None:
    """Write the files wanted, flat but for fonts, which the style sheet looks for in a folder."""
    folder = TARGET / package.folder
    for old in folder.rglob("*") if folder.is_dir() else ():
        if old.is_file():
            old.unlink()
    with tarfile.open(archive) as files:
        names = files.getnames()
        for pattern in package.files:
            wanted = [name for name in names if fnmatch(name, f"package/{pattern}")]
            if not wanted:
                sys.exit(f"{package.name} {package.version}: no {pattern}")
            for name in wanted:
                source = files.extractfile(name)
                assert source is not None  # noqa: S101 - it is a file
                place = folder / ("fonts" if "/fonts/" in name else "") / Path(name).name
                place.parent.mkdir(parents=True, exist_ok=True)
                content = source.read()
                place.write_bytes(
                    SOURCE_MAP.sub(b"", content) if place.suffix in {".js", ".css"} else content
                )
    (folder / "VERSION").write_text(f"{package.name} {package.version}\n")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
