"""TOML of users: hostile files are one line that names the file, in no time."""

from __future__ import annotations

import time

import pytest

from posepipe.errors import FormatError, PosepipeError
from posepipe.io.toml_file import MAX_BYTES, MAX_DEPTH, read_toml

HOSTILE = {
    "arrays 2,000 deep": ("x = " + "[" * 2000 + "]" * 2000, "nested at most 16 deep"),
    "tables 2,000 deep": ("x = " + "{a=" * 2000 + "1" + "}" * 2000, "nested at most 16 deep"),
    "arrays 100 deep": ("x = " + "[" * 100 + "]" * 100, "x: wanted TOML, nested at most 16 deep"),
    "a key of 400,000 names": (".".join("a" * 400_000) + " = 1", "a key of more than 16 names"),
    "a quoted key of 400,000 names": ('""."a".' * 60_000 + "a = 1", "a key of more than 16 names"),
    "an integer of 400 digits": ("frames = " + "9" * 400, "frames: wanted an integer of at most 64 bits"),
    "one inside an array": ("[a]\nb = [" + "9" * 400 + "]", "a: wanted an integer of at most 64 bits"),
    "an integer of 5,000 digits": ("frames = " + "9" * 5000, "wanted TOML, cannot read it: .*digits"),
    "no TOML": ("not toml", "wanted TOML, cannot read it: Expected '='"),
    "too long": ("#" * (MAX_BYTES + 1), "at most 1048576 bytes"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_toml_is_one_line_in_no_time(tmp_path, name):
    text, says = HOSTILE[name]
    path = tmp_path / "mine.toml"
    path.write_text(text)
    start_s = time.process_time()
    with pytest.raises(FormatError, match=rf"mine\.toml: .*{says}") as caught:
        read_toml(path)
    assert time.process_time() - start_s < 5
    assert len(str(caught.value)) < 1000


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "mine.toml").write_bytes(bytes(range(256)))
    with pytest.raises(FormatError, match="wanted TOML, cannot read it"):
        read_toml(tmp_path / "mine.toml")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(PosepipeError, match=r"none\.toml: No such file"):
        read_toml(tmp_path / "none.toml")


def test_plausible_files_read_as_they_are(tmp_path):
    path = tmp_path / "mine.toml"
    names = ".".join("abcdefgh")
    path.write_text(f'{names} = 1\nx = [[[9223372036854775807]]]\ns = "{". " * 40}"  # a.b.c.d\n[[t]]\na = -2.5e3\n')
    data = read_toml(path)
    assert (data["x"], data["t"], data["a"]["b"]["c"]["d"]["e"]["f"]["g"]["h"]) == (
        [[[2**63 - 1]]],
        [{"a": -2500.0}],
        1,
    )
    path.write_text("x = " + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1))
    assert list(read_toml(path)) == ["x"]
