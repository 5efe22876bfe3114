"""Training on one page: frames -> trees -> joint parameters -> model file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from posepipe.body import BodyDefinition
from posepipe.dataset import FrameSequence
from posepipe.joint_fitting import fit_joint_parameters
from posepipe.learn.checkpoints import Checkpoints
from posepipe.learn.depth_forest import DepthForest, ForestParameters, TrainingProgress, train_forest
from posepipe.revision import source_revision


@dataclass(frozen=True, slots=True)
class TrainingWatch:
    """What a training tells whoever waits for it."""

    on_level: Callable[[TrainingProgress], None] = lambda progress: None
    on_frame: Callable[[], object] = lambda: None  #: a frame was read for the trees
    on_joint_frame: Callable[[], object] = lambda: None  #: a frame was read for the joint parameters


def train_model(
    frames: FrameSequence,
    joint_frames: FrameSequence,
    parameters: ForestParameters,
    out: Path,
    resume: bool = False,
    watch: TrainingWatch | None = None,
) -> DepthForest:
    """Grow a forest, learn its joint parameters, and write the model file.

    Parameters
    ----------
    frames : for the trees
    joint_frames : for the joint parameters; others than ``frames``
    parameters : ForestParameters
    out : the model file; checkpoints lie beside it, in ``NAME.training``, until it is written
    resume : go on from them

    Raises
    ------
    ValueError, PosepipeError
        When there is nobody in the frames, or the checkpoints are those of another run.
    """
    watch = watch or TrainingWatch()
    _check_bodies(frames.body, joint_frames.body)
    checkpoints = Checkpoints(out.with_suffix(".training"), asdict(parameters), frames.identity, resume)
    forest = train_forest(frames, parameters, frames.body, watch.on_level, checkpoints, watch.on_frame)
    forest.header |= {"recipes": frames.recipes, "source_revision": source_revision()}
    refit_joints(forest, joint_frames, out, watch)
    checkpoints.remove()
    return forest


def refit_joints(
    forest: DepthForest, joint_frames: FrameSequence, out: Path, watch: TrainingWatch | None = None
) -> None:
    """Learn the joint parameters of a forest, in place, and write the model file."""
    watch = watch or TrainingWatch()
    _check_bodies(forest.body, joint_frames.body)
    forest.joint_parameters = fit_joint_parameters(forest, joint_frames, watch.on_joint_frame)
    forest.header |= {
        "name": out.stem,
        "joint_recipes": joint_frames.recipes,
        "joint_frames": len(joint_frames),
        "joint_source_revision": source_revision(),
    }
    forest.save(out)


def _check_bodies(trees: BodyDefinition, joints: BodyDefinition) -> None:
    if trees != joints:
        raise ValueError(f"trees of body {trees.name!r} need joint frames of the same body, got {joints.name!r}")
