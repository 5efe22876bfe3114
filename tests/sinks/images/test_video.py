"""Videos: number of frames, frame rate, and errors."""

from __future__ import annotations

import shutil
from dataclasses import replace

import cv2
import numpy as np
import pytest

from posepipe.body import HUMAN
from posepipe.errors import PosepipeError
from posepipe.sinks.images.video import VideoSink
from tests.support.chromium import Chromium, find_chromium
from tests.support.found_people import result, standing_m, track


@pytest.mark.parametrize(
    ("times_s", "fps"),
    [
        (np.arange(12) / 12.5, 12.5),
        (np.arange(3) / 30000 * 1001, 29.97),
        ([0, 0.1, 0.2, 0.3, 5.0, 5.1, 5.2, 5.3, 5.4], 10),  # a gap is no rate
        ([0.0], 30),
        ([2.0, 2.0, 1.0], 30),  # times that tell nothing
        (np.arange(4) * 100.0, 1),
    ],
)
def test_a_video_has_every_frame_and_their_rate(tmp_path, times_s, fps):
    with VideoSink(tmp_path / "new" / "v.mp4", HUMAN) as sink:
        for i, time_s in enumerate(times_s):
            sink.write(result(i, (track(1, standing_m()),), timestamp_s=time_s))
    video = cv2.VideoCapture(str(tmp_path / "new" / "v.mp4"))
    assert video.get(cv2.CAP_PROP_FRAME_COUNT) == len(times_s)
    assert video.get(cv2.CAP_PROP_FPS) == pytest.approx(fps, abs=0.01)


def codec_of(path):
    return int(cv2.VideoCapture(str(path)).get(cv2.CAP_PROP_FOURCC)).to_bytes(4, "little")


def test_a_video_has_a_codec_that_browsers_play(tmp_path):
    with VideoSink(tmp_path / "v.mp4", HUMAN) as sink:
        sink.write(result(0, (track(1, standing_m()),)))
    assert codec_of(tmp_path / "v.mp4") == b"VP90"
    assert (tmp_path / "v.mp4").read_bytes()[4:8] == b"ftyp"  # an MP4 container


@pytest.mark.skipif(find_chromium() is None, reason="needs chromium")
def test_a_browser_plays_a_video_to_its_end(tmp_path):
    with VideoSink(tmp_path / "v.mp4", HUMAN) as sink:
        for i in range(15):
            sink.write(result(i, (track(1, standing_m()),)))
    page = tmp_path / "page.html"
    page.write_text("<video src=v.mp4 muted autoplay></video>")
    with Chromium(page.as_uri()) as browser:
        browser.wait_for("document.querySelector('video')?.ended")
        size = browser.evaluate("(video => [video.videoWidth, video.videoHeight])(document.querySelector('video'))")
    assert size == [1600, 320]


@pytest.mark.parametrize("first", [False, True])
def test_a_video_keeps_its_width_where_colour_comes_or_goes(tmp_path, first):
    with VideoSink(tmp_path / "v.mp4", HUMAN) as sink:
        for i in range(12):
            plain = result(i, (track(1, standing_m()),))
            colour = np.full((24, 32, 3), 200, np.uint8) if (i < 3) == first else None
            sink.write(replace(plain, frame=replace(plain.frame, colour=colour)))
    video = cv2.VideoCapture(str(tmp_path / "v.mp4"))
    assert video.get(cv2.CAP_PROP_FRAME_COUNT) == 12
    assert video.get(cv2.CAP_PROP_FRAME_WIDTH) == (1920 if first else 1600)


def test_a_video_falls_back_to_a_codec_that_opencv_always_has(tmp_path, monkeypatch):
    monkeypatch.setattr("posepipe.sinks.images.video.CODECS", ("none", "mp4v"))
    with VideoSink(tmp_path / "v.mp4", HUMAN) as sink:
        sink.write(result(0, (track(1, standing_m()),)))
    assert codec_of(tmp_path / "v.mp4") == b"FMP4"


def test_a_video_without_frames_is_no_file(tmp_path):
    with VideoSink(tmp_path / "v.mp4", HUMAN):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PosepipeError, match=r"v\.mp4"), VideoSink(tmp_path / "file" / "v.mp4", HUMAN):
        pass


def test_a_video_that_cannot_be_played_is_one_line(tmp_path):
    """OpenCV does not say that the disk was full when it wrote the index."""

    class Cut:
        def release(self):
            writer.release()
            content = (tmp_path / "v.mp4").read_bytes()
            (tmp_path / "v.mp4").write_bytes(content[: len(content) // 2])

    told = r"v\.mp4: of 12 frames 0 can be played; is the disk full\?"
    with pytest.raises(PosepipeError, match=told), VideoSink(tmp_path / "v.mp4", HUMAN) as sink:  # noqa: PT012
        for i in range(12):
            sink.write(result(i))
        writer, sink._writer = sink._writer, Cut()


def test_a_full_disk_ends_a_video_before_its_end(tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)._replace(free=0)
    with pytest.raises(PosepipeError, match=r"v\.mp4: No space left"), VideoSink(tmp_path / "v.mp4", HUMAN) as sink:  # noqa: PT012
        for i in range(9):
            sink.write(result(i))
        monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
        sink.write(result(9))
