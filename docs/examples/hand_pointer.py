"""A hand as a pointer: python hand_pointer.py SOURCE --screen 1.2 0.7 prints a line "x y pressed" a frame.

The line from the shoulder through the hand meets the screen. Seen by the people before it, x is 0 at its left edge and
1 at its right; y is 0 at the top. A stretched arm presses. The nearest person points, with the hand further out.
Nothing is printed while no hand is held out towards the screen. Pipe the lines into a program that moves a cursor.
"""

import argparse
import signal
import sys
from dataclasses import dataclass

import numpy as np

from posepipe import Pipeline
from posepipe.errors import PosepipeError
from posepipe.results import Pose
from posepipe.sources import open_source
from posepipe.tracking.one_euro import OneEuroSmoother

HELD_OUT = 0.3  # the hand is ahead of the shoulder by so many lengths of the trunk, neck to pelvis
PRESS, RELEASE, RELEASE_S = 0.7, 0.64, 0.25  # and away from it; a straight arm is found too short for some frames
SEEN_WELL = 0.5  # confidence; a hidden hand may be taken for the other one
MARGIN = 0.25  # of the screen: a point past its edge by less counts as on the edge


@dataclass(frozen=True)
class Screen:
    """A screen, with the camera in its plane facing the people before it."""

    size_m: tuple[float, float]  #: width and height
    centre_m: tuple[float, float]  #: from the camera: to the right in its image, and down
    pitch_deg: float  #: of the camera; down is positive

    def axes(self, camera_m: tuple[float, float, float]) -> np.ndarray:
        """Return a point of camera axes in the screen's axes: x, y in its plane, z away from it."""
        c, s = np.cos(np.radians(self.pitch_deg)), np.sin(np.radians(self.pitch_deg))
        return np.array([[1, 0, 0], [0, c, s], [0, -s, c]]) @ camera_m

    def meet(self, far_m: np.ndarray, near_m: np.ndarray) -> np.ndarray | None:
        """Return where the line through two points, screen axes, meets the screen: (x, y), 0 to 1."""
        hit_m = far_m + (near_m - far_m) * far_m[2] / (far_m[2] - near_m[2])
        right, down = (hit_m[:2] - self.centre_m) / self.size_m
        spot = np.array([0.5 - right, 0.5 + down])  # people who face the camera have its right at their left
        return np.clip(spot, 0, 1) if (np.abs(spot - 0.5) < 0.5 + MARGIN).all() else None


@dataclass
class Pointer:
    """A person before a screen."""

    screen: Screen
    pressed: bool = False
    stretched_s: float = -np.inf  #: when the arm was last stretched
    before: tuple[float, float] = (np.inf, 0.0)  #: length of the arm, metres, in the last frame, and its time

    def point(self, pose: Pose, now_s: float) -> np.ndarray | None:
        """Return where the person points, and set `pressed`; None for a pose that points at nothing."""
        places = {name: self.screen.axes(j.xyz_m) for name, j in pose.joints.items() if j.confidence >= SEEN_WELL}
        sides = [side for side in ("left", "right") if {f"{side}_shoulder", f"{side}_hand"} <= places.keys()]
        arms = [(places[f"{side}_hand"] - places[f"{side}_shoulder"], places[f"{side}_shoulder"]) for side in sides]
        if not arms or not {"neck", "pelvis"} <= places.keys():
            return None
        trunk_m = np.linalg.norm(places["neck"] - places["pelvis"])
        arm, shoulder = min(arms, key=lambda each: each[0][2])
        spot = self.screen.meet(shoulder, shoulder + arm) if -arm[2] > HELD_OUT * trunk_m else None
        length_m = float(np.linalg.norm(arm))
        if spot is not None and length_m > (RELEASE if self.pressed else PRESS) * trunk_m:
            self.stretched_s = now_s
        arrived = length_m - self.before[0] < 0.5 * (now_s - self.before[1])  # m/s: no longer on its way
        self.pressed = spot is not None and now_s - self.stretched_s < RELEASE_S and (self.pressed or arrived)
        self.before = length_m, now_s
        return spot


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("source", help="a file or folder of depth frames, or camera:NAME")
    parser.add_argument("--screen", nargs=2, type=float, default=(1.2, 0.7), metavar=("WIDTH", "HEIGHT"), help="metres")
    parser.add_argument("--centre", nargs=2, type=float, default=(0.0, 0.4), metavar=("RIGHT", "DOWN"), help="metres")
    parser.add_argument("--pitch", type=float, default=0.0, metavar="DEG", help="of the camera; down is positive")
    args = parser.parse_args(arguments)
    if min(args.screen) <= 0:
        parser.error(f"--screen: wanted a width and a height in metres, got {args.screen}")
    pointer, pipeline = Pointer(Screen(args.screen, args.centre, args.pitch)), Pipeline.load("person")
    pipeline.smoother = OneEuroSmoother()  # its delay: docs/guides/tracking.md
    frames = pointing = 0
    with open_source(args.source) as source:
        for frames, result in enumerate(map(pipeline.step, source), 1):  # noqa: B007
            people = [track.pose for track in result.people if "neck" in track.pose.joints]
            nearest = min(people, key=lambda pose: pose.joints["neck"].xyz_m[2], default=Pose.of({}))
            spot = pointer.point(nearest, result.frame.timestamp_s)
            if spot is not None:
                pointing += 1
                print(f"{spot[0]:.3f} {spot[1]:.3f} {pointer.pressed:d}", flush=True)
    print(f"a hand pointed in {pointing} of {frames} frames", file=sys.stderr)


if __name__ == "__main__":
    signal.signal(getattr(signal, "SIGPIPE", signal.SIGTERM), signal.SIG_DFL)  # a reader may close the pipe: `| head`
    try:
        main()
    except (PosepipeError, KeyboardInterrupt) as end:
        sys.exit(str(end) or None)
