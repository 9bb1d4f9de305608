"""JavaScript, by Node.js; a program with `import` or `export` declarations is a module."""

import re

from sandbox.languages.language import Language

_MODULE = re.compile(
    r"""^[ \t]*(?:import(?:[ \t]+[\w$*{]|[ \t]*[{*'"])"""
    r"""|export[ \t]+(?:default|const|let|var|function|class|async|[{*]))""",
    re.MULTILINE,
)


def _file_name(text: str) -> str:
    return "main.mjs" if _MODULE.search(text) else "main.js"


JAVASCRIPT = Language(
    name="javascript",
    version=("node", "--version"),
    source=_file_name,
    compile=("node", "--check", "{source}"),
    # Recursion as deep as in other languages: what bounds the stack is the memory limit.
    run=("node", "--max-old-space-size={memory_mb}", "--stack-size=60000", "{source}"),
    caller="calls.js",
    readable=("/etc/ssl/openssl.cnf",),
)
