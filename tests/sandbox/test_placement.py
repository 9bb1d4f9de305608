"""Started as root, programs have a user of their own that can read its interpreter wherever that lies."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hosts import script, started

from sandbox.config import Interpreter, SandboxConfig
from sandbox.engine import Sandbox
from sandbox.errors import SandboxUnavailable
from sandbox.supervisor import copies, uids
from sandbox.types import CaseResult

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives programs another user")

WHO = "import os, json, decimal; print(os.getuid(), os.getgid(), os.getgroups(), os.access(os.__file__, 4))"


def hidden_interpreter(folder: Path) -> Interpreter:
    """A working Python of the same kind beneath a folder that only root may enter."""
    real = Interpreter.of_this_process()
    home = folder / "home"
    home.mkdir(mode=0o700)
    prefix = home / "python"
    library = prefix / "lib" / Path(real.library).name
    skip = shutil.ignore_patterns(
        "site-packages", "dist-packages", "test", "tests", "idlelib", "config-*", "ensurepip"
    )
    shutil.copytree(real.library, library, symlinks=True, ignore=skip)
    (prefix / "bin").mkdir()
    executable = prefix / "bin" / Path(real.executable).name
    shutil.copy2(real.executable, executable)
    for shared in Path(real.prefix, "lib").glob("libpython*"):
        shutil.copy2(shared, prefix / "lib" / shared.name)
    return replace(real, executable=str(executable), prefix=str(prefix), library=str(library))


@pytest.fixture(scope="module")
def hidden(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Interpreter]:
    """The hidden interpreter; copies made of it are removed afterwards."""
    yield hidden_interpreter(tmp_path_factory.mktemp("hidden"))
    copies.sweep()


def copies_there() -> list[Path]:
    """Copies of an interpreter, whoever made them."""
    place = Path(copies.OPEN_PLACES[0])
    return sorted(path for path in place.iterdir() if (path / "python").is_dir())


async def run_hidden(interpreter: Interpreter, run_dir: Path, *assume: str) -> CaseResult:
    """One run on the hidden interpreter, which finds its shared library beside itself."""
    sandbox = Sandbox(SandboxConfig(run_dir=str(run_dir), assume=assume, packages=()))
    sandbox._interpreter = interpreter
    await sandbox.start()
    try:
        [result] = [result async for result in sandbox.run(script(WHO))]
    finally:
        await sandbox.close()
    return result


METHODS = {"bind mount": (), "copy": ("not bind",), "no mounting at all": ("no mounts",)}


@pytest.mark.parametrize("assume", METHODS.values(), ids=METHODS)
async def test_interpreter_in_a_closed_home_is_made_readable(
    hidden: Interpreter, tmp_path: Path, assume: tuple[str, ...]
) -> None:
    """By bind mounts, else by a copy: a program runs as its own user, in no group, and reads its library."""
    result = await run_hidden(hidden, tmp_path, *assume)
    uid, gid, groups, readable = result.stdout.decode().split()
    assert int(uid) in range(60000, 60064), result
    assert (gid, groups, readable) == (uid, "[]", "True")


async def test_unreadable_interpreter_is_refused_by_name(hidden: Interpreter, tmp_path: Path) -> None:
    """Where nothing helps, the refusal names the path."""
    with pytest.raises(SandboxUnavailable, match=hidden.executable):
        await run_hidden(hidden, tmp_path, "not bind", "not copy")


async def test_closed_run_folder_is_no_obstacle(tmp_path: Path) -> None:
    """Work folders are made where the program's user can enter them."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    async with started(closed, "no mounts") as sandbox:
        [result] = [result async for result in sandbox.run(script("open('x', 'w'); print('written')"))]
    assert result.stdout == b"written\n", result


async def test_copy_is_roots_alone_and_kept(hidden: Interpreter, tmp_path: Path) -> None:
    """Nobody but root can change the copy, and the next start uses it again."""
    await run_hidden(hidden, tmp_path, "not bind")
    made = copies_there()
    assert made
    for copy in made:
        for path in (copy, *copy.rglob("*")):
            mode = path.lstat()
            assert mode.st_uid == 0
            assert path.is_symlink() or not mode.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    await run_hidden(hidden, tmp_path, "not bind")
    assert copies_there() == made


async def test_copy_is_removed_when_nobody_uses_it(hidden: Interpreter, tmp_path: Path) -> None:
    """It stays while a service runs on it, whoever else starts, and goes with the next start after that."""
    copies.sweep()  # of what the test before has left
    others = set(copies_there())
    sandbox = Sandbox(SandboxConfig(run_dir=str(tmp_path / "a"), assume=("not bind",), packages=()))
    sandbox._interpreter = hidden
    await sandbox.start()
    [used] = set(copies_there()) - others
    (used.parent / f"{used.name}.99999").mkdir()  # what a copying that was killed leaves
    async with started(tmp_path / "b", slots=1):
        assert used in copies_there()
        [result] = [result async for result in sandbox.run(script(WHO))]
        assert result.status == "exited"
    await sandbox.close()
    async with started(tmp_path / "b", slots=1):
        assert not [path for path in used.parent.iterdir() if path.name.startswith(used.name)]


def test_untrusted_open_place_is_not_used(tmp_path: Path) -> None:
    """A folder that someone else could have prepared is refused."""
    place = tmp_path / "place"
    place.mkdir()
    place.chmod(0o777)
    with pytest.raises(PermissionError, match="not root's alone"):
        copies.make_open(str(place))


def test_ids_are_claimed_once() -> None:
    """No two workers share an id, and a range that is used up says so."""
    first, claims = uids.claim((61000, 4), 3)
    with pytest.raises(uids.UidRangeExhausted, match=r"61000\.\.61003"):
        uids.claim((61000, 4), 2)
    second, more = uids.claim((61000, 4), 1)
    assert not set(first) & set(second)
    for claim in (*claims, *more):
        claim.close()
    third, claims = uids.claim((61000, 4), 4)
    assert third == [61000, 61001, 61002, 61003]
    for claim in claims:
        claim.close()


async def test_workers_do_not_share_ids(tmp_path: Path) -> None:
    """Two sandboxes on one host give their programs different users."""
    who = "import os; print(os.getuid())"
    async with started(tmp_path / "a", slots=1) as one, started(tmp_path / "b", slots=1) as other:
        seen = [[r.stdout async for r in sandbox.run(script(who))] for sandbox in (one, other)]
    assert seen[0] != seen[1]
