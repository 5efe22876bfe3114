"""Training on one page: frames -> trees -> their out-of-bag accuracy -> votes -> joint parameters -> a model."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.frames import LabelledFrame
from posepipe.learn.depth.checkpoints import Checkpoints
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.forest_parameters import ForestParameters
from posepipe.learn.depth.train_forest import MakeGrower, TrainingProgress, train_forest
from posepipe.learn.depth.train_votes import train_votes
from posepipe.learn.depth.training_memory import MemoryPlan
from posepipe.learn.depth.voting_forest import VotingForest
from posepipe.models.pose_model import PoseModel
from posepipe.models.provenance import source_revision
from posepipe.segmentation.foreground import RoomForeground
from posepipe.training.joints.fit_joints import fit_joint_parameters
from posepipe.training.out_of_bag import out_of_bag_accuracy


@dataclass(frozen=True, slots=True)
class TrainingCallbacks:
    """Callbacks that report the progress of a training."""

    on_level: Callable[[TrainingProgress], None] = lambda progress: None
    on_frame: Callable[[], object] = lambda: None  #: a frame was read for the trees
    on_scored_frame: Callable[[], object] = lambda: None  #: a frame was scored for the out-of-bag accuracy
    on_vote_frame: Callable[[], object] = lambda: None  #: a frame was read for the votes
    on_joint_frame: Callable[[], object] = lambda: None  #: a frame was read for the joint parameters
    on_relabelled: Callable[[], object] = lambda: None  #: a person was read for the relabelling of the second pass
    on_epoch: Callable[[], object] = lambda: None  #: an epoch of the refinement network has ended
    #: the grid search has ended; its score before and after (`fit_joint_parameters`)
    on_search: Callable[[float, float], object] = lambda before, after: None


def train_model(
    frames: FrameSequence,
    joint_frames: FrameSequence,
    parameters: ForestParameters,
    checkpoint_folder: Path,
    resume: bool = False,
    callbacks: TrainingCallbacks | None = None,
    command: str = "",
    method: str = "parts",
    vote_frames: FrameSequence | None = None,
    memory: MemoryPlan | None = None,
    make_grower: MakeGrower | None = None,
) -> PoseModel:
    """Train a forest, its votes and its joint parameters, and score the forest out of bag. The model is not saved.

    Parameters
    ----------
    frames : for the trees
    joint_frames : for the joint parameters; other frames than ``frames``
    parameters : ForestParameters
    checkpoint_folder : stores every level, to resume an interrupted run; remove it when the model is saved
    resume : continue from the checkpoints; False = there are none
    callbacks : TrainingCallbacks; None = no reports
    command : command line of the training, for the metadata of the model
    method : source of the joints, one of METHODS
    vote_frames : for the votes; None = no votes
    memory : of `plan_memory`, for the trees; None = no limit
    make_grower : lets the workers of a cluster grow the trees; None = this process does

    Returns
    -------
    PoseModel

    Raises
    ------
    ValueError, PosepipeError
        When the frames show no person, or the checkpoints are those of another run, or of one to be resumed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from posepipe import ForestParameters, train_model
    >>> from posepipe.datasets.dataset import open_datasets
    >>> def train(folder: Path) -> None:  # with the folders that `posepipe synth` writes
    ...     frames, joint_frames = (open_datasets([folder / name]) for name in ("train", "joints"))
    ...     model = train_model(frames, joint_frames, ForestParameters(), folder / "checkpoints")
    ...     model.save(folder / "model.npz")
    """
    callbacks = callbacks or TrainingCallbacks()
    _check_frames(frames.body, joint_frames, vote_frames)  # before hours of growing trees
    _check_method(method, vote_frames is not None)
    resumed = resume and checkpoint_folder.is_dir()  # the seconds then exclude the earlier part
    checkpoints = Checkpoints(checkpoint_folder, parameters.to_dict(), frames.identity, resume)
    history, started = _history(frames, command), time.monotonic()
    forest = train_forest(
        frames,
        parameters,
        frames.body,
        on_level=callbacks.on_level,
        checkpoints=checkpoints,
        on_frame=callbacks.on_frame,
        segmentation=segment_as_in_use,
        memory=memory,
        make_grower=make_grower,
    )
    seconds = round(time.monotonic() - started, 1)
    about = _about_forest(forest, frames, parameters, callbacks)
    model = PoseModel.of(forest).with_metadata(**history, seconds=seconds, resumed=resumed, **about)
    return refit_joints(model, joint_frames, callbacks, command, method, vote_frames)


def _about_forest(
    forest: DepthForest, frames: FrameSequence, parameters: ForestParameters, callbacks: TrainingCallbacks
) -> dict[str, Any]:
    """Metadata of a forest that was grown on these frames, with its out-of-bag accuracy where it has one."""
    about = {"training": parameters.to_dict(), "training_frames": len(frames)}
    out_of_bag = None if parameters.share_frames else out_of_bag_accuracy(forest, frames, callbacks.on_scored_frame)
    return about if out_of_bag is None else about | {"out_of_bag": out_of_bag.to_dict()}


def segment_as_in_use(frame: LabelledFrame) -> np.ndarray:
    """Segment a training frame as the pipeline does: uint8 (H, W), 1 and up.

    Cut-out people are segmented by the truth. A frame with background is segmented into the candidates of its
    foreground, including furniture, so that class 0 is trained on the same segments as in use.
    """
    others = (frame.people == 0) & (frame.depth.depth_m > 0)
    return RoomForeground().update(frame.depth).numbers if others.any() else frame.people


def refit_joints(
    model: PoseModel,
    joint_frames: FrameSequence,
    callbacks: TrainingCallbacks | None = None,
    command: str = "",
    method: str = "parts",
    vote_frames: FrameSequence | None = None,
) -> PoseModel:
    """Fit the joint parameters of a model's forest, and its votes where frames for them are given.

    Parameters are those of `train_model`; without ``vote_frames`` the model keeps its votes, if its joints need them.

    Returns
    -------
    PoseModel, without the second pass and the figures of the earlier joint parameters

    Raises
    ------
    ValueError
        When the method needs votes and there are none, or the bodies differ.
    """
    callbacks = callbacks or TrainingCallbacks()
    _check_frames(model.body, joint_frames, vote_frames)
    _check_method(method, bool(model.votes) or vote_frames is not None)
    votes, about_votes = (() if method == "parts" else model.votes), {}
    if vote_frames is not None:
        votes = train_votes(model.forest, vote_frames, callbacks.on_vote_frame)
        about_votes = {"vote_frames": len(vote_frames), "vote_frames_identity": vote_frames.identity}
    history, started = _history(joint_frames, command), time.monotonic()
    classifier = VotingForest(model.forest, votes)
    parameters = fit_joint_parameters(
        classifier, joint_frames, callbacks.on_joint_frame, method, callbacks.on_epoch, callbacks.on_search
    )
    history["seconds"] = round(time.monotonic() - started, 1)
    about_joints = {"joint_frames": len(joint_frames)} | {f"joint_{name}": value for name, value in history.items()}
    if model.second_pass is not None:
        warnings.warn(
            "the second pass was fitted to the earlier joints and is left out; fit it anew by --only second-pass",
            stacklevel=2,
        )
    fitted = replace(model, joint_parameters=parameters, votes=votes, second_pass=None)
    return fitted.with_metadata(figures=None, second_pass=None, **about_votes, **about_joints)


def _history(frames: FrameSequence, command: str) -> dict[str, Any]:
    """Origin of trees or joint parameters, taken before training because sources may change meanwhile."""
    return {
        "recipes": frames.recipes,
        "frames_identity": frames.identity,
        "frames_revisions": frames.source_revisions,
        "source_revision": source_revision(),
        "command": command,
    }


def _check_frames(body: BodyDefinition, joint_frames: FrameSequence, vote_frames: FrameSequence | None) -> None:
    for kind, frames in (("joint", joint_frames), ("vote", vote_frames)):
        if frames is not None and frames.body != body:
            raise ValueError(
                f"trees of body {body.name!r} need {kind} frames of the same body, got {frames.body.name!r}"
            )
        if frames is not None and not any(len(frame.joints_m) for frame in frames):  # most often the first has people
            raise ValueError(f"{kind} frames: wanted some with people, and none of these {len(frames)} shows any")


def _check_method(method: str, has_votes: bool) -> None:
    if method != "parts" and not has_votes:
        raise ValueError(
            f"joints from {method!r} need votes, and this model has none; give frames to fit them to by"
            " --votes, or take joints from parts (--joints-from parts)"
        )
