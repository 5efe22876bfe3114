"""Who may import whom, and what no file may hold: one table, read against the source itself."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.kernels.kernel_functions import is_kernel
from tests.support.paths import ROOT

PACKAGES = ("posepipe", "synth", "apps")
MAX_LINES = 350
MAX_FILES = 13
"""Modules in one folder, its __init__ and __main__ left out; `apps` has one for each command."""
MAX_TEST_FILES = 14
MAX_TEST_NAME = 60

#: what every file with kernels imports
COMPILER = "posepipe.compilation"
NOUNS = "body errors frames landmarks parts results stage"
#: folder, or module at the root of a package -> what it may import, its own files besides; names within posepipe
#: stand without it
MAY_IMPORT = {
    # nouns, and what they are made of
    "errors": "",
    "stage": "",
    "loopback": "",
    "processes": "",
    "compilation": "",
    "precompilation": "compilation",
    "body": "",
    "io": "errors",
    "camera": "errors io",
    "frames": "camera",
    "landmarks": "body",
    "parts": "body camera",
    "results": "camera frames landmarks",
    # where frames come from and results go to
    "recording.containers": "errors io",
    "recording.codecs": "io",
    "recording.ros": "body camera errors frames io results recording.codecs recording.containers",
    "recording": "body camera errors frames io processes recording.codecs recording.containers recording.ros",
    "dds": "errors io loopback recording.ros",
    "datasets": "body camera errors frames io recording",
    "sources.base": "camera frames recording",
    "sources.images": "camera errors io sources.base",
    "sources.formats.azure": "camera errors frames io recording sources.base",
    "sources.formats.itop": "camera errors frames io sources.base",
    "sources.formats": "camera datasets errors frames io recording sources.base sources.images",
    "sources.cameras": "camera dds errors frames loopback recording sources.base",
    "sources": "camera datasets errors frames io recording sources.base sources.cameras sources.formats"
    " sources.formats.azure sources.formats.itop sources.images",
    "kinematics": "body camera",
    "body_model.kernels": "",
    "body_model": "body body_model.kernels camera errors frames io results",
    "sinks.files": "body camera errors io kinematics recording results",
    "sinks.streams": "body dds errors loopback recording results sinks.files",
    "sinks.images": "body camera errors frames io results sinks.files",
    "sinks.motion": "body errors io kinematics results sinks.files",
    "sinks.masks": "body io recording results",
    "sinks": "results sinks.files",
    # the stages
    "segmentation.room_geometry": "camera errors frames",
    "segmentation.boosted_trees": "",
    "segmentation.evidence": "body camera results",
    "segmentation.person_classifier": "body camera parts results segmentation.boosted_trees segmentation.evidence",
    "segmentation.views": "body camera frames parts results segmentation.boosted_trees segmentation.evidence stage",
    "segmentation.regions": "body camera frames landmarks parts results segmentation segmentation.boosted_trees"
    " segmentation.evidence segmentation.person_classifier segmentation.room_geometry segmentation.views stage",
    "segmentation": "body camera frames landmarks parts results stage segmentation.person_classifier"
    " segmentation.room_geometry segmentation.views",
    "joints": "body camera joints.modes landmarks parts results stage",
    "joints.modes": "parts",
    "facing": "camera frames joints",
    "second_pass": "body joints parts results",
    "tracking": "body results stage",
    # the learners
    "learn": "",
    "learn.depth.votes": "joints.modes learn parts",
    "learn.depth.probes": "",
    "learn.depth.splitting": "camera frames io learn",
    "learn.depth": "body camera errors frames io learn learn.depth.probes learn.depth.splitting learn.depth.votes"
    " parts processes segmentation stage",
    "learn.depth.explanation": "body camera frames learn learn.depth learn.depth.probes learn.depth.splitting"
    " learn.tables.plotting",
    "learn.shards": "learn learn.depth learn.depth.splitting",
    "learn.depth_pictures": "body camera learn learn.depth learn.depth.probes learn.depth.splitting",
    "learn.interchange": "body errors io learn learn.depth learn.depth.probes",
    "learn.tables.splitting": "learn",
    "learn.tables": "learn learn.tables.splitting",
    "learn.tables.estimators.trees": "learn learn.tables learn.tables.splitting",
    "learn.tables.estimators.ensembles": "learn learn.tables learn.tables.estimators.trees learn.tables.splitting",
    "learn.tables.estimators": "learn learn.tables learn.tables.estimators.ensembles learn.tables.estimators.trees"
    " learn.tables.splitting",
    "learn.tables.plotting": "learn learn.tables learn.tables.splitting",
    # models and the flow
    "models.sections": "body facing joints landmarks segmentation.boosted_trees segmentation.evidence"
    " segmentation.person_classifier segmentation.regions segmentation.views second_pass",
    "models": "body errors facing io joints landmarks learn learn.depth learn.depth.probes learn.depth.votes"
    " learn.interchange models.sections posepipe second_pass segmentation segmentation.person_classifier"
    " segmentation.regions segmentation.views",
    "inference": f"{NOUNS} body_model camera facing joints landmarks second_pass segmentation segmentation.regions"
    " segmentation.views",
    "pipeline": f"{NOUNS} body_model camera inference joints models segmentation segmentation.regions"
    " segmentation.room_geometry segmentation.views sinks sources tracking",
    "profiling": "frames pipeline",
    "thresholds": "errors io pipeline",
    "multiview": "body body_model camera errors frames pipeline results sinks sources tracking",
    # what stands around the flow
    "training.networks": "facing",
    "training.joints": "body errors frames inference joints joints.modes landmarks parts results segmentation"
    " segmentation.views training.networks",
    "training": f"{NOUNS} camera datasets evaluation.metrics facing io joints learn learn.depth learn.depth.splitting"
    " models inference pipeline processes second_pass segmentation segmentation.views training.joints"
    " training.networks",
    "training.boosted": f"{NOUNS} camera datasets evaluation.metrics learn.depth models pipeline"
    " segmentation.boosted_trees segmentation.evidence segmentation.person_classifier segmentation.regions"
    " segmentation.views training",
    "evaluation.metrics": "body frames kinematics results",
    "evaluation.labelled": "body camera datasets errors frames io models pipeline results sources.formats"
    " sources.formats.itop",
    "evaluation": f"{NOUNS} body_model camera datasets evaluation.metrics io models multiview pipeline segmentation",
    "evaluation.forest_curves": "body datasets errors evaluation.metrics frames io learn learn.depth"
    " learn.depth.splitting learn.tables.plotting segmentation training",
    "evaluation.html_report": "body evaluation evaluation.metrics io results sinks.images",
    "evaluation.domain_gap": "errors frames io sinks.images sources",
    "evaluation.people": f"{NOUNS} evaluation evaluation.html_report evaluation.labelled io pipeline sinks.images"
    " sources sources.formats",
    "evaluation.suite": "body_model datasets errors evaluation evaluation.metrics frames io models pipeline profiling"
    " tracking",
    "viewer.scene": "body camera results sinks.images",
    "viewer.playback": "body camera frames pipeline profiling recording results sinks.files thresholds",
    "viewer.ui": "body errors loopback results thresholds viewer.playback viewer.scene",
    "viewer": "body errors frames results sinks.files sources viewer.playback viewer.ui",
    # work on other processes: it knows neither learners nor stages
    "cluster": "errors loopback posepipe processes",
    # synthetic people: of the library, nouns, files, recordings and datasets
    "synth.geometry": "",
    "synth.body": "body errors frames io kinematics synth.geometry",
    "synth.clothing": "body synth.body synth.geometry",
    "synth.sensors": "camera errors frames io",
    "synth.sensors.defects": "camera synth.sensors",
    "synth.recipe": "errors io synth.sensors",
    "synth.motion.poses": "body errors io synth.body synth.geometry",
    "synth.motion.mocap": "body errors io synth.body synth.geometry synth.motion.poses",
    "synth.motion": "body errors synth.body synth.motion.mocap synth.motion.poses synth.recipe",
    "synth.furniture": "errors io synth.geometry",
    "synth.furniture.catalogues": "errors io synth.furniture synth.geometry",
    "synth.scene.seats": "body synth.furniture synth.geometry synth.motion.poses synth.recipe",
    "synth.scene": "body camera errors frames synth.body synth.clothing synth.furniture synth.geometry synth.motion"
    " synth.motion.poses synth.recipe synth.scene.seats",
    "synth.render": "body camera frames synth.body synth.furniture synth.geometry synth.recipe synth.scene"
    " synth.sensors synth.sensors.defects",
    "synth.labelled_frame": "body frames synth.recipe synth.render synth.scene synth.sensors synth.sensors.defects",
    # real rooms: read as any source of frames; their floor is found as the pipeline finds it
    "synth.backgrounds": "body camera datasets errors frames io segmentation.room_geometry sources sources.base"
    " synth.geometry synth.motion.poses synth.recipe synth.render synth.scene synth.scene.seats synth.sensors",
    "synth.background_renderer": "body errors frames synth.backgrounds synth.furniture synth.labelled_frame"
    " synth.recipe synth.render synth.scene synth.scene.seats synth.sensors synth.sensors.defects",
    "synth.sequences": "camera frames synth.furniture synth.geometry synth.labelled_frame synth.motion synth.recipe"
    " synth.scene synth.scene.seats",
    "synth.exercise_sequences": "body camera frames synth.body synth.furniture synth.geometry synth.labelled_frame"
    " synth.motion synth.recipe synth.scene synth.scene.seats synth.sequences",
    "synth.renderer": "camera errors frames synth.background_renderer synth.backgrounds synth.exercise_sequences"
    " synth.furniture synth.labelled_frame synth.motion synth.recipe synth.scene synth.scene.seats synth.sequences",
    "synth.dataset_writer": "camera datasets errors io models processes recording synth.recipe synth.renderer",
    "synth.tools": "body body_model errors frames recording synth.body synth.exercise_sequences synth.furniture"
    " synth.furniture.catalogues synth.geometry synth.labelled_frame synth.motion synth.motion.mocap"
    " synth.motion.poses synth.recipe synth.scene synth.scene.seats synth.sensors",
}
#: the console command's launcher starts the commands that stand above it
LAUNCHERS = {"posepipe.__main__"}
#: the package's own names are imported when they are first used
LAZY = {"posepipe", "posepipe.learn"}

#: classes of ours that a file with kernels may import, for the public functions around them: arrays in, arrays out
KERNEL_NOUNS = {
    "Intrinsics",
    "Plane",
    "JointParameters",
    "JointVotes",
    "PartProbabilities",
    "Stateless",
    "Tree",
    "LeafVotes",
    "PackedForest",
    *("BodyModel", "Placement", "Assignment", "Observation"),
    *("GrowthRules", "OpenNodes", "Splits"),
    *("BodyDefinition", "BodyAsset", "RestBody", "NoiseFields", "SensorPreset"),
}

NEVER_IMPORTED = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "numba.pycc"}
#: modules that read files of our own alone: of this checkout, of the documents, of the package's data
READ_OWN_FILES = {
    COMPILER,
    "posepipe.evaluation.html_report.document",
    "posepipe.evaluation.suite.tables",
    "posepipe.models.provenance",
    "posepipe.learn.tables.examples",
    "posepipe.viewer.ui.hover",
}
NO_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}
#: distribution -> module, where they differ
IMPORT_NAMES = {"opencv-python": "cv2", "scikit-learn": "sklearn"}


@dataclass(frozen=True)
class Import:
    """One imported module, and the names taken from it."""

    module: str
    names: frozenset[str]
    line: int
    at_top: bool  #: done when the file itself is imported
    for_types: bool  #: done by type checkers alone


@dataclass(frozen=True)
class Module:
    """One of our source files."""

    name: str
    path: Path

    @property
    def package(self) -> str:
        return self.name.partition(".")[0]

    @property
    def folder(self) -> str:
        """The folder that the file lies in, as MAY_IMPORT names it; a file at a package's root stands for itself."""
        inside = self.path.relative_to(ROOT).with_suffix("").parts
        if inside[0] == "apps":
            return "apps"
        place = inside[:-1] if len(inside) > 2 else inside
        name = ".".join(place).removesuffix(".__init__")
        return name.removeprefix("posepipe.")

    @cache  # noqa: B019 - a handful of modules, for the time of the tests
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_text(encoding="utf-8"), str(self.path))

    @cache  # noqa: B019
    def imports(self) -> tuple[Import, ...]:
        return tuple(self._imports())

    def _imports(self) -> Iterator[Import]:
        top = {id(node) for node in _run_on_import(self.tree().body)}
        for_types = {id(node) for node in _for_types(self.tree())}
        for node in ast.walk(self.tree()):
            kind = id(node) in top, id(node) in for_types
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield Import(alias.name, frozenset(), node.lineno, *kind)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{self.path}:{node.lineno}: imports are absolute here"
                taken = {alias.name for alias in node.names}
                modules = {name for name in taken if f"{node.module}.{name}" in modules_by_name()}
                for name in modules:
                    yield Import(f"{node.module}.{name}", frozenset(), node.lineno, *kind)
                if taken - modules:
                    yield Import(node.module or "", frozenset(taken - modules), node.lineno, *kind)

    def ours(self) -> list[Import]:
        """Imports of our own modules that are done when the program runs."""
        own = [each for each in self.imports() if each.module.partition(".")[0] in PACKAGES]
        return [each for each in own if not each.for_types]

    @cache  # noqa: B019
    def kernels(self) -> list[ast.FunctionDef]:
        """Functions that Numba compiles."""
        return [node for node in ast.walk(self.tree()) if is_kernel(node)]

    def classes(self) -> set[str]:
        return {node.name for node in self.tree().body if isinstance(node, ast.ClassDef)}

    def where(self, line: int) -> str:
        return f"{self.path.relative_to(ROOT)}:{line}"


def _run_on_import(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run when a file is imported: not those in functions or for type checkers."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or _is_type_checking(node):
            continue
        yield node
        for part in ("body", "orelse", "finalbody"):
            yield from _run_on_import(getattr(node, part, []))
        for handler in getattr(node, "handlers", []):
            yield from _run_on_import(handler.body)


def _for_types(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if _is_type_checking(node):
            yield from ast.walk(node)


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


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
FOLDERS = sorted({module.path.parent for module in ALL})


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def list_of(offenders: list[str]) -> str:
    """All offenders, a line each: pytest itself shows the first alone."""
    return "\n".join(["", *offenders])


def cycles(edges: Mapping[str, set[str]]) -> list[set[str]]:
    """Groups of nodes that reach each other."""
    reached = {node: _reach(node, lambda node: edges.get(node, set())) for node in edges}
    return [
        group for node, seen in reached.items() if len(group := {n for n in seen if node in reached.get(n, ())}) > 1
    ]


def _reach(node: str, neighbours: Callable[[str], set[str]]) -> set[str]:
    seen, waiting = set(), [node]
    while waiting:
        for other in neighbours(waiting.pop()):
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return seen


def test_the_table_names_folders_that_exist():
    folders = {module.folder for module in ALL if module.package != "apps"}
    named = set(MAY_IMPORT) | {name for allowed in MAY_IMPORT.values() for name in allowed.split()}
    assert named - folders == set()
    assert folders - set(MAY_IMPORT) - LAZY - {"__main__", "synth"} == set()


def test_no_folder_of_the_table_imports_another_in_a_circle():
    edges = defaultdict(set, {folder: set(allowed.split()) for folder, allowed in MAY_IMPORT.items()})
    assert cycles(edges) == []


def may_import(module: Module) -> set[str]:
    """Folders whose modules one of ours may import."""
    kernels = {COMPILER.removeprefix("posepipe.")} if module.kernels() else set()
    return {module.folder, *MAY_IMPORT.get(module.folder, "").split(), *kernels}


def test_a_file_imports_what_its_folder_may():
    refused = [
        f"{module.where(found.line)} imports {found.module}"
        for module in ALL
        if module.package != "apps" and module.name not in LAZY | LAUNCHERS
        for found in module.ours()
        if modules_by_name()[found.module].folder not in may_import(module)
    ]
    assert not refused, list_of(refused)


def test_no_module_imports_another_in_a_circle():
    edges = defaultdict(set)
    for module in ALL:
        if module.name not in LAZY:
            edges[module.name] = {found.module for found in module.ours()} - {module.name}
    assert cycles(edges) == []


def test_only_the_launcher_knows_the_commands_above_it():
    climbing = [m.name for m in ALL if m.package != "apps" and any(within(f.module, "apps") for f in m.imports())]
    assert set(climbing) <= LAUNCHERS


def test_a_folder_holds_a_handful_of_files():
    counts = {
        str(folder.relative_to(ROOT)): len([path for path in folder.glob("*.py") if not path.stem.startswith("__")])
        for folder in FOLDERS
        if folder.name != "apps"
    }
    assert {folder: count for folder, count in counts.items() if count > MAX_FILES} == {}


def test_a_folder_says_what_it_is():
    packages = [folder / "__init__.py" for folder in FOLDERS]
    assert [path for path in packages if not path.is_file()] == []
    named = [path for path in packages if path.parent.name not in PACKAGES]
    assert [path for path in named if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))] == []


def test_folders_of_tests_hold_a_handful_of_files():
    folders = {path.parent for path in (ROOT / "tests").rglob("*.py")}
    counts = {str(folder.relative_to(ROOT)): len(list(folder.glob("*.py"))) for folder in folders}
    assert {folder: count for folder, count in counts.items() if count > MAX_TEST_FILES} == {}


def test_names_of_tests_are_short():
    named = re.compile(rf"^def (test_\w{{{MAX_TEST_NAME - 4},}})", re.MULTILINE)
    assert [name for path in (ROOT / "tests").rglob("test_*.py") for name in named.findall(path.read_text())] == []


def test_files_with_kernels_import_documented_nouns_alone():
    others = [
        f"{module.where(found.line)} imports {name}"
        for module in ALL
        if module.kernels()
        for found in module.ours()
        for name in (found.names & modules_by_name()[found.module].classes()) - KERNEL_NOUNS
    ]
    assert not others, list_of(others)


def test_kernels_are_compiled_by_one_module():
    """Its disk cache knows what a kernel takes from other files; Numba's own does not."""
    compiling = [
        module.where(found.line)
        for module in ALL
        if module.name != COMPILER
        for found in module.imports()
        if found.module == "numba" and found.names & {"njit", "prange"}
    ]
    assert not compiling, list_of(compiling)


@cache
def kernel_names(module: str) -> frozenset[str]:
    return frozenset(function.name for function in modules_by_name()[module].kernels())


def faults_of_kernels(module: Module) -> Iterator[str]:
    """What the kernels of a module do and may not."""
    imported = {name: found.module for found in module.ours() if found.module != COMPILER for name in found.names}
    for kernel in module.kernels():
        for node in (part for statement in kernel.body for part in ast.walk(statement)):
            where = f"{module.where(node.lineno)}: {kernel.name}" if hasattr(node, "lineno") else ""
            if isinstance(node, ast.Name) and node.id in imported and not node.id.isupper():
                if node.id not in kernel_names(imported[node.id]):
                    yield f"{where} uses {node.id}, which is neither a kernel nor a constant"
            elif isinstance(node, ast.Raise):
                yield f"{where} raises"
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "print":
                yield f"{where} prints"


def test_a_kernel_calls_kernels_and_constants_alone():
    faults = [fault for module in ALL for fault in faults_of_kernels(module)]
    assert not faults, list_of(faults)


def test_a_file_is_imported_without_extras():
    """Camera kits and viewers are imported where they are opened; the rest is a core dependency."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        wanted = tomllib.load(file)["project"]["dependencies"]
    core = {name.split(">")[0].split("=")[0].strip() for name in wanted}
    core = {IMPORT_NAMES.get(name, name) for name in core}
    extras = [
        f"{module.where(found.line)} imports {found.module}, which is no core dependency"
        for module in ALL
        for found in module.imports()
        if found.at_top and found.module.partition(".")[0] not in {*sys.stdlib_module_names, *PACKAGES, *core}
    ]
    assert not extras, list_of(extras)


def picklers(module: Module) -> Iterator[str]:
    """Lines that pickle, or let NumPy pickle."""
    for found in module.imports():
        full = {found.module} | {f"{found.module}.{name}" for name in found.names}
        if any(within(name, banned) for name in full for banned in NEVER_IMPORTED):
            yield f"{module.where(found.line)} imports {found.module}"
    for node in ast.walk(module.tree()):
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            if not (isinstance(node.value, ast.Constant) and node.value.value is False):
                yield f"{module.where(node.value.lineno)}: allow_pickle must be False"
        elif isinstance(node, ast.Attribute) and node.attr == "dump" and "numpy" in ast.unparse(node.value):
            yield f"{module.where(node.lineno)}: numpy's dump pickles"


def test_nothing_is_pickled():
    lines = [line for module in ALL for line in picklers(module)]
    assert not lines, list_of(lines)


def reading_calls(module: Module) -> Iterator[str]:
    """Lines that read a file, or TOML, without `posepipe.io`."""
    for found in module.imports():
        if found.module == "tomllib":
            yield f"{module.where(found.line)}: use posepipe.io.toml_file"
    for node in ast.walk(module.tree()):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            mode = next((given.value for given in node.args if isinstance(given, ast.Constant)), "w")
            if name in ("read_bytes", "read_text") or (name == "open" and str(mode).startswith("r")):
                yield f"{module.where(node.lineno)}: use open_regular or read_regular"


def test_files_of_users_are_opened_in_one_place():
    """`posepipe.io` refuses named pipes and devices, and has the limits and errors of TOML."""
    others = [module for module in ALL if module.name not in READ_OWN_FILES and not within(module.name, "posepipe.io")]
    lines = [line for module in others for line in reading_calls(module)]
    assert not lines, list_of(lines)


def test_commands_print_plain_text_alone():
    printing = [
        f"{module.where(node.lineno)}: use apps.terminal.plain_text.show"
        for module in ALL
        if module.package == "apps" and module.name != "apps.terminal.plain_text"
        for node in ast.walk(module.tree())
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "print"
    ]
    assert not printing, list_of(printing)


def test_a_file_is_named_after_what_it_makes():
    assert [module.name for module in ALL if NO_NAMES & set(module.name.lower().split("."))] == []


def test_a_file_is_one_idea():
    lines = {module.name: module.path.read_text(encoding="utf-8").count("\n") for module in ALL}
    assert {name: count for name, count in lines.items() if count > MAX_LINES} == {}


TWINS_ELSEWHERE = {
    "posepipe.learn.impurity",  # one formula a criterion: tests/reference/learn/tree_criteria.py
    "posepipe.learn.pruning",  # decisions on whole trees, not arrays: tests/reference/learn/pruning.py
    "posepipe.learn.cost_complexity",  # decisions on whole trees, not arrays: tests/reference/learn/pruning.py
    "posepipe.learn.growing",  # its kernel only moves rows
    "posepipe.learn.tree",  # as do these
    "posepipe.learn.tables.splitting.sorted_growth",  # its twin is the growth loop: test_sorted_growth.py
}
TABLES = sorted((ROOT / "tests" / "kernels").rglob("*.py"))
#: no arithmetic: layouts, choices
WITHOUT_TWIN = {"pack_votes", "by_gain", "enlarged", "floor_of", "grid_shape", "stride_for"} | {
    "branches_of",
    "clamped_image",  # the twin of find_clamped_leaves reads it
    "entries_of",
    "find_branches",
    "find_subsets",  # the gain of its sets is that of scan_columns
    "landmark_noise",
    "modes_of_spans",  # find_modes and find_vote_modes in one
    "observe_person",  # sample_points and outline in one
    "outline",  # of OpenCV
    "path_indicator",
    "plane_tolerance_m",
}


def test_every_kernel_of_the_library_has_a_twin_in_the_table():
    """A public function in a file with kernels is named in a table of tests/kernels."""
    named = "\n".join(path.read_text(encoding="utf-8") for path in TABLES)
    missing = [
        f"{module.name}.{function.name}"
        for module in ALL
        if module.package == "posepipe" and module.kernels() and module.name not in TWINS_ELSEWHERE
        for function in module.tree().body
        if isinstance(function, ast.FunctionDef) and not function.name.startswith("_")
        if f'"{function.name}"' not in named and function not in module.kernels()
        if function.name not in WITHOUT_TWIN
    ]
    assert missing == []


Place = tuple[str, str]
"""A module, and a name in it."""


@cache
def definitions(module: str) -> dict[str, ast.stmt]:
    """Functions and classes of a module of ours, by name."""
    nodes = modules_by_name()[module].tree().body
    return {node.name: node for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def named_by(place: Place) -> set[Place]:
    """What a function or class in a file with kernels names: all of its own file, and kernels of others."""
    module, name = place
    if not kernel_names(module) or name not in definitions(module):
        return set()
    names = {node.id for node in ast.walk(definitions(module)[name]) if isinstance(node, ast.Name)}
    found = {(module, each) for each in names & set(definitions(module))}
    for other in modules_by_name()[module].ours():
        found |= {(other.module, kernel) for kernel in names & other.names & kernel_names(other.module)}
    return found


def taken_by_tables() -> set[Place]:
    """What the tables of kernels import, or read from a module that they import."""
    taken = set()
    for table in (Module(path.stem, path) for path in TABLES):
        read = [node for node in ast.walk(table.tree()) if isinstance(node, ast.Attribute)]
        for found in table.ours():
            alias = found.module.rpartition(".")[2]
            names = found.names or {node.attr for node in read if ast.unparse(node.value) == alias}
            taken |= {(found.module, name) for name in names}
    return taken


def test_every_kernel_is_called_from_a_row_of_the_table():
    """By what a table takes: the kernel, a function or class of its file that uses it, or a kernel that calls it."""
    defined = {(module.name, name) for module in ALL for name in definitions(module.name)}
    excused = {place for place in defined if place[0] in TWINS_ELSEWHERE or place[1] in WITHOUT_TWIN}
    taken = (taken_by_tables() & defined) | excused
    reached = taken.union(*(_reach(place, named_by) for place in taken))
    kernels = {(module.name, kernel) for module in ALL for kernel in kernel_names(module.name)}
    missing = sorted(".".join(place) for place in kernels - reached)
    assert not missing, list_of(missing)
