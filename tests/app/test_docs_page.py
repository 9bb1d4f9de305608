"""`/docs` works without internet: every file is here, unchanged, and nothing is fetched from elsewhere."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest
from serving import Client

import app

FOLDER = Path(app.__file__).parent / "static" / "docs"


def test_vendored_files_are_as_they_came() -> None:
    """Checksums hold, and no file is without one."""
    sums = dict(reversed(line.split("  ")) for line in (FOLDER / "SHA256SUMS").read_text().splitlines())
    ours = {"SHA256SUMS", "index.html", "start.js"}
    assert {path.name for path in FOLDER.iterdir()} == set(sums) | ours
    for name, expected in sums.items():
        assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == expected, name


def test_the_page_needs_only_its_own_files(client: Client) -> None:
    """All that it names is served, under a policy that allows nothing else."""
    page = client.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    names = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(names) == 4
    for name in names:
        assert client.get(f"/{name}").status_code == 200
    assert "<script>" not in page.text
    assert "style=" not in page.text


@pytest.mark.parametrize(
    ("name", "media_type"), [("start.js", "text/javascript"), ("favicon-32x32.png", "image/png")]
)
def test_files_have_their_media_types(client: Client, name: str, media_type: str) -> None:
    """And are not guessed at."""
    reply = client.get(f"/docs/assets/{name}")
    assert reply.headers["content-type"].startswith(media_type)
    assert reply.headers["x-content-type-options"] == "nosniff"
