"""Rust, edition 2021, the standard library alone."""

from sandbox.languages.language import Language, always

RUST = Language(
    name="rust",
    version=("rustc", "--version"),
    source=always("main.rs"),
    compile=("rustc", "--edition", "2021", "-O", "-C", "strip=symbols", "-o", "main", "{source}"),
    artifact="main",
    run=("./main",),
)
