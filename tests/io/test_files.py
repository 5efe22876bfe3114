"""Files are replaced atomically, and disk errors are one line."""

from __future__ import annotations

import pytest

from posepipe.errors import FormatError, PosepipeError
from posepipe.io.files import read_json_object, replace_file


def test_a_missing_folder_is_created(tmp_path):
    replace_file(tmp_path / "new" / "deep" / "a.txt", b"text")
    assert (tmp_path / "new" / "deep" / "a.txt").read_bytes() == b"text"


def test_a_full_disk_leaves_the_older_file_and_nothing_else(tmp_path):
    resource = pytest.importorskip("resource", reason="limits of file sizes are POSIX")
    replace_file(tmp_path / "a.txt", b"older")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))  # a write beyond it fails as on a full disk
    try:
        with pytest.raises(PosepipeError, match=r"a\.txt: File too large"):
            replace_file(tmp_path / "a.txt", bytes(5000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_bytes() == b"older"


def test_a_folder_in_place_of_the_file_is_one_line(tmp_path):
    (tmp_path / "a.txt").mkdir()
    with pytest.raises(PosepipeError, match=r"a\.txt: "):
        replace_file(tmp_path / "a.txt", b"text")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_file_in_the_place_of_the_folder_is_one_line(tmp_path):
    (tmp_path / "folder").write_bytes(b"")
    with pytest.raises(PosepipeError, match=r"a\.txt: wanted a folder at .*folder, a file is there"):
        replace_file(tmp_path / "folder" / "a.txt", b"text")


@pytest.mark.parametrize(
    ("content", "problem"), [(b"", "is not JSON"), (b"[1]", "got list"), (b"[" * 100_000, "is not JSON")]
)
def test_anything_but_a_json_object_is_one_line(tmp_path, content, problem):
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(FormatError, match=problem):
        read_json_object(tmp_path / "a.json")
