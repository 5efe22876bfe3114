"""The sink for each kind of stream, chosen by the scheme of its URL. A new kind is one line in `STREAM_SINKS`."""

from __future__ import annotations

from collections.abc import Callable

from posepipe.body import HUMAN, BodyDefinition
from posepipe.sinks.files.json_lines import ResultsHeader
from posepipe.sinks.streams.foxglove import FoxgloveSink
from posepipe.sinks.streams.osc import osc_packets
from posepipe.sinks.streams.ros2 import Ros2Sink
from posepipe.sinks.streams.stream_address import StreamAddress
from posepipe.sinks.streams.tcp import TcpSink
from posepipe.sinks.streams.udp import DatagramSink, line_packets

StreamSink = TcpSink | DatagramSink | FoxgloveSink | Ros2Sink

STREAM_SINKS: dict[str, Callable[[StreamAddress, ResultsHeader, BodyDefinition], StreamSink]] = {
    "tcp": lambda address, header, body: TcpSink(address, header),
    "udp": lambda address, header, body: DatagramSink(address, line_packets),
    "osc": lambda address, header, body: DatagramSink(address, osc_packets),
    "foxglove": lambda address, header, body: FoxgloveSink(address, body, header.start_time_ns),
    "ros2": lambda address, header, body: Ros2Sink(address, body, header.start_time_ns),
}
"""Scheme -> function that makes the sink; the schemes of `StreamAddress`."""


def open_stream(address: StreamAddress, header: ResultsHeader, body: BodyDefinition = HUMAN) -> StreamSink:
    """Make the sink for an address; it connects or listens when it is entered. ``body`` has the bones to draw."""
    return STREAM_SINKS[address.scheme](address, header, body)
