"""Folders are emptied whatever was done to them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.supervisor import folder

NAMES = st.text(
    st.characters(blacklist_characters="/\0", blacklist_categories=["Cs"]), min_size=1, max_size=8
)
NAMES = NAMES.filter(lambda name: name not in (".", "..")) | st.sampled_from(
    [".rest-0", ".rest-1", ".rest-2", "-rf"]
)
TREES = st.recursive(
    st.sampled_from(["file", "link out", "link up", "dangling", "fifo"]),
    lambda inner: st.tuples(
        st.sampled_from([0o700, 0o000, 0o500, 0o300]), st.dictionaries(NAMES, inner, max_size=4)
    ),
    max_leaves=25,
)


def grow(path: Path, tree: object, outside: Path) -> None:
    """Make what `tree` describes at `path`."""
    if isinstance(tree, tuple):
        mode, entries = tree
        path.mkdir()
        for name, inner in entries.items():
            grow(path / name, inner, outside)
        path.chmod(mode)
    elif tree == "file":
        path.write_text("x")
    elif tree == "fifo":
        os.mkfifo(path)
    else:
        target = {"link out": outside, "link up": "..", "dangling": "nowhere"}[str(tree)]
        path.symlink_to(target)


@given(tree=st.dictionaries(NAMES, TREES, max_size=5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_any_tree_is_removed_and_nothing_outside(
    tmp_path_factory: pytest.TempPathFactory, tree: dict
) -> None:
    """Modes, links, pipes and clashing names do not keep a folder full, nor lead out of it."""
    outside = tmp_path_factory.mktemp("outside")
    (outside / "kept").write_text("kept")
    top = tmp_path_factory.mktemp("top")
    for name, inner in tree.items():
        grow(top / name, inner, outside)
    folder.empty(str(top))
    assert list(top.iterdir()) == []
    assert [path.name for path in outside.iterdir()] == ["kept"]


def test_paths_longer_than_the_kernel_takes_are_removed(tmp_path: Path) -> None:
    """Depth is no obstacle: nothing descends."""
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(600):
        os.mkdir("d" * 20, dir_fd=here)
        deeper = os.open("d" * 20, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)
    folder.empty(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_counting_stops_where_it_is_told_to(tmp_path: Path) -> None:
    """Neither counting nor measuring walks further than asked."""
    for number in range(50):
        (tmp_path / str(number)).write_bytes(b"x" * 5000)
    assert folder.entries(str(tmp_path), 10) == 10
    assert folder.entries(str(tmp_path), 1000) == 50
    used, count = folder.size(str(tmp_path), 1000)
    assert (used >= 50 * 5000, count) == (True, 50)
    assert folder.size(str(tmp_path), 10)[1] == 11
