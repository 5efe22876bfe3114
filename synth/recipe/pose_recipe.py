"""The section of a recipe about poses: which captured ones are taken, and how they are varied."""

from __future__ import annotations

from dataclasses import dataclass

from synth.recipe.recipe_values import check_section, shown


@dataclass(frozen=True, slots=True)
class PoseRecipe:
    """Which captured poses are taken, and how they are varied. Angles in degrees.

    Raises
    ------
    ValueError
        For unknown poses or motions, clip names that are not a list of text, a share outside [0, 1], or a jitter
        outside [0, 180].
    """

    poses: str = "train"  #: "train", "validation" (whole clips held out of training) or "all"
    only_clips: tuple[str, ...] = ()  #: of these poses, only these clips; empty = all clips
    leave_out_clips: tuple[str, ...] = ()  #: and never these
    mirror_share: float = 0.5
    recombine_share: float = 0.2  #: poses that get the arms of another pose
    relax_share: float = 0.3  #: poses interpolated towards standing at ease
    jitter_deg: float = 4.0  #: standard deviation of the joint noise
    random_rotation_share: float = 0.0  #: people rotated as a whole, by any angle about any level axis
    seated_share: float = 0.0  #: people who are made to sit, beside those whom the captures show seated
    lying_share: float = 0.0  #: people laid down on back, belly or side
    standing_share: float = 0.0  #: people who stand or walk upright, in captured poses, as most people in a room do
    bent_share: float = 0.0  #: people who bend by 45 degrees or more, on their own legs, captured or made to
    motions: str = "captured"  #: of sequences: "captured"; or "exercises" or "resting", from curves of joint angles

    def __post_init__(self) -> None:
        if self.poses not in ("train", "validation", "all"):
            raise ValueError(f"recipe: poses must be train, validation or all, got {shown(self.poses)}")
        if self.motions not in ("captured", "exercises", "resting"):
            raise ValueError(f"recipe: motions must be captured, exercises or resting, got {shown(self.motions)}")
        for name in ("only_clips", "leave_out_clips"):
            clips = getattr(self, name)
            if not isinstance(clips, tuple | list) or not all(isinstance(clip, str) for clip in clips):
                raise ValueError(f"recipe: {name} must be a list of clip names, got {shown(clips)}")
            object.__setattr__(self, name, tuple(clips))
        check_section(self)
