"""``posepipe demo``: the shipped model on a rendered recording of a furnished room."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from apps.terminal.plain_text import show

if TYPE_CHECKING:
    import numpy as np

    from posepipe.models.pose_model import PoseModel
    from posepipe.sinks import FrameSink
    from posepipe.sinks.files.results_reader import Results

HELP = "run the shipped model on a recording of a room: prints a table, writes results.jsonl, images and a video"
EXAMPLES = ("posepipe demo", "posepipe demo --out /tmp/demo")
RECORDING = Path(__file__).parent / "data" / "demo.mcap"
"""A rendered person in a furnished room, who walks, waves, squats and sits down, with Kinect v1 noise and the truth."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("posepipe-demo"),
        metavar="DIR",
        help="folder to write (default: posepipe-demo)",
    )


def run(args: argparse.Namespace) -> None:
    """Find the person in the recording, and compare their joints with the true ones."""
    from apps.running.completed_sinks import CompletedSinks
    from apps.terminal.compilation import kernels_compiled
    from apps.terminal.progress import ProgressBar
    from posepipe.io.files import disk_errors
    from posepipe.models.pose_model import PoseModel
    from posepipe.models.registry import model_identity, model_path
    from posepipe.pipeline import Pipeline
    from posepipe.sinks.counting import CountingSink
    from posepipe.sinks.files.results_reader import read_results
    from posepipe.sources import open_source

    with disk_errors(args.out):
        args.out.mkdir(parents=True, exist_ok=True)
    path, source = model_path("person"), open_source(RECORDING)
    with kernels_compiled():
        model = PoseModel.load(path)
    with ProgressBar(source.frame_count, "demo", "frames") as bar:
        sinks = [*_sinks(args.out, model, model_identity(path)), CountingSink(bar.update)]
        Pipeline.from_model(model).run(source, CompletedSinks(sinks))
    results = read_results(args.out / "results.jsonl")
    show(joint_table(results, model.body.joints, _true_joints_m()))
    show(f"\nresults.jsonl, demo.mp4 and pictures/ are in {args.out}")


def joint_table(results: Results, joints: Sequence[str], true_joints_m: np.ndarray) -> str:
    """Return a table of the joints in the last frame, with their mean errors over all frames.

    Parameters
    ----------
    results : of every frame of the recording
    joints : names of the joints, in the order of ``true_joints_m``
    true_joints_m : float (N, J, 3), metres
    """
    lines = [
        f"joints in frame {results.frames[-1].frame}, the last one: x right, y down, z forward from the camera;",
        "confidence: the share of such joints that lie within 10 cm of the truth;",
        f"found: the share of the {len(results.frames)} frames with the joint; mean error: of these frames",
        "",
        f"{'joint':16s}{'x':>8s}{'y':>8s}{'z m':>8s}{'confidence':>12s}{'found':>8s}{'mean error':>12s}",
    ]
    return "\n".join(lines + [_joint_row(results, joint, true_joints_m[:, j]) for j, joint in enumerate(joints)])


def _joint_row(results: Results, joint: str, true_m: np.ndarray) -> str:
    """Return the row of one joint, whose true places in all frames are ``true_m``, float (N, 3), metres."""
    import numpy as np

    found = [
        (frame.frame, frame.people[0].pose.joints[joint])
        for frame in results.frames
        if frame.people and joint in frame.people[0].pose.joints
    ]
    if not found:
        return f"{joint:16s}{'never found':>24s}"
    errors_m = [np.linalg.norm(np.subtract(j.xyz_m, true_m[i])) for i, j in found]
    x, y, z = found[-1][1].xyz_m
    return (
        f"{joint:16s}{x:8.3f}{y:8.3f}{z:8.3f}{found[-1][1].confidence:12.2f}"
        f"{len(found) / len(results.frames):8.0%}{np.mean(errors_m) * 100:9.1f} cm"
    )


def _sinks(folder: Path, model: PoseModel, identity: str) -> list[FrameSink]:
    """Make the sinks of everything that the demo writes."""
    from posepipe.sinks.files.json_lines import JsonLinesSink, ResultsHeader
    from posepipe.sinks.images.pictures import PictureSink
    from posepipe.sinks.images.video import VideoSink

    header = ResultsHeader(model.body.joints, RECORDING.name, identity, fitted=True)
    return [
        JsonLinesSink(folder / "results.jsonl", header),
        PictureSink(folder / "pictures", model.body),
        VideoSink(folder / "demo.mp4", model.body),
    ]


def _true_joints_m() -> np.ndarray:
    """Read the true joints of the recording, float (N, J, 3), metres."""
    import numpy as np

    from posepipe.frames import LabelledFrame
    from posepipe.recording import RecordingReader

    with RecordingReader(RECORDING) as reader:
        return np.array([frame.joints_m[0] for frame in reader if isinstance(frame, LabelledFrame)])
