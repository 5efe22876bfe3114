"""The sink for each kind of stream, chosen by the scheme of its URL. A new kind is one line in `STREAM_SINKS`."""

from __future__ import annotations

from collections.abc import Callable

from posepipe.sinks.files.json_lines import ResultsHeader
from posepipe.sinks.streams.osc import osc_packets
from posepipe.sinks.streams.stream_address import StreamAddress
from posepipe.sinks.streams.tcp import TcpSink
from posepipe.sinks.streams.udp import DatagramSink, line_packets

STREAM_SINKS: dict[str, Callable[[StreamAddress, ResultsHeader], TcpSink | DatagramSink]] = {
    "tcp": TcpSink,
    "udp": lambda address, header: DatagramSink(address, line_packets),
    "osc": lambda address, header: DatagramSink(address, osc_packets),
}
"""Scheme -> function that makes the sink; the schemes of `StreamAddress`."""


def open_stream(address: StreamAddress, header: ResultsHeader) -> TcpSink | DatagramSink:
    """Make the sink for an address; it connects or listens when it is entered."""
    return STREAM_SINKS[address.scheme](address, header)
