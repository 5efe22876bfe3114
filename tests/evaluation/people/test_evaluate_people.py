"""People counted on packs made for the test: one person before a wall, and a wall alone."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from apps.bench import RECORDING
from apps.cli import main
from posepipe.errors import FormatError, PosepipeError
from posepipe.evaluation.people.evaluate_people import evaluate_people
from posepipe.evaluation.people.people_frames import PeopleFrames
from posepipe.evaluation.people.people_scores import PeopleScores, PeopleTally
from posepipe.evaluation.people.person_labels import FrameLabels, PersonLabel
from posepipe.evaluation.people.person_matching import Matches
from posepipe.evaluation.people.still_camera import FLICKER, still_camera
from posepipe.pipeline import Pipeline
from posepipe.sources import open_source
from posepipe.sources.formats.npz_pack import write_npz_pack
from posepipe.sources.playback import SlicedSource
from tests.support.rooms import empty_room, frame_of
from tests.support.shipped_model import shipped_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A pack of the shipped walk, two frames with labels, and a pack of an empty room."""
    folder = tmp_path_factory.mktemp("people")
    with SlicedSource(open_source(RECORDING), end_s=0.05) as source:
        frames = list(source)
    write_npz_pack(folder / "walk.npz", frames)
    rows, columns = np.nonzero(frames[0].depth_m)
    box = [int(columns.min()), int(rows.min()), int(columns.max()), int(rows.max())]
    torso = [int(np.median(columns)), int(np.median(rows))]
    person = {"box": box, "torso": torso, "state": "stand", "visible": "full"}
    nobody = {"box": [0, 0, 4, 4], "torso": [2, 2], "state": "sit", "visible": "upper"}
    labels = [
        {"pack": "walk", "index": 0, "people": [person]},
        {"pack": "walk", "index": 1, "people": [nobody]},
    ]
    (folder / "people.jsonl").write_text("\n".join(map(json.dumps, labels)))
    write_npz_pack(folder / "room.npz", [frame_of(empty_room())] * 2)
    return folder


def score(folder, *typed):
    out = folder / "figures.json"
    assert main(["evaluate", *map(str, typed), "--json", str(out)]) == 0
    return json.loads(out.read_text())["models"]["person"]


def test_people_are_found_missed_and_false(folder, tmp_path, capsys):
    figures = score(folder, folder / "walk.npz", "--labels", folder / "people.jsonl", "--report", tmp_path / "report")
    counts = {key: figures[key] for key in ("frames", "people", "found", "missed", "false")}
    assert counts == {"frames": 2, "people": 2, "found": 1, "missed": 1, "false": 1}
    assert (figures["recall"], figures["precision"]) == (0.5, 0.5)
    assert figures["by state"] == {
        "sit": {"people": 1, "found": 0, "recall": 0.0},
        "stand": {"people": 1, "found": 1, "recall": 1.0},
    }
    assert figures["by place"]["walk"]["false people a frame"] == 0.5
    shown = capsys.readouterr()
    assert "found by visible:  full 1/1 (1.000)  upper 0/1 (0.000)" in shown.out
    assert "1 labelled people count as missed, because their torso pixel has no reading" in shown.err
    page = (tmp_path / "report" / "report.html").read_text()
    assert "walk, frame 1: 1 missed, 1 false" in page
    assert all(heading in page for heading in ("Found by state", "Found by visible", "Found by place", "Worst frames"))
    assert "https:" not in page  # it loads nothing
    assert len(re.findall('src="data:image/jpeg;base64,', page)) == 1
    assert json.loads((tmp_path / "report" / "figures.json").read_text())["models"]["person"]["found"] == 1


def test_in_an_empty_room_nobody_is_found(folder):
    figures = score(folder, folder / "room.npz", "--empty")
    assert (figures["frames"], figures["false"], figures["empty frames"]) == (2, 0, 2)
    assert figures["share of frames with a false person"] == 0.0


def test_everybody_in_an_empty_place_is_false(folder):
    figures = score(folder, "--empty", folder / "walk.npz")
    assert (figures["false"], figures["empty frames with a false person"]) == (2, 2)
    assert figures["share of frames with a false person"] == 1.0


def test_thresholds_act_as_in_run(folder, tmp_path):
    strict = tmp_path / "strict.toml"
    strict.write_text("[person_filter]\nmin_confidence = 1.0\n")
    assert score(folder, folder / "walk.npz", "--empty", "--thresholds", strict)["false"] == 0
    assert score(folder, folder / "walk.npz", "--empty", "--min-confidence", "1")["false"] == 0


def test_a_sequence_and_a_still_camera_are_tracked(folder):
    assert score(folder, folder / "walk.npz", "--empty", "--tracks")["false"] == 2
    assert score(folder, folder / "walk.npz", "--empty", "--repeat", "0.1")["false"] == 2


def test_single_frames_are_not_played(folder, capsys, tmp_path):
    with np.load(folder / "walk.npz") as pack:
        np.savez(tmp_path / "single.npz", depth_mm=pack["depth_mm"], K=pack["K"])
    assert main(["evaluate", str(tmp_path / "single.npz"), "--empty", "--tracks"]) == 1
    assert "its frames do not follow one another" in capsys.readouterr().err


def test_played_frames_without_labels_are_not_judged(folder):
    frames = PeopleFrames.labelled([folder / "walk.npz"], folder / "people.jsonl")
    only_last = PeopleFrames(frames.sources, ({1: frames.labels[0][1]},), frames.sequences)
    seen = []
    report = evaluate_people(
        Pipeline.from_model(shipped_model()), only_last, played=True, on_frame=lambda: seen.append(1)
    )
    assert (report.scores.all.frames, len(only_last), len(seen)) == (1, 1, 1)
    ((_, sequence),) = only_last.played()
    assert [labels is None for _, labels in sequence] == [True, False]


def test_sources_take_a_calibration_and_a_topic(folder, tmp_path, capsys):
    with np.load(folder / "walk.npz") as pack:
        np.savez(tmp_path / "walk.npz", depth_mm=pack["depth_mm"])
    source = tmp_path / "walk.npz"
    assert main(["evaluate", str(source), "--empty"]) == 1
    assert "--camera" in capsys.readouterr().err
    assert score(folder, source, "--empty", "--camera", "kinect-v1-320")["false"] == 2
    labels = folder / "people.jsonl"
    assert score(folder, source, "--labels", labels, "--camera", "kinect-v1-320")["found"] == 1
    assert main(["evaluate", str(folder / "walk.npz"), "--empty", "--topic", "/depth"]) == 1
    assert "topic" in capsys.readouterr().err
    assert main(["evaluate", "--suite", str(tmp_path / "suite"), "--topic", "/depth"]) == 1
    assert "--topic does not go with --suite" in capsys.readouterr().err


def test_packs_number_their_frames_with_index(folder, tmp_path):
    with np.load(folder / "walk.npz") as pack:
        np.savez(
            tmp_path / "walk.npz",
            index=np.array([70, 10]),
            **{key: pack[key][:2] for key in ("depth_mm",)},
            K=pack["K"],
        )
    (tmp_path / "people.jsonl").write_text('{"pack": "walk", "index": 10, "people": []}')
    frames = PeopleFrames.labelled([tmp_path / "walk.npz"], tmp_path / "people.jsonl")
    assert frames.labels == ({1: FrameLabels((), "walk", empty=True)},)
    (tmp_path / "people.jsonl").write_text('{"pack": "walk", "index": 1, "people": []}')
    with pytest.raises(FormatError, match=r"labels frame 1 of 'walk'; .* has no such frame"):
        PeopleFrames.labelled([tmp_path / "walk.npz"], tmp_path / "people.jsonl")


@pytest.mark.parametrize("numbers", [np.array([1, 1]), np.array([1]), np.array([0.5, 1.5])])
def test_numbers_of_frames_are_whole_and_different(folder, tmp_path, numbers):
    with np.load(folder / "walk.npz") as pack:
        np.savez(tmp_path / "walk.npz", depth_mm=pack["depth_mm"][:2], K=pack["K"], index=numbers)
    with pytest.raises(FormatError, match="index: wanted 2 different whole numbers"):
        PeopleFrames.labelled([tmp_path / "walk.npz"], folder / "people.jsonl")


def test_sources_without_labels_and_of_one_name_are_refused(folder):
    with pytest.raises(FormatError, match="has no labels of 'room'; it has walk"):
        PeopleFrames.labelled([folder / "room.npz"], folder / "people.jsonl")
    with pytest.raises(PosepipeError, match="two sources are named 'room'"):
        PeopleFrames.without_people([folder / "room.npz"] * 2)


def test_frames_and_labels_decide_the_identity(folder):
    labelled = PeopleFrames.labelled([folder / "walk.npz"], folder / "people.jsonl")
    empty, room = (PeopleFrames.without_people([folder / name]) for name in ("walk.npz", "room.npz"))
    assert len({labelled.identity, empty.identity, room.identity}) == 3
    assert empty.identity == PeopleFrames.without_people([folder / "walk.npz"]).identity


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("--labels", "l.jsonl", "--empty"), "leave out one of the two"),
        (("--empty", "--card"), "--card does not go with --empty"),
        (("--labels", "l.jsonl", "--smooth"), "--smooth does not go with --labels"),
        (("--empty", "--fill", "README.md"), "--fill applies to the suite"),
        (("--empty", "--tracks", "--repeat", "1"), "leave out one of the two"),
        (("--topic", "depth"), "--topic applies to people by boxes"),
        (("--camera", "kinect-v1", "--views"), "--camera is of single cameras"),
        (("--repeat", "1"), "--repeat applies to people by boxes"),
        (("--rooms", "room.npz"), "--rooms applies to the suite"),
    ],
)
def test_options_that_do_not_mix_are_refused(typed, message, capsys):
    assert main(["evaluate", "walk.npz", *typed]) == 1
    assert message in capsys.readouterr().err


def test_the_suite_has_sets_of_real_rooms(folder, tmp_path, capsys):
    page = tmp_path / "page.md"
    names = ("real-rooms", "real-rooms-by-state", "empty-rooms")
    page.write_text("".join(f"<!-- suite: {name} -->\n<!-- end of suite: {name} -->\n" for name in names))
    suite = ["evaluate", "--suite", str(tmp_path / "suite"), "--set", "real-rooms", "--fill", str(page)]
    people = ["--rooms", str(folder / "walk.npz"), "--labels", str(folder / "people.jsonl")]
    both = [*people, "--empty", str(folder / "room.npz")]
    assert main([*suite, *both]) == 0
    assert json.loads((tmp_path / "suite" / "figures.json").read_text())["sets"].keys() == {"real-rooms"}  # no other
    assert main([*suite, *both, "--set", "empty-rooms"]) == 0
    text = page.read_text()
    assert "| 2 | 2 | 0.500 | 1.000 | 0.000 | 0.500 | 0.500 |" in text
    assert "| sit | 1 | 0.000 |" in text
    assert "| 2 | 0.000 | 0.000 |" in text
    sets = json.loads((tmp_path / "suite" / "figures.json").read_text())["sets"]
    assert sets["empty-rooms"]["command"] == "posepipe evaluate room.npz --empty"
    assert main([*suite, "--rooms", str(folder / "walk.npz")]) == 1
    assert "--rooms SOURCE and --labels FILE.jsonl go together" in capsys.readouterr().err


def test_counts_add_up_over_frames_and_places():
    scores, person = PeopleScores(), PersonLabel((0, 0, 9, 9), (5, 5), "lie", "part")
    scores.add(FrameLabels((person, person), "a", False), Matches({0: 0}, (1,), (), (1, 2)))
    scores.add(FrameLabels((), "b"), Matches({}, (), (0,), (1,)))
    assert scores.all == PeopleTally(2, 1, 1, 3)
    assert scores.by_place == {"a": PeopleTally(1, 1, 1, 2), "b": PeopleTally(1, 0, 0, 1)}
    assert scores.by_state == {"lie": PeopleTally(0, 1, 1, 0)}
    assert (scores.all.recall, scores.all.precision, scores.all.false_per_frame) == (0.5, 0.25, 1.5)
    assert (scores.empty, scores.empty_with_false, scores.with_false, scores.ignored) == (1, 1, 2, 1)
    assert (PeopleTally().recall, PeopleTally().precision, PeopleTally().false_per_frame) == (None, None, None)


def test_a_still_camera_repeats_the_scene_with_noise_and_flicker():
    depth_m = np.full((60, 80), 2.0, np.float32)
    depth_m[20:40, 30:50] = 0
    first, *rest = still_camera(frame_of(depth_m), 2.0)
    np.testing.assert_array_equal(first.depth_m, depth_m)
    assert (len(rest), rest[-1].timestamp_s) == (60, 2.0)
    images = np.stack([frame.depth_m for frame in rest])
    assert (images[:, 20:40, 30:50] == 0).all()
    assert images[:, 5, 5].mean() == pytest.approx(2.0, abs=0.003)
    assert images[:, :18].std() == pytest.approx(0.0012 + 0.0019 * 1.6**2, rel=0.05)
    assert (images[:, 19, 30:50] == 0).mean() == pytest.approx(FLICKER, abs=0.05)
    assert (images[:, :18] > 0).all()
