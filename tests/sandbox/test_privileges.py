"""Nothing that runs a program, and no zygote, keeps a right that it could misuse."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hosts import started
from rights import of_programs_and_zygotes


@pytest.mark.parametrize("assume", [(), ("no namespaces",), ("landlock 4",), ("no cgroups",)])
async def test_programs_and_their_zygotes_have_no_rights(tmp_path: Path, assume: tuple[str, ...]) -> None:
    """No capability of any kind, none to be had by executing something, and never root or in a group."""
    async with started(tmp_path, *assume, slots=1) as sandbox:
        found = await of_programs_and_zygotes(sandbox)
    assert len(found) >= 3
    for one in found:
        assert {*one["CapInh"], *one["CapPrm"], *one["CapEff"], *one["CapAmb"]} == {"0" * 16}
        assert one["NoNewPrivs"] == ["1"]
        assert {*one["Uid"], *one["Gid"]}.isdisjoint({"0"})
        assert os.geteuid() != 0 or one["Groups"] == []
