"""Compressed depth is decoded exactly, and its claimed sizes are checked."""

from __future__ import annotations

import struct
from contextlib import suppress

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from posepipe.recording.codecs.compressed_depth import decode_compressed_depth, decode_png, is_compressed_depth
from posepipe.recording.codecs.rvl import decode_rvl
from tests.reference.recording import rvl as naive
from tests.support.recordings import ros_writers as ros

GREY = ros.depth_mm(1)


def message(payload: bytes, format: str = "16UC1; compressedDepth png") -> tuple[str, np.ndarray]:
    """Format and data of a compressed image."""
    return format, np.frombuffer(payload, np.uint8)


@pytest.mark.parametrize(
    ("format", "payload"),
    [
        ("16UC1; compressedDepth png", ros.compressed_depth(ros.png(GREY))),
        ("16UC1; compressedDepth", ros.compressed_depth(ros.png(GREY))),
        ("mono16; compressedDepth png", ros.compressed_depth(ros.png(GREY))),
        ("16UC1; compressedDepth rvl", ros.compressed_depth(ros.rvl(GREY))),
        ("16UC1;compressedDepth rvl", ros.compressed_depth(ros.rvl(GREY))),
        ("png", ros.png(GREY)),
        ("16UC1; png compressed ", ros.png(GREY)),
    ],
)
def test_millimetres_are_decoded_exactly(format, payload):
    image = message(payload, format)
    assert is_compressed_depth(*image)
    got = decode_compressed_depth(*image)
    np.testing.assert_array_equal(got, GREY)
    assert got.dtype == np.uint16


@pytest.mark.parametrize("codec", ["png", "rvl"])
def test_metres_are_decoded_within_one_quantisation_step(codec):
    depth_m = np.linspace(0.3, 9.0, 192, dtype=np.float32).reshape(ros.SHAPE)
    a, b = 100.0 * 101.0, 1.0 - 100.0 * 101.0 / 10.0  # the transport's own, for 10 m and its default of 100
    steps = (a / depth_m + b).astype(np.uint16)
    steps[0, 0] = 0
    content = ros.png(steps) if codec == "png" else ros.rvl(steps)
    got = decode_compressed_depth(*message(ros.compressed_depth(content, a, b), f"32FC1; compressedDepth {codec}"))
    assert got.dtype == np.float32
    assert got[0, 0] == 0
    np.testing.assert_allclose(got[1:], depth_m[1:], rtol=0, atol=1e-6 + (depth_m[1:] ** 2 / a).max())
    assert (got[1:] >= depth_m[1:] - 1e-5).all()  # the transport rounds down, and depth grows


def test_rvl_worked_out_by_hand():
    # pixels 0 0 5 4 0 0 0 70: runs 2, 2 | 5 -> 10 = 0b1_010, 4 -> -1 -> 1 | runs 3, 1 | 70 -> +66 -> 132 = 0b10_000_100
    nibbles = [2, 2, 0xA, 1, 1, 3, 1, 0xC, 8, 2]
    words = [0x22A1131C, 0x82000000]
    assert [int(digit, 16) for word in words for digit in f"{word:08x}"][: len(nibbles)] == nibbles
    stream = struct.pack("<2I", *words)
    assert decode_rvl(stream, 2, 4).tolist() == [[0, 0, 5, 4], [0, 0, 0, 70]]
    assert ros.rvl(np.array([[0, 0, 5, 4], [0, 0, 0, 70]], np.uint16))[8:] == stream


@settings(deadline=None, max_examples=50)
@given(
    hnp.arrays(np.uint16, st.tuples(st.integers(1, 9), st.integers(1, 9)), elements=st.integers(0, 65535) | st.just(0))
)
def test_rvl_is_lossless(grey):
    stream = ros.rvl(grey)[8:]
    np.testing.assert_array_equal(decode_rvl(stream, *grey.shape), grey)
    np.testing.assert_array_equal(naive.decode_rvl(stream, *grey.shape), grey)


def test_a_cut_or_random_rvl_stream_is_refused_or_an_image():
    stream = ros.rvl(GREY)[8:]
    for end in range(0, len(stream) - 4, 4):
        with pytest.raises(ValueError, match="RVL"):
            decode_rvl(stream[:end], *GREY.shape)
    rng = np.random.default_rng(0)
    for size in range(200):
        with suppress(ValueError):
            assert decode_rvl(rng.bytes(size), *GREY.shape).shape == GREY.shape


def test_a_png_other_than_16_bit_grey_is_refused():
    for picture in (np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3), np.uint16), np.zeros((4, 4, 3), np.uint8)):
        assert not is_compressed_depth(*message(ros.png(picture), "png"))
        with pytest.raises(ValueError, match="16-bit grey"):
            decode_png(ros.png(picture))
    jpeg = cv2.imencode(".jpg", np.zeros((4, 4), np.uint8))[1].tobytes()
    assert not is_compressed_depth(*message(jpeg, "rgb8; jpeg compressed bgr8"))
    assert not is_compressed_depth(*message(b"", ""))


def test_a_damaged_png_is_refused():
    data = ros.png(GREY)
    for end in (0, 7, 25, 40, len(data) - 1):
        with pytest.raises(ValueError, match="PNG"):
            decode_png(data[:end])
    hole = bytearray(data)
    hole[60:90] = bytes(30)
    with pytest.raises(ValueError, match="PNG"):
        decode_png(bytes(hole[:45]) + hole[-12:])


@pytest.mark.parametrize(("width", "height"), [(2**31, 2**31), (65536, 65536), (2**32 - 1, 1), (0, 5)])
def test_oversized_images_are_refused_before_allocation(width, height):
    lying_png = ros.png(GREY)[:16] + struct.pack(">II", width, height) + ros.png(GREY)[24:]
    lying_rvl = struct.pack("<II", width, height) + ros.rvl(GREY)[8:]
    for payload, codec in ((lying_png, "png"), (lying_rvl, "rvl")):
        with pytest.raises(ValueError, match="pixels; readable"):
            decode_compressed_depth(*message(ros.compressed_depth(payload), f"16UC1; compressedDepth {codec}"))


@pytest.mark.parametrize(
    ("format", "payload", "problem"),
    [
        ("16UC1; compressedDepth png", b"short", "5 bytes"),
        ("16UC1; compressedDepth rvl", ros.compressed_depth(b"short"), "17 bytes"),
        ("bgr8; compressedDepth png", ros.compressed_depth(ros.png(GREY)), "encoding 'bgr8'"),
        ("32FC1; compressedDepth png", ros.compressed_depth(ros.png(GREY), float("nan"), 1.0), "quantisation"),
        ("32FC1; compressedDepth png", ros.compressed_depth(ros.png(GREY), 0.0, 0.0), "quantisation"),
    ],
)
def test_images_without_depth_are_an_error(format, payload, problem):
    with pytest.raises(ValueError, match=problem):
        decode_compressed_depth(*message(payload, format))
