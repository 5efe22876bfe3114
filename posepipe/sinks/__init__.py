"""Sinks: where results go. `FrameSink` is the protocol; folders hold files, motion files, streams, images, masks.

To add one: a context manager with ``write``, and a line in ``files/result_formats.py``, ``motion/motion_formats.py``,
``streams/stream_formats.py`` or ``apps/options/sink_options.py``.
"""

from __future__ import annotations

from posepipe.sinks.fan_out import FanOutSink
from posepipe.sinks.files.json_lines import JsonLinesSink, ResultsHeader
from posepipe.sinks.files.results_reader import ResultsReader, read_results
from posepipe.sinks.frame_sink import FrameSink

__all__ = ["FanOutSink", "FrameSink", "JsonLinesSink", "ResultsHeader", "ResultsReader", "read_results"]
