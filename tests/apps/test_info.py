"""``posepipe info`` of recordings: which streams there are, which is read, and where the calibration comes from."""

from __future__ import annotations

import json
import logging

import cv2
import numpy as np
import pytest

from apps.bench import RECORDING
from apps.cli import main
from posepipe.body import HUMAN
from posepipe.camera.camera_file import CameraFile, find_camera, write_camera_file
from posepipe.datasets.dataset import MANIFEST_NAME, write_manifest
from posepipe.frames import DepthFrame
from posepipe.sinks.files.json_lines import ResultsHeader
from posepipe.sources.formats.npz_pack import write_npz_pack
from posepipe.sources.formats.png_folder import write_png_folder
from tests.support.recordings import ros_writers as ros
from tests.support.recordings.depth_senders import stream_bytes
from tests.support.recordings.kinect_dumps import write_dump
from tests.support.rendered_people import recipe_of, render_people

LEFT, BARE = "/left/depth/image_rect", "/bare/depth/image"


def info(capsys, *arguments) -> str:
    assert main(["info", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def frames() -> list[DepthFrame]:
    return [DepthFrame(ros.depth_mm(i), ros.CAMERA, i / 30, i) for i in range(3)]


def several(path):
    """Three streams: two with a calibration, one without."""
    messages = ros.depth_recording(4)
    for topic in (LEFT, BARE):
        messages += [ros.image(ros.depth_mm(i), ros.START_NS + i, topic) for i in range(4)]
    messages += [ros.camera_info(topic="/left/depth/camera_info")]
    return ros.write_bag(path, messages) if path.suffix == ".bag" else ros.write_mcap(path, messages)


@pytest.mark.parametrize("name", ["several.bag", "several.mcap"])
def test_every_depth_stream_is_listed_with_its_lens_or_the_lack(tmp_path, capsys, name):
    path = several(tmp_path / name)
    head, *blocks = info(capsys, path).split("\n\n")
    assert head == "3 depth streams; choose one with --topic"
    listed = {block.split("\n")[0]: block for block in blocks}
    assert set(listed) == {f"--topic {topic}" for topic in (ros.DEPTH, LEFT, BARE)}
    assert "4 depth frames" in listed[f"--topic {ros.DEPTH}"]
    assert f"; from {ros.INFO}" in listed[f"--topic {ros.DEPTH}"]
    assert "; from /left/depth/camera_info" in listed[f"--topic {LEFT}"]
    assert "no camera_info beside /bare/depth/image; give --camera" in listed[f"--topic {BARE}"]


def test_topic_and_camera_choose_as_they_do_for_run(tmp_path, capsys):
    path = several(tmp_path / "several.bag")
    write_camera_file(tmp_path / "mine.json", CameraFile(ros.SHAPE[1], ros.SHAPE[0], ros.CAMERA, 0.001, 30.0))
    printed = info(capsys, path, "--topic", BARE, "--camera", tmp_path / "mine.json")
    assert "4 depth frames" in printed
    assert f"; from {tmp_path / 'mine.json'}" in printed
    assert f"read is --topic {BARE}" in printed


def test_the_only_stream_is_named_beside_the_other_pictures(tmp_path, capsys):
    printed = info(capsys, ros.write_bag(tmp_path / "a.bag", ros.depth_recording(4)))
    assert f"read is --topic {ros.DEPTH} (sensor_msgs/Image, 4 messages)" in printed
    assert "other pictures: /camera/color/image_raw (sensor_msgs/Image, 4 messages)" in printed


def test_lens_distortion_that_was_undone_is_printed(tmp_path, capsys):
    messages = [ros.camera_info(d=(0.1, 0, 0, 0, 0)), ros.image(ros.depth_mm(0))]
    assert f"from {ros.INFO}, undistorted (plumb_bob)" in info(capsys, ros.write_bag(tmp_path / "a.bag", messages))


def test_a_lens_that_is_a_preset_s_is_named(capsys):
    printed = info(capsys, RECORDING)
    assert (
        "fx 285.60, fy 285.60, cx 159.50, cy 119.50; from /depth/camera_info, that of preset kinect-v1-320" in printed
    )


def test_the_origin_of_the_lens_is_printed_for_every_source(tmp_path, capsys, caplog):
    write_png_folder(tmp_path / "frames", frames())
    assert f"; from {tmp_path / 'frames' / 'camera.json'}" in info(capsys, tmp_path / "frames")
    write_npz_pack(tmp_path / "pack.npz", frames())
    assert "; from K of the pack" in info(capsys, tmp_path / "pack.npz")
    write_dump(tmp_path / "dump", np.full((2, 480, 640), 600, np.uint16))
    with caplog.at_level(logging.INFO):
        assert "; from preset kinect-v1\n" in info(capsys, tmp_path / "dump")
    write_png_folder(tmp_path / "tum", [DepthFrame(np.zeros((480, 640), np.uint16), ros.CAMERA)])
    (tmp_path / "tum" / "camera.json").unlink()
    assert "; from the default calibration" in info(capsys, tmp_path / "tum")


def test_the_unit_of_grey_levels_is_printed(tmp_path, capsys):
    tum, pngs = tmp_path / "tum", tmp_path / "pngs"
    for folder in (tum, pngs):
        write_png_folder(
            folder, [DepthFrame(np.full((480, 640), 2000, np.uint16), find_camera("kinect-v1").intrinsics)]
        )
    (pngs / "depth.txt").unlink()
    assert "a grey level is 1 mm\n" in info(capsys, tum)
    for folder in (tum, pngs):
        (folder / "camera.json").unlink()
    assert "a grey level is 0.2 mm, that of the TUM RGB-D benchmark\n" in info(capsys, tum)
    assert "a grey level is 1 mm, by default\n" in info(capsys, pngs, "--camera", "kinect-v1")


@pytest.mark.parametrize("count", [1, 2, 5])
def test_depth_of_another_unit_is_warned_of(tmp_path, capsys, caplog, count):
    """TUM's 5,000 levels a metre, taken for millimetres."""
    write_camera_file(tmp_path / "camera.json", CameraFile(16, 12, ros.CAMERA, 0.001, 30.0))
    for k in range(count):
        cv2.imwrite(str(tmp_path / f"{k}.png"), np.full(ros.SHAPE, 5 * 2500, np.uint16))
    assert "0% of the first frame have a usable reading" in info(capsys, tmp_path)
    assert "its unit (depth_unit_m) seems too large" in caplog.text


def test_no_duration_is_negative(tmp_path, capsys):
    write_npz_pack(tmp_path / "two.npz", [DepthFrame(np.ones((12, 16)), ros.CAMERA, time_s) for time_s in (3, 4, 0, 1)])
    assert "4 depth frames in 4.00 s, 1.0 a second" in info(capsys, tmp_path / "two.npz")


def test_a_live_source_is_called_so(tmp_path, capsys):
    (tmp_path / "sent.bin").write_bytes(stream_bytes(2))
    printed = info(capsys, f"camera:pipe:{tmp_path / 'sent.bin'}")
    assert printed.startswith("live: frames as they come\n32 x 24 pixels")
    assert "; from the camera" in printed


def test_a_missing_calibration_is_named_with_an_alternative(tmp_path, capsys):
    write_png_folder(tmp_path / "frames", frames())
    (tmp_path / "frames" / "depth.txt").unlink()
    (tmp_path / "frames" / "camera.json").unlink()
    assert main(["info", str(tmp_path / "frames")]) == 1
    assert "camera.json: missing; wanted a JSON object" in (said := capsys.readouterr().err)
    assert "or --camera PRESET|FILE" in said


def test_a_dataset_of_sequences_lists_their_number_and_scenes(tmp_path, capsys):
    render_people(tmp_path, recipe_of(frames=9, poses="all", sequence_frames=3, noise=False))
    listed = "dataset of 9 labelled frames in 3 sequences of 3 frames (1 standing, 1 crossing, 1 walking), body human\n"
    assert info(capsys, tmp_path).startswith(listed)
    manifest = json.loads((tmp_path / MANIFEST_NAME).read_text())
    for row in manifest["recordings"]:
        del row["scene"]  # as it was before scenes were listed
    (tmp_path / MANIFEST_NAME).write_text(json.dumps(manifest))
    assert info(capsys, tmp_path).startswith("dataset of 9 labelled frames in 3 sequences of 3 frames, body human\n")


def test_datasets_of_single_frames_have_recordings(tmp_path, capsys):
    render_people(tmp_path / "single", recipe_of(frames=1, poses="all", noise=False))
    assert info(capsys, tmp_path / "single").startswith("dataset of 1 labelled frame in 1 recording, body human\n")
    write_manifest(tmp_path, HUMAN, {"sequence_frames": 60}, [])
    assert info(capsys, tmp_path).startswith("dataset of 0 labelled frames in 0 recordings, body human\n")


def test_a_recipe_is_told_by_what_is_not_the_default(tmp_path, capsys):
    recipe = recipe_of(frames=9, seed=3, lying_share=0.5, distance_m=(1.0, 2.0)).to_dict()
    write_manifest(tmp_path, HUMAN, {**recipe, "pose_bank": "0123"}, [])
    told = info(capsys, tmp_path)
    assert json.loads(told[told.index("{") :]) == {
        "frames": 9,
        "seed": 3,
        "sensor": "kinect-v1-320",
        "noise": True,
        "sequence_frames": 0,
        "pose": {"lying_share": 0.5},
        "camera": {"distance_m": [1.0, 2.0]},
        "pose_bank": "0123",
    }
    assert "distance_m" in next(line for line in told.splitlines() if '"camera"' in line)


def test_the_history_of_a_model_fits_a_few_pages(capsys):
    told = info(capsys, "person")
    assert len(told.splitlines()) < 120
    assert '"recipes"' not in told
    assert "person.md" in told
    assert json.loads(told[told.index("{") :])["facing"]["frames"] == 184_000


def test_results_are_known_by_content_and_a_cut_is_told(tmp_path, capsys):
    header = ResultsHeader(("head",), "a.mcap", "person").as_line()
    lines = [f'{{"frame": {k}, "timestamp_s": {k / 30:.6f}, "people": []}}\n' for k in range(3)]
    (tmp_path / "results").write_text("".join([header, *lines]))
    assert main(["info", str(tmp_path / "results")]) == 0
    said = capsys.readouterr()
    assert "results of 3 frames, 0 with people" in said.out
    assert said.err == ""
    (tmp_path / "results.jsonl").write_text("".join([header, *lines])[:-5])
    assert main(["info", str(tmp_path / "results.jsonl")]) == 0
    said = capsys.readouterr()
    assert "results of 2 frames" in said.out
    assert "the last line was cut and dropped" in said.err


def test_a_recording_has_no_forest_to_draw(tmp_path, capsys):
    assert main(["info", str(RECORDING), "--draw", str(tmp_path / "pictures")]) == 1
    assert "--draw draws the forest of a model" in capsys.readouterr().err
    assert main(["info", "nothing", "--draw", str(tmp_path / "pictures")]) == 1
    assert "no such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("person --topic /depth", "person is a model; --topic applies to depth frames only"),
        ("results.jsonl --camera kinect-v2", "results.jsonl are results; --camera applies to depth frames only"),
        ("person --levels 2", "--on and --levels say what is drawn; add --draw DIR"),
        ("person --on walk.mcap", "--on and --levels say what is drawn; add --draw DIR"),
    ],
)
def test_options_that_would_do_nothing_are_refused(tmp_path, monkeypatch, capsys, words, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results.jsonl").write_text(ResultsHeader(("head",), "a.mcap", "person").as_line())
    assert main(["info", *words.split()]) == 1
    assert says in capsys.readouterr().err
