"""Motion capture of all people in view: python record_bvh.py SOURCE FOLDER writes results.jsonl and person.bvh there.

From a camera, until Ctrl-C, depth and people are recorded as well (recording.mcap). That file is a source again: view
it in Foxglove or run another model on it. True bones keep their length: how much it varies shows how far to trust the
joints. No body is fitted for that: its bones never vary.
"""

import argparse
import signal
import sys
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

import numpy as np

from posepipe import Pipeline
from posepipe.errors import PosepipeError
from posepipe.models.registry import model_identity, model_path
from posepipe.sinks import FrameSink, JsonLinesSink, ResultsHeader, read_results
from posepipe.sinks.fan_out import FanOutSink
from posepipe.sinks.files.ros_poses import PoseRecordingSink
from posepipe.sinks.motion.motion_formats import open_motion_sink
from posepipe.sources import open_source

MODEL = "person"


def bone_lengths_cm(results_file: Path, parents: dict[str, str | None]) -> dict[tuple[int, str], list[float]]:
    """Lengths of each bone of each person, by id, in all frames that show both its ends."""
    lengths: dict[tuple[int, str], list[float]] = defaultdict(list)
    for frame in read_results(results_file).frames:
        for person in frame.people:
            places_m = {name: np.array(joint.xyz_m) for name, joint in person.pose.joints.items()}
            for end, start in parents.items():
                if start in places_m and end in places_m:
                    length_m = float(np.linalg.norm(places_m[end] - places_m[start]))
                    lengths[person.id, f"{start} - {end}"].append(100 * length_m)
    return lengths


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("source", help="a file or folder of depth frames, or camera:NAME")
    parser.add_argument("folder", type=Path, help="where to write")
    args = parser.parse_args(arguments)
    pipeline, model = Pipeline.load(MODEL, fit=False), model_identity(model_path(MODEL))
    body, results_file = pipeline.classifier.body, args.folder / "results.jsonl"
    with open_source(args.source, every_frame=True) as source:
        start_ns, bvh = source.start_time_ns, open_motion_sink(args.folder / "person.bvh", body)
        results = JsonLinesSink(results_file, ResultsHeader(body.joints, args.source, model, start_time_ns=start_ns))
        sinks: list[FrameSink] = [results, bvh]
        if args.source.startswith("camera:"):
            sinks.append(PoseRecordingSink(args.folder / "recording.mcap", body, start_time_ns=start_ns))
        with suppress(KeyboardInterrupt):  # frames up to then are written
            pipeline.run(source, FanOutSink(sinks))
    print(*bvh.written or ["no person was found"], sep="\n")
    print("bones, cm: median; half of the frames between")
    for (id, bone), lengths in sorted(bone_lengths_cm(results_file, body.parents).items(), key=lambda item: item[0][0]):
        low, median, high = np.percentile(lengths, (25, 50, 75))
        print(f"person {id}  {bone:30} {median:5.1f}; {low:.1f} to {high:.1f}")


if __name__ == "__main__":
    signal.signal(getattr(signal, "SIGPIPE", signal.SIGTERM), signal.SIG_DFL)  # a reader may close the pipe: `| head`
    try:
        main()
    except (PosepipeError, KeyboardInterrupt) as end:
        sys.exit(str(end) or None)
