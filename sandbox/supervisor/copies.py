"""Copies of the interpreter and the offered packages, for programs whose user cannot reach the originals.

A copy is named by what it was made of and kept from start to start. The next start of a service removes those
that no service uses, if it does not use them itself.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from sandbox.supervisor.locks import lock

OPEN_PLACES = ("/var/lib/goldcheck", "/opt/goldcheck", "/var/tmp/goldcheck", "/tmp/goldcheck")  # noqa: S108
"""Where root may put what its programs' users must reach."""
_NAME = re.compile(r"([0-9a-f]{16})(\.lock|\.[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Source:
    """What is to be made readable; `packages` maps entry names to paths."""

    executable: str
    prefix: str
    library: str
    packages: Mapping[str, str]

    def moved(self, prefix: str) -> tuple[str, str]:
        """Executable and library as they lie under another prefix."""
        return tuple(  # type: ignore[return-value]
            os.path.join(prefix, os.path.relpath(path, self.prefix))
            for path in (self.executable, self.library)
        )


def make(source: Source, parent: str) -> tuple[str, int]:
    """The folder of a copy beneath `parent`, made unless it is there, and a descriptor that keeps it."""
    make_open(parent)
    made_of = [source.executable, source.library, *sorted(source.packages.values())]
    stamp = "".join(f"{path}:{os.stat(path).st_mtime_ns};" for path in made_of)
    target = f"{parent}/{hashlib.sha256(stamp.encode()).hexdigest()[:16]}"
    held = lock(f"{target}.lock", shared=True)
    if held is None:
        raise BlockingIOError(f"{target} is being removed")
    if not os.path.isdir(target):
        _fill(source, target)
    return target, held


def sweep() -> None:
    """Remove every copy that nobody holds, and what is left of unfinished ones."""
    for parent in trusted_places():
        for name in {match[1] for match in map(_NAME.fullmatch, os.listdir(parent)) if match}:
            held = lock(f"{parent}/{name}.lock")
            if held is None:
                continue
            for entry in os.listdir(parent):
                if entry != f"{name}.lock" and entry.startswith(name):
                    shutil.rmtree(f"{parent}/{entry}", ignore_errors=True)
            os.unlink(f"{parent}/{name}.lock")
            os.close(held)


def trusted_places() -> Iterator[str]:
    """Those of the open places that are there and root's alone."""
    for place in OPEN_PLACES:
        with suppress(OSError):
            if _is_roots_alone(place):
                yield place


def make_open(path: str) -> None:
    """Create a folder of root's that everyone may enter; raises `OSError` if it cannot be trusted."""
    os.makedirs(path, mode=0o755, exist_ok=True)
    if not _is_roots_alone(path):
        raise PermissionError(f"{path} is not root's alone")


def _is_roots_alone(path: str) -> bool:
    state = os.stat(path, follow_symlinks=False)
    return state.st_uid == 0 and not state.st_mode & 0o022 and os.path.isdir(path)


def _fill(source: Source, target: str) -> None:
    part = f"{target}.{os.getpid()}"
    shutil.rmtree(part, ignore_errors=True)
    executable, library = source.moved(f"{part}/python")
    skip = shutil.ignore_patterns(
        "site-packages", "dist-packages", "__pycache__", "test", "tests", "config-*"
    )
    shutil.copytree(source.library, library, symlinks=True, ignore=skip)
    os.makedirs(os.path.dirname(executable), exist_ok=True)
    shutil.copy2(source.executable, executable)
    for name in shared_libraries(source.prefix):
        shutil.copy2(f"{source.prefix}/lib/{name}", f"{part}/python/lib/{name}")
    os.mkdir(f"{part}/packages")
    for entry, path in source.packages.items():
        if os.path.isdir(path):
            shutil.copytree(path, f"{part}/packages/{entry}")
        else:
            shutil.copy2(path, f"{part}/packages/{entry}")
    _open_to_all(part)
    with suppress(OSError):  # another worker may have been faster
        os.rename(part, target)
    shutil.rmtree(part, ignore_errors=True)


def _open_to_all(top: str) -> None:
    for folder, _, files in os.walk(top):
        os.chmod(folder, 0o755)
        for name in files:
            path = f"{folder}/{name}"
            if not os.path.islink(path):
                os.chmod(path, os.stat(path).st_mode & 0o7555 | 0o444)


def shared_libraries(prefix: str) -> list[str]:
    """Names of those that lie beside an interpreter."""
    with suppress(OSError):
        return [name for name in os.listdir(f"{prefix}/lib") if name.startswith("lib") and ".so" in name]
    return []
