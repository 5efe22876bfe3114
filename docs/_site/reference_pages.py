"""The pages of the Python reference: what each package exports, and the stages, from their docstrings."""

from __future__ import annotations

import importlib
from typing import Any

from mkdocs.structure.files import File, Files

PACKAGES = {
    "posepipe": ("posepipe", "What `import posepipe` offers."),
    "sources": ("posepipe.sources", "Where depth frames come from."),
    "sinks": ("posepipe.sinks", "Where results go to."),
    "camera": ("posepipe.camera", "Lenses and places of cameras."),
    "learn": ("posepipe.learn", "Trees that learn, on tables and on depth images."),
}
"""Page -> package whose exported names it lists, and what they are."""
MODULES = {
    "nouns": (
        "Results and bodies",
        ("posepipe.results", "posepipe.frames", "posepipe.body", "posepipe.errors", "posepipe.kinematics.joint_angles"),
    ),
    "stages": (
        "Stages",
        (
            "posepipe.pipeline",
            "posepipe.thresholds",
            "posepipe.segmentation.foreground",
            "posepipe.segmentation.person_filter",
            "posepipe.segmentation.views.rotated_views",
            "posepipe.segmentation.regions.head_split",
            "posepipe.segmentation.regions.connected_surfaces",
            "posepipe.segmentation.regions.remainder",
            "posepipe.segmentation.regions.occluded_people",
            "posepipe.segmentation.regions.region_filter",
            "posepipe.joints.weighted_points",
            "posepipe.joints.proposals",
            "posepipe.joints.pose_estimator",
            "posepipe.joints.pose_search",
            "posepipe.tracking.tracker",
            "posepipe.tracking.one_euro",
        ),
    ),
    "multiview": (
        "Several cameras",
        (
            "posepipe.multiview.joined_pipeline",
            "posepipe.multiview.frame_sets",
            "posepipe.multiview.view_fusion",
            "posepipe.multiview.calibration",
            "posepipe.multiview.walk_calibration",
        ),
    ),
}
"""Page -> its title, and the modules that it documents whole."""


def on_files(files: Files, config: Any) -> Files:
    """Add a page for each package and each group of modules; what another page documents is linked."""
    documented: set[str] = set()
    for page, (title, modules) in MODULES.items():
        _add(files, config, page, title, [_block(module, show_root_full_path=True) for module in modules])
    for page, (package, about) in PACKAGES.items():
        homes = {name: _home(package, name) for name in sorted(importlib.import_module(package).__all__)}
        linked = {name for name, home in homes.items() if home in documented or home.rpartition(".")[0] in _MODULES}
        blocks = [_block(home) for name, home in homes.items() if name not in linked]
        links = [f"- [`{package}.{name}`][{homes[name]}]" for name in sorted(linked)]
        _add(files, config, page, f"`{package}`", [about, "\n".join(links), *blocks])
        documented |= set(homes.values())
    return files


_MODULES = {module for _, modules in MODULES.values() for module in modules}


def _add(files: Files, config: Any, page: str, title: str, blocks: list[str]) -> None:
    content = "\n\n".join([f"# {title}", *blocks]) + "\n"
    files.append(File.generated(config, f"reference/api/{page}.md", content=content))


def _block(name: str, show_root_full_path: bool = False) -> str:
    """What mkdocstrings replaces by the documentation of a thing."""
    return f"::: {name}\n    options:\n      show_root_full_path: {str(show_root_full_path).lower()}"


def _home(package: str, name: str) -> str:
    """Where an exported thing is defined; a constant is documented where it is exported."""
    thing = getattr(importlib.import_module(package), name)
    module = getattr(thing, "__module__", package)
    return f"{module}.{name}" if getattr(thing, "__name__", None) == name else f"{package}.{name}"
