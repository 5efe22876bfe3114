"""Fields of a recipe that do nothing beside its other fields, such as pets without the furnished rooms they live in.

They are no errors: recipes of existing datasets have some, and still have to be read.
"""

from __future__ import annotations

from dataclasses import fields

from synth.recipe.recipe import SECTIONS, Recipe

_OF_MODEL_ROOMS = (
    *("density", "wall_fitting_share", "things_share", "hanging_clothes_share", "draped_chair_share", "pet_share"),
    *("doll_share", "clutter_share", "near_seat_share"),
)
_OF_DRAWN_ROOMS = ("model_share", "empty_room_share", "registered_share", "stereo_defects_share", "limited_range_share")
_OF_ROOMS = (*_OF_DRAWN_ROOMS, "infrared_share", "false_near_share", "filled_share")
_OF_AIM = ("aim_height_m", "aim_limits_deg")
_OF_CAMERAS = ("roll_deg", "pitch_deg", *_OF_AIM)
_OF_SINGLE_FRAMES = (
    *("mirror_share", "recombine_share", "relax_share", "jitter_deg", "random_rotation_share", "people"),
    *("distance_m", "lateral_offset", "facing_share", "facing_spread_deg", "near_seat_share", *_OF_CAMERAS),
)
_NOT_OF_COMPOSITES = (*_OF_CAMERAS, "camera_height_m", "room_share", *_OF_DRAWN_ROOMS, *_OF_MODEL_ROOMS)
_OF_CAPTURES = ("poses", "only_clips", "leave_out_clips")


def idle_fields(recipe: Recipe, backgrounds: bool = False, captures: bool = False) -> list[str]:
    """Describe the fields of a recipe that are set and do nothing.

    Parameters
    ----------
    recipe : Recipe
    backgrounds : bool
        Whether people are composited into real empty rooms.
    captures : bool
        Whether sequences play captured motions of the user's own. The clips of a recipe select among these alone.

    Returns
    -------
    list of str
        A line for each reason, ready to be shown; fields that have their defaults are never among them.
    """
    scene = recipe.scene
    reasons: list[tuple[tuple[str, ...], str, bool]] = [
        (_NOT_OF_COMPOSITES, "with --backgrounds", backgrounds),
        (_OF_SINGLE_FRAMES, "in sequences", recipe.sequence_frames > 0),
        (_OF_CAPTURES, f"with motions {recipe.pose.motions!r}", recipe.pose.motions != "captured"),
        (_OF_AIM, "beside pitch_deg", recipe.camera.pitch_deg is not None),
    ]
    needs: list[tuple[tuple[str, ...], str, bool]] = [
        (_OF_ROOMS, "room_share", backgrounds or scene.room_share > 0),
        (_OF_MODEL_ROOMS, "model_share", scene.model_share > 0),
        (_OF_CAPTURES, "--mocap", captures or recipe.sequence_frames == 0),
        (("near_seat_share",), "empty_room_share", scene.empty_room_share > 0),
        (("model_seat_share",), "furniture_share", scene.furniture_share > 0),
        (("stereo_defects_share",), "a stereo sensor", recipe.sensor.family == "stereo"),
        (("facing_spread_deg",), "facing_share", recipe.camera.facing_share > 0),
        (("wardrobe",), "clothes", recipe.clothing.clothes),
    ]
    of_reasons = [(names, reason, "") for names, reason, applies in reasons if applies]
    of_needs = [(names, f"without {need}", f"give {need}, or ") for names, need, is_met in needs if not is_met]
    left, lines = _changed(recipe), []
    if recipe.pose.poses == "validation":  # which frozen recipes of sequences say, and have to go on saying
        left -= {"poses"}
    for names, reason, remedy in of_reasons + of_needs:
        if idle := [name for name in names if name in left]:
            left -= set(idle)  # a field is named once
            verb, them = ("does", "it") if len(idle) == 1 else ("do", "them")
            lines.append(f"recipe: {', '.join(idle)} {verb} nothing {reason}; {remedy}leave {them} out")
    return lines


def _changed(recipe: Recipe) -> set[str]:
    """Names of the fields in all sections that differ from their defaults."""
    plain = Recipe()
    return {
        each.name
        for name in SECTIONS
        for each in fields(SECTIONS[name])
        if getattr(getattr(recipe, name), each.name) != getattr(getattr(plain, name), each.name)
    }
