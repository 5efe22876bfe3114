"""The sink for each format of results files, chosen by the suffix. A new format is one line in `RESULT_SINKS`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from posepipe.sinks.files.csv_file import CsvSink
from posepipe.sinks.files.json_lines import JsonLinesSink, ResultsHeader


def _csv(path: Path, header: ResultsHeader) -> CsvSink:
    return CsvSink(path, header.joints, header.fitted)


RESULT_SINKS: dict[str, Callable[[Path, ResultsHeader], JsonLinesSink | CsvSink]] = {
    ".jsonl": JsonLinesSink,
    ".csv": _csv,
    "": JsonLinesSink,  # /dev/stdout, a named pipe
}
"""Suffix -> function that makes the sink. Each sink writes frame by frame."""


def check_suffix(path: Path) -> Path:
    """Return the path; raises ValueError if no sink writes files with its suffix."""
    if str(path) == "-":
        raise ValueError("-: write /dev/stdout for standard output")
    if path.suffix.lower() not in RESULT_SINKS:
        raise ValueError(f"{path}: wanted a name that ends in {' or '.join(filter(None, RESULT_SINKS))}")
    return path


def open_result_sink(path: str | Path, header: ResultsHeader) -> JsonLinesSink | CsvSink:
    """Make the sink for a results file. Raises ValueError for an unknown suffix."""
    path = check_suffix(Path(path))
    return RESULT_SINKS[path.suffix.lower()](path, header)
