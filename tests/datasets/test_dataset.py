"""Datasets: labelled recordings in order, and a manifest that is replaced atomically."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from posepipe.body import HUMAN, BodyDefinition
from posepipe.camera import Extrinsics, Intrinsics
from posepipe.datasets.dataset import Dataset, RecordingEntry, open_datasets, recording_name, write_manifest
from posepipe.datasets.frame_sequence import FrameSequence, SequenceRows
from posepipe.errors import FormatError
from posepipe.frames import DepthFrame, LabelledFrame
from posepipe.recording import RecordingWriter

CAMERAS = ((Intrinsics(30.0, 30.0, 7.5, 5.5), (12, 16)), (Intrinsics(50.0, 50.0, 9.5, 9.5), (20, 20)))
FRAMES = (3, 2)
RECIPE = {"seed": 7, "sensor": "ideal"}


def labelled_frame(index: int, intrinsics: Intrinsics, shape: tuple[int, int]) -> LabelledFrame:
    depth_m = np.full(shape, 1 + index, np.float32)
    joints_m = np.full((1, len(HUMAN.joints), 3), index, np.float32)
    labels = np.ones(shape, np.uint8)
    depth = DepthFrame(depth_m, intrinsics, index / 30, index)
    return LabelledFrame(depth, labels, labels, joints_m, joints_m[..., 0] > 0)


@pytest.fixture
def folder(tmp_path) -> Path:
    """Two recordings of two cameras, three and two frames."""
    entries, index = [], 0
    for number, ((intrinsics, shape), frames) in enumerate(zip(CAMERAS, FRAMES, strict=True)):
        path = tmp_path / recording_name(number)
        with RecordingWriter(path, intrinsics, *shape, body=HUMAN) as writer:
            for _ in range(frames):
                writer.write(labelled_frame(index, intrinsics, shape))
                index += 1
        entries.append(RecordingEntry.describe(path))
    write_manifest(tmp_path, HUMAN, RECIPE, entries, "abc123")
    return tmp_path


def numbers(frames) -> list[int]:
    """Index of each frame, checked against the depth painted in it."""
    found = []
    for frame in frames:
        assert frame.depth.depth_m[0, 0] == pytest.approx(1 + frame.depth.index)
        found.append(frame.depth.index)
    return found


def test_a_written_dataset_is_read_back(folder):
    with Dataset.open(folder) as dataset:
        assert (dataset.body, dataset.recipe, dataset.source_revision, len(dataset)) == (HUMAN, RECIPE, "abc123", 5)
        assert [entry.frames for entry in dataset.recordings] == list(FRAMES)
        assert numbers(dataset) == [0, 1, 2, 3, 4]
        for entry in dataset.recordings:
            assert entry.sha256 == hashlib.sha256((folder / entry.file).read_bytes()).hexdigest()
    assert len(Dataset.open(folder / "dataset.json")) == 5


def test_frames_can_be_stepped_and_indexed(folder):
    with Dataset.open(folder) as dataset:
        assert numbers(dataset.frames(1, None, 2)) == [1, 3]
        assert numbers(dataset.frames(4, 0, -3)) == [4, 1]
        assert numbers([dataset[-1], dataset[0], dataset[3]]) == [4, 0, 3]
        for index in (5, -6):
            with pytest.raises(IndexError):
                dataset[index]


def test_a_slice_is_a_view_that_reads_on_demand(folder):
    with Dataset.open(folder) as dataset:
        view = dataset[1:-1]
        (folder / recording_name(1)).rename(folder / "away")
        assert numbers([view[0], view[1]]) == [1, 2]  # of the first recording: the second is not looked at
        (folder / "away").rename(folder / recording_name(1))
        assert (len(view), numbers(view), numbers(view[::-1])) == (3, [1, 2, 3], [3, 2, 1])
        assert (view.body, view.recipes, numbers(dataset[9:])) == (HUMAN, [RECIPE], [])


@pytest.mark.parametrize(
    ("count", "expected"), [(9, [0, 1, 2, 3, 4]), (5, [0, 1, 2, 3, 4]), (4, [0, 2, 4]), (2, [0, 3]), (1, [0])]
)
def test_at_most_some_frames_are_evenly_spaced(folder, count, expected):
    with Dataset.open(folder) as dataset:
        assert numbers(FrameSequence([dataset]).at_most(count)) == expected
        assert len(FrameSequence([dataset])[:0].at_most(count)) == 0


def test_recordings_may_differ_in_camera(folder):
    with Dataset.open(folder) as dataset:
        assert [(f.depth.intrinsics, f.depth.depth_m.shape) for f in (dataset[2], dataset[3])] == list(CAMERAS)


def test_a_closed_dataset_opens_again_on_demand(folder):
    dataset = Dataset.open(folder)
    assert numbers([dataset[4]]) == [4]
    dataset.close()
    assert numbers([dataset[4]]) == [4]
    dataset.close()


def test_a_folder_without_manifest_is_an_error(tmp_path):
    with pytest.raises(FormatError, match=r"no dataset.json"):
        Dataset.open(tmp_path)


@pytest.mark.parametrize("name", ["absent", "absent.npz", "dataset.json"])
def test_a_path_where_nothing_is_says_so(tmp_path, name):
    with pytest.raises(FormatError, match=rf"{name}: no such file or folder"):
        Dataset.open(tmp_path / name)


def test_a_missing_recording_is_named(folder):
    (folder / recording_name(1)).unlink()
    with pytest.raises(FormatError, match=r"lacks 1 of 2 recordings, frames-00001.mcap"):
        Dataset.open(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "wanted format"),
        ({"version": 2}, "version 2"),
        ({"frames": 6}, "6, but the recordings have 5"),
        ({"recordings": None}, "damaged manifest"),
        ({"recordings": [{"file": "../a.mcap", "frames": 5}]}, "file name inside"),
        ({"recordings": [{"file": "a.mcap", "frames": "5"}]}, "positive number"),
        ({"body": {}}, "damaged manifest"),
        ({"body": []}, "damaged manifest"),
        ({"recipe": 3}, "damaged manifest"),
        ({"recordings": [{"file": "a.mcap", "frames": 5, "scene": 3}]}, "scene must be a name"),
    ],
)
def test_a_wrong_manifest_is_an_error(folder, change, message):
    path = folder / "dataset.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(FormatError, match=message):
        Dataset.open(folder)


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe", b"[" * 100_000])
def test_a_manifest_other_than_a_json_object_is_an_error(folder, content):
    (folder / "dataset.json").write_bytes(content)
    with pytest.raises(FormatError, match=r"dataset.json"):
        Dataset.open(folder)


def test_a_cut_recording_is_an_error_on_reading_its_frames(folder):
    path = folder / recording_name(0)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with Dataset.open(folder) as dataset, pytest.raises(FormatError, match=r"wanted 3 labelled frames"):
        dataset[0]


def test_a_recording_of_another_body_is_an_error(folder):
    hand = BodyDefinition("hand", ("palm",), ("wrist",), {"wrist": ("palm",)})
    write_manifest(folder, hand, RECIPE, [RecordingEntry.describe(folder / recording_name(0))])
    with Dataset.open(folder) as dataset, pytest.raises(FormatError, match="of body 'human'"):
        dataset[0]


def test_a_manifest_is_replaced_atomically(folder):
    write_manifest(folder, HUMAN, RECIPE, [])
    assert sorted(p.name for p in folder.iterdir()) == ["dataset.json", recording_name(0), recording_name(1)]
    assert len(Dataset.open(folder)) == 0


def test_one_labelled_recording_is_a_dataset():
    from apps.bench import RECORDING

    with Dataset.open(RECORDING) as dataset:
        assert len(dataset) == 60
        assert dataset[7].joints_m.shape == (1, 20, 3)
        assert dataset.content.startswith("cut_out.mcap 60 ")


def list_as(folder, scenes):
    """Rewrite the manifest with the scenes of the recordings."""
    entries = [RecordingEntry.describe(folder / recording_name(k), scene) for k, scene in enumerate(scenes)]
    write_manifest(folder, HUMAN, RECIPE, entries)


def test_sequences_are_distinguished_from_single_frames(folder):
    with Dataset.open(folder) as dataset:
        assert dataset.sequences == ()
    assert "scene" not in (folder / "dataset.json").read_text()  # older readers still work
    list_as(folder, [None, "crossing"])
    with Dataset.open(folder) as dataset:
        assert dataset.sequences == (SequenceRows("frames-00001", range(3, 5), "crossing"),)


def test_a_single_recording_is_a_sequence_by_default(folder, tmp_path_factory):
    def sequences(path):
        with Dataset.open(path) as dataset:
            return dataset.sequences

    path = folder / recording_name(0)
    assert sequences(path) == ()
    list_as(folder, ["crossing", None])
    assert sequences(path) == (SequenceRows("frames-00000", range(3), "crossing"),)
    moved = tmp_path_factory.mktemp("elsewhere") / "mine.mcap"
    moved.write_bytes(path.read_bytes())
    assert sequences(moved) == (SequenceRows("mine", range(3)),)
    (folder / "dataset.json").write_text("{}")
    assert len(Dataset.open(path)) == 3  # a damaged manifest beside it does not matter
    with pytest.raises(FormatError, match="wanted format"):
        sequences(path)


def test_a_recording_without_ground_truth_is_not_a_dataset(tmp_path):
    with RecordingWriter(tmp_path / "a.mcap", Intrinsics(20.0, 20.0, 7.5, 5.5), 12, 16) as writer:
        writer.write(DepthFrame(np.ones((12, 16), np.float32), writer.intrinsics))
    with pytest.raises(FormatError, match="a recording without truth"):
        Dataset.open(tmp_path / "a.mcap")


def test_the_pose_of_a_camera_is_kept(folder):
    pose = Extrinsics(np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]), np.array([0.5, -2.0, 1.2]))
    with Dataset.open(folder) as dataset:
        entries = [RecordingEntry.describe(folder / entry.file, "", pose) for entry in dataset.recordings]
    write_manifest(folder, HUMAN, RECIPE, entries)
    with Dataset.open(folder) as dataset:
        poses = [rows.extrinsics for rows in dataset.sequences]
    assert [each.matrix.tolist() for each in poses] == [pose.matrix.tolist()] * 2
    manifest = json.loads((folder / "dataset.json").read_text())
    manifest["recordings"][0]["T_world_camera"] = [[1, 2], [3, 4]]
    (folder / "dataset.json").write_text(json.dumps(manifest))
    with pytest.raises(FormatError, match="four rows of four numbers"):
        Dataset.open(folder)


def test_a_dataset_that_is_not_finished_is_warned_of(folder, recwarn):
    entries = Dataset.open(folder).recordings
    for wanted in (5, 6):
        write_manifest(folder, HUMAN, RECIPE | {"frames": wanted}, entries)
        assert len(open_datasets([folder])) == 5
    assert [str(each.message).partition(": ")[2] for each in recwarn] == [
        "has 5 of the 6 frames of its recipe, and these are used; let `posepipe synth` finish for all"
    ]
