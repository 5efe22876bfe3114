"""``posepipe demo``: the shipped model on the shipped recording."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "run the shipped model on the shipped recording: a table, results.jsonl, pictures and a video"
EXAMPLES = ("posepipe demo", "posepipe demo --out /tmp/demo")
RECORDING = Path(__file__).parent / "data" / "walk.mcap"
"""A rendered person who walks, with Kinect v1 noise, and the truth to compare with."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, default=Path("posepipe-demo"), metavar="DIR", help="default: posepipe-demo")


def run(args: argparse.Namespace) -> None:
    import numpy as np

    from apps.progress import ProgressBar
    from posepipe.frames import LabelledFrame
    from posepipe.io.files import disk_errors
    from posepipe.learn.depth.depth_forest import DepthForest
    from posepipe.models.registry import model_identity, model_path
    from posepipe.pipeline import Pipeline
    from posepipe.recording import RecordingReader
    from posepipe.sinks import FrameSink
    from posepipe.sinks.files.json_lines import JsonLinesSink, read_results
    from posepipe.sinks.images.pictures import PictureSink, VideoSink
    from posepipe.sinks.many import CountingSink, ManySinks
    from posepipe.sources import open_source

    with disk_errors(args.out):
        args.out.mkdir(parents=True, exist_ok=True)
    path = model_path("person")
    forest = DepthForest.load(path)
    source = open_source(RECORDING)
    results = args.out / "results.jsonl"
    print("the first run on a machine compiles its kernels, for a minute or two")
    with ProgressBar(source.frame_count, "demo", "frames") as bar:
        sinks: list[FrameSink] = [
            JsonLinesSink(results, forest.body.joints, source=RECORDING.name, model=model_identity(path)),
            PictureSink(args.out / "pictures", forest.body),
            VideoSink(args.out / "demo.mp4", forest.body),
            CountingSink(bar.update),
        ]
        Pipeline.from_forest(forest).run(source, ManySinks(sinks))
    with RecordingReader(RECORDING) as truth:
        true_joints = np.array([frame.joints_m[0] for frame in truth if isinstance(frame, LabelledFrame)])
    print(joint_table(read_results(results), forest.body.joints, true_joints))
    print(f"\nresults.jsonl, demo.mp4 and pictures/ are in {args.out}")


def joint_table(results, joints, true_joints_m) -> str:
    """Where each joint is in the last frame, how sure, and how far off over all frames.

    ``true_joints_m`` is float (N, J, 3), metres.
    """
    import numpy as np

    lines = [
        f"where the joints are in frame {results.frames[-1].frame}, the last one, and how sure that is;",
        f"in how many of the {len(results.frames)} frames each was found, and how far from the truth on average",
        "",
    ]
    lines += [f"{'joint':16s}{'x':>8s}{'y':>8s}{'z m':>8s}{'confidence':>12s}{'found':>8s}{'mean error':>12s}"]
    for row, joint in enumerate(joints):
        found = [
            (frame.frame, frame.people[0].pose.joints[joint])
            for frame in results.frames
            if frame.people and joint in frame.people[0].pose.joints
        ]
        if not found:
            lines.append(f"{joint:16s}{'never found':>24s}")
            continue
        errors = [np.linalg.norm(np.subtract(j.xyz_m, true_joints_m[i, row])) for i, j in found]
        x, y, z = found[-1][1].xyz_m
        lines.append(
            f"{joint:16s}{x:8.3f}{y:8.3f}{z:8.3f}{found[-1][1].confidence:12.2f}"
            f"{len(found) / len(results.frames):8.0%}{np.mean(errors) * 100:9.1f} cm"
        )
    return "\n".join(lines)
