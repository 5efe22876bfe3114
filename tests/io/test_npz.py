"""Arrays of files come row-major, whatever their order in the file: another order would recompile every kernel."""

from __future__ import annotations

import numpy as np

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
