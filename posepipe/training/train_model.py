"""Training on one page: frames -> trees -> votes -> joint parameters -> model file and card."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.datasets.dataset import FrameSequence
from posepipe.frames import LabelledFrame
from posepipe.learn.depth.checkpoints import Checkpoints
from posepipe.learn.depth.depth_forest import DepthForest, ForestParameters, TrainingProgress, train_forest
from posepipe.learn.depth.train_votes import train_votes
from posepipe.models.card import write_card
from posepipe.models.provenance import source_revision
from posepipe.segmentation.foreground import RoomForeground
from posepipe.training.fit_joints import fit_joint_parameters


@dataclass(frozen=True, slots=True)
class TrainingWatch:
    """What a training tells whoever waits for it."""

    on_level: Callable[[TrainingProgress], None] = lambda progress: None
    on_frame: Callable[[], object] = lambda: None  #: a frame was read for the trees
    on_vote_frame: Callable[[], object] = lambda: None  #: a frame was read for the votes
    on_joint_frame: Callable[[], object] = lambda: None  #: a frame was read for the joint parameters
    on_epoch: Callable[[], object] = lambda: None  #: the network that corrects joints has seen everybody once more
    #: joint parameters were searched: share of landmarks whose heaviest mode lies within 10 cm, before and after
    on_search: Callable[[float, float], object] = lambda before, after: None


def train_model(
    frames: FrameSequence,
    joint_frames: FrameSequence,
    parameters: ForestParameters,
    out: Path,
    resume: bool = False,
    watch: TrainingWatch | None = None,
    command: str = "",
    method: str = "parts",
    vote_frames: FrameSequence | None = None,
) -> DepthForest:
    """Grow a forest, learn its votes and joint parameters, and write the model file and its card.

    Parameters
    ----------
    frames : for the trees
    joint_frames : for the joint parameters; others than ``frames``
    parameters : ForestParameters
    out : the model file; checkpoints lie beside it, in ``NAME.training``, until it is written
    resume : go on from them
    watch : TrainingWatch
    command : that asked for it, for the model's header
    method : where joints come from, one of METHODS
    vote_frames : for the votes; None = no votes

    Raises
    ------
    ValueError, PosepipeError
        When there is nobody in the frames, or the checkpoints are those of another run.
    """
    watch = watch or TrainingWatch()
    _check_bodies(frames.body, joint_frames.body)
    folder = out.with_suffix(".training")
    resumed = resume and folder.is_dir()  # then the seconds are those of a part
    checkpoints = Checkpoints(folder, asdict(parameters), frames.identity, resume)
    history, started = _history(frames, command), time.monotonic()
    forest = train_forest(frames, parameters, frames.body, watch.on_level, checkpoints, watch.on_frame, as_in_use)
    forest.header |= {**history, "seconds": round(time.monotonic() - started, 1), "resumed": resumed}
    refit_joints(forest, joint_frames, out, watch, command, method, vote_frames)
    checkpoints.remove()
    return forest


def as_in_use(frame: LabelledFrame) -> np.ndarray:
    """What a forest is shown as one piece: uint8 (H, W), 1 and up.

    Cut-out people are told apart by the truth. A room falls into the candidates of its foreground, furniture
    among them: so class 0 is learned on what will be asked about, cut as it will be.
    """
    others = (frame.people == 0) & (frame.depth.depth_m > 0)
    return RoomForeground().update(frame.depth) if others.any() else frame.people


def refit_joints(
    forest: DepthForest,
    joint_frames: FrameSequence,
    out: Path,
    watch: TrainingWatch | None = None,
    command: str = "",
    method: str = "parts",
    vote_frames: FrameSequence | None = None,
) -> None:
    """Learn the joint parameters of a forest, in place, and write the model file and its card.

    Parameters are those of `train_model`; without ``vote_frames`` the forest keeps the votes that it has.

    Raises
    ------
    ValueError
        When the method asks for votes and there are none, or the bodies differ.
    """
    watch = watch or TrainingWatch()
    _check_bodies(forest.body, joint_frames.body)
    if vote_frames is not None:
        _check_bodies(forest.body, vote_frames.body)
        forest.set_votes(train_votes(forest, vote_frames, watch.on_vote_frame))
        forest.header |= {"vote_frames": len(vote_frames), "vote_frames_identity": vote_frames.identity}
    if method != "parts" and not forest.votes:
        raise ValueError(f"joints from {method!r} need votes, and this forest has none; give frames to learn them from")
    history, started = _history(joint_frames, command), time.monotonic()
    forest.joint_parameters = fit_joint_parameters(
        forest, joint_frames, watch.on_joint_frame, forest.packed_votes, method, watch.on_epoch, watch.on_search
    )
    history["seconds"] = round(time.monotonic() - started, 1)
    forest.header.pop("figures", None)  # they were those of the older joint parameters
    forest.header |= {"name": out.stem, "joint_frames": len(joint_frames)}
    forest.header |= {f"joint_{name}": value for name, value in history.items()}
    forest.save(out)
    write_card(out)


def _history(frames: FrameSequence, command: str) -> dict[str, Any]:
    """Where trees or joint parameters come from; asked before they are learned, for sources may change meanwhile."""
    return {
        "recipes": frames.recipes,
        "frames_identity": frames.identity,
        "frames_revisions": frames.source_revisions,
        "source_revision": source_revision(),
        "command": command,
    }


def _check_bodies(trees: BodyDefinition, joints: BodyDefinition) -> None:
    if trees != joints:
        raise ValueError(f"trees of body {trees.name!r} need joint frames of the same body, got {joints.name!r}")
