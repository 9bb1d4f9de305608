"""Where programs find their interpreter and the offered packages, readable by their user.

Started as root, programs run under a user that may not be able to reach the service's interpreter or checkout
(a 0700 home). In order: as it lies; shown elsewhere by bind mounts; copied to a place of root's that
everyone may enter; refused, naming the path. Each is really tried as that user.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sandbox.config import FLAGS
from sandbox.layers import namespaces, process
from sandbox.supervisor import copies
from sandbox.supervisor.copies import Source, shared_libraries
from sandbox.zygote import mounts

_MOUNT_POINTS = ("/mnt", "/srv", "/media", "/opt", "/run")
_TRY_S = 30
_CHECK = """
import ctypes, json, os, random, sys
if sys.version != sys.argv[1]: sys.exit(f"Python {sys.version} answered")
for path in sys.argv[2:]: os.listdir(path) if os.path.isdir(path) else open(path).close()
"""


class Unplaceable(Exception):  # noqa: N818 - a state of the host
    """Programs could not read a path, and nothing helped. The text names it."""


@dataclass(frozen=True, slots=True)
class Placed:
    """executable and library: of the interpreter; packages: the folder to import offered packages from.

    readable: paths that programs may read. how: "direct", "bind" or "copy". held: lock on a copy, which is
    kept for as long as that is open.
    """

    executable: str
    library: str
    libraries: str
    packages: str
    readable: tuple[str, ...]
    how: str
    held: int | None = None


def mount_base(avoid: Iterable[str]) -> str:
    """A folder to mount over: entered by everyone, and not above anything in `avoid`."""
    paths = [f"{path}/" for path in avoid]
    for base in _MOUNT_POINTS:
        if os.path.isdir(base) and not any(path.startswith(f"{base}/") for path in paths):
            namespaces.memory_files(base, 1 << 20, 4096)
            return base
    raise Unplaceable(f"no folder to mount over among {', '.join(_MOUNT_POINTS)}")


def place(source: Source, folder: str, uid: int | None, base: str | None, without: tuple[str, ...]) -> Placed:
    """Make `source` readable for `uid` (None: for ourselves).

    folder: ours, for links to the packages. base: our own mounted folder, or None. without: methods to
    leave out.
    """
    tried: list[str] = []
    if "direct" not in without and not (base and _hidden(source)):
        placed = _direct(source, base or folder)
        if (problem := _try(placed, source, uid)) is None:
            return placed
        tried.append(f"as it lies: {problem}")
    if base is not None and "bind" not in without:
        placed = _bind(source, base)
        if (problem := _try(placed, source, uid)) is None:
            return placed
        tried.append(f"by bind mount: {problem}")
    if uid is not None and "copy" not in without:
        for parent in copies.OPEN_PLACES:
            try:
                placed = _copy(source, parent)
            except OSError as error:
                tried.append(f"copied to {parent}: {error}")
                continue
            if (problem := _try(placed, source, uid)) is None:
                return placed
            tried.append(f"copied to {parent}: {problem}")
    raise Unplaceable(f"user {uid} cannot read {source.executable} or {source.library}: {'; '.join(tried)}")


def _hidden(source: Source) -> bool:
    """Whether a part lies where every slot has a private folder of its own mounted."""
    paths = (source.executable, source.library, *source.packages.values())
    return any(map(_is_hidden, paths))


def _is_hidden(path: str) -> bool:
    return any(path.startswith(f"{place}/") for place in mounts.PLACES)


def _direct(source: Source, folder: str) -> Placed:
    packages = _fresh(f"{folder}/packages")
    for entry, path in source.packages.items():
        os.symlink(path, f"{packages}/{entry}")
    readable = (*_interpreter(source.executable, source.library), packages, *source.packages.values())
    return Placed(source.executable, source.library, "", packages, readable, "direct")


def _bind(source: Source, base: str) -> Placed:
    prefix = f"{base}/python"
    os.makedirs(prefix, exist_ok=True)
    namespaces.bind_read_only(source.prefix, prefix)
    packages = _fresh(f"{base}/packages")
    for entry, path in source.packages.items():
        target = f"{packages}/{entry}"
        if os.path.isdir(path):
            os.mkdir(target)
        else:
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
        namespaces.bind_read_only(path, target)
    executable, library = source.moved(prefix)
    readable = (*_interpreter(executable, library), packages)
    return Placed(executable, library, f"{prefix}/lib", packages, readable, "bind")


def _copy(source: Source, parent: str) -> Placed:
    target, held = copies.make(source, parent)
    executable, library = source.moved(f"{target}/python")
    packages = f"{target}/packages"
    readable = (*_interpreter(executable, library), packages)
    return Placed(executable, library, f"{target}/python/lib", packages, readable, "copy", held)


def show(folder: str, uid: int | None, base: str | None) -> str:
    """Where programs of `uid` find `folder`, whose contents may still change; empty if they cannot."""
    hidden = base is not None and _is_hidden(folder)
    if not hidden and (uid is None or can_enter(folder, uid)):
        return folder
    if base is None:
        return ""
    target = f"{base}/{os.path.basename(folder)}"
    os.makedirs(target, exist_ok=True)
    namespaces.bind_read_only(folder, target)
    return target


def library_path(placed: Placed) -> dict[str, str]:
    """What a moved interpreter needs to find its own shared libraries: they may be named by absolute path."""
    return {"LD_LIBRARY_PATH": placed.libraries} if placed.libraries else {}


def can_enter(path: str, uid: int) -> bool:
    """Whether `uid` reaches `path`, found by going there."""
    pid = os.fork()
    if pid == 0:
        try:
            process.become(uid)
            os.chdir(path)
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def _interpreter(executable: str, library: str) -> tuple[str, ...]:
    """What the interpreter reads, and not the whole of its prefix: that may be someone's home."""
    prefix = os.path.dirname(os.path.dirname(executable))
    libraries = [f"{prefix}/lib/{name}" for name in shared_libraries(prefix)]
    return (executable, library, *libraries)


def _fresh(path: str) -> str:
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path, mode=0o755)
    os.chmod(path, 0o755)
    return path


def _try(placed: Placed, source: Source, uid: int | None) -> str | None:
    """Start the interpreter as `uid` and read what must be readable; what went wrong, or None."""
    paths = [f"{placed.packages}/{entry}" for entry in source.packages]
    who: dict[str, Any] = {} if uid is None else {"user": uid, "group": uid, "extra_groups": []}
    command = [placed.executable, *FLAGS, "-c", _CHECK, sys.version, placed.packages, *paths]
    try:
        done = subprocess.run(
            command,
            env=library_path(placed),
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TRY_S,
            check=False,
            **who,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    if done.returncode == 0:
        return None
    return done.stderr.decode(errors="replace").strip().rpartition("\n")[2] or f"exit {done.returncode}"
