"""Count squats and report how deep and how even they are: python squat_counter.py SOURCE prints a line a repetition.

A repetition begins when both knees are bent by more than DOWN_DEG and ends when one is bent by less than UP_DEG; 0 is a
straight leg. A step bends one knee, or both for a moment, and does not count where both are seen. The knees are
reported at the deepest moment; a knee of low confidence then is a "?".
"""

import argparse
import signal
import sys
from dataclasses import dataclass, field

from posepipe import Pipeline
from posepipe.errors import PosepipeError
from posepipe.kinematics.joint_angles import joint_angles
from posepipe.results import Pose
from posepipe.sources import open_source

DOWN_DEG, UP_DEG = 50.0, 35.0
SHORTEST_S = 0.5  # a leg that swings is bent for less
SEEN_WELL = 0.5  # confidence
SIDES = ("left", "right")


def bent_knees(pose: Pose) -> dict[str, float]:
    """By how many degrees each knee is bent, of those with enough confidence."""
    seen = {name: joint for name, joint in pose.joints.items() if "knee" not in name or joint.confidence >= SEEN_WELL}
    angles = joint_angles({name: joint.xyz_m for name, joint in seen.items()})
    return {side: float(angles[f"{side}_knee_flexion"]) for side in SIDES if f"{side}_knee_flexion" in angles}


@dataclass
class Squats:
    """Squats of one person."""

    count: int = 0
    down_s: float | None = None  #: since when; None = up
    deepest: dict[str, float] = field(default_factory=dict)

    def step(self, now_s: float, knees: dict[str, float]) -> str | None:
        """Return a line on the repetition that has just ended, if one has."""
        if not knees:
            return None
        bent_deg = min(knees.values())
        if self.down_s is None:
            if bent_deg > DOWN_DEG:
                self.down_s, self.deepest = now_s, knees
            return None
        if bent_deg > min(self.deepest.values()):
            self.deepest = knees
        if bent_deg > UP_DEG:
            return None
        took_s, self.down_s = now_s - self.down_s, None
        if took_s < SHORTEST_S:
            return None
        self.count += 1
        left, right = (f"{self.deepest[side]:.0f}" if side in self.deepest else "?" for side in SIDES)
        uneven = "?" if "?" in (left, right) else f"{int(right) - int(left):+d}"
        return f"squat {self.count}: left {left}, right {right} degrees, difference {uneven}, {took_s:.1f} s"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("source", help="a file or folder of depth frames, or camera:NAME")
    args = parser.parse_args(arguments)
    pipeline = Pipeline.load("person")
    people: dict[int, Squats] = {}
    with open_source(args.source) as source:
        for result in map(pipeline.step, source):
            now_s = result.frame.timestamp_s
            for track in result.people:
                line = people.setdefault(track.id, Squats()).step(now_s, bent_knees(track.pose))
                if line:
                    print(f"{now_s:7.1f} s  person {track.id}, {line}", flush=True)
    totals = [f"person {id}: {squats.count} squat{'s' * (squats.count != 1)}" for id, squats in people.items()]
    print(*totals or ["no person was found"], sep="\n", file=sys.stderr)


if __name__ == "__main__":
    signal.signal(getattr(signal, "SIGPIPE", signal.SIGTERM), signal.SIG_DFL)  # a reader may close the pipe: `| head`
    try:
        main()
    except (PosepipeError, KeyboardInterrupt) as end:
        sys.exit(str(end) or None)
