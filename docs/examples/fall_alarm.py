"""Count the people in view and call out when one falls: python fall_alarm.py SOURCE

The top of the trunk (head, neck, torso or pelvis, whichever is highest) decides. In a fall it drops from near standing
height to a third of it within a second and stays there. People who sit or bend keep it higher; people who lie down are
slower. A body on the floor is often not found, so a person who was plunging when last seen has fallen too.
"""

import argparse
import signal
import sys
from collections.abc import Iterable, Iterator

import numpy as np

from posepipe import Pipeline
from posepipe.camera.extrinsics_file import read_extrinsics
from posepipe.errors import PosepipeError
from posepipe.results import FrameResult
from posepipe.sources import open_source

TRUNK = ("head", "neck", "torso", "pelvis")
UP, LOW = 0.7, 0.35  # shares of the height of the trunk's top when this person stands
FALL_S, STAYS_S = 1.0, 1.0  # from UP to LOW in less is a fall, unless they are up again sooner
PLUNGE_M_S = 1.8  # faster than people sit down or bend
GONE_S, FORGOTTEN_S, FLOOR_WITHIN_S = 0.5, 30.0, 3.0  # unseen: no longer counted, or remembered; no floor: the end


class Person:
    """How high a person's trunk was in the last second, and when they fell, if they did."""

    def __init__(self) -> None:
        self.standing_m = self.last_s = 0.0
        self.heights: list[tuple[float, float]] = []  # (seconds, metres)
        self.fell_s: float | None = None
        self.lies = False  # was seen lying; otherwise they are up when seen higher

    def was_up(self) -> bool:
        return max(height for _, height in self.heights) > UP * self.standing_m

    def seen(self, now_s: float, height_m: float) -> None:
        self.last_s, self.standing_m = now_s, max(self.standing_m, height_m)
        self.heights = [(t, h) for t, h in self.heights if now_s - t < FALL_S] + [(now_s, height_m)]
        if height_m < LOW * self.standing_m and (self.fell_s is not None or self.was_up()):
            self.fell_s, self.lies = now_s if self.fell_s is None else self.fell_s, True
        elif height_m > UP * self.standing_m or not self.lies:
            self.fell_s, self.lies = None, False

    def missed(self) -> None:
        last_s, last_m = self.heights[-1]
        speeds = [(h - last_m) / (last_s - t) for t, h in self.heights if 0.15 < last_s - t < 0.35]
        if self.fell_s is None and self.was_up() and max(speeds, default=0.0) > PLUNGE_M_S:
            self.fell_s = last_s


def watch(results: Iterable[FrameResult]) -> Iterator[str]:
    """Yield a line for each change of the count and each fall."""
    people: dict[int, Person] = {}
    world, count, before_s = None, 0, 0.0
    for result in results:
        now_s, world = result.frame.timestamp_s, result.world or world  # the floor may be hidden for a time
        if world is None:
            if now_s > FLOOR_WITHIN_S:
                break
            continue
        for track in result.people:
            if trunk_m := [joint.xyz_m for name, joint in track.pose.joints.items() if name in TRUNK]:
                people.setdefault(track.id, Person()).seen(now_s, world.world_points(np.array(trunk_m))[:, 2].max())
        for person in (each for each in people.values() if each.last_s < now_s):
            person.missed()
        before, count = count, sum(now_s - person.last_s < GONE_S for person in people.values())
        if count != before:
            yield f"{now_s:7.1f} s  {count} in view"
        for id, person in people.items():
            if person.fell_s is not None and before_s < person.fell_s + STAYS_S <= now_s:
                yield f"{now_s:7.1f} s  FALL of person {id} at {person.fell_s:.1f} s, and not up again"
        people = {id: person for id, person in people.items() if now_s - person.last_s < FORGOTTEN_S}
        before_s = now_s
    if world is None:
        raise PosepipeError("no floor is in view, and heights need one: tilt the camera or give --extrinsics FILE")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("source", help="a file or folder of depth frames, or camera:NAME")
    parser.add_argument("--extrinsics", metavar="FILE", help="place of the camera, if it sees too little floor")
    args = parser.parse_args(arguments)
    pipeline = Pipeline.load("person")
    pipeline.extrinsics = read_extrinsics(args.extrinsics) if args.extrinsics else None
    with open_source(args.source) as source:
        for line in watch(map(pipeline.step, source)):
            print(line, flush=True)


if __name__ == "__main__":
    signal.signal(getattr(signal, "SIGPIPE", signal.SIGTERM), signal.SIG_DFL)  # a reader may close the pipe: `| head`
    try:
        main()
    except (PosepipeError, KeyboardInterrupt) as end:
        sys.exit(str(end) or None)
