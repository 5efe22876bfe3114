"""Streams over real sockets of this machine: the data that arrives, and slow or missing clients."""

from __future__ import annotations

import json
import socket
import struct
import time
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.cli import main
from posepipe.body import HUMAN
from posepipe.errors import PosepipeError
from posepipe.sinks import JsonLinesSink
from posepipe.sinks.files.json_lines import ResultRow, ResultsHeader
from posepipe.sinks.streams.osc import osc_message, osc_packets
from posepipe.sinks.streams.stream_address import SCHEMES, StreamAddress
from posepipe.sinks.streams.stream_formats import STREAM_SINKS, open_stream
from posepipe.sinks.streams.tcp_server import BACKLOG_BYTES, MAX_CLIENTS, READS_PER_LINE, _Client
from posepipe.sinks.streams.udp import MAX_DATAGRAM_BYTES, line_packets
from tests.reference.sinks.osc import read_packet
from tests.support.found_people import FLOOR, result, standing_m, track, track_of

HEADER = ResultsHeader(HUMAN.joints, "a.mcap", "person 1a2b", start_time_ns=5)
WAIT_S = 10.0


def some_results(count=3):
    return [
        result(i, tuple(track(k + 1, standing_m(k)) for k in range(i % 3)), floor=FLOOR if i % 2 else None)
        for i in range(count)
    ]


def lines_of(path, results):
    """What the same results are in a file."""
    with JsonLinesSink(path, ResultsHeader(HEADER.joints, HEADER.source, HEADER.model, start_time_ns=5)) as sink:
        for one in results:
            sink.write(one)
    return path.read_bytes().splitlines(keepends=True)


@pytest.fixture
def listener():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as there:
        there.bind(("127.0.0.1", 0))
        there.settimeout(WAIT_S)
        yield there


def address(scheme, port):
    return StreamAddress(scheme, "127.0.0.1", port)


def tcp_stream():
    return open_stream(address("tcp", 0), HEADER)


def connected(sink):
    client = socket.create_connection(sink.server.address[:2], timeout=WAIT_S)
    return client, client.makefile("rb")


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        ("udp://:9000", "127.0.0.1", 9000),
        ("tcp://0.0.0.0:5000", "0.0.0.0", 5000),
        ("osc://max.local:7400/", "max.local", 7400),
        ("udp://[::1]:9000", "::1", 9000),
        ("ros2://", "127.0.0.1", 0),
        ("ros2:///camera_depth_optical_frame", "127.0.0.1", 0),
    ],
)
def test_without_a_host_a_stream_stays_on_this_machine(url, host, port):
    parsed = StreamAddress.parse(url)
    assert (parsed.host, parsed.port) == (host, port)
    assert StreamAddress.parse(str(parsed)) == parsed


def test_every_scheme_has_a_sink():
    assert set(STREAM_SINKS) == set(SCHEMES)


@pytest.mark.parametrize(
    "url",
    ["", "udp://", "udp://:0", "udp://:70000", "http://:80", "9000", "udp://:9000/x", "tcp:", "ros2://:1", "ros2:"],
)
def test_an_invalid_address_is_wrong_usage(url, capsys):
    with pytest.raises(ValueError, match="wanted udp://HOST:PORT"):
        StreamAddress.parse(url)
    with pytest.raises(SystemExit) as stop:
        main(["run", "d", "--stream", url])
    assert stop.value.code == 2
    assert "wanted udp://HOST:PORT" in capsys.readouterr().err


def test_a_datagram_is_a_line_of_the_results_file(tmp_path, listener):
    results = some_results()
    with open_stream(address("udp", listener.getsockname()[1]), HEADER) as sink:
        for one in results:
            sink.write(one)
    assert [listener.recv(1 << 16) for _ in results] == lines_of(tmp_path / "r.jsonl", results)[1:]


def crowd(people):
    return ResultRow.of(result(4, tuple(track(k, standing_m()) for k in range(people)), floor=FLOOR))


@pytest.mark.parametrize("people", [0, 1, 40, 300])
def test_a_line_too_long_for_a_datagram_is_split_between_people(people):
    packets = line_packets(crowd(people))
    assert all(len(packet) <= MAX_DATAGRAM_BYTES for packet in packets)
    rows = [json.loads(packet) for packet in packets]
    assert {(row["frame"], row["timestamp_s"]) for row in rows} == {(4, 0.133333)}
    assert [person["id"] for row in rows for person in row["people"]] == list(range(people))
    assert (len(packets) > 1) == (people >= 40)


def test_osc_sends_all_ids_and_all_joints(listener):
    half = standing_m(1)
    half[HUMAN.joint_index("left_hand")] = np.nan
    with open_stream(address("osc", listener.getsockname()[1]), HEADER) as sink:
        sink.write(result(0))
        sink.write(result(30, (track(4, standing_m()), track(7, half, confidence=0.25))))
    packets = [read_packet(listener.recv(1 << 16)) for _ in range(4)]
    assert packets[0] == [("/posepipe/frame", [0, 0.0, 0])]
    assert packets[1] == [("/posepipe/frame", [30, 1.0, 2, 4, 7])]
    for id, packet, xyz_m, confidence in ((4, packets[2], standing_m(), 0.875), (7, packets[3], half, 0.25)):
        found = dict(packet)
        assert len(found) == len(packet) == np.isfinite(xyz_m[:, 0]).sum()
        for joint, place in zip(HUMAN.joints, xyz_m, strict=True):
            if np.isfinite(place[0]):
                values = found[f"/posepipe/person/{id}/{joint}"]
                np.testing.assert_allclose(values, [*place, confidence], atol=6e-5)


def test_a_person_s_bundle_fits_into_one_packet_of_ethernet():
    assert max(map(len, osc_packets(crowd(3)))) < 1472


@settings(deadline=None)
@given(
    address=st.text(st.characters(codec="ascii", exclude_characters="\0"), max_size=9),
    values=st.lists(
        st.one_of(st.integers(-(1 << 31), (1 << 31) - 1), st.floats(width=32, allow_nan=False)), max_size=5
    ),
)
def test_osc_messages_are_read_as_they_were_meant(address, values):
    assert read_packet(osc_message("/" + address, *values)) == [("/" + address, values)]


def test_osc_by_hand():
    wanted = b"/a/bcd\0\0,if\0\0\0\0\1" + struct.pack(">f", 0.5)
    assert osc_message("/a/bcd", 1, 0.5) == wanted
    assert osc_message("/abc") == b"/abc\0\0\0\0,\0\0\0"
    assert read_packet(osc_message("/x", (1 << 31) + 5))[0][1] == [5 - (1 << 31)]


def test_joints_whose_names_osc_forbids_are_renamed():
    odd = track_of(1, dict.fromkeys(("left paw", "tail/tip#1", "schwänzchen"), (0.0, 1.0, 2.0)))
    (_, packet) = osc_packets(ResultRow.of(result(0, (odd,))))
    parts = [address.rsplit("/person/1/", 1)[1] for address, _ in read_packet(packet)]
    assert parts == ["left_paw", "tail_tip_1", "schw_nzchen"]


def test_python_osc_reads_our_bundles():
    osc_bundle = pytest.importorskip("pythonosc.osc_bundle")
    bundle = osc_bundle.OscBundle(osc_packets(crowd(1))[1])
    messages = {message.address: message.params for message in bundle}
    np.testing.assert_allclose(messages["/posepipe/person/0/pelvis"], [0, 0.1, 2.5, 0.875], atol=1e-6)


@pytest.mark.parametrize("scheme", ["udp", "osc"])
def test_a_missing_receiver_does_not_stop_a_run(scheme):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as gone:
        gone.bind(("127.0.0.1", 0))
        port = gone.getsockname()[1]
    with open_stream(address(scheme, port), HEADER) as sink:
        for one in some_results(20):
            sink.write(one)


def test_unsent_datagrams_are_counted_and_logged_once(caplog, listener):
    with open_stream(address("udp", listener.getsockname()[1]), HEADER) as sink:
        sink._packets = lambda row: [b"x" * 70_000, b"small"]
        for one in some_results(5):
            sink.write(one)
        assert sink.dropped == 5
    assert [listener.recv(100) for _ in range(5)] == [b"small"] * 5
    assert len([record for record in caplog.records if "the run continues" in record.message]) == 1
    assert "5 datagrams could not be sent" in caplog.text


def test_a_client_gets_the_header_and_every_later_line(tmp_path):
    results = some_results(6)
    lines = lines_of(tmp_path / "r.jsonl", results)
    with tcp_stream() as sink:
        assert sink.server.address[0] == "127.0.0.1"
        sink.write(results[0])  # no client yet
        first, first_lines = connected(sink)
        for one in results[1:4]:
            sink.write(one)
        second, second_lines = connected(sink)
        for one in results[4:]:
            sink.write(one)
    assert first_lines.readlines() == [lines[0], *lines[2:]]
    assert second_lines.readlines() == [lines[0], *lines[5:]]
    for client in (first, second):
        client.close()


def test_clients_that_disconnect_do_not_affect_others(tmp_path):
    results = some_results(40)
    with tcp_stream() as sink:
        staying, lines = connected(sink)
        for number, one in enumerate(results):
            if number % 4 == 0:
                leaving, _ = connected(sink)
                reset = struct.pack("ii", 1, 0)
                leaving.setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, reset if number % 8 else struct.pack("ii", 0, 0)
                )
                leaving.close()
            sink.write(one)
    assert lines.readlines() == lines_of(tmp_path / "r.jsonl", results)
    staying.close()


def test_half_closed_and_talking_clients_receive_every_line(tmp_path):
    results = some_results(5)
    with tcp_stream() as sink:
        quiet, quiet_lines = connected(sink)
        quiet.shutdown(socket.SHUT_WR)
        loud, loud_lines = connected(sink)
        for one in results:
            loud.sendall(b"GET / HTTP/1.1\r\n\r\n" * 100)
            sink.write(one)
    wanted = lines_of(tmp_path / "r.jsonl", results)
    assert quiet_lines.readlines() == wanted
    assert loud_lines.readlines() == wanted
    quiet.close()
    loud.close()


def test_talkative_clients_cost_a_bounded_number_of_reads(monkeypatch):
    read, real = [], _Client.discard_input

    def counted(client):
        if had_input := real(client):
            read.append(client.name)
        return had_input

    monkeypatch.setattr(_Client, "discard_input", counted)
    with tcp_stream() as sink:
        clients = [connected(sink) for _ in range(12)]
        sink.write(result(0))
        for talking, _ in clients:
            talking.setblocking(False)
            with suppress(BlockingIOError):
                while True:
                    talking.send(bytes(1 << 20))
        for i in range(1, 4):
            read.clear()
            sink.write(result(i))
            assert 0 < len(read) <= READS_PER_LINE
            assert len(set(read)) == len(read), "each in its turn"
        for talking, lines in clients:
            lines.close()
            talking.close()


def test_a_slow_client_loses_whole_lines_and_delays_nobody(caplog, monkeypatch):
    monkeypatch.setattr("posepipe.sinks.streams.tcp_server.CLOSE_TIMEOUT_S", 0.0)
    lines = [json.dumps({"frame": i, "pad": "x" * 40_000}).encode() + b"\n" for i in range(8 * BACKLOG_BYTES // 40_000)]
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 14)
    with tcp_stream() as sink:
        slow.connect(sink.server.address[:2])
        for line in lines:
            sink.server.put(line)
        (client,) = sink.server._clients
        assert client.dropped > 0
        assert client._bytes <= BACKLOG_BYTES
        slow.setblocking(True)
        slow.settimeout(WAIT_S)
        received = drain(slow, sink)
    rows = [json.loads(line) for line in received.splitlines(keepends=True) if line.endswith(b"\n")]
    frames = [row["frame"] for row in rows[1:]]
    assert rows[0]["format"] == "posepipe-results"
    assert frames == sorted(set(frames))
    assert sink.server.dropped == len(lines) - len(frames)
    assert f"missed {sink.server.dropped} lines" in caplog.text
    slow.close()


def drain(client, sink):
    """Read all there is, and let the server send what waited."""
    received = b""
    until = time.monotonic() + WAIT_S
    while sink.server._clients[0].is_behind and time.monotonic() < until:
        received += client.recv(1 << 20)
        sink.server._serve(sink.server._clients[0])
    client.settimeout(0.2)
    while True:
        try:
            received += client.recv(1 << 20)
        except TimeoutError:
            return received


def test_clients_beyond_the_maximum_are_disconnected():
    with tcp_stream() as sink:
        clients = [socket.create_connection(sink.server.address[:2], timeout=WAIT_S) for _ in range(MAX_CLIENTS)]
        sink.write(result(0))
        assert len(sink.server._clients) == MAX_CLIENTS
        one_more, lines = connected(sink)
        sink.write(result(1))
        assert lines.readlines() == []
        assert len(sink.server._clients) == MAX_CLIENTS
        for client in [*clients, one_more]:
            client.close()


def test_a_port_in_use_and_an_unknown_host_are_errors(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = open_stream(address("tcp", other.getsockname()[1]), HEADER)
        with pytest.raises(PosepipeError, match="cannot listen there"), taken:
            pass

    def unknown_host(host, *rest, **options):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown_host)  # a real look-up needs a network
    for scheme in ("udp", "osc", "tcp"):
        nowhere = open_stream(StreamAddress(scheme, "stage.local", 9000), HEADER)
        with pytest.raises(PosepipeError, match="no known host"), nowhere:
            pass


def test_listening_to_other_machines_is_logged(caplog):
    caplog.set_level("INFO")
    with open_stream(StreamAddress("tcp", "0.0.0.0", 0), HEADER):
        pass
    assert "other machines" in caplog.text
    caplog.clear()
    with tcp_stream():
        pass
    assert not caplog.text
