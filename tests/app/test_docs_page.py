"""`/docs` works without internet: every file is here, and nothing is fetched from elsewhere."""

from __future__ import annotations

import re

import pytest
from serving import Client


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
    ("path", "media_type"),
    [
        ("docs/start.js", "text/javascript"),
        ("vendor/swagger-ui/favicon-32x32.png", "image/png"),
        ("vendor/katex/katex.min.css", "text/css"),
        ("vendor/katex/fonts/KaTeX_Main-Regular.woff2", "font/woff2"),
    ],
)
def test_files_have_their_media_types(client: Client, path: str, media_type: str) -> None:
    """And are not guessed at."""
    reply = client.get(f"/assets/{path}")
    assert reply.headers["content-type"].startswith(media_type)
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["cache-control"] == "max-age=3600"
    assert "immutable" in client.get(f"/assets/{path}?v=1").headers["cache-control"]


@pytest.mark.parametrize(
    "path",
    [
        "vendor/SHA256SUMS", "vendor/katex/LICENSE", "vendor/katex", "docs/index.html", "", "../main.py",
        "%2e%2e/main.py", "vendor/../../main.py", "/etc/passwd", "vendor//katex/katex.min.css", "x\0.js",
    ],
)  # fmt: skip
def test_nothing_else_is_served(client: Client, path: str) -> None:
    """Neither files without a media type nor any outside of the folder."""
    reply = client.get(f"/assets/{path.replace(chr(0), '%00')}")
    assert reply.status_code == 404
    assert reply.json()["code"] == "not_found"
