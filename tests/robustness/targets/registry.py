"""All fuzz targets, by name."""

from __future__ import annotations

from tests.robustness.targets.files import FILE_TARGETS
from tests.robustness.targets.sources import SOURCE_TARGETS
from tests.robustness.targets.synth import SYNTH_TARGETS
from tests.robustness.targets.target import Target

TARGETS: dict[str, Target] = {target.name: target for target in (*SOURCE_TARGETS, *FILE_TARGETS, *SYNTH_TARGETS)}
