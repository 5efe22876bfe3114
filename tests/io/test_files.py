"""Files are replaced atomically, and disk errors are one line."""

from __future__ import annotations

import os
import sys
import time

import pytest

from posepipe.errors import FormatError, PosepipeError
from posepipe.io.files import (
    LEFT_BEHIND_S,
    check_writable,
    open_regular,
    read_json_object,
    read_regular,
    replace_file,
    replacing,
)


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


def test_two_writers_at_once_make_no_mixed_file(tmp_path):
    file = tmp_path / "a.txt"
    with replacing(file) as first:
        first.write(b"first, and longer")
        with replacing(file) as second:
            second.write(b"second")
        assert file.read_bytes() == b"second"
        first.write(b" to the end")
    assert file.read_bytes() == b"first, and longer to the end"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_what_killed_writers_left_is_removed_later(tmp_path):
    old, new = (tmp_path / f"{name}.0123abcd.posepipe-partial" for name in "bc")
    strange = [tmp_path / name for name in ("b.20261128.partial", "b.mkv.0badcafe.partial", "b.posepipe-partial")]
    for path in (old, new, *strange):
        path.write_bytes(b"half")
    for path in (old, *strange):
        os.utime(path, (0, time.time() - LEFT_BEHIND_S - 1))
    replace_file(tmp_path / "a.txt", b"text")
    assert set(tmp_path.iterdir()) == {tmp_path / "a.txt", new, *strange}


def test_folders_that_killed_writers_left_are_removed_later(tmp_path):
    old, new = (tmp_path / f"{name}.0123abcd.posepipe-partial" for name in "bc")
    for folder in (old, new):
        folder.mkdir()
        (folder / "000000.png").write_bytes(b"half")
    os.utime(old, (0, time.time() - LEFT_BEHIND_S - 1))
    replace_file(tmp_path / "a.txt", b"text")
    assert set(tmp_path.iterdir()) == {tmp_path / "a.txt", new}


def test_a_folder_in_place_of_the_file_is_one_line(tmp_path):
    (tmp_path / "a.txt").mkdir()
    with pytest.raises(PosepipeError, match=r"a\.txt: "):
        replace_file(tmp_path / "a.txt", b"text")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_file_in_the_place_of_the_folder_is_one_line(tmp_path):
    (tmp_path / "folder").write_bytes(b"")
    with pytest.raises(PosepipeError, match=r"a\.txt: wanted a folder at .*folder, a file is there"):
        replace_file(tmp_path / "folder" / "a.txt", b"text")


def test_a_place_is_tried_and_nothing_is_left(tmp_path):
    check_writable(tmp_path / "new" / "deep" / "a.txt")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "a.txt").mkdir()
    with pytest.raises(PosepipeError, match=r"a\.txt: is a folder"):
        check_writable(tmp_path / "a.txt")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(PosepipeError, match=r"b\.txt: "):
        check_writable(tmp_path / "file" / "b.txt")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "file"]


@pytest.mark.parametrize(
    ("content", "problem"), [(b"", "is not JSON"), (b"[1]", "got list"), (b"[" * 100_000, "is not JSON")]
)
def test_anything_but_a_json_object_is_one_line(tmp_path, content, problem):
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(FormatError, match=problem):
        read_json_object(tmp_path / "a.json")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX")
def test_a_named_pipe_is_refused_and_never_waits(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for name in ("pipe", "link"):
        with pytest.raises(FormatError, match=rf"{name}: wanted a regular file, got a named pipe"):
            open_regular(tmp_path / name)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="a device of Linux and macOS")
def test_a_link_to_a_device_is_refused(tmp_path):
    (tmp_path / "a.json").symlink_to("/dev/zero")
    with pytest.raises(FormatError, match="wanted a regular file, got a device"):
        read_json_object(tmp_path / "a.json")


def test_a_folder_and_a_name_with_nul_are_refused(tmp_path):
    with pytest.raises(FormatError, match="got a folder"):
        open_regular(tmp_path)
    with pytest.raises(FormatError, match=r"a\\x00b.*no file can have this name"):
        open_regular(tmp_path / "a\0b")


def test_a_link_to_a_file_is_followed_and_size_is_bounded(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert read_regular(tmp_path / "link", max_bytes=5) == b"12345"
    with pytest.raises(FormatError, match="at most 4 bytes, got 5"):
        read_regular(tmp_path / "link", max_bytes=4)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
def test_a_link_is_followed_and_rights_are_kept(tmp_path):
    (tmp_path / "store").mkdir()
    target, link = tmp_path / "store" / "a.txt", tmp_path / "link.txt"
    target.write_bytes(b"older")
    target.chmod(0o600)
    link.symlink_to(target)
    replace_file(link, b"newer")
    assert link.is_symlink()
    assert target.read_bytes() == b"newer"
    assert target.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX")
def test_a_named_pipe_is_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(PosepipeError, match=r"pipe: wanted the name of a file to write, got a named pipe"):
        replace_file(pipe, b"text")
    assert pipe.is_fifo()


def test_files_of_others_beside_it_stay(tmp_path):
    other = tmp_path / "a.txt.partial"
    other.write_bytes(b"of a download")
    check_writable(tmp_path / "a.txt")
    replace_file(tmp_path / "a.txt", b"text")
    assert other.read_bytes() == b"of a download"
