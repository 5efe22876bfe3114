"""A growing file has one writer, and its name belongs to that one."""

from __future__ import annotations

import sys

import pytest

from posepipe.errors import PosepipeError
from posepipe.io.growing_file import GrowingFile


@pytest.mark.skipif(sys.platform == "win32", reason="files are not locked on Windows")
@pytest.mark.parametrize("older", [False, True])
def test_a_file_that_another_program_writes_is_left_alone(tmp_path, older):
    path = tmp_path / "a.mcap"
    if older:
        path.write_bytes(b"older")
    first = GrowingFile(path)
    for part in (b"one ", b"two"):  # before the first has its name, and after
        with pytest.raises(PosepipeError, match=r"a\.mcap(\.posepipe-partial)?: another program is writing this file"):
            GrowingFile(path)
        first.write(part)
        first.flush()
    first.close()
    assert path.read_bytes() == b"one two"
    assert [file.name for file in tmp_path.iterdir()] == ["a.mcap"]


def test_a_whole_file_takes_its_name_at_the_end(tmp_path):
    path = tmp_path / "a.mcap"
    path.write_bytes(b"older")
    for keep in (False, True):
        file = GrowingFile(path, whole=True)
        for part in (b"one ", b"two"):
            file.write(part)
            file.flush()
            assert path.read_bytes() == b"older"
        file.close() if keep else file.discard()
        assert path.read_bytes() == (b"one two" if keep else b"older")
        assert [each.name for each in tmp_path.iterdir()] == ["a.mcap"]


def test_what_a_killed_program_left_is_written_over(tmp_path):
    (tmp_path / "a.mcap.posepipe-partial").write_bytes(b"a longer part that never got its name")
    file = GrowingFile(tmp_path / "a.mcap")
    file.write(b"part")
    file.flush()
    file.close()
    assert (tmp_path / "a.mcap").read_bytes() == b"part"
