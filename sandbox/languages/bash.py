"""Bash."""

from sandbox.languages.language import Language, always

BASH = Language(
    name="bash",
    version=("bash", "--version"),
    source=always("main.sh"),
    compile=("bash", "-n", "{source}"),
    run=("bash", "{source}"),
)
