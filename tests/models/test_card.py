"""Model cards: blocks that describe the model file; prose around them is kept."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from posepipe.errors import FormatError
from posepipe.joints.joint_parameters import FUSION_TERMS, JointParameters, Refinement, n_inputs
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.votes.leaf_votes import LeafVotes
from posepipe.learn.tree import LEAF, Tree
from posepipe.models.card import write_card
from posepipe.models.pose_model import PoseModel
from tests.support.toy_person import TOY

RECIPE = {"frames": 12, "seed": 3, "sensor": "ideal", "only_clips": [], "distance_m": [1.0, 4.0], "pose_bank": "c282"}
HISTORY = {
    "training": {"trees": 1, "seed": 0, "growth": {"max_depth": 2, "min_gain": 0.005}},
    "training_frames": 12000,
    "recipes": [RECIPE],
    "frames_identity": "a02f3beee35360c5",
    "frames_revisions": ["0.1.0 861d3d22ac9c", "0.1.0 861d3d22ac9c"],
    "source_revision": "0.1.0 11bd1a4d6dda",
    "command": "posepipe train trees --joints joints --out toy.npz",
    "seconds": 2041.7,
    "joint_frames": 500,
    "joint_recipes": [RECIPE | {"frames": 500}],
    "joint_frames_identity": "238dcbd2dd3f7a10",
    "joint_source_revision": "0.1.0 303b7eda2a50",
    "joint_command": "posepipe train joints --forest toy.npz --out toy.npz",
    "joint_seconds": 71.0,
}
TITLE = "joints: 500 frames, content 238dcbd2dd3f7a10"
FIGURES = {
    TITLE: {
        "headline": {"mean part accuracy": None, "joint mAP at 10 cm": 0.8194},
        "joints": {
            "head": {"ap": 0.966, "within_10cm": 0.97, "hidden_within_15cm": 0.4},
            "torso": {"ap": 0.84, "within_10cm": 0.87, "hidden_within_15cm": None},
            "left_hand": {"ap": None, "within_10cm": None, "hidden_within_15cm": None},
        },
    }
}
PROSE = "# Toy\n\nA person of five blocks: *not* for people.\n"


@pytest.fixture
def model(tmp_path):
    """A tree of three nodes, with all its history, in a file."""
    return save(tmp_path / "toy.npz", HISTORY)


def save(path, metadata):
    leaves = np.full((2, 6), 1 / 6, np.float32)
    nodes = np.array([0, LEAF, LEAF], np.int32), np.zeros(3, np.float32), np.array([1, 0, 1], np.int32)
    offsets = np.zeros((1, 2, 2), np.float32)
    PoseModel.of(DepthForest([Tree(*nodes, leaves)], [offsets], TOY)).with_metadata(**metadata).save(path)
    return path


def block(text, name):
    (found,) = re.findall(f"<!-- {name} -->\n(.*)<!-- end of {name} -->", text, re.DOTALL)
    return found


def test_a_new_card_says_what_the_model_was_made_from(model):
    assert write_card(model) == model.with_suffix(".md")
    text = model.with_suffix(".md").read_text()
    assert text.startswith("# toy\n")
    assert "what it is not for" in text
    made = block(text, "made")
    assert "1 tree of up to 1 levels, 3 nodes, 2 leaves; body toy: 5 parts, 4 joints; 0.0 MB." in made
    assert "| frames | 12,000 | 500 |" in made
    assert "| their content | a02f3beee35360c5 | 238dcbd2dd3f7a10 |" in made
    assert "| they were made by posepipe | 0.1.0 861d3d22ac9c |  |" in made
    assert "| learned by posepipe | 0.1.0 11bd1a4d6dda | 0.1.0 303b7eda2a50 |" in made
    assert "| which took | 34 min | 71 s |" in made
    assert f"```sh\n{HISTORY['command']}\n{HISTORY['joint_command']}\n```" in made
    assert made.count("pose bank c282") == 2
    assert block(text, "figures").strip() == ""


def test_given_figures_go_into_the_card_alone(model):
    before = model.read_bytes()
    text = write_card(model, FIGURES).read_text()
    assert "### joints: 500 frames, content 238dcbd2dd3f7a10" in block(text, "figures")
    assert "| joint mAP at 10 cm | 0.819 |" in block(text, "figures")
    assert model.read_bytes() == before


def test_a_card_says_what_joints_follow_from(tmp_path):
    path = save(tmp_path / "toy.npz", HISTORY)
    assert "Joints follow from surfaces." in write_card(path).read_text()
    stored, sizes = PoseModel.load(path), (n_inputs(TOY, "both"), 3, 4 * len(TOY.joints))
    network = Refinement(
        np.zeros(sizes[0], np.float32),
        np.ones(sizes[0], np.float32),
        tuple(np.zeros(shape, np.float32) for shape in pairwise(sizes)),
        tuple(np.zeros(n, np.float32) for n in sizes[1:]),
        np.zeros((len(TOY.joints), 2), np.float32),
        np.zeros((2, len(TOY.joints), FUSION_TERMS), np.float32),
    )
    parameters = replace(JointParameters.default(TOY, "both"), refinement=network)
    no_votes = np.zeros((1, len(TOY.joints), 1), np.uint8)
    votes = LeafVotes.from_dense(np.zeros(2, np.int32), np.zeros((*no_votes.shape, 3), np.int8), no_votes)
    replace(stored, joint_parameters=parameters, votes=(votes,)).save(path)
    weights = 3 * (sizes[0] + sizes[2])
    assert f"surfaces and votes, corrected by a network of {weights:,} weights." in write_card(path).read_text()


def test_recipes_and_parameters_of_a_card_are_valid_toml(model):
    made = block(write_card(model).read_text(), "made")
    training, trees, joints = (tomllib.loads(code) for code in re.findall("```toml\n(.*?)```", made, re.DOTALL))
    assert training == HISTORY["training"]
    fields = {name: RECIPE[name] for name in ("frames", "seed", "sensor", "distance_m")}
    assert trees == fields
    assert joints == fields | {"frames": 500}


def test_a_recipe_of_trees_and_joint_parameters_is_written_once(tmp_path):
    card = write_card(save(tmp_path / "toy.npz", HISTORY | {"joint_recipes": [RECIPE]}))
    assert card.read_text().count("sensor =") == 1


def test_a_recipe_of_a_card_is_one_that_synth_reads(tmp_path):
    told = {"furniture_bank": 64 * "6", "backgrounds": 64 * "b", "creature": {"name": "dog", "bones": []}}
    made = block(write_card(save(tmp_path / "toy.npz", HISTORY | {"recipes": [RECIPE | told]})).read_text(), "made")
    _, of_trees, of_joints = (tomllib.loads(code) for code in re.findall("```toml\n(.*?)```", made, re.DOTALL))
    assert of_trees.keys() == of_joints.keys()
    title = f"trees, pose bank c282, furniture bank {16 * '6'}, backgrounds {16 * 'b'}, creature dog:"
    assert title in made


def test_frames_without_a_recipe_are_given_none(tmp_path):
    made = block(write_card(save(tmp_path / "toy.npz", HISTORY | {"joint_recipes": [{}]})).read_text(), "made")
    assert made.count("Recipe of the frames") == 1


def test_further_recipes_of_a_stage_are_written_by_what_differs(tmp_path):
    scene = {"people": [1, 2], "room_share": 1.0}
    first = {"frames": 100, "seed": 1, "sensor": "ideal", "scene": scene}
    second = first | {"seed": 2, "scene": scene | {"room_share": 0.5}}
    other = {"frames": 100, "seed": 1, "sensor": "d435"}
    history = {"segmentation": {"recipes": [first, second]}, "person_filter": {"recipes": [first, second, other]}}
    made = block(write_card(save(tmp_path / "toy.npz", history)).read_text(), "made")
    codes = [tomllib.loads(code) for code in re.findall("```toml\n(.*?)```", made, re.DOTALL)]
    assert codes == [first, {"seed": 2, "scene": {"room_share": 0.5}}, other]
    both = "Recipe of the frames for the segmentation and the person filter"
    assert [line for line in made.splitlines() if line.startswith("Recipe")] == [
        f"{both}:",
        f"{both}, as the first of these but for:",
        "Recipe of the frames for the person filter:",
    ]


def test_a_resumed_training_says_since_when_its_time_counts(tmp_path):
    card = write_card(save(tmp_path / "toy.npz", HISTORY | {"resumed": True}))
    assert "| which took | 34 min since it was resumed | 71 s |" in card.read_text()


def test_a_model_without_history_has_a_card_too(tmp_path):
    text = write_card(save(tmp_path / "old.npz", {})).read_text()
    assert "3 nodes" in text
    assert "| trees |" not in text


def test_figures_of_the_header_are_tables_of_the_card(tmp_path):
    text = write_card(save(tmp_path / "toy.npz", HISTORY | {"figures": FIGURES})).read_text()
    figures = block(text, "figures")
    assert figures.count("### joints: 500 frames, content 238dcbd2dd3f7a10\n") == 1
    assert "| joint mAP at 10 cm | 0.819 |" in figures
    assert "| head | 0.97 | 0.97 | 0.40 |" in figures
    assert "| torso | 0.84 | 0.87 | |" in figures
    assert "left_hand" not in figures
    assert "mean part accuracy" not in figures


def test_every_column_of_a_table_has_a_heading_and_rows(tmp_path):
    of_parts = {
        "headline": {"mean part accuracy": 0.7},
        "joints": {"head": dict.fromkeys(FIGURES[TITLE]["joints"]["head"])},
    }
    figures = FIGURES | {"parts alone": of_parts}
    lines = write_card(save(tmp_path / "toy.npz", HISTORY | {"figures": figures})).read_text().splitlines()
    headings = [k for k, line in enumerate(lines[:-1]) if lines[k + 1].startswith("|---")]
    assert [lines[k] for k in headings] == [
        "| origin | trees | joint parameters |",
        "| figure | value |",
        "| joint | AP at 10 cm | visible within 10 cm | hidden within 15 cm |",
        "| figure | value |",
    ]
    assert all(lines[k + 2].startswith("| ") for k in headings)


def test_prose_is_kept_and_older_figures_are_not(tmp_path):
    model = save(tmp_path / "toy.npz", HISTORY | {"figures": FIGURES})
    card = write_card(model)
    text = card.read_text().replace("*Write here", "Written: *here").replace("## Figures", "Prose.\n\n## Figures")
    card.write_text(f"{text}\nThe end.\n")
    save(model, HISTORY | {"training_frames": 24000})
    write_card(model)
    again = card.read_text()
    for prose in ("Written: *here", "Prose.\n\n## Figures", "\nThe end.\n"):
        assert prose in again
    assert "24,000" in block(again, "made")
    assert "12,000" not in again
    assert block(again, "figures").strip() == ""


def test_writing_a_card_again_changes_nothing(tmp_path):
    model = save(tmp_path / "toy.npz", HISTORY | {"figures": FIGURES})
    once = write_card(model).read_text()
    assert write_card(model).read_text() == once


def test_a_card_without_blocks_gets_them(model):
    model.with_suffix(".md").write_text(PROSE)
    text = write_card(model).read_text()
    assert text.startswith(PROSE)
    assert "3 nodes" in block(text, "made")
    assert block(text, "figures") == ""


@pytest.mark.parametrize(
    "content",
    [b"<!-- made -->\n", b"<!-- end of made -->\n", b"<!-- end of figures -->\n<!-- figures -->\n", b"\xff\xfe"],
)
def test_a_damaged_card_is_refused_and_left_alone(model, content):
    card = model.with_suffix(".md")
    card.write_bytes(content)
    with pytest.raises(FormatError, match=r"toy\.md: wanted"):
        write_card(model)
    assert card.read_bytes() == content


def test_a_card_tells_what_was_changed_after_training(tmp_path):
    model = save(tmp_path / "toy.npz", HISTORY | {"trees_kept": 1, "background_weight": 0.6})
    told = "Changed after training: trees kept: 1, weight of class 0 in the leaves: 0.6."
    assert told in block(write_card(model).read_text(), "made")


def test_an_accuracy_of_all_trees_is_not_that_of_some(tmp_path):
    of_all = {"part_accuracy": 0.5, "of_trees": [0.4, 0.4], "frames": 10}
    for kept, shown in (({}, True), ({"trees_kept": 1}, False), ({"pruned": 0.5}, False)):
        model = save(tmp_path / "toy.npz", HISTORY | {"out_of_bag": of_all} | kept)
        assert ("Out-of-bag part accuracy 0.500" in block(write_card(model).read_text(), "made")) == shown
