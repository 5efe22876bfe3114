"""Files whose format follows from their name: it is a text or a path, as of every sink."""

from __future__ import annotations

from pathlib import Path

import pytest

from posepipe.body import HUMAN
from posepipe.sinks.files.json_lines import ResultsHeader
from posepipe.sinks.files.result_formats import open_result_sink
from posepipe.sinks.motion.motion_formats import MOTION_SUFFIXES, open_motion_sink
from tests.support.found_people import result, standing_m, track


def open_sink(path: str | Path):
    if Path(path).suffix in MOTION_SUFFIXES:
        return open_motion_sink(path, HUMAN)
    return open_result_sink(path, ResultsHeader(HUMAN.joints, "walk", "person"))


@pytest.mark.parametrize("suffix", [*MOTION_SUFFIXES, ".jsonl", ".csv"])
def test_a_name_is_a_text_or_a_path(tmp_path, suffix):
    files = tmp_path / "one" / f"a{suffix}", tmp_path / "other" / f"a{suffix}"
    for name in (str(files[0]), files[1]):
        with open_sink(name) as sink:
            sink.write(result(0, (track(1, standing_m()),)))
    assert files[0].read_bytes() == files[1].read_bytes()
