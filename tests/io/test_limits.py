"""Files that unpack to gigabytes, or say so, are refused in one line, in little memory."""

from __future__ import annotations

import re
import subprocess
import sys
import zlib

import numpy as np
import pytest

from posepipe.errors import FormatError
from posepipe.io import limits
from posepipe.io.decompression import COMPRESSIONS, decompress
from posepipe.io.limits import MAX_BLOCK_BYTES
from posepipe.io.npz import read_npz, write_npz
from tests.support.paths import ROOT
from tests.support.recordings.hostile_files import HOSTILE, deflated_zeros, packed_zeros

MAX_EXTRA_MB = 700
"""A block of MAX_BLOCK_BYTES, twice: in pieces and joined; and what opening a file costs."""

PLAY = """
import logging, resource, sys
from posepipe.errors import FormatError
from posepipe.sources import open_source

def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)

left_out = []
handler = logging.Handler()
handler.emit = lambda record: left_out.append(record.getMessage())
logging.getLogger().addHandler(handler)
before = peak_mb()
try:
    with open_source(sys.argv[1]) as source:
        for frame in source:
            raise SystemExit("a frame came")
    print(int(peak_mb() - before), *left_out)
except FormatError as error:
    print(int(peak_mb() - before), error)
"""


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused_in_little_memory(tmp_path, name):
    pytest.importorskip("resource", reason="peak memory is POSIX")
    if name.endswith(".h5"):
        pytest.importorskip("h5py")
    write, wanted = HOSTILE[name]
    path = write(tmp_path / name)
    ran = subprocess.run([sys.executable, "-c", PLAY, str(path)], cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert ran.returncode == 0, ran.stderr
    (line,) = ran.stdout.splitlines()
    extra_mb, _, message = line.partition(" ")
    assert int(extra_mb) < MAX_EXTRA_MB
    assert re.search(wanted, message), message
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("size", [None, 3 << 20])
def test_a_block_of_its_declared_size_is_unpacked(compression, size):
    assert decompress(compression, packed_zeros(compression, 3), size) == bytes(3 << 20)


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("claim", [0, 1, (3 << 20) - 1, (3 << 20) + 1, MAX_BLOCK_BYTES + 1])
def test_a_block_of_another_size_is_refused(compression, claim):
    with pytest.raises(ValueError, match="a chunk or message of"):
        decompress(compression, packed_zeros(compression, 3), claim)


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_cut_or_damaged_block_is_refused(compression):
    packed = packed_zeros(compression, 3)
    for data in (packed[:-20], b"", b"no frame of any compression"):
        with pytest.raises(ValueError):
            decompress(compression, data, 3 << 20)


def test_an_unknown_compression_is_named():
    with pytest.raises(ValueError, match="compressed with 'xz'; readable are zstd, lz4, bz2 and none"):
        decompress("xz", b"", 1)


def test_zeros_of_a_test_file_are_a_zlib_stream():
    assert zlib.decompress(deflated_zeros(3_000_001)) == bytes(3_000_001)


@pytest.mark.parametrize(("megabytes", "refused"), [(60, False), (150, True)])
def test_arrays_are_read_up_to_a_ratio(tmp_path, monkeypatch, megabytes, refused):
    monkeypatch.setattr(limits, "FREE_BYTES", 1 << 20)
    noise = np.random.default_rng(1).integers(0, 256, 1 << 20, np.uint8)
    arrays = {
        "noise": noise,
        "empty": np.zeros(megabytes << 20, np.uint8),
        "none": np.zeros((0, 5)),
        "name": np.array(""),
    }
    write_npz(tmp_path / "a.npz", arrays)
    if refused:
        with pytest.raises(FormatError, match=r"a\.npz: unpacks to 151 MB, allowed are 11\d MB"):
            read_npz(tmp_path / "a.npz", "arrays")
        return
    for name, array in read_npz(tmp_path / "a.npz", "arrays").items():
        np.testing.assert_array_equal(array, arrays[name])
        assert array.dtype == arrays[name].dtype


def test_arrays_without_compression_have_any_size(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "FREE_BYTES", 0)
    write_npz(tmp_path / "a.npz", {"empty": np.zeros(5 << 20, np.uint8)}, compress=False)
    assert read_npz(tmp_path / "a.npz", "arrays")["empty"].size == 5 << 20


def test_only_the_wanted_arrays_count(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "FREE_BYTES", 1 << 20)
    write_npz(tmp_path / "a.npz", {"empty": np.zeros(50 << 20, np.uint8), "few": np.arange(3)})
    assert list(read_npz(tmp_path / "a.npz", "arrays", ["few"])) == ["few"]
