"""Java. The file is named after its public class, or else after the class that `main` is in."""

import re

from sandbox.languages.language import Language

_KIND = r"(?:class|enum|record|interface)"
_PUBLIC = re.compile(
    rf"^[ \t]*public[ \t]+(?:(?:final|abstract|strictfp|sealed)[ \t]+)*{_KIND}[ \t]+(\w+)", re.MULTILINE
)
_CLASS = re.compile(rf"\b{_KIND}[ \t]+(\w+)")
_MAIN = re.compile(r"\bvoid[ \t]+main\b")


def _file_name(text: str) -> str:
    public = _PUBLIC.search(text)
    main = _MAIN.search(text)
    classes = _CLASS.findall(text, 0, main.start()) if main else []
    return f"{public[1] if public else classes[-1] if classes else 'Main'}.java"


JAVA = Language(
    name="java",
    version=("javac", "-version"),
    source=_file_name,
    compile=(
        *("sh", "-c"),
        'javac $3 -encoding UTF-8 -d out "$1" && jar --create --file main.jar --main-class "$2" -C out .',
        *("sh", "{source}", "{stem}", "-J-Xmx512m -J-XX:+UseSerialGC -J-XX:TieredStopAtLevel=1"),
    ),
    artifact="main.jar",
    # The machine's own threads count as processor time of the program: as few of them as will do.
    run=(
        *("java", "-Xmx{memory_mb}m", "-Xss64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
        *("-jar", "main.jar"),
    ),
    readable=("/etc/java-*",),
)
