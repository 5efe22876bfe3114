"""The model file: it comes back, and whatever is wrong with one is a FormatError that names it."""

from __future__ import annotations

import io
import json
import os
import pickle
import tempfile
import zipfile
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from apps.cli import main
from posepipe.errors import FormatError, PosepipeError
from posepipe.io import limits
from posepipe.joints.joint_parameters import FUSION_TERMS, JointParameters, Refinement, n_inputs
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.forest_file import quantise_leaves
from posepipe.learn.depth.votes.leaf_votes import LeafVotes
from posepipe.learn.tree import LEAF, Tree
from posepipe.models.model_file import VERSION, is_model_file
from posepipe.models.pose_model import PoseModel
from posepipe.segmentation.person_segmentation import SEGMENTS
from tests.support import random_inputs
from tests.support.leaf_votes import dense
from tests.support.toy_person import TOY

JOINT_ARRAYS = [name for name in JointParameters.__dataclass_fields__ if name not in ("method", "refinement")]
QUANTISATION = 1 / 255  #: "no class is off by more than 1 in 255"


@cache
def small_forest() -> DepthForest:
    rng = np.random.default_rng(1)
    trees = [random_inputs.tree(rng, 4, 6, TOY.n_classes) for _ in range(2)]
    return DepthForest(trees, [random_inputs.offset_pairs(rng, 6) for _ in trees], TOY)


def small_model() -> PoseModel:
    return PoseModel.of(small_forest()).with_metadata(name="small")


@pytest.fixture
def path(tmp_path):
    small_model().save(tmp_path / "small.npz")
    return tmp_path / "small.npz"


def arrays_of(path) -> dict[str, np.ndarray]:
    with np.load(path) as data:
        return {name: data[name] for name in data.files}


def header_of(arrays) -> dict:
    return json.loads(arrays["header"].tobytes())


def refuse(path) -> None:
    """Loading ends in a FormatError that names the file, and in nothing else."""
    with pytest.raises(FormatError) as caught:
        PoseModel.load(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value).strip()


def refuse_with(path, **changes) -> None:
    """Change arrays of a sound file (None takes one out) and see it refused."""
    arrays = arrays_of(path) | changes
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    refuse(path)


def refuse_header(path, **changes) -> None:
    """Change entries of the header (None takes one out) and see the file refused."""
    header = header_of(arrays_of(path)) | changes
    header = {name: value for name, value in header.items() if value is not None}
    refuse_with(path, header=np.frombuffer(json.dumps(header).encode(), np.uint8))


# what comes back


def test_trees_and_feature_tables_come_back(path):
    loaded = PoseModel.load(path).forest
    for tree, again, table, table_again in zip(
        small_forest().trees, loaded.trees, small_forest().offsets, loaded.offsets, strict=True
    ):
        inner = tree.feature != LEAF
        np.testing.assert_array_equal(again.feature, tree.feature)
        np.testing.assert_array_equal(again.first_child, tree.first_child)
        np.testing.assert_array_equal(again.threshold[inner], tree.threshold[inner])
        np.testing.assert_array_equal(table_again, table)


def test_the_segmentation_comes_back(path):
    assert PoseModel.load(path).segmentation is None
    rng = np.random.default_rng(5)
    tree, table = random_inputs.tree(rng, 3, 4, SEGMENTS.n_classes), random_inputs.offset_pairs(rng, 4)
    replace(small_model(), segmentation=DepthForest([tree], [table], SEGMENTS)).save(path)
    assert header_of(arrays_of(path))["sections"]["segmentation"] == {"version": 2}
    loaded = PoseModel.load(path).segmentation
    assert loaded is not None
    assert loaded.body == SEGMENTS
    np.testing.assert_array_equal(loaded.trees[0].feature, tree.feature)
    np.testing.assert_array_equal(loaded.offsets[0], table)


def test_a_segmentation_of_body_parts_is_refused():
    with pytest.raises(ValueError, match="person, surroundings"):
        replace(small_model(), segmentation=small_forest())


def test_joint_parameters_come_back(tmp_path):
    rng = np.random.default_rng(2)
    default = JointParameters.default(TOY, "both")
    drawn: dict = {name: rng.uniform(0.01, 1, getattr(default, name).shape).astype(np.float32) for name in JOINT_ARRAYS}
    drawn["covariance_m2"] = random_inputs.covariances(rng, drawn["covariance_m2"].shape[-1]).astype(np.float32)
    parameters = JointParameters(**drawn, method="both")
    PoseModel(small_forest(), parameters, drawn_votes_of(small_forest())).save(tmp_path / "model.npz")
    loaded = PoseModel.load(tmp_path / "model.npz")
    for name, value in drawn.items():
        np.testing.assert_array_equal(getattr(loaded.joint_parameters, name), value)
    assert loaded.joint_parameters.method == "both"


def drawn_refinement(units: int = 6) -> Refinement:
    rng = np.random.default_rng(4)
    sizes = (n_inputs(TOY, "parts"), units, 4 * len(TOY.joints))
    return Refinement(
        rng.normal(0, 1, sizes[0]).astype(np.float32),
        rng.uniform(0.1, 1, sizes[0]).astype(np.float32),
        tuple(rng.normal(0, 1, shape).astype(np.float16).astype(np.float32) for shape in pairwise(sizes)),
        tuple(rng.normal(0, 1, n).astype(np.float32) for n in sizes[1:]),
        rng.normal(0, 1, (len(TOY.joints), 2)).astype(np.float32),
        rng.normal(0, 1, (2, len(TOY.joints), FUSION_TERMS)).astype(np.float32),
    )


def refining_model() -> PoseModel:
    return PoseModel(small_forest(), replace(JointParameters.default(TOY), refinement=drawn_refinement()))


def test_a_network_that_refines_joints_comes_back(tmp_path):
    refining_model().save(tmp_path / "model.npz")
    loaded, own = PoseModel.load(tmp_path / "model.npz").joint_parameters.refinement, drawn_refinement()
    assert loaded is not None
    for name in ("input_mean", "input_deviation", "calibration", "fusion_weights"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(own, name))
    for one, other in zip((*loaded.weights, *loaded.biases), (*own.weights, *own.biases), strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == np.float32


@pytest.mark.parametrize(
    "changes",
    [
        {"refinement/deviation": None},
        {"refinement/calibration": None},
        {"refinement/fusion_weights": np.zeros((2, 3), np.float32)},
        {"refinement/bias_1": None},
        {"refinement/mean": np.zeros(3, np.float32)},
        {"refinement/deviation": np.zeros(n_inputs(TOY, "parts"), np.float32)},
        {"refinement/weight_0": np.zeros((n_inputs(TOY, "parts"), 5), np.float16)},
        {"refinement/weight_1": np.full((6, 4 * len(TOY.joints)), np.nan, np.float16)},
        {"refinement/weight_1": None, "refinement/bias_1": None},
        {"refinement/weight_0": None, "refinement/weight_1": None},
        {"refinement/weight_0": np.zeros(7, np.float16)},
    ],
)
def test_a_network_whose_arrays_do_not_fit_is_refused(tmp_path, changes):
    refining_model().save(tmp_path / "model.npz")
    refuse_with(tmp_path / "model.npz", **changes)


def drawn_votes(tree: Tree) -> LeafVotes:
    rng = np.random.default_rng(tree.n_leaves)
    return LeafVotes.from_dense(
        rng.integers(0, 3, tree.n_leaves, np.int32),
        rng.integers(-100, 100, (3, len(TOY.joints), 2, 3), np.int8),
        rng.integers(0, 255, (3, len(TOY.joints), 2), np.uint8),
    )


def drawn_votes_of(forest: DepthForest) -> tuple[LeafVotes, ...]:
    return tuple(drawn_votes(tree) for tree in forest.trees)


def voting_model() -> PoseModel:
    return PoseModel(small_forest(), JointParameters.default(TOY), drawn_votes_of(small_forest()))


def assert_same_votes(model: PoseModel, again: PoseModel) -> None:
    for own, other in zip(model.votes, again.votes, strict=True):
        for name in LeafVotes.__dataclass_fields__:
            np.testing.assert_array_equal(getattr(own, name), getattr(other, name), err_msg=name)


def test_votes_come_back(tmp_path):
    model = voting_model()
    model.save(tmp_path / "model.npz")
    assert_same_votes(model, PoseModel.load(tmp_path / "model.npz"))


@pytest.mark.parametrize(
    "name", ["votes/node_of_leaf_0", "votes/n_votes_1", "votes/joint_0", "votes/offset_1", "votes/weight_1"]
)
def test_votes_that_miss_an_array_are_refused(tmp_path, name):
    voting_model().save(tmp_path / "model.npz")
    refuse_with(tmp_path / "model.npz", **{name: None})


def test_votes_that_name_a_row_too_far_are_refused(tmp_path):
    voting_model().save(tmp_path / "model.npz")
    refuse_with(
        tmp_path / "model.npz", **{"votes/node_of_leaf_0": np.full(small_forest().trees[0].n_leaves, 3, np.int32)}
    )


def write_first_sections(path, model: PoseModel) -> None:
    """Write a model with version 1 of its sections: a byte for every class of a leaf, a place for every joint."""
    model.save(path)
    arrays = arrays_of(path)
    header = header_of(arrays)
    for section in header["sections"].values():
        section["version"] = 1
    for k, tree in enumerate(model.forest.trees):
        arrays[f"forest/leaves_{k}"] = quantise_leaves(tree.leaf_statistics)
    for k, votes in enumerate(map(dense, model.votes)):
        arrays |= {f"votes/offsets_{k}": votes.offsets, f"votes/weights_{k}": votes.weights}
    newer = ("leaf_classes", "leaf_shares", "n_votes", "joint_", "offset_", "weight_")
    kept = {name: a for name, a in arrays.items() if not name.partition("/")[2].startswith(newer)}
    kept["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(path, **kept | {name: a for name, a in arrays.items() if name.startswith("refinement")})


def write_old(path, model: PoseModel, version: int, without: tuple[str, ...] = ()) -> None:
    """Write a model as versions 1 to 4 did: no sections, other names."""
    old_prefix = {"forest": "", "votes": "votes_", "joints": "joints_", "refinement": "refine_"}
    write_first_sections(path, model)
    arrays = arrays_of(path)
    header = {name: value for name, value in header_of(arrays).items() if name not in (*without, "sections")}
    stored = {"header": np.frombuffer(json.dumps(header | {"version": version}).encode(), np.uint8)}
    for name, array in arrays.items():
        section, _, own = name.partition("/")
        if own:
            stored[old_prefix[section] + own.replace("fusion_weights", "certainty")] = array
    np.savez(path, **stored)


def test_first_versions_of_sections_come_back_whole(tmp_path):
    model = voting_model()
    write_first_sections(tmp_path / "old.npz", model)
    model.save(tmp_path / "new.npz")
    old, new = PoseModel.load(tmp_path / "old.npz"), PoseModel.load(tmp_path / "new.npz")
    assert "forest/leaves_0" in arrays_of(tmp_path / "old.npz")
    assert_same_votes(new, old)
    np.testing.assert_array_equal(old.forest.packed.leaf_shares, new.forest.packed.leaf_shares)
    np.testing.assert_array_equal(old.forest.packed.records, new.forest.packed.records)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda a: a.astype(np.float32),
        lambda a: np.ascontiguousarray(a[:, :-1]),
        lambda a: a[:-1],
        lambda a: spoilt(a, 0, 0),
        lambda a: a.ravel(),
    ],
    ids=["dtype", "classes", "leaves", "nothing", "row"],
)
def test_leaves_of_version_1_that_do_not_fit_are_refused(tmp_path, spoil):
    path = tmp_path / "old.npz"
    write_first_sections(path, small_model())
    refuse_with(path, **{"forest/leaves_0": spoil(arrays_of(path)["forest/leaves_0"])})


def test_leaves_that_do_not_sum_to_255_are_normalised(tmp_path):
    path = tmp_path / "old.npz"
    write_first_sections(path, small_model())
    arrays = arrays_of(path)
    arrays["forest/leaves_1"] = arrays["forest/leaves_1"] // 2 + 1
    np.savez(path, **arrays)
    shares = PoseModel.load(path).forest.trees[1].leaf_statistics
    assert shares.dtype == np.float32
    np.testing.assert_allclose(shares, dequantised(arrays["forest/leaves_1"]), rtol=1e-6)


def test_leaves_of_a_read_model_are_held_once(path):
    forest = PoseModel.load(path).forest
    assert all(np.shares_memory(tree.leaf_statistics, forest.packed.leaf_shares) for tree in forest.trees)


def test_a_model_of_version_4_comes_back_whole(tmp_path):
    parameters = replace(JointParameters.default(TOY), refinement=drawn_refinement())
    model = PoseModel(small_forest(), parameters, drawn_votes_of(small_forest()), {"name": "small"})
    write_old(tmp_path / "old.npz", model, version=4)
    model.save(tmp_path / "new.npz")
    PoseModel.load(tmp_path / "old.npz").save(tmp_path / "again.npz")
    one, other = arrays_of(tmp_path / "new.npz"), arrays_of(tmp_path / "again.npz")
    assert one.keys() == other.keys()
    for name in one.keys() - {"header"}:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)
    assert header_of(one) == header_of(other)


def test_a_model_of_version_1_has_no_votes_and_joints_from_parts(path):
    write_old(path, small_model(), version=1, without=("joints_from",))
    loaded = PoseModel.load(path)
    assert loaded.votes == ()
    assert loaded.joint_parameters.method == "parts"


def test_symmetry_comes_back_and_an_older_model_has_none(path):
    model = small_model()
    symmetric = replace(model, forest=model.forest.with_symmetry(True))
    symmetric.save(path)
    assert PoseModel.load(path).forest.symmetric
    write_old(path, symmetric, version=2, without=("symmetric",))
    assert not PoseModel.load(path).forest.symmetric


def with_section(path, name: str, **about) -> None:
    """Add a section to a model file."""
    arrays = arrays_of(path)
    header = header_of(arrays)
    header["sections"][name] = about
    arrays |= {
        "header": np.frombuffer(json.dumps(header).encode(), np.uint8),
        f"{name}/weights": np.arange(3, dtype=np.float32),
    }
    np.savez(path, **arrays)


def test_an_unknown_optional_section_is_passed_over(path):
    with_section(path, "body_fit", version=7)
    assert PoseModel.load(path).metadata == {"name": "small"}


def test_an_unknown_required_section_is_refused_by_name(path):
    with_section(path, "body_fit", version=1, required=True)
    with pytest.raises(FormatError, match="'body_fit', which this posepipe does not know; update it"):
        PoseModel.load(path)


def test_a_newer_version_of_a_known_section_is_refused(path):
    with_section(path, "votes", version=3)
    with pytest.raises(FormatError, match="section 'votes' of version 3, this posepipe reads up to 2; update it"):
        PoseModel.load(path)


@pytest.mark.parametrize("sections", [5, [], {"votes": 3}, {"votes": {}}, {"x": []}])
def test_sections_that_are_no_table_are_refused(path, sections):
    refuse_header(path, sections=sections)


def test_an_unknown_method_of_joints_is_refused(path):
    refuse_header(path, joints_from="stars")


def test_metadata_are_read_back_and_the_header_is_complete(path):
    assert PoseModel.load(path).metadata == {"name": "small"}
    header = header_of(arrays_of(path))
    assert header["format"] == "posepipe-forest"
    assert header["version"] == 5
    assert header["sections"] == {"forest": {"version": 2}, "joints": {"version": 1}}
    assert header["probes"] == {"rounding": "half up", "outside": "background", "background_m": 10.0}


def test_a_single_leaf_is_a_model(tmp_path):
    leaf = Tree(
        np.array([LEAF], np.int32), np.zeros(1, np.float32), np.zeros(1, np.int32), np.full((1, 6), 1 / 6, "f4")
    )
    PoseModel.of(DepthForest([leaf], [np.zeros((0, 2, 2), np.float32)], TOY)).save(tmp_path / "leaf.npz")
    (loaded,) = PoseModel.load(tmp_path / "leaf.npz").forest.trees
    np.testing.assert_allclose(loaded.leaf_statistics / 255, 1 / 6, atol=QUANTISATION)


def test_folders_are_made_and_no_temporary_file_stays(tmp_path):
    small_model().save(tmp_path / "a" / "b" / "model.npz")
    assert [file.name for file in (tmp_path / "a" / "b").iterdir()] == ["model.npz"]


def test_a_tree_out_of_level_order_is_not_written(tmp_path):
    tree = small_forest().trees[0]
    swapped = tree.first_child.copy()
    leaves = np.flatnonzero(tree.feature == LEAF)
    swapped[leaves[:2]] = swapped[leaves[:2]][::-1]
    forest = DepthForest([replace(tree, first_child=swapped)], small_forest().offsets[:1], TOY)
    with pytest.raises(ValueError, match="level"):
        PoseModel.of(forest).save(tmp_path / "model.npz")
    assert not (tmp_path / "model.npz").exists()


def test_no_array_of_the_file_needs_pickle(path):
    assert all(array.dtype.kind in "iuf" for array in arrays_of(path).values())


# quantised leaves


def dequantised(quantised: np.ndarray) -> np.ndarray:
    return quantised / quantised.sum(1, keepdims=True, dtype=float)


def test_posteriors_of_a_leaf_sum_to_255():
    quantised = quantise_leaves(np.array([[0.5, 0.25, 0.25], [0, 1, 0], [1 / 3, 1 / 3, 1 / 3]], np.float32))
    assert quantised.tolist() == [[127, 64, 64], [0, 255, 0], [85, 85, 85]]


@given(st.integers(0, 10_000), st.floats(0.05, 5), st.integers(2, 8))
@settings(max_examples=50)
def test_no_posterior_is_off_by_more_than_stated(seed, evenness, n_classes):
    leaves = np.random.default_rng(seed).dirichlet(np.full(n_classes, evenness), 50)
    kept = quantise_leaves(leaves) / 255
    assert np.abs(kept - leaves).max() <= QUANTISATION


def test_a_leaf_with_many_rare_classes_keeps_its_posteriors(tmp_path):
    # 1000 samples: 970 of one class, and one of each of 30 others; 1 / 970 of 255 is rounded to nothing
    counts = np.array([970.0] + [1.0] * 30)
    leaf = (counts / counts.sum())[None]
    assert np.abs(dequantised(quantise_leaves(leaf)) - leaf).max() <= QUANTISATION


# what is refused


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(PosepipeError, match="no model"):
        PoseModel.load(tmp_path / "missing.npz")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(PosepipeError, match="no model"):
        PoseModel.load(tmp_path)


@pytest.mark.parametrize("size", [0, 1, 7, 100, 10_000])
def test_random_bytes_are_refused(tmp_path, size):
    (tmp_path / "model.npz").write_bytes(np.random.default_rng(size).bytes(size))
    refuse(tmp_path / "model.npz")


@pytest.mark.parametrize("tenth", range(10))
def test_a_file_cut_at_any_tenth_is_refused(path, tenth):
    content = path.read_bytes()
    path.write_bytes(content[: tenth * len(content) // 10])
    refuse(path)


def test_text_images_and_other_archives_are_refused(tmp_path):
    path = tmp_path / "model.npz"
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("readme.txt", "not an array")
    for content in (b"posepipe-forest", b"\x89PNG\r\n\x1a\n" + bytes(100), archive.getvalue(), b"PK\x03\x04"):
        path.write_bytes(content)
        refuse(path)


def test_a_single_array_is_refused(tmp_path):
    with open(tmp_path / "model.npz", "wb") as file:
        np.save(file, np.zeros(3))
    refuse(tmp_path / "model.npz")


class Trap:
    """Sets a mark when it is unpickled."""

    def __reduce__(self):
        return os.mkdir, (Trap.mark,)


def test_pickled_arrays_are_refused_and_never_unpickled(path, tmp_path):
    Trap.mark = str(tmp_path / "sprung")
    sound = arrays_of(path)
    for name in ("forest/feature_0", "header", "a_note_that_is_never_read"):
        np.savez(path, **sound | {name: np.array([Trap()], object)})
        refuse(path)
    path.write_bytes(pickle.dumps(Trap()))
    refuse(path)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("version", [VERSION + 1, 99, "1", "two", [1], 1e400, None])
def test_another_version_is_refused(path, version):
    refuse_header(path, version=version)


def test_the_header_of_another_format_is_refused(path):
    refuse_header(path, format="glimpse-forest")
    refuse_header(path, format=None)


@pytest.mark.parametrize(
    "probes",
    [
        None,
        {},
        {"rounding": "truncate", "outside": "background", "background_m": 10.0},
        {"rounding": "half up", "outside": "clamp", "background_m": 10.0},
        {"rounding": "half up", "outside": "background", "background_m": 8.0},
    ],
)
def test_unknown_probe_rules_are_refused(path, probes):
    refuse_header(path, probes=probes)


@pytest.mark.parametrize("trees", [None, 0, -1, 3, 1.5, 10**9, "2", [2], 1e400])
def test_a_wrong_number_of_trees_is_refused(path, trees):
    refuse_header(path, trees=trees)


@pytest.mark.parametrize(
    "body",
    [
        None,
        "human",
        {},
        [],
        {**TOY.to_dict(), "parts": []},
        {**TOY.to_dict(), "parts": ["head"]},
        {**TOY.to_dict(), "joints": 5},
        {**TOY.to_dict(), "joint_parts": {"head": ["tail"]}},
        {**TOY.to_dict(), "parents": {"head": "tail"}},
        {**TOY.to_dict(), "parents": None},
    ],
)
def test_a_body_that_contradicts_itself_is_refused(path, body):
    refuse_header(path, body=body)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[1, 2]", b"null", b'"posepipe-forest"', b"\xff\xfe\x00", b"NaN", b"[" * 100_000],
    ids=["empty", "cut", "list", "null", "text", "no unicode", "NaN", "nested deeply"],
)
def test_a_header_that_is_no_json_object_is_refused(path, content):
    refuse_with(path, header=np.frombuffer(content, np.uint8))


@pytest.mark.parametrize(
    "name",
    [
        "header",
        *(
            "forest/feature_0",
            "forest/threshold_1",
            "forest/leaf_classes_0",
            "forest/leaf_shares_1",
            "forest/offsets_1",
        ),
        *(f"joints/{name}" for name in JOINT_ARRAYS),
    ],
)
def test_a_missing_array_is_refused(path, name):
    refuse_with(path, **{name: None})


def spoilt(array: np.ndarray, place, value) -> np.ndarray:
    array = array.copy()
    array[place] = value
    return array


WRONG_ARRAYS = {
    "threshold NaN": ("forest/threshold_0", lambda a: spoilt(a, 0, np.nan)),
    "threshold infinite": ("forest/threshold_1", lambda a: spoilt(a, -1, -np.inf)),
    "offset NaN": ("forest/offsets_0", lambda a: spoilt(a, (0, 0, 0), np.nan)),
    "offset infinite": ("forest/offsets_0", lambda a: spoilt(a, (0, 1, 1), np.inf)),
    "too few thresholds": ("forest/threshold_0", lambda a: a[:-1]),
    "too many thresholds": ("forest/threshold_0", lambda a: np.append(a, a[-1:])),
    "thresholds in a square": ("forest/threshold_0", lambda a: np.tile(a, (2, 1))),
    "feature beyond the table": ("forest/feature_0", lambda a: spoilt(a, 0, 6)),
    "feature below LEAF": ("forest/feature_0", lambda a: spoilt(a, 0, -2)),
    "features in a square": ("forest/feature_0", lambda a: np.tile(a, (2, 1))),
    "features are text": ("forest/feature_0", lambda a: a.astype("U5")),
    "features are fractions": ("forest/feature_0", lambda a: np.where(a == LEAF, a, a + 0.5)),
    "no nodes": ("forest/feature_0", lambda a: a[:0]),
    "a number instead of nodes": ("forest/feature_0", lambda a: a[0]),
    "the last leaf is cut off": ("forest/feature_0", lambda a: a[:-1]),
    "a leaf too many": ("forest/feature_0", lambda a: np.append(a, a[-1:])),
    "a root that is a leaf, and more nodes": ("forest/feature_0", lambda a: spoilt(a, 0, LEAF)),
    "a leaf that asks for children beyond the tree": ("forest/feature_0", lambda a: spoilt(a, -1, 0)),
    "shares of another dtype": ("forest/leaf_shares_0", lambda a: a.astype(np.float32)),
    "classes of another dtype": ("forest/leaf_classes_0", lambda a: a.astype(np.int16)),
    "classes in more bytes than they need": ("forest/leaf_classes_0", lambda a: np.repeat(a, 2, axis=1)),
    "too few leaves": ("forest/leaf_classes_0", lambda a: a[:-1]),
    "a leaf of nothing": ("forest/leaf_classes_0", lambda a: spoilt(a, 0, 0)),
    "too few shares": ("forest/leaf_shares_0", lambda a: a[:-1]),
    "too many shares": ("forest/leaf_shares_0", lambda a: np.append(a, a[:1])),
    "leaves in a row": ("forest/leaf_classes_0", lambda a: a.ravel()),
    "shares in a square": ("forest/leaf_shares_0", lambda a: np.tile(a, (2, 1))),
    "offsets in a row": ("forest/offsets_0", lambda a: a.ravel()),
    "offsets of three axes": ("forest/offsets_0", lambda a: np.zeros((6, 2, 3), np.float32)),
    "offsets are text": ("forest/offsets_0", lambda a: a.astype("U9")),
    "offsets with imaginary parts": ("forest/offsets_0", lambda a: a * 1j),
    "joint parameter of another shape": ("joints/bandwidth_m", lambda a: a[:-1]),
    "joint parameter of another dtype": ("joints/mean_m", lambda a: a.astype(np.float64)),
    "joint parameter NaN": ("joints/covariance_m2", lambda a: spoilt(a, (0, 0, 0), np.nan)),
    "bandwidth of nothing": ("joints/bandwidth_m", lambda a: spoilt(a, 0, 0)),
    "negative variance": ("joints/covariance_m2", lambda a: -a),
    "variance beyond all bodies": ("joints/covariance_m2", lambda a: np.full_like(a, 1e30)),
    "covariance larger than its variances": ("joints/covariance_m2", lambda a: spoilt(a, (0, [0, 1], [1, 0]), 1.0)),
    "covariance of one direction": ("joints/covariance_m2", lambda a: spoilt(a, (0, 0, 1), 1e-3)),
}


@pytest.mark.parametrize("wrong", WRONG_ARRAYS)
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_an_array_that_does_not_fit_is_refused(path, wrong):
    name, spoil = WRONG_ARRAYS[wrong]
    refuse_with(path, **{name: spoil(arrays_of(path)[name])})


@pytest.mark.parametrize(("levels", "refused"), [(200, False), (300, True)])
def test_a_chain_of_nodes_is_bounded(path, levels, refused):
    arrays = arrays_of(path)
    arrays["forest/feature_0"] = np.array([0, LEAF] * levels + [LEAF], np.int16)
    arrays["forest/threshold_0"] = np.zeros(levels, np.float32)
    arrays["forest/leaves_0"] = np.ones((levels + 1, TOY.n_classes), np.uint8)
    np.savez(path, **{name: array for name, array in arrays.items() if not name.startswith("votes/")})
    if refused:
        with pytest.raises(FormatError, match="tree 0 has more than 256 levels"):
            PoseModel.load(path)
    else:
        PoseModel.load(path)


def test_a_model_that_unpacks_to_far_too_much_is_refused(path, monkeypatch):
    monkeypatch.setattr(limits, "FREE_MODEL_BYTES", 1 << 20)
    np.savez_compressed(path, **arrays_of(path), **{"other/zeros": np.zeros(2 << 20, np.uint8)})
    with pytest.raises(FormatError, match="unpacks to 2 MB, allowed are 1 MB"):
        PoseModel.load(path)


def test_nodes_that_would_loop_are_refused(path):
    # children are counted, so the only loop a file can ask for is a node that stands before its parent's turn
    nodes = np.array([LEAF, 0, LEAF, LEAF], np.int16)
    refuse_with(path, **{"forest/feature_0": nodes, "forest/threshold_0": np.zeros(1, np.float32)})


@cache
def sound_bytes() -> bytes:
    """A sound file, as small as it gets, and without compression, so that flips reach the arrays."""
    file = io.BytesIO()
    np.savez(file, **_sound_arrays())
    return file.getvalue()


@cache
def compressed_bytes() -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **_sound_arrays())
    return file.getvalue()


@cache
def _sound_arrays() -> dict[str, np.ndarray]:
    with tempfile.TemporaryDirectory() as folder:
        small_model().save(Path(folder) / "model.npz")
        return arrays_of(Path(folder) / "model.npz")


FLIPS = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), min_size=1, max_size=8)


@pytest.mark.parametrize("content", [sound_bytes, compressed_bytes], ids=["plain", "compressed"])
@given(flips=FLIPS)
@example(flips=[(0.0, 1)])
@settings(max_examples=50)
def test_flipped_bytes_are_read_or_refused(tmp_path_factory, content, flips):
    damaged = bytearray(content())
    for place, change in flips:
        damaged[int(place * len(damaged))] ^= change
    path = tmp_path_factory.mktemp("flipped") / "model.npz"
    path.write_bytes(damaged)
    with suppress(FormatError):
        PoseModel.load(path)


@pytest.mark.parametrize("name", ["header", "forest/leaf_shares_1"])
def test_flipped_bytes_of_a_zip_entry_are_read_or_refused(tmp_path, name):
    # method, flags, sizes, checksums and places of one array, in the local and in the central directory
    content = compressed_bytes()
    path = tmp_path / "model.npz"
    key = f"{name}.npy".encode()
    for at in (content.find(key) - 30, content.rfind(key) - 46):
        for place in range(at, at + 46):
            for change in (0x01, 0x04, 0x06, 0x80, 0xFF):
                damaged = bytearray(content)
                damaged[place] ^= change
                path.write_bytes(damaged)
                with suppress(FormatError):
                    PoseModel.load(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA], ids=["bzip2", "lzma"])
def test_damaged_arrays_in_other_zip_methods_are_refused(path, method):
    packed = io.BytesIO()
    with zipfile.ZipFile(path) as sound, zipfile.ZipFile(packed, "w", method) as archive:
        for name in sound.namelist():
            archive.writestr(name, sound.read(name))
        place = archive.getinfo("forest/feature_0.npy").header_offset + 30 + len("forest/feature_0.npy")
    damaged = bytearray(packed.getvalue())
    damaged[place + 20 : place + 60] = b"\xff" * 40
    path.write_bytes(damaged)
    refuse(path)


def test_is_model_file_tells_models_from_other_files(path, tmp_path):
    assert is_model_file(path)
    np.savez(tmp_path / "other.npz", depth_mm=np.zeros((2, 3, 4), np.uint16))
    (tmp_path / "text.npz").write_text("not a zip")
    (tmp_path / "cut.npz").write_bytes(path.read_bytes()[:500])
    assert not any(is_model_file(tmp_path / name) for name in ("other.npz", "text.npz", "cut.npz", "missing.npz"))


@pytest.mark.parametrize(("place", "problem"), [(0, "Bad magic number"), (6, "zip file version 25.5")])
@pytest.mark.parametrize("command", [["info"], ["convert", "--prune", "0.5"], ["convert"]])
def test_a_damaged_directory_of_a_zip_is_one_line(path, tmp_path, capsys, place, problem, command):
    content = bytearray(path.read_bytes())
    content[content.find(b"PK\x01\x02") + place] = 0xFF
    path.write_bytes(content)
    outputs = [str(tmp_path / "x.mcap")] if command[0] == "convert" else []
    assert main([command[0], str(path), *outputs, *command[1:]]) == 1
    said = capsys.readouterr().err
    assert str(path) in said
    assert problem in said or "is none" in said
    assert said.count("\n") == 1
