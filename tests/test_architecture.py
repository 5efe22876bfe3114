"""Who may import whom, and what no file may hold: small tables, read from the source itself."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.support.paths import ROOT

PACKAGES = ("posepipe", "synth", "apps")
MOST_LINES = 350

#: package -> our packages that it may import
LAYERS = {"posepipe": {"posepipe"}, "synth": {"posepipe", "synth"}, "apps": {"posepipe", "synth", "apps"}}

#: what the library speaks of; everybody may import these
NOUNS = {
    "posepipe",
    "posepipe.body",
    "posepipe.camera",
    "posepipe.camera.presets",
    "posepipe.errors",
    "posepipe.frames",
    "posepipe.joints.joint_parameters",
    "posepipe.camera.lens_distortion",
    "posepipe.parts",
    "posepipe.results",
}
#: how files are read and written whole
FILES = {"posepipe.io.files", "posepipe.io.npz"}
#: what follows from joints alone, for sinks: arrays in, arrays out
FROM_JOINTS = {"posepipe.kinematics.joint_angles", "posepipe.kinematics.skeleton_fitting"}

#: the steps of a frame, in no order: that is pipeline.py's business
STAGES = {
    "posepipe.joints.pose_estimator",
    "posepipe.joints.weighted_points",
    "posepipe.segmentation.foreground",
    "posepipe.segmentation.person_filter",
    "posepipe.joints.proposals",
    "posepipe.segmentation.head_split",
    "posepipe.tracking.one_euro",
    "posepipe.tracking.tracker",
}
#: a stage hands its result on in a noun of its own, and may have arithmetic beside it: stage -> {module: names}
STAGE_NOUNS = {
    "posepipe.joints.proposals": {"posepipe.joints.weighted_points": {"WeightedPoints"}},
    "posepipe.joints.pose_estimator": {"posepipe.joints.refinement": {"Evidence", "Mirror", "refine"}},
}
#: who else may import stages: the flow itself, and what learns their parameters
STAGE_USERS = {
    "posepipe.pipeline": STAGES,
    "posepipe.training.fit_joints": {
        "posepipe.joints.pose_estimator",
        "posepipe.joints.weighted_points",
        "posepipe.joints.proposals",
    },
    "posepipe.training.train_model": {"posepipe.segmentation.foreground"},
}

#: who in the library may import its learners: the flow, which loads a forest; what trains, measures and describes one
LEARN_USERS = {
    "posepipe",
    "posepipe.pipeline",
    "posepipe.training.train_model",
    "posepipe.evaluation.evaluate_poses",
    "posepipe.models.card",
}
#: who in the library may import the flow
PIPELINE_USERS = {"posepipe", "posepipe.evaluation.evaluate_poses", "posepipe.profiling"}
#: the viewer's: what steps through frames, and what moves thresholds
PIPELINE_USERS |= {"posepipe.viewer.playback.analysis", "posepipe.viewer.playback.tuning"}
#: what the viewer draws with, besides the nouns
VIEWER_MAY_IMPORT = {
    "posepipe.sinks.images.drawing",
    "posepipe.sinks.files.json_lines",
    "posepipe.sinks.images.shading",
}
VIEWER_MAY_IMPORT |= {"posepipe.recording", "posepipe.sources", "posepipe.profiling"}

#: what synth may know of the library: its nouns and its datasets, never its learners
SYNTH_MAY_IMPORT = (
    NOUNS - {"posepipe.joints.joint_parameters", "posepipe.parts", "posepipe.results"}
    | FILES
    | {
        "posepipe.datasets.dataset",
        "posepipe.recording",
        "posepipe.models.provenance",
    }
)

#: classes of ours that a file with kernels may import, for the public functions around them: arrays in, arrays out
KERNEL_NOUNS = {
    "posepipe.camera": {"Intrinsics", "Plane"},
    "posepipe.joints.joint_parameters": {"JointParameters"},
    "posepipe.parts": {"PartProbabilities"},
    "posepipe.learn.growing": {"GrowthRules", "OpenNodes", "Splits"},
    "posepipe.learn.tree": {"Tree"},
    "posepipe.joints.offset_votes": {"LeafVotes"},
}
#: the same in synth, whose kernels stand beside the bodies and sensors that they draw
SYNTH_KERNEL_NOUNS = KERNEL_NOUNS | {
    "posepipe.body": {"BodyDefinition"},
    "synth.body.body_asset": {"BodyAsset"},
    "synth.body.body_mesh": {"RestBody"},
    "synth.sensors.noise_fields": {"NoiseFields"},
    "synth.sensors.presets": {"SensorPreset"},
}

#: kernels of the library that a learner shares
LEARN_KERNELS = {"posepipe.joints.mean_shift", "posepipe.segmentation.pixel_grid", "posepipe.joints.offset_votes"}

NEVER_IMPORTED = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "numba.pycc"}
NO_ROOM = {"utils", "util", "helpers", "helper", "common", "misc"}
#: distribution -> module, where they differ
IMPORT_NAMES = {"opencv-python": "cv2", "scikit-learn": "sklearn"}


@dataclass(frozen=True)
class Import:
    """One imported module, and the names taken from it."""

    module: str
    names: frozenset[str]
    line: int
    at_top: bool  #: done when the file itself is imported


@dataclass(frozen=True)
class Module:
    """One of our source files."""

    name: str
    path: Path

    @property
    def package(self) -> str:
        return self.name.partition(".")[0]

    @cache  # noqa: B019 - a handful of modules, for the time of the tests
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_text(encoding="utf-8"), str(self.path))

    @cache  # noqa: B019
    def imports(self) -> tuple[Import, ...]:
        return tuple(self._imports())

    def _imports(self) -> Iterator[Import]:
        top = {id(node) for node in _run_on_import(self.tree().body)}
        for node in ast.walk(self.tree()):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield Import(alias.name, frozenset(), node.lineno, id(node) in top)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{self.path}:{node.lineno}: imports are absolute here"
                taken = {alias.name for alias in node.names}
                modules = {name for name in taken if f"{node.module}.{name}" in modules_by_name()}
                for name in modules:
                    yield Import(f"{node.module}.{name}", frozenset(), node.lineno, id(node) in top)
                if taken - modules:
                    yield Import(node.module or "", frozenset(taken - modules), node.lineno, id(node) in top)

    def ours(self) -> list[Import]:
        return [each for each in self.imports() if each.module.partition(".")[0] in PACKAGES]

    def kernels(self) -> list[ast.FunctionDef]:
        """Functions that Numba compiles."""
        functions = [node for node in ast.walk(self.tree()) if isinstance(node, ast.FunctionDef)]
        return [f for f in functions if any("njit" in ast.unparse(d) for d in f.decorator_list)]

    def classes(self) -> set[str]:
        return {node.name for node in self.tree().body if isinstance(node, ast.ClassDef)}

    def where(self, line: int) -> str:
        return f"{self.path.relative_to(ROOT)}:{line}"


def _run_on_import(body) -> Iterator[ast.stmt]:
    """Statements that run when a file is imported: not those in functions or for type checkers."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        for part in ("body", "orelse", "finalbody"):
            yield from _run_on_import(getattr(node, part, []))
        for handler in getattr(node, "handlers", []):
            yield from _run_on_import(handler.body)


@cache
def modules_by_name() -> dict[str, Module]:
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = Module(name, path)
    return found


ALL = sorted(modules_by_name().values(), key=lambda module: module.name)


def refused(module: Module, allowed, imports=None) -> list[str]:
    """Imports of ours that a predicate does not allow, with their places."""
    return [
        f"{module.where(each.line)} imports {each.module} {sorted(each.names) or ''}"
        for each in (module.ours() if imports is None else imports)
        if not allowed(each)
    ]


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def each(modules):
    return pytest.mark.parametrize("module", modules, ids=lambda module: module.name)


def test_the_tables_name_modules_that_exist():
    tables = NOUNS | FILES | FROM_JOINTS | STAGES | set(STAGE_USERS) | LEARN_USERS | PIPELINE_USERS | SYNTH_MAY_IMPORT
    tables |= set(KERNEL_NOUNS) | set(SYNTH_KERNEL_NOUNS)
    assert tables - set(modules_by_name()) == set()


@each(ALL)
def test_apps_import_synth_and_synth_imports_posepipe_and_none_the_other_way(module):
    allowed = LAYERS[module.package]
    assert refused(module, lambda found: found.module.partition(".")[0] in allowed) == []


@each([module for module in ALL if module.package == "synth"])
def test_synth_knows_the_library_s_nouns_and_never_its_learners(module):
    assert refused(module, lambda found: within(found.module, "synth") or found.module in SYNTH_MAY_IMPORT) == []


@each([module for module in ALL if module.name in (NOUNS | FROM_JOINTS) - {"posepipe"}])
def test_nouns_import_nothing_but_nouns(module):
    assert refused(module, lambda found: found.module in NOUNS) == []


@each([module for module in ALL if module.name in STAGES])
def test_stages_import_nouns_and_kernels_and_not_each_other(module):
    kernels = {other.name for other in ALL if other.kernels()}

    def allowed(found: Import) -> bool:
        borrowed = STAGE_NOUNS.get(module.name, {}).get(found.module, set())
        return found.module in NOUNS | kernels or (bool(found.names) and found.names <= borrowed)

    assert refused(module, allowed) == []


@each([module for module in ALL if module.package == "posepipe" and module.name not in STAGES])
def test_the_pipeline_alone_knows_the_stages(module):
    known = STAGE_USERS.get(module.name, set())
    assert refused(module, lambda found: found.module not in STAGES - known) == []


@each([module for module in ALL if module.package == "posepipe" and not within(module.name, "posepipe.learn")])
def test_the_library_uses_its_learners_in_few_places(module):
    if module.name not in LEARN_USERS:
        assert refused(module, lambda found: not within(found.module, "posepipe.learn")) == []
    if module.name not in PIPELINE_USERS:
        assert refused(module, lambda found: found.module != "posepipe.pipeline") == []


@each([module for module in ALL if within(module.name, "posepipe.learn")])
def test_learners_import_nouns_files_shared_kernels_and_each_other(module):
    allowed = NOUNS | FILES | LEARN_KERNELS
    assert refused(module, lambda found: found.module in allowed or within(found.module, "posepipe.learn")) == []


@each([module for module in ALL if module.name.startswith(("posepipe.sources", "posepipe.sinks"))])
def test_sources_and_sinks_know_nouns_and_files_and_not_each_other(module):
    own = ".".join(module.name.split(".")[:2])
    allowed = NOUNS | FILES | {"posepipe.datasets.dataset", "posepipe.recording"}
    allowed |= FROM_JOINTS if own == "posepipe.sinks" else set()
    assert refused(module, lambda found: found.module in allowed or within(found.module, own)) == []


@each([module for module in ALL if within(module.name, "posepipe.viewer")])
def test_the_viewer_knows_nouns_and_what_it_draws_with(module):
    allowed = NOUNS | VIEWER_MAY_IMPORT | ({"posepipe.pipeline"} if module.name in PIPELINE_USERS else set())
    assert refused(module, lambda found: found.module in allowed or within(found.module, "posepipe.viewer")) == []


@each([module for module in ALL if module.kernels()])
def test_files_with_kernels_import_none_of_our_classes_but_documented_nouns(module):
    nouns = SYNTH_KERNEL_NOUNS if module.package == "synth" else KERNEL_NOUNS

    def allowed(found: Import) -> bool:
        taken = found.names & modules_by_name()[found.module].classes()
        return found.module not in STAGES and taken <= nouns.get(found.module, set())

    assert refused(module, allowed) == []


@each([module for module in ALL if module.kernels()])
def test_a_kernel_calls_kernels_and_reads_constants_and_knows_no_class_of_ours(module):
    imported = {name: found.module for found in module.ours() for name in found.names}
    for kernel in module.kernels():
        inside = [part for statement in kernel.body for part in ast.walk(statement)]
        for node in inside:
            if not (isinstance(node, ast.Name) and node.id in imported):
                continue
            functions = {f.name for f in modules_by_name()[imported[node.id]].kernels()}
            assert node.id in functions or node.id.isupper(), (
                f"{module.where(node.lineno)}: {kernel.name} uses {node.id}"
            )
        assert not any(isinstance(node, ast.Raise) for node in inside), f"{kernel.name}: kernels never raise"
        calls = {ast.unparse(node.func) for node in inside if isinstance(node, ast.Call)}
        assert "print" not in calls, f"{kernel.name}: kernels never print"


@each(ALL)
def test_a_file_is_imported_without_extras(module):
    """Camera kits and viewers are imported where they are opened; the rest is a core dependency."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        wanted = tomllib.load(file)["project"]["dependencies"]
    core = {name.split(">")[0].split("=")[0].strip() for name in wanted}
    core = {IMPORT_NAMES.get(name, name) for name in core}
    for found in module.imports():
        top = found.module.partition(".")[0]
        if found.at_top and top not in sys.stdlib_module_names and top not in PACKAGES:
            assert top in core, f"{module.where(found.line)} imports {top}, which is no core dependency"


@each(ALL)
def test_nothing_is_pickled(module):
    for found in module.imports():
        full = {found.module} | {f"{found.module}.{name}" for name in found.names}
        assert not any(within(name, banned) for name in full for banned in NEVER_IMPORTED), module.where(found.line)
    for node in ast.walk(module.tree()):
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            never = isinstance(node.value, ast.Constant) and node.value.value is False
            assert never, f"{module.where(node.value.lineno)}: allow_pickle must be False"
        if isinstance(node, ast.Attribute):
            assert node.attr != "dump" or "numpy" not in ast.unparse(node.value), module.where(node.lineno)


@each(ALL)
def test_every_file_has_a_room_named_after_what_it_makes(module):
    assert not NO_ROOM & set(module.name.lower().split("."))


@each(ALL)
def test_a_file_is_one_idea(module):
    lines = module.path.read_text(encoding="utf-8").count("\n")
    assert lines <= MOST_LINES, f"{module.where(1)} has {lines} lines"


TWINS_ELSEWHERE = {
    "posepipe.learn.impurity",  # one formula a criterion: tests/reference/learn/tree_criteria.py
    "posepipe.learn.pruning",  # decisions on whole trees, not arrays: tests/reference/learn/pruning.py
    "posepipe.learn.growing",  # its kernel only moves rows
    "posepipe.learn.tree",  # as do these
}


def test_every_kernel_of_the_library_has_a_twin_in_the_table():
    """A public function in a file with kernels is named in tests/kernels/table.py."""
    named = (ROOT / "tests" / "kernels.py").read_text(encoding="utf-8")
    missing = [
        f"{module.name}.{function.name}"
        for module in ALL
        if module.package == "posepipe" and module.kernels() and module.name not in TWINS_ELSEWHERE
        for function in module.tree().body
        if isinstance(function, ast.FunctionDef) and not function.name.startswith("_")
        if f'"{function.name}"' not in named and function not in module.kernels()
        if function.name
        not in {"pack_forest", "pack_votes", "by_gain", "floor_of", "stride_for"}  # no arithmetic: layouts; choices
    ]
    assert missing == []
