"""What a worker process says of an error reaches its parent."""

from __future__ import annotations

import pytest

from posepipe.errors import FormatError
from posepipe.processes.worker_pool import WorkerPool


class OfTwoError(Exception):
    """An error that cannot be made of its text, as some of other packages."""

    def __init__(self, wanted: int, got: int) -> None:
        super().__init__(f"wanted {wanted}, got {got}")


class OwnReaderError(Exception):
    """An error that holds what no other process can have."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.reader = lambda: None


ERRORS = {"ours": FormatError("a.mcap", "no"), "of two": OfTwoError(1, 2), "of a reader": OwnReaderError("damaged")}


def fail(job, on_progress):
    raise ERRORS[job]


@pytest.mark.parametrize(
    ("job", "kind", "text"),
    [
        ("ours", FormatError, "a.mcap: no"),
        ("of two", RuntimeError, "OfTwoError: wanted 1, got 2"),
        ("of a reader", RuntimeError, "OwnReaderError: damaged"),
    ],
)
def test_an_error_of_a_job_is_told_with_its_place(job, kind, text):
    with WorkerPool(fail, 1) as pool, pytest.raises(kind) as told:
        list(pool.run([job], lambda count: None))
    assert str(told.value) == text
    assert "in fail" in told.value.__notes__[0]
