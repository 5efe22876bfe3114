"""Arrays of files are row-major, as kernels want them, and their texts are texts."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from posepipe.errors import FormatError
from posepipe.io.npz import read_npz


def test_arrays_are_row_major(tmp_path):
    stored = {
        "columns": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "rows": np.arange(6.0).reshape(3, 2),
        "number": np.array(5),
    }
    np.savez(tmp_path / "a.npz", **stored)
    arrays = read_npz(tmp_path / "a.npz", "arrays")
    for name, array in stored.items():
        assert arrays[name].flags.c_contiguous
        np.testing.assert_array_equal(arrays[name], array)
        assert (arrays[name].shape, arrays[name].dtype) == (array.shape, array.dtype)


@pytest.mark.parametrize("order", "<>")
def test_characters_beyond_unicode_are_refused(tmp_path, order):
    names = np.array([["arm", "leg"]], f"{order}U3")
    np.savez(tmp_path / "good.npz", names=names, none=np.zeros(3, "U0"))
    assert read_npz(tmp_path / "good.npz", "names")["names"].tolist() == [["arm", "leg"]]
    names.view(f"{order}u4")[0, 2] = sys.maxunicode + 1
    np.savez(tmp_path / "bad.npz", names=names)
    with pytest.raises(FormatError, match="'names' holds characters beyond Unicode"):
        read_npz(tmp_path / "bad.npz", "names")
